// SPDX-License-Identifier: MIT
/*
 * What the card says of itself is checked before it is believed (spec SYS-03): with one thing wrong in it the driver does
 * not bind. Written by root into page 0 of the BAR, while nobody has the card.
 */
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"
#include "tutti/counter.h"
#include "tutti/discovery.h"

/** struct lie - @value in a field of the page; added to what is there if @add. */
struct lie {
	const char *what;
	uint32_t at, bytes;
	uint64_t value;
	bool add, binds;
};

#define PLACE(field) (uint32_t)offsetof(struct tutti_discovery, field), sizeof(((struct tutti_discovery *)0)->field)
#define SAYS(field, value) {#field " is " #value, PLACE(field), (uint64_t)(value), false, false}
#define PLUS(field, value) {#field " plus " #value, PLACE(field), (uint64_t)(value), true, false}
#define FINE(field, value) {#field " may be " #value, PLACE(field), (uint64_t)(value), false, true}

static const struct lie lies[] = {
	SAYS(magic, 0), SAYS(magic, ~0ull), PLUS(magic, 1),
	SAYS(bytes, 0), SAYS(bytes, sizeof(struct tutti_discovery) - 1), FINE(bytes, sizeof(struct tutti_discovery)),
	SAYS(contract_min, TUTTI_CONTRACT_VERSION + 1), FINE(contract_min, TUTTI_CONTRACT_VERSION),
	SAYS(contract_max, TUTTI_CONTRACT_VERSION - 1), FINE(contract_max, TUTTI_CONTRACT_VERSION),
	PLUS(control.offset, 32), SAYS(control.offset, ~63u), SAYS(control.bytes, sizeof(struct tutti_control) - 1),
	SAYS(control.bytes, ~0u),
	PLUS(status.offset, 64), SAYS(status.offset, ~4095u), SAYS(status.bytes, sizeof(struct tutti_status) - 1),
	PLUS(host_ring.offset, 32), SAYS(host_ring.bytes, sizeof(struct tutti_message) - 1), SAYS(host_ring.bytes, ~0u),
	PLUS(card_ring.offset, 32), SAYS(card_ring.bytes, sizeof(struct tutti_message) - 1), SAYS(card_ring.bytes, ~0u),
	PLUS(log.offset, 32), SAYS(log.bytes, sizeof(struct tutti_log) - 1),
	PLUS(crash.offset, 32), SAYS(crash.bytes, sizeof(struct tutti_crash) - 1),
	PLUS(counters.offset, 64), SAYS(counters.bytes, TUTTI_COUNTERS * 8 - 1),
	PLUS(trace.offset, 32), SAYS(trace.bytes, ~0u),
	PLUS(sm_states.offset, 32), SAYS(sm_states.bytes, ~0u), PLUS(sm_table.offset, 2), SAYS(sm_table.bytes, ~0u),
	PLUS(rsb_window.offset, 64), SAYS(rsb_window.bytes, ~0u),
	PLUS(doorbells.offset, 64), PLUS(doorbells.offset, 4096 * 4096), PLUS(doorbells.bytes, -4096),
	PLUS(window_bytes, 1ull << 40), PLUS(aperture, 64), PLUS(aperture, 1ull << 40), SAYS(aperture, 0),
	PLUS(aperture_bytes, 1ull << 40), PLUS(reserved_bytes, 64), PLUS(reserved_bytes, 1ull << 40), SAYS(reserved_bytes, 0),
	SAYS(memory_bytes, 4096),
	SAYS(max_contexts, 0), SAYS(max_contexts, 1), SAYS(max_contexts, TUTTI_MAX_CONTEXTS + 1),
	SAYS(max_queues, 0), SAYS(max_queues, TUTTI_MAX_QUEUES + 1), SAYS(max_rsbs, TUTTI_MAX_RSBS + 1),
	SAYS(sms, 0), SAYS(sms, TUTTI_MAX_SMS + 1), SAYS(msix_vectors, 0),
	SAYS(ring_packets_min, 0), SAYS(ring_packets_min, 3), SAYS(ring_packets_min, 1u << 31),
	SAYS(ring_packets_max, 0), SAYS(ring_packets_max, 3), SAYS(ring_packets_max, 1),
};

