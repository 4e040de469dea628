// SPDX-License-Identifier: MIT
/*
 * What the card says of itself is checked before it is believed (spec SYS-03): with one thing wrong in it the driver does
 * not bind. Written by root into page 0 of the BAR, while nobody has the card.
 */
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"
#include "tutti/counter.h"
#include "tutti/discovery.h"
#include "tutti/firmware.h"
#include "tutti/sm_state.h"
#include "tutti/trace.h"

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
	PLUS(control.offset, 32), PLUS(control.offset, 1), SAYS(control.offset, ~63u),
	SAYS(control.bytes, sizeof(struct tutti_control) - 1), SAYS(control.bytes, ~0u),
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

static int bar_open(void)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource2", pci_address);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Map the page of the BAR at @offset. Return: NULL if it cannot be mapped. */
static void *bar_page(uint64_t offset)
{
	int fd = bar_open();
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

static struct tutti_discovery *page_open(void)
{
	return bar_page(0);
}

/*
 * Does the driver say in @line that it rejects the discovery data? Checks that fail later log something else, or nothing.
 */
static bool is_disbelief(const char *line)
{
	return strstr(line, "no card: discovery") || strstr(line, "discovery data") || strstr(line, "the card speaks contract");
}

static bool log_says_disbelief(int log)
{
	char record[1024];
	bool said = false;
	ssize_t got;

	while ((got = read(log, record, sizeof(record) - 1)) > 0) {
		record[got] = 0;
		said |= is_disbelief(record);
	}
	return said;
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

static bool judge(struct tutti_discovery *page, const struct lie *lie)
{
	bool bound, back, disbelief;
	int log;

	CHECK(driver_unbind());
	log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(log >= 0 && lseek(log, 0, SEEK_END) >= 0);
	bound = binds(page, lie);
	disbelief = log_says_disbelief(log);
	close(log);
	back = driver_bind();
	CHECK(back);
	EXPECT(lie->binds, bound);
	EXPECT(!lie->binds, disbelief);
	return true;
}

static bool is_judged(struct rig *rig, const void *data)
{
	struct tutti_discovery *page;
	bool good;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	page = page_open();
	SKIP_UNLESS(page, "the BAR cannot be mapped");
	good = judge(page, data);
	munmap(page, PAGE);
	return good && rig_queue(rig) && rig_works(rig);
}

static uint64_t bar_bytes(void)
{
	struct stat file = {0};
	int fd = bar_open();

	fstat(fd, &file);
	close(fd);
	return (uint64_t)file.st_size;
}

/* A table may end where the control window ends, and the aperture where the BAR ends, but not a byte or a page later. */
static bool last_bytes(struct rig *rig)
{
	struct tutti_discovery *page;
	struct lie table = {NULL, PLACE(sm_states.bytes), 0, false, true};
	struct lie aperture = {NULL, PLACE(aperture_bytes), 0, false, true};
	bool good;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	page = page_open();
	SKIP_UNLESS(page, "the BAR cannot be mapped");
	table.value = page->window_bytes - page->sm_states.offset;
	good = judge(page, &table);
	table.value++;
	table.binds = false;
	good = good && judge(page, &table);
	aperture.value = bar_bytes() - page->aperture;
	good = good && judge(page, &aperture);
	aperture.value += PAGE;
	aperture.binds = false;
	good = good && judge(page, &aperture);
	munmap(page, PAGE);
	return good && rig_queue(rig) && rig_works(rig);
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

/* ---- cards that have less than usual ---- */

/* Bind the driver while the card's discovery data are @lie, and call @try; then bind it again with the true data. */
static bool told(struct rig *rig, const struct tutti_discovery *lie, bool (*try)(struct rig *rig))
{
	struct tutti_discovery *page = page_open(), truth;
	bool good;

	CHECK(page && driver_unbind());
	memcpy(&truth, page, sizeof(truth));
	memcpy(page, lie, sizeof(*lie));
	good = driver_bind() && try(rig);
	rig_close(rig);
	driver_unbind();
	memcpy(page, &truth, sizeof(truth));
	munmap(page, PAGE);
	CHECK(driver_bind());
	return good && rig_queue(rig) && rig_works(rig);
}

/* Get the discovery data that the driver read when it was bound last. */
static bool truth(struct tutti_discovery *known)
{
	int fd = device_open();
	bool good = discovery(fd, known);

	close(fd);
	return good;
}

static int ask(struct rig *rig, uint32_t what)
{
	struct drm_tutti_query query = {.what = what};
	int error = call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &query);

	return error == EFAULT ? 0 : error; /* the query is supported, but there is no buffer */
}

static int trace(struct rig *rig)
{
	struct drm_tutti_trace_start start = {.kinds = 1};

	return call(rig->fd, DRM_IOCTL_TUTTI_TRACE_START, &start);
}

static bool rsb_is_shown(struct rig *rig, bool wanted)
{
	struct drm_tutti_rsb_create rsb = {.context = rig->context};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	EXPECT(wanted, rsb.mmap_offset != 0);
	return true;
}

static bool has_tables(struct rig *rig)
{
	CHECK(rig_queue(rig));
	EXPECT(0, ask(rig, DRM_TUTTI_QUERY_SM_STATES));
	EXPECT(0, ask(rig, DRM_TUTTI_QUERY_SM_PLACES));
	EXPECT(0, trace(rig));
	return rsb_is_shown(rig, true) && rsb_is_shown(rig, false) && rig_works(rig);
}

static bool has_no_tables(struct rig *rig)
{
	CHECK(rig_queue(rig));
	EXPECT(EOPNOTSUPP, ask(rig, DRM_TUTTI_QUERY_SM_STATES));
	EXPECT(EOPNOTSUPP, ask(rig, DRM_TUTTI_QUERY_SM_PLACES));
	EXPECT(EOPNOTSUPP, trace(rig));
	return rsb_is_shown(rig, false) && rig_works(rig);
}

/* The driver uses tables of the control window that are just large enough, and does without them if they lack a byte. */
static bool small_tables(struct rig *rig)
{
	struct tutti_discovery lie;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(truth(&lie));
	lie.sm_states.bytes = lie.sms * (uint32_t)sizeof(struct tutti_sm_state);
	lie.sm_table.bytes = lie.sms * (uint32_t)sizeof(struct tutti_sm_place);
	lie.trace.bytes = sizeof(struct tutti_trace);
	lie.rsb_window.bytes = PAGE;
	CHECK(told(rig, &lie, has_tables));
	rig_close(rig);
	lie.sm_states.bytes--;
	lie.sm_table.bytes--;
	lie.trace.bytes--;
	lie.rsb_window.bytes--;
	return told(rig, &lie, has_no_tables);
}

static bool sees_part(struct rig *rig)
{
	struct tutti_discovery known;
	uint32_t bo;

	CHECK(rig_queue(rig) && discovery(rig->fd, &known));
	EXPECT(ENOSPC, bo_create(rig->fd, known.aperture_bytes, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	return rig_works(rig);
}

/* Only card memory that the host can reach through the BAR is allocated. */
static bool unseen_memory(struct rig *rig)
{
	struct tutti_discovery lie;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(truth(&lie));
	lie.memory_bytes += 64 << 20;
	return told(rig, &lie, sees_part);
}

static unsigned vectors;

/* Queues use vector 0, that of the message channel, only if there is no other. */
static bool uses_vectors(struct rig *rig)
{
	struct drm_tutti_state state = {0};
	struct drm_tutti_query query = {DRM_TUTTI_QUERY_STATE, sizeof(state), (uintptr_t)&state};
	unsigned of_queue;

	CHECK(rig_queue(rig) && rig_works(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &query));
	EXPECT(vectors, state.vectors);
	CHECK(debugfs_number("tutti_queues", "queue %u asid %*u vector %u", rig->queue_number, &of_queue));
	EXPECT(vectors - 1, of_queue);
	return true;
}

static bool few_vectors(struct rig *rig)
{
	struct tutti_discovery lie;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(truth(&lie));
	for (vectors = 1; vectors <= 2; vectors++) {
		rig_close(rig);
		lie.msix_vectors = vectors;
		CHECK(told(rig, &lie, uses_vectors));
	}
	return true;
}

/* A card that may not interrupt is not bound. */
static bool no_vectors(struct rig *rig)
{
	char path[96];
	FILE *file;
	bool bound;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/msi_bus", pci_address);
	CHECK(driver_unbind());
	file = fopen(path, "we");
	CHECK(file && fputs("0", file) >= 0 && !fclose(file));
	bound = driver_bind();
	if (bound)
		driver_unbind();
	file = fopen(path, "we");
	CHECK(file && fputs("1", file) >= 0 && !fclose(file));
	CHECK(driver_bind() && !bound);
	return rig_queue(rig) && rig_works(rig);
}

#define LARGE_IMAGE "/lib/firmware/tutti/" TUTTI_IMAGE_NAME_LARGE

/* Without the large firmware image, a card with as many SMs as the small image supports is bound; one with more is not. */
static bool small_image(struct rig *rig)
{
	struct lie many = {NULL, PLACE(sms), TUTTI_SMALL_CARD_SMS, false, true};
	struct tutti_discovery *page;
	bool small, large, back;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	page = page_open();
	SKIP_UNLESS(page, "the BAR cannot be mapped");
	SKIP_UNLESS(!rename(LARGE_IMAGE, LARGE_IMAGE ".away"), "the image cannot be moved away");
	CHECK(driver_unbind());
	small = binds(page, &many);
	many.value++;
	large = binds(page, &many);
	CHECK(!rename(LARGE_IMAGE ".away", LARGE_IMAGE));
	back = driver_bind();
	munmap(page, PAGE);
	CHECK(back && small && !large);
	return rig_queue(rig) && rig_works(rig);
}

/* ---- who may write to the host's memory ---- */

/* Does the card report that it is running? This can be read whether or not the driver is bound. */
static bool card_runs(bool *runs)
{
	struct tutti_discovery *page = page_open();
	const struct tutti_status *status;

	CHECK(page);
	status = bar_page(page->status.offset);
	munmap(page, PAGE);
	CHECK(status);
	*runs = status->state == TUTTI_STATE_RUNNING;
	munmap((void *)status, PAGE);
	return true;
}

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

/*
 * The card may be a bus master only while the driver looks after it: neither after it has been given up nor after the driver
 * has been unbound, which also stops the card.
 */
static bool bus_master(struct rig *rig)
{
	bool running, wedged, again, unbound, bound, runs, runs_unbound;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(is_master(&running) && card_reset("wedge") && is_master(&wedged) && card_reset("1") && is_master(&again));
	CHECK(card_runs(&runs) && driver_unbind() && is_master(&unbound) && card_runs(&runs_unbound));
	CHECK(driver_bind() && is_master(&bound));
	CHECK(running && !wedged && again && !unbound && bound && runs && !runs_unbound);
	return rig_queue(rig) && rig_works(rig);
}

void discovery_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-03 SYS-21: a card without memory", no_memory},
		{"SYS-03 SYS-21: a name that fills its field", long_name},
		{"SYS-03 SYS-21: a table may end where the window ends, the aperture where the BAR ends", last_bytes},
		{"SYS-03 SYS-30: tables that are too small are not used", small_tables},
		{"SYS-03 SYS-22: memory that the host cannot reach is not allocated", unseen_memory},
		{"SYS-21 SYS-26: a card with one or two interrupt vectors works", few_vectors},
		{"SYS-21: a card that may not interrupt is not bound", no_vectors},
		{"SYS-05 SYS-21: only a card with many SMs needs the large firmware image", small_image},
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
