// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dladdr */
/*
 * The transport xrt over a table that plays XRT (SYS-42, SYS-44): buffer objects are memory of this process, the
 * kernel is the emulated card behind the registers of tutti/xrt_card.h. Every call may fail, and what has been opened
 * is counted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "emulator/card/card.h"
#include "transport/xrt/library.h"
#include "tutti.h"
#include "tutti/xrt_card.h"

#define HOST_ADDRESS 0x2000000000ull /* device address of host memory: not its pointer */

/** struct buffer - a buffer object that is allocated. */
struct buffer {
	uint8_t *map;
	size_t bytes;
	uint64_t address, flags;
};

static struct xrt {
	unsigned calls, fail_at; /* number of the call that fails, 0 = none */
	int error;
	unsigned open; /* devices, kernels, buffers */
	struct buffer buffer[2];
	uint32_t registers[TUTTI_XRT_REGISTERS_END / 4];
	struct tutti_card_config config;
	struct tutti_card *card;
	uint32_t magic, version;
	uint64_t bar_bytes, misplaced; /* replace what the card says, if not 0 */
	bool bad_state, no_kicks;
	unsigned index;
	char bdf[32], xclbin[64];
} xrt;

static bool fails(void)
{
	if (++xrt.calls != xrt.fail_at)
		return false;
	errno = xrt.error;
	return true;
}

static void *open_index(unsigned index)
{
	if (fails())
		return NULL;
	xrt.index = index;
	xrt.open++;
	return &xrt;
}

static void *open_bdf(const char *bdf)
{
	snprintf(xrt.bdf, sizeof(xrt.bdf), "%s", bdf);
	return open_index(99);
}

static int close_any(void *object)
{
	assert_non_null(object);
	assert_true(xrt.open-- > 0);
	return 0;
}

static int load_file(void *device, const char *path)
{
	assert_ptr_equal(device, &xrt);
	snprintf(xrt.xclbin, sizeof(xrt.xclbin), "%s", path);
	return fails() ? -1 : 0;
}

static int get_uuid(void *device, xrt_uuid uuid)
{
	memset(uuid, 7, sizeof(xrt_uuid));
	return fails() ? -1 : 0;
}

static void *open_kernel(void *device, const xrt_uuid uuid, const char *name)
{
	assert_string_equal(name, "tutti");
	assert_int_equal(uuid[15], 7);
	if (fails())
		return NULL;
	xrt.open++;
	return &xrt.card;
}

static int group(void *kernel, int argument)
{
	return fails() ? -1 : 3 + argument;
}

static uint64_t pair(unsigned offset)
{
	return (uint64_t)xrt.registers[offset / 4 + 1] << 32 | xrt.registers[offset / 4];
}

static void *host_memory(void *context, uint64_t bus, uint64_t bytes)
{
	uint64_t offset = bus - HOST_ADDRESS;

	assert_true(offset < xrt.buffer[1].bytes && bytes <= xrt.buffer[1].bytes - offset);
	return xrt.buffer[1].map + offset;
}

static void interrupt(void *context, unsigned vector)
{
}

static void enable(bool on)
{
	if (xrt.card)
		tutti_card_destroy(xrt.card);
	xrt.card = NULL;
	xrt.registers[TUTTI_XRT_STATE / 4] = TUTTI_XRT_OFF;
	if (!on)
		return;
	assert_int_equal(pair(TUTTI_XRT_BAR), xrt.buffer[0].address);
	assert_int_equal(pair(TUTTI_XRT_HOST), HOST_ADDRESS);
	assert_int_equal(pair(TUTTI_XRT_HOST_BYTES), xrt.buffer[1].bytes);
	xrt.config.bar = xrt.buffer[0].map;
	if (!xrt.bad_state)
		assert_int_equal(tutti_card_create(&xrt.config, &xrt.card), 0);
	xrt.registers[TUTTI_XRT_STATE / 4] = xrt.bad_state ? TUTTI_XRT_FAILED : TUTTI_XRT_READY;
}

static int read_register(void *kernel, uint32_t offset, uint32_t *value)
{
	assert_true(offset < TUTTI_XRT_REGISTERS_END);
	*value = xrt.registers[offset / 4];
	return fails() ? -1 : 0;
}

