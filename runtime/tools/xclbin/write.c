// SPDX-License-Identifier: MIT
/* The xclbin without a bitstream: what XRT has to know about the card's kernel, its registers and banks. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "tutti/xrt_card.h"
#include "xclbin.h"

#define INSTANCE      "tutti_1"
#define REGISTER_BASE 0x1800000u /* of the kernel's port, in the card's address map */
#define HOST_BASE     0x2000000000ull
#define HOST_KIB      (64ull << 20)

enum { BANK_CARD, BANK_HOST, BANKS };

/* The arguments are where XRT learns the banks from; their registers are written by the transport itself. */
static const char metadata[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<project name=\"tutti\"><platform vendor=\"tutti\" boardid=\"tutti\" name=\"tutti\" featureRomTime=\"0\">\n"
    "<version major=\"1\" minor=\"0\"/><description/>\n"
    "<device name=\"fpga0\" fpgaDevice=\"tutti\" addrWidth=\"0\"><core name=\"OCL_REGION_0\" target=\"csim\" "
    "type=\"clc_region\" clockFreq=\"0MHz\" numComputeUnits=\"1\">\n"
    "<kernel name=\"" TUTTI_XRT_KERNEL "\" language=\"ip_c\" hwControlProtocol=\"user_managed\" interrupt=\"false\">\n"
    "<port name=\"s_axi_control\" mode=\"slave\" range=\"0x1000\" dataWidth=\"32\" portType=\"addressable\" base=\"0x0\"/>\n"
    "<port name=\"m_axi_bar\" mode=\"master\" range=\"0xFFFFFFFF\" dataWidth=\"512\" portType=\"addressable\" base=\"0x0\"/>\n"
    "<port name=\"m_axi_host\" mode=\"master\" range=\"0xFFFFFFFF\" dataWidth=\"512\" portType=\"addressable\" base=\"0x0\"/>\n"
    "<arg name=\"bar\" addressQualifier=\"1\" id=\"0\" port=\"m_axi_bar\" size=\"0x8\" offset=\"0x%x\" "
    "hostOffset=\"0x0\" hostSize=\"0x8\" type=\"void*\" memSize=\"0x8\"/>\n"
    "<arg name=\"host\" addressQualifier=\"1\" id=\"1\" port=\"m_axi_host\" size=\"0x8\" offset=\"0x%x\" "
    "hostOffset=\"0x0\" hostSize=\"0x8\" type=\"void*\" memSize=\"0x8\"/>\n"
    "<instance name=\"" INSTANCE "\"><addrRemap base=\"0x%x\" port=\"s_axi_control\"/></instance>\n"
    "</kernel></core></device></platform></project>\n";

/** struct content - one section and its bytes. */
struct content {
	uint32_t kind;
	const char *name;
	const void *data;
	size_t bytes;
};

static int write_padded(FILE *file, const void *data, size_t bytes)
{
	static const uint8_t zeroes[8];

	if (fwrite(data, 1, bytes, file) != bytes)
		return -EIO;
	return fwrite(zeroes, 1, -bytes & 7, file) == (-bytes & 7) ? 0 : -EIO;
}

static int write_all(FILE *file, const struct content *content, unsigned count)
{
	struct xclbin_header header = {.magic = XCLBIN_MAGIC, .signature_bytes = -1, .major = 2, .mode = XCLBIN_SW_EMULATION,
				       .platform = "tutti", .sections = count};
	uint64_t at = sizeof(header) + count * sizeof(struct xclbin_section);
	int error;

	memset(header.reserved, 0xff, sizeof(header.reserved));
	memset(header.key_block, 0xff, sizeof(header.key_block));
	header.unique = header.made = (uint64_t)time(NULL);
	if (getrandom(header.uuid, sizeof(header.uuid), 0) != sizeof(header.uuid))
		return -EIO;
	header.bytes = at;
	for (unsigned i = 0; i < count; i++)
		header.bytes += (content[i].bytes + 7) & ~7ull;
	error = write_padded(file, &header, sizeof(header));
	for (unsigned i = 0; !error && i < count; i++) {
		struct xclbin_section section = {.kind = content[i].kind, .offset = at, .bytes = content[i].bytes};

		snprintf(section.name, sizeof(section.name), "%s", content[i].name);
		error = write_padded(file, &section, sizeof(section));
		at += (content[i].bytes + 7) & ~7ull;
	}
	for (unsigned i = 0; !error && i < count; i++)
		error = write_padded(file, content[i].data, content[i].bytes);
	return error;
}

static int write_card(FILE *file, uint64_t memory)
{
	struct {
		int32_t count, padding;
		struct xclbin_bank bank[BANKS];
	} banks = {BANKS, 0, {{XCLBIN_BANK_DDR4, 1, {0}, memory >> 10, 0, "bank0"},
			      {XCLBIN_BANK_HOST, 1, {0}, HOST_KIB, HOST_BASE, "HOST[0]"}}};
	struct {
		int32_t count;
		struct xclbin_connection connection[TUTTI_XRT_ARGS];
	} connections = {TUTTI_XRT_ARGS, {{TUTTI_XRT_ARG_BAR, 0, BANK_CARD}, {TUTTI_XRT_ARG_HOST, 0, BANK_HOST}}};
	struct {
		int32_t count, padding;
		struct xclbin_ip ip[1];
	} ips = {1, 0, {{XCLBIN_IP_KERNEL, 0, REGISTER_BASE, TUTTI_XRT_KERNEL ":" INSTANCE}}};
	char xml[sizeof(metadata) + 32];
	int bytes = snprintf(xml, sizeof(xml), metadata, TUTTI_XRT_BAR, TUTTI_XRT_HOST, REGISTER_BASE);
	const struct content content[] = {
		{XCLBIN_BITSTREAM, "", "none", 4}, /* sw_emu wants one */
		{XCLBIN_METADATA, "", xml, (size_t)bytes},
		{XCLBIN_MEMORY, "", &banks, sizeof(banks)},
		{XCLBIN_CONNECTIVITY, "", &connections, sizeof(connections)},
		{XCLBIN_IPS, "", &ips, sizeof(ips)},
		{XCLBIN_GROUP_MEMORY, "", &banks, sizeof(banks)},
		{XCLBIN_GROUP_CONNECTIVITY, "", &connections, sizeof(connections)},
	};

	return write_all(file, content, sizeof(content) / sizeof(*content));
}

int xclbin_write(const char *path, uint64_t memory)
{
	FILE *file = fopen(path, "we");
	int error;

	if (!file)
		return -errno;
	error = write_card(file, memory);
	if (fclose(file) && !error)
		error = -EIO;
	if (error)
		remove(path);
	return error;
}
