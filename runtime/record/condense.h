/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_CONDENSE_H
#define TUTTI_CONDENSE_H

#include "packet/packet.h"

#define NO_REFERENCE 0xffu

/**
 * struct condense - the references that diffs are made against, and how.
 * @table: use the table form (spec PKT-20)
 * @overlap: kernels of a packet may overlap, so barrier bits inside it matter (PKT-16)
 * @barriers: at least one launch has its barrier bit set
 * @reference: the references; @entry holds the RSB entries they are stored in
 * @value: the fields of the references, in the order of the form
 */
struct condense {
	bool table;
	bool overlap;
	bool barriers;
	uint32_t shared_block_bytes;
	unsigned references;
	struct tutti_dispatch_packet reference[TUTTI_REFERENCES];
	uint8_t entry[TUTTI_REFERENCES];
	uint64_t value[TUTTI_REFERENCES][DIFF_FIELDS_MAX];
};

/**
 * struct place - where in the packets a launch is.
 * @packet: index of its packet
 * @unit: 16-bit unit at which its diff begins; 0 if it has a packet of its own
 * @reference: index into condense.reference, or NO_REFERENCE if it has a packet of its own
 * @promoted: it is the first of its packet, and gets a barrier bit if any launch has one (struct condense.barriers)
 * @vector: bit mask of the fields in its diff
 */
struct place {
	uint32_t packet;
	uint8_t unit;
	uint8_t reference;
	bool promoted;
	uint16_t vector;
};

/**
 * condense_choose() - choose up to 8 launches as references, so that the diffs of all launches are short.
 * @place: receives the reference of each launch
 * @from: receives the index of the launch that each reference is a copy of
 * @weight: receives how many launches use each reference
 * Return: 0 or -ENOMEM.
 */
int condense_choose(struct condense *condense, const struct tutti_dispatch_packet *launch, unsigned launches,
		    struct place *place, unsigned *from, uint32_t *weight);
/**
 * condense_pack() - build packets for the launches, as few as their order allows.
 * @image: room for one packet per launch
 * Return: number of packets.
 */
unsigned condense_pack(const struct condense *condense, const struct tutti_dispatch_packet *launch,
		       unsigned launches, struct place *place, union tutti_packet *image);
/**
 * condense_first() - the same for a first replay: launches that serve as references are
 * sent as reference packets; the others are condensed as soon as their reference is stored.
 */
unsigned condense_first(const struct condense *condense, const struct tutti_dispatch_packet *launch,
			unsigned launches, const struct place *place, const unsigned *from,
			union tutti_packet *image);
/** condense_patch() - rewrite a changed launch in place. False if the packets must be packed again instead. */
bool condense_patch(const struct condense *condense, const struct tutti_dispatch_packet *launch,
		    const struct place *place, union tutti_packet *image);

#endif
