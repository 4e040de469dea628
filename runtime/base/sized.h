/* SPDX-License-Identifier: MIT */
/** DOC: Structures that applications fill and that grow from version to version (SYS-55) */
#ifndef TUTTI_BASE_SIZED_H
#define TUTTI_BASE_SIZED_H

#include <stddef.h>
#include <stdint.h>

/**
 * sized_check() - may this library use a structure whose size the application tells?
 * @from: the application's structure
 * @bytes: its size there
 * @known: its size in this library
 * @first: bytes it had in version 0.1
 *
 * Return: as sized_copy().
 */
int sized_check(const void *from, size_t bytes, size_t known, size_t first);

/**
 * sized_copy() - a structure as this library knows it, from one whose size the application tells.
 * @to: gets the structure; fields that the application does not have become 0
 * @to_bytes: its size in this library
 * @from: the application's
 * @bytes: its size in the application; 0 = as in version 0.1
 * @first: bytes it had in version 0.1
 *
 * Nothing behind the application's structure is read.
 *
 * Return: 0; -EINVAL: @bytes is less than version 0.1 had; -E2BIG: the application was built for a later version, and uses
 * a field that this library does not know.
 */
int sized_copy(void *to, size_t to_bytes, const void *from, size_t bytes, size_t first);

/** SIZED_CHECK() - sized_check() of a structure with a field `bytes`, whose last field in version 0.1 was @last. */
#define SIZED_CHECK(from, last) \
	sized_check(from, (from)->bytes, sizeof(*(from)), \
		    offsetof(__typeof__(*(from)), last) + sizeof((from)->last))

/** SIZED_COPY() - sized_copy() of a structure with a field `bytes`, whose last field in version 0.1 was @last. */
#define SIZED_COPY(to, from, last) \
	sized_copy(to, sizeof(*(to)), from, (from)->bytes, \
		   offsetof(__typeof__(*(to)), last) + sizeof((to)->last))

#endif
