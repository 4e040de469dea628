// SPDX-License-Identifier: MIT
/*
 * The front of the TMAU puts requests of waves into the request area, in the order of its slots, and reports each by an
 * event. What movers rely on is kept in the card's state as well, since firmware can write to the area.
 */
#include "emulator/base/local.h"
#include "emulator/engines/mover.h"
#include "emulator/memory/event_ring.h"
#include "emulator/waves/blocked.h"
#include "emulator/waves/tensor_port.h"

static struct tutti_tensor_call *request_area(struct tutti_card *card)
{
	const struct tutti_engines *page = card->page;
	struct engines *e = &card->engines;

	if (likely(page->request_base == e->request_base && page->request_slots == e->request_slots))
		return e->requests;
	e->request_base = page->request_base;
	e->request_slots = page->request_slots;
	e->requests = NULL;
	e->request_next = 0;
	if (e->request_slots && e->request_slots <= CARD_REQUEST_SLOTS)
		e->requests = card_local(card, e->request_base,
					 (uint64_t)e->request_slots * sizeof(struct tutti_tensor_call), 8);
	return e->requests;
}

static void keep(struct engines_call *kept, const struct tutti_tensor_call *call)
{
	const struct tutti_tensor_request *request = &call->request;

	*kept = (struct engines_call){
		.busy = true, .slot = call->slot, .cta_rank = request->cta,
		.multicast = request->flags & TUTTI_REQUEST_MULTICAST, .mask = request->cta_mask, .sm = call->sm,
		.wave = call->wave, .asid = call->asid, .cta = call->cta, .barrier = request->barrier, .pc = call->pc,
	};
}

bool front_run(struct tutti_card *card)
{
	struct tutti_tensor_call *area = request_area(card), *call;
	struct engines *e = &card->engines;
	bool any = false;

	while (area && !e->call[e->request_next].busy && engines_room(card)) {
		uint32_t slot = e->request_next;
		struct tutti_event event = {{ TUTTI_EVENT_REQUEST | TUTTI_SERVICE_TENSOR << 16 }};

		call = &area[slot];
		if (!sm_array_request(card->sms, call))
			break;
		keep(&e->call[slot], call);
		event.word[0] |= (uint32_t)call->slot << 8;
		event.word[1] = call->sm | (uint32_t)call->wave << 16;
		event.word[2] = slot;
		engines_event(card, &event);
		e->request_next = slot + 1 == e->request_slots ? 0 : slot + 1;
		any = true;
	}
	if (any)
		sm_array_progress(card->sms); /* the queues of SMs have room again, for which waves may wait */
	return any;
}