static struct tutti_discovery *page_open(void)
{
	char path[96];
	void *page;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource2", pci_address);
	fd = open(path, O_RDWR | O_CLOEXEC);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

/* The page is as it was when this returns, and the card nobody's. */
static bool binds(struct tutti_discovery *page, const struct lie *lie)
{
	uint64_t truth = 0, value = lie->value;
	bool bound;

	memcpy(&truth, (uint8_t *)page + lie->at, lie->bytes);
	value += lie->add ? truth : 0;
	memcpy((uint8_t *)page + lie->at, &value, lie->bytes);
	bound = driver_bind();
	if (bound)
		driver_unbind();
	memcpy((uint8_t *)page + lie->at, &truth, lie->bytes);
	return bound;
}

static bool is_judged(struct rig *rig, const void *data)
{
	const struct lie *lie = data;
	struct tutti_discovery *page;
	bool bound, back;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	page = page_open();
	SKIP_UNLESS(page, "the BAR cannot be mapped");
	CHECK(driver_unbind());
	bound = binds(page, lie);
	back = driver_bind();
	munmap(page, PAGE);
	CHECK(back);
	EXPECT(lie->binds, bound);
	return rig_queue(rig) && rig_works(rig);
}

/* A card none of whose memory is left when it has reserved its part. */
static bool no_memory(struct rig *rig)
{
	struct tutti_discovery *page;
	bool bound, back;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	page = page_open();
	SKIP_UNLESS(page, "the BAR cannot be mapped");
	CHECK(driver_unbind());
	bound = binds(page, &(struct lie){NULL, PLACE(memory_bytes), page->reserved_bytes, false, false});
	back = driver_bind();
	munmap(page, PAGE);
	CHECK(back && !bound);
	return rig_queue(rig) && rig_works(rig);
}

/* A name that fills its field is cut, and does not run on into what follows. */
static bool long_name(struct rig *rig)
{
	struct tutti_discovery *page, seen;
	struct drm_tutti_query query = {DRM_TUTTI_QUERY_DISCOVERY, sizeof(seen), (uintptr_t)&seen};
	char truth[sizeof(seen.name)];
	bool bound;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	page = page_open();
	SKIP_UNLESS(page, "the BAR cannot be mapped");
	CHECK(driver_unbind());
	memcpy(truth, page->name, sizeof(truth));
	memset(page->name, 'x', sizeof(truth));
	bound = driver_bind();
	memcpy(page->name, truth, sizeof(truth));
	munmap(page, PAGE);
	CHECK(bound && rig_queue(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &query));
	EXPECT(sizeof(truth) - 1, (long)strnlen(seen.name, sizeof(truth)));
	rig_close(rig);
	CHECK(driver_unbind() && driver_bind());
	return rig_queue(rig) && rig_works(rig);
}

/* ---- who may write to the host's memory ---- */

static bool is_master(bool *master)
{
	char path[96];
	uint16_t command = 0;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", pci_address);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && pread(fd, &command, sizeof(command), PCI_COMMAND) == sizeof(command));
	close(fd);
	*master = command & PCI_COMMAND_MASTER;
	return true;
}

/* Nobody but a driver that looks after it lets a card be master of the bus: not when it is given up, nor when it is let go. */
static bool bus_master(struct rig *rig)
{
	bool running, wedged, again, unbound, bound;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(is_master(&running) && card_reset("wedge") && is_master(&wedged) && card_reset("1") && is_master(&again));
	CHECK(driver_unbind() && is_master(&unbound) && driver_bind() && is_master(&bound));
	CHECK(running && !wedged && again && !unbound && bound);
	return rig_queue(rig) && rig_works(rig);
}

void discovery_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-03 SYS-21: a card without memory", no_memory},
		{"SYS-03 SYS-21: a name that fills its field", long_name},
		{"SYS-21 SYS-28: the card is master of the bus while the driver looks after it", bus_master},
		{0},
	};
	char name[100];

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		snprintf(name, sizeof(name), "SYS-03 SYS-21: discovery: %s", lies[i].what);
		subtest(name, is_judged, &lies[i]);
	}
	subtests(tests);
}