static int write_register(void *kernel, uint32_t offset, uint32_t value)
{
	if (offset == TUTTI_XRT_KICK) {
		if (xrt.no_kicks) {
			errno = EIO;
			return -1;
		}
		tutti_card_kick(xrt.card);
		return 0;
	}
	if (offset == TUTTI_XRT_ENABLE && !value) { /* closing has to work whatever fails */
		enable(false);
		return 0;
	}
	if (fails())
		return -1;
	xrt.registers[offset / 4] = value;
	if (offset == TUTTI_XRT_ENABLE)
		enable(true);
	return 0;
}

static void *bo_alloc(void *device, size_t bytes, uint64_t flags, uint32_t group)
{
	struct buffer *buffer = &xrt.buffer[flags == XRT_HOST_ONLY];

	assert_int_equal(group, flags == XRT_HOST_ONLY ? 4 : 3);
	if (fails())
		return NULL;
	buffer->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(buffer->map != MAP_FAILED);
	if (flags == XRT_HOST_ONLY)
		memset(buffer->map, 0xa5, 1u << 20); /* what the program before has left */
	buffer->bytes = bytes;
	buffer->flags = flags;
	buffer->address = (flags == XRT_HOST_ONLY ? HOST_ADDRESS : 0x4000000) + xrt.misplaced;
	xrt.open++;
	return buffer;
}

static int bo_free(void *object)
{
	struct buffer *buffer = object;

	assert_null(xrt.card); /* it would still write there */
	munmap(buffer->map, buffer->bytes);
	memset(buffer, 0, sizeof(*buffer));
	return close_any(object);
}

static void *bo_map(void *object)
{
	return fails() ? NULL : ((struct buffer *)object)->map;
}

static uint64_t bo_address(void *object)
{
	return ((struct buffer *)object)->address;
}

static const struct xrt_library library = {
	.xrtDeviceOpen = open_index, .xrtDeviceOpenByBDF = open_bdf, .xrtDeviceClose = close_any,
	.xrtDeviceLoadXclbinFile = load_file, .xrtDeviceGetXclbinUUID = get_uuid,
	.xrtPLKernelOpenExclusive = open_kernel, .xrtKernelClose = close_any, .xrtKernelArgGroupId = group,
	.xrtKernelReadRegister = read_register, .xrtKernelWriteRegister = write_register,
	.xrtBOAlloc = bo_alloc, .xrtBOFree = bo_free, .xrtBOMap = bo_map, .xrtBOAddress = bo_address,
};

static int setup(void **state)
{
	char firmware[256];

	memset(&xrt, 0, sizeof(xrt));
	xrt.config = (struct tutti_card_config){.memory_bytes = 64u << 20, .host_memory = host_memory, .interrupt = interrupt};
	xrt.error = EBUSY;
	xrt.registers[TUTTI_XRT_MAGIC / 4] = TUTTI_XRT_MAGIC_VALUE;
	xrt.registers[TUTTI_XRT_VERSION / 4] = TUTTI_XRT_VERSION_VALUE;
	xrt.registers[TUTTI_XRT_BAR_BYTES / 4] = (uint32_t)tutti_card_bar_bytes(&xrt.config);
	xrt_library_replace(&library);
	setenv("TUTTI_XRT_HOST_MIB", "64", 1);
	unsetenv("TUTTI_XCLBIN");
	snprintf(firmware, sizeof(firmware), "%s/firmware/tutti-fw.bin", getenv("TUTTI_OUT") ?: "build");
	setenv("TUTTI_FIRMWARE", firmware, 1);
	return 0;
}

static int teardown(void **state)
{
	xrt_library_replace(NULL);
	return xrt.open != 0;
}

static int open_card(const char *name, struct tutti_device **device)
{
	return tutti_device_open(&(struct tutti_device_options){.name = name}, device);
}

