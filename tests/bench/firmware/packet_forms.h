/* SPDX-License-Identifier: MIT */
/**
 * DOC: The forms in which kernels are launched, for the benchmarks that count the firmware's instructions
 *
 * Packets are written by hand, so that each form is exactly its packet. PERF-01 counts the decoding of them, PERF-12 the
 * whole way of their kernels.
 */
#ifndef BENCH_PACKET_FORMS_H
#define BENCH_PACKET_FORMS_H

#include "bench.h"

#define PACKET_ROUNDS 64  /* packets of one measurement */
#define PACKET_WARM_UP 4  /* packets before the measurement, so that the kernel descriptor is cached */

/**
 * struct packet_form - a form of launch.
 * @make: writes packet number @round into @packet. Return: its kernels
 * @decoding: target for the instructions from packet to task record (PERF-01)
 * @whole: target for all instructions (PERF-12)
 */
struct packet_form {
	const char *name;
	unsigned (*make)(const struct bench_rig *rig, unsigned round, union tutti_packet *packet);
	double decoding, whole;
};

/** packet_forms - ends with a form that has no name. */
extern const struct packet_form packet_forms[];

/** packet_form_batch() - how many packets to send at a time, of which PACKET_ROUNDS is a multiple. */
unsigned packet_form_batch(const struct packet_form *form);
/**
 * packet_form_prepare() - what the host does before each batch: it invalidates the references, if the form is to store them
 * into empty entries. Return: 0 or -errno.
 */
int packet_form_prepare(struct bench_rig *rig, const struct packet_form *form);
/**
 * packet_form_send() - launch @rounds packets of a form and wait for all their kernels.
 * @kernels: gets how many those are
 * Return: 0 or -errno.
 */
int packet_form_send(struct bench_rig *rig, const struct packet_form *form, unsigned rounds, unsigned *kernels);
/** packet_form_references() - store the references that condensed packets of all forms name. Return: 0 or -errno. */
int packet_form_references(struct bench_rig *rig);

#endif
