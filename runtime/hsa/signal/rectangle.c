// SPDX-License-Identifier: MIT
/* Copies of boxes of bytes in memory that is laid out in rows and layers: one copy of the card for each row. */
#include <errno.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/signal/signal.h"

#define ALIGNMENT 4u

/** struct side - where one side's box begins, and how far its rows and layers are apart. */
struct side {
	char *first;
	size_t pitch, slice;
};

static bool side_of(struct side *side, const hsa_pitched_ptr_t *memory, const hsa_dim3_t *offset)
{
	if (!memory || !offset || !memory->base)
		return false;
	if (((uintptr_t)memory->base | memory->pitch | memory->slice | offset->x) % ALIGNMENT)
		return false;
	*side = (struct side){(char *)memory->base + offset->x + offset->y * memory->pitch + offset->z * memory->slice,
			      memory->pitch, memory->slice};
	return true;
}

static char *row_of(const struct side *side, uint32_t y, uint32_t z)
{
	return side->first + y * side->pitch + z * side->slice;
}

/*
 * All rows are there: the application's signal is told, and the one that has counted them goes. It stays when a row has
 * failed, since others may still be on their way.
 */
static bool on_rows(tutti_signal_t rows, int64_t value, int error, void *done)
{
	tutti_signal_t signal = done;

	if (error || value < 0) {
		tutti_signal_store(signal, TUTTI_SIGNAL_CANCELLED);
		return false;
	}
	tutti_signal_destroy(runtime_device(), rows);
	tutti_signal_subtract(signal, 1);
	return false;
}

static int copy_rows(const struct side *to, const struct side *from, const hsa_dim3_t *range,
		     const tutti_signal_t *after, uint32_t count, tutti_signal_t rows)
{
	int error = 0;

	for (uint32_t z = 0; z < range->z && !error; z++)
		for (uint32_t y = 0; y < range->y && !error; y++)
			error = tutti_device_copy(runtime_device(), row_of(to, y, z), row_of(from, y, z), range->x, after,
						  count, rows);
	return error;
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
					    const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset,
					    const hsa_dim3_t *range, hsa_agent_t agent, hsa_amd_copy_direction_t direction,
					    uint32_t count, const hsa_signal_t *after, hsa_signal_t done)
{
	struct side to_side, from_side;
	tutti_signal_t rows;
	int error;

	REQUIRE_INIT();
	REQUIRE(agent_of(agent) == AGENT_CARD, INVALID_AGENT);
	REQUIRE((unsigned)direction <= hsaDeviceToDevice && !after == !count, INVALID_ARGUMENT);
	REQUIRE(range && range->x && range->y && range->z && !(range->x % ALIGNMENT), INVALID_ARGUMENT);
	REQUIRE(side_of(&to_side, to, to_offset) && side_of(&from_side, from, from_offset), INVALID_ARGUMENT);
	REQUIRE(signal_of(done) && !tutti_memory_info(runtime_device(), signal_of(done), NULL, NULL, NULL), INVALID_SIGNAL);
	REQUIRE(!tutti_signal_create(runtime_device(), (int64_t)range->y * range->z, &rows), OUT_OF_RESOURCES);
	error = copy_rows(&to_side, &from_side, range, (const tutti_signal_t *)(const void *)after, count, rows);
	if (!error)
		error = tutti_signal_handler(runtime_device(), rows, TUTTI_LT, 1, on_rows, signal_of(done));
	/* Rows that have been sent may still count in the signal, so in case of an error it stays until the shutdown. */
	return error == -EINVAL ? HSA_STATUS_ERROR_INVALID_SIGNAL : status_of(error);
}