/* Packets, signals and page tables of both memories work, and everything is given back. */
static void works(void **state)
{
	struct tutti_queue *queue;
	struct tutti_device *device;
	uint32_t *system, *card;

	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(open_card("xrt", &device), 0);
		assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 1u << 20, (void **)&system), 0);
		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 1u << 20, (void **)&card), 0);
		for (unsigned i = 0; i < 1u << 18; i++)
			system[i] = i * 2654435761u + round;
		assert_int_equal(tutti_copy(queue, card, system, 1u << 20), 0);
		memset(system, 0, 1u << 20);
		assert_int_equal(tutti_copy(queue, system, card, 1u << 20), 0);
		for (unsigned i = 0; i < 1u << 18; i++)
			assert_int_equal(system[i], i * 2654435761u + round);
		assert_int_equal(tutti_queue_destroy(queue), 0);
		assert_int_equal(tutti_device_close(device), 0);
		assert_int_equal(xrt.open, 0);
	}
}

/* Whichever call fails, opening ends with its errno and leaves nothing open. */
static void every_call_fails(void **state)
{
	struct tutti_device *device;
	unsigned calls;
	int error;

	setenv("TUTTI_XCLBIN", "card.xclbin", 1);
	assert_int_equal(open_card("xrt", &device), 0);
	calls = xrt.calls;
	assert_string_equal(xrt.xclbin, "card.xclbin");
	assert_int_equal(tutti_device_close(device), 0);
	assert_true(calls > 15);
	for (unsigned i = 1; i <= calls; i++) {
		setup(NULL);
		setenv("TUTTI_XCLBIN", "card.xclbin", 1);
		xrt.fail_at = i;
		error = open_card("xrt", &device);
		if (error != -EBUSY)
			fail_msg("call %u: %d", i, error);
		assert_int_equal(xrt.open, 0);
	}
	xrt.fail_at = 1;
	xrt.calls = 0;
	xrt.error = 0; /* XRT does not always set errno */
	assert_int_equal(open_card("xrt", &device), -ENODEV);
}

static void other_kernels(void **state)
{
	struct tutti_device *device;

	xrt.registers[TUTTI_XRT_MAGIC / 4]++;
	assert_int_equal(open_card("xrt", &device), -EPROTO);
	setup(NULL);
	xrt.registers[TUTTI_XRT_VERSION / 4]++;
	assert_int_equal(open_card("xrt", &device), -EPROTO);
	setup(NULL);
	xrt.registers[TUTTI_XRT_BAR_BYTES / 4] = 0;
	assert_int_equal(open_card("xrt", &device), -EPROTO);
	setup(NULL);
	xrt.registers[TUTTI_XRT_BAR_BYTES / 4] += 64;
	assert_int_equal(open_card("xrt", &device), -EPROTO);
	setup(NULL);
	xrt.misplaced = 64;
	assert_int_equal(open_card("xrt", &device), -EPROTO);
	setup(NULL);
	xrt.bad_state = true;
	assert_int_equal(open_card("xrt", &device), -EIO);
}

static void names(void **state)
{
	static const char *const bad[] = {"xrt:x", "xrt:-1", "xrt:1x", "xrt:4294967296", "xrt: 1"};
	struct tutti_device *device;

	assert_int_equal(open_card("xrt:17", &device), 0);
	assert_int_equal(xrt.index, 17);
	assert_int_equal(tutti_device_close(device), 0);
	assert_int_equal(open_card("xrt:0000:65:00.1", &device), 0);
	assert_string_equal(xrt.bdf, "0000:65:00.1");
	assert_int_equal(tutti_device_close(device), 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(open_card(bad[i], &device), -EINVAL);
	setenv("TUTTI_XRT_HOST_MIB", "15", 1);
	assert_int_equal(open_card("xrt", &device), -EINVAL);
	setenv("TUTTI_XRT_HOST_MIB", "many", 1);
	assert_int_equal(open_card("xrt", &device), -EINVAL);
}

/* XRT shares no memory that it has not allocated. */
static void no_foreign_memory(void **state)
{
	struct tutti_device *device;
	void *memory = aligned_alloc(4096, 8192), *big;

	assert_int_equal(open_card("xrt", &device), 0);
	assert_int_equal(tutti_memory_lock(device, memory, 8192), -EOPNOTSUPP);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 64u << 20, &big), -ENOMEM);
	assert_int_equal(tutti_device_close(device), 0);
	free(memory);
}

