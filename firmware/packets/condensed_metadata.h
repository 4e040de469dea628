/* SPDX-License-Identifier: MIT */
/** DOC: Metadata of the kernels of a condensed packet. They come from the references; no difference changes them. */
#ifndef CONDENSED_METADATA_H
#define CONDENSED_METADATA_H

#include "packets/condensed.h"

/** condensed_tmd() - address of the metadata of the record that @queue is at. */
uint64_t condensed_tmd(const struct queue *queue);
/**
 * condensed_check_tmds() - are the metadata that the kernels of @block name valid?
 * Return: 0, PACKET_PARKED (to be called again), or an error
 */
int condensed_check_tmds(struct queue *queue, struct block *block);

#endif
