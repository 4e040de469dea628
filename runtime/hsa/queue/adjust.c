// SPDX-License-Identifier: MIT
/*
 * What hsa_ext_amd.h changes of a queue that is there. The card takes priority and SMs from the queue's creation and
 * from task metadata (hsa_ven_tutti.h), so the only values are those that the queue has.
 */
#include <hsa/hsa_ext_amd.h>

#include "hsa/base/runtime.h"
#include "hsa/queue/queue.h"

#define WORD_BITS 32u

/* The bits of a word of the mask that belong to SMs. */
static uint32_t sms_of_word(uint32_t word)
{
	uint32_t sms = runtime_card()->sms, first = word * WORD_BITS;

	if (sms <= first)
		return 0;
	return sms - first >= WORD_BITS ? UINT32_MAX : (1u << (sms - first)) - 1;
}

/* @bits is a number of bits, a multiple of 32. A mask of 0 bits means all. */
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *public, uint32_t bits, const uint32_t *mask)
{
	REQUIRE_INIT();
	REQUIRE(queue_find(public), INVALID_QUEUE);
	REQUIRE(!(bits % WORD_BITS) && (mask || !bits), INVALID_ARGUMENT);
	for (uint32_t word = 0; bits && sms_of_word(word); word++)
		if (word >= bits / WORD_BITS || (mask[word] & sms_of_word(word)) != sms_of_word(word))
			return HSA_STATUS_ERROR;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t *public, uint32_t bits, uint32_t *mask)
{
	REQUIRE_INIT();
	REQUIRE(queue_find(public), INVALID_QUEUE);
	REQUIRE(bits && !(bits % WORD_BITS) && mask, INVALID_ARGUMENT);
	for (uint32_t word = 0; word < bits / WORD_BITS; word++)
		mask[word] = sms_of_word(word);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *public, hsa_amd_queue_priority_t priority)
{
	REQUIRE_INIT();
	REQUIRE(queue_find(public), INVALID_QUEUE);
	REQUIRE((unsigned)priority <= HSA_AMD_QUEUE_PRIORITY_HIGH, INVALID_ARGUMENT);
	return priority == HSA_AMD_QUEUE_PRIORITY_NORMAL ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}
