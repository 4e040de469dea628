/* SPDX-License-Identifier: MIT */
/**
 * DOC: Metadata and CGAs of the kernels of a condensed packet
 *
 * Metadata come from the references; no difference changes them. CGAs come from the metadata or else from the kernel.
 */
#ifndef CONDENSED_METADATA_H
#define CONDENSED_METADATA_H

#include "packets/condensed.h"

/** condensed_tmd() - address of the metadata of the record that @queue is at. */
uint64_t condensed_tmd(const struct queue *queue);
/**
 * condensed_check_special() - are the metadata of the kernels of @block valid, and may their grids be divided into CGAs?
 * Return: BLOCK_CHECKED, PACKET_PARKED (to be called again), or an error
 */
int condensed_check_special(struct queue *queue, struct block *block);

#endif
