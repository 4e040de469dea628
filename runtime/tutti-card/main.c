// SPDX-License-Identifier: MIT
/* The options of tutti-card. */
#define _GNU_SOURCE
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "xrt_device.h"

#define VECTORS_DEFAULT 32

static const char usage[] =
    "usage: tutti-card --socket PATH [option ...]\n"
    "       tutti-card --xrt [--topology FILE] [--workers N]\n"
    "The emulated Tutti card as a process, for QEMU's ivshmem-doorbell device.\n\n"
    "  --socket PATH    where QEMU connects\n"
    "  --memory FILE    the guest's memory (memory-backend-file,share=on): without it no DMA\n"
    "  --machine TYPE   q35 (default) or pc: where guest memory above the PCI hole lies\n"
    "  --size BYTES     BAR2, a power of two (K, M, G); default 128M\n"
    "  --topology FILE  SMs, limits and card memory\n"
    "  --vectors N      MSI-X vectors, as in ivshmem-doorbell,vectors=N; default 32\n"
    "  --workers N      threads that run waves; default: cores - 1\n"
    "  --control PATH   socket for line commands (\"help\" lists them)\n"
    "  --xrt            be the device process of XRT's software emulation, which starts it\n"
    "  --help\n\n"
    "qemu-system-x86_64 -M q35 -m 512M -object memory-backend-file,id=ram,size=512M,share=on,mem-path=FILE \\\n"
    "  -machine memory-backend=ram -chardev socket,id=card,path=PATH -device ivshmem-doorbell,chardev=card,vectors=32\n";

enum { OPTION_SOCKET = 1, OPTION_MEMORY, OPTION_MACHINE, OPTION_SIZE, OPTION_TOPOLOGY, OPTION_VECTORS,
       OPTION_WORKERS, OPTION_CONTROL, OPTION_XRT, OPTION_HELP };

static const struct option options_known[] = {
    {"socket", required_argument, NULL, OPTION_SOCKET},	    {"memory", required_argument, NULL, OPTION_MEMORY},
    {"machine", required_argument, NULL, OPTION_MACHINE},   {"size", required_argument, NULL, OPTION_SIZE},
    {"topology", required_argument, NULL, OPTION_TOPOLOGY}, {"vectors", required_argument, NULL, OPTION_VECTORS},
    {"workers", required_argument, NULL, OPTION_WORKERS},   {"control", required_argument, NULL, OPTION_CONTROL},
    {"xrt", no_argument, NULL, OPTION_XRT},
    {"help", no_argument, NULL, OPTION_HELP},		    {0},
};

/* "128M"; 0 = not a size */
static uint64_t parse_size(const char *text)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	uint64_t value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return 0;
	value = strtoull(text, &end, 0);
	if (!*end)
		return value;
	suffix = strchr(suffixes, toupper((unsigned char)*end));
	if (!suffix || end[1] || value > UINT32_MAX)
		return 0;
	return value << (10 * (suffix - suffixes + 1));
}

static bool parse_count(const char *text, unsigned most, unsigned *count)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || !value || value > most)
		return false;
	*count = (unsigned)value;
	return true;
}

static bool take_option(struct process_options *options, int option)
{
	switch (option) {
	case OPTION_SOCKET:
		options->socket = optarg;
		return true;
	case OPTION_MEMORY:
		options->memory = optarg;
		return true;
	case OPTION_MACHINE:
		options->q35 = !strcmp(optarg, "q35");
		return options->q35 || !strcmp(optarg, "pc");
	case OPTION_SIZE:
		options->size = parse_size(optarg);
		return options->size != 0;
	case OPTION_TOPOLOGY:
		options->topology = optarg;
		return true;
	case OPTION_VECTORS:
		return parse_count(optarg, PEER_VECTORS_MAX, &options->vectors);
	case OPTION_WORKERS:
		return parse_count(optarg, 64, &options->workers);
	case OPTION_CONTROL:
		options->control = optarg;
		return true;
	case OPTION_XRT:
		options->xrt = true;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	struct process_options options = {.vectors = VECTORS_DEFAULT, .q35 = true};
	static struct process process;
	int option, error;

	while ((option = getopt_long(argc, argv, "", options_known, NULL)) != -1) {
		if (option == OPTION_HELP) {
			fputs(usage, stdout);
			return 0;
		}
		if (!take_option(&options, option)) {
			if (option != '?')
				process_say("cannot use \"%s\"", optarg);
			fputs("tutti-card --help says more\n", stderr);
			return 2;
		}
	}
	if (options.xrt && optind == argc)
		return xrt_device_run(&options) ? 1 : 0;
	if (!options.socket || optind != argc) {
		fputs(usage, stderr);
		return 2;
	}
	error = process_init(&process, &options);
	if (error) {
		process_say("%s", strerror(-error));
		return 1;
	}
	error = process_run(&process, &options);
	process_fini(&process);
	return error ? 1 : 0;
}
