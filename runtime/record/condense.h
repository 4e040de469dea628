/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_CONDENSE_H
#define TUTTI_CONDENSE_H

#include "packet/packet.h"

#define NO_REFERENCE 0xffu

/**
 * struct condense - what diffs are made against.
 * @table: table form (spec PKT-20)
 * @overlap: kernels of a packet may overlap, so barrier bits inside matter (PKT-16)
 * @barriers: some launch has its barrier bit set
 * @reference: contents of the references, @entry the RSB entries they are stored in
 * @value: their fields, in the form's order
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
 * struct place - where a launch went.
 * @packet: index of its packet
 * @unit: of its diff header; whole packets: 0
 * @reference: index into condense.reference, NO_REFERENCE: a packet of its own
 * @promoted: it opens its packet and waits for all earlier ones
 */
struct place {
	uint32_t packet;
	uint8_t unit;
	uint8_t reference;
	bool promoted;
	uint16_t vector;
};

/**
 * condense_choose() - pick up to 8 launches as references, so that few units are left.
 * @place: gets the reference of each launch
 * @from: gets the launch each reference is a copy of
 * @weight: gets how many launches each serves
 * Return: 0 or -ENOMEM.
 */
int condense_choose(struct condense *condense, const struct tutti_dispatch_packet *launch, unsigned launches,
		    struct place *place, unsigned *from, uint32_t *weight);
/**
 * condense_pack() - packets for the launches, as few as their order allows.
 * @image: room for one packet per launch
 * Return: number of packets.
 */
unsigned condense_pack(const struct condense *condense, const struct tutti_dispatch_packet *launch,
		       unsigned launches, struct place *place, union tutti_packet *image);
/**
 * condense_first() - the same for a first replay: launches that are references are
 * sent as reference packets, others condensed once their reference is stored.
 */
unsigned condense_first(const struct condense *condense, const struct tutti_dispatch_packet *launch,
			unsigned launches, const struct place *place, const unsigned *from,
			union tutti_packet *image);
/** condense_patch() - rewrite a changed launch in place. False: the packets must be packed anew. */
bool condense_patch(const struct condense *condense, const struct tutti_dispatch_packet *launch,
		    const struct place *place, union tutti_packet *image);

#endif