/* A card that XRT does not reach any more is dead: waits end, and closing works. */
static void lost(void **state)
{
	struct tutti_device *device;
	struct tutti_queue *queue;
	uint32_t *card;
	int error = 0;

	assert_int_equal(open_card("xrt", &device), 0);
	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 4096, (void **)&card), 0);
	xrt.no_kicks = true;
	for (unsigned i = 0; i < 10000 && !error; i++) /* a card that is awake needs no kick */
		error = tutti_copy(queue, card, card + 512, 64);
	assert_int_equal(error, -EIO);
	tutti_queue_destroy(queue);
	assert_int_equal(tutti_device_close(device), 0);
}

static bool forks; /* while XRT is loaded, another thread of the program calls fork() */
static pid_t child;
static char installed[] = "/tmp/test-xrt-XXXXXX/libxrt_coreutil.so.2"; /* where dlopen() finds XRT, if installs */
static bool installs;

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);

void *__real_dlsym(void *file, const char *name);
void *__wrap_dlsym(void *file, const char *name);
int __real_dladdr(const void *symbol, Dl_info *info);
int __wrap_dladdr(const void *symbol, Dl_info *info);

void *__wrap_dlsym(void *file, const char *name)
{
	return installs && !strncmp(name, "xrt", 3) ? &xrt : __real_dlsym(file, name);
}

int __wrap_dladdr(const void *symbol, Dl_info *info)
{
	if (symbol != &xrt)
		return __real_dladdr(symbol, info);
	info->dli_fname = installed;
	return 1;
}

void *__wrap_dlopen(const char *path, int flags)
{
	if (installs)
		return __real_dlopen(NULL, flags);
	if (!forks)
		return __real_dlopen(path, flags);
	forks = false;
	child = fork();
	if (!child) {
		alarm(10);
		xrt_library_replace(&library);
		_exit(0);
	}
	return __real_dlopen("/nonexistent", flags);
}

/* A child process is not kept waiting by another thread of its parent that was just about to load XRT. */
static void child_of_the_program(void **state)
{
	const struct xrt_library *loaded;
	int status;

	xrt_library_replace(NULL);
	forks = true;
	assert_int_equal(xrt_library_open(&loaded), -ENODEV);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* What a child has ended with. */
static int exit_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Loads XRT, whose second part is there only when it tries again. Then a child of it ends. Exits with what went wrong. */
static void load_in_child(const char *part, char *scratch, size_t bytes)
{
	const struct xrt_library *loaded;
	pid_t pid;

	alarm(60);
	if (xrt_library_open(&loaded) != -ENODEV)
		_exit(1);
	if (close(open(part, O_CREAT | O_WRONLY, 0600)) || xrt_library_open(&loaded))
		_exit(2);
	snprintf(scratch, bytes, "%s", getenv("XILINX_XRT"));
	pid = fork();
	if (!pid)
		exit(0);
	if (exit_of(pid) || access(scratch, F_OK))
		_exit(3);
	exit(0);
}

/* The folder that XRT is given can be made when it is tried again, and goes with the process that has made it. */
static void folder_of_parts(void **state)
{
	const size_t folder = strlen("/tmp/test-xrt-XXXXXX");
	char *scratch = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), part[64];

	installed[folder] = 0;
	assert_non_null(mkdtemp(installed));
	snprintf(part, sizeof(part), "%s/libxrt_core.so.2", installed);
	installed[folder] = '/';
	xrt_library_replace(NULL);
	unsetenv("XILINX_XRT");
	unsetenv("XCL_EMULATION_MODE");
	installs = true;
	fflush(NULL);
	child = fork();
	if (!child)
		load_in_child(part, scratch, 4096);
	installs = false;
	assert_int_equal(exit_of(child), 0);
	assert_true(*scratch && access(scratch, F_OK));
	unlink(part);
	installed[folder] = 0;
	assert_int_equal(rmdir(installed), 0);
	munmap(scratch, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(works, setup, teardown),
		cmocka_unit_test_setup_teardown(every_call_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(other_kernels, setup, teardown),
		cmocka_unit_test_setup_teardown(names, setup, teardown),
		cmocka_unit_test_setup_teardown(no_foreign_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(lost, setup, teardown),
		cmocka_unit_test_setup_teardown(child_of_the_program, setup, teardown),
		cmocka_unit_test_setup_teardown(folder_of_parts, setup, teardown),
	};

	return cmocka_run_group_tests_name("SYS-44, the transport xrt", tests, NULL, NULL);
}
