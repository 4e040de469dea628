/* SPDX-License-Identifier: MIT */
/**
 * DOC: Files of Xilinx (xclbin): what of their format `tutti xclbin` needs
 *
 * As XRT's public header xclbin.h has it; a test compares the two where that is installed. A file is a header, section
 * headers, and sections at multiples of 8 bytes. All numbers are little endian.
 */
#ifndef TUTTI_TOOLS_XCLBIN_H
#define TUTTI_TOOLS_XCLBIN_H

#include <stdbool.h>

#include "tutti/types.h"

#define XCLBIN_MAGIC	 "xclbin2"
#define XCLBIN_SECTIONS_MAX 0x10000u
#define XCLBIN_SW_EMULATION 5u /* struct xclbin_header.mode */

/** enum xclbin_kind - kinds of sections that Tutti knows. */
enum xclbin_kind {
	XCLBIN_BITSTREAM = 0,
	XCLBIN_METADATA = 2, /* XML: kernels, their arguments and registers */
	XCLBIN_MEMORY = 6,
	XCLBIN_CONNECTIVITY = 7,
	XCLBIN_IPS = 8,
	XCLBIN_GROUP_MEMORY = 26, /* as MEMORY and CONNECTIVITY, with banks joined to groups */
	XCLBIN_GROUP_CONNECTIVITY = 27,
};

struct xclbin_section {
	uint32_t kind;
	char name[16];
	uint32_t padding;
	uint64_t offset, bytes;
};
TUTTI_SIZE(struct xclbin_section, 40);

struct xclbin_header {
	char magic[8];
	int32_t signature_bytes; /* -1: none */
	uint8_t reserved[28];
	uint8_t key_block[256];
	uint64_t unique;
	uint64_t bytes, made, platform_made;
	uint16_t patch;
	uint8_t major, minor;
	uint16_t mode, actions;
	uint8_t platform_uuid[16];
	char platform[64];
	uint8_t uuid[16];
	char debug[16];
	uint32_t sections;
	uint32_t padding;
};
TUTTI_SIZE(struct xclbin_header, 456);
TUTTI_AT(struct xclbin_header, bytes, 304);
TUTTI_AT(struct xclbin_header, platform, 352);
TUTTI_AT(struct xclbin_header, uuid, 416);
TUTTI_AT(struct xclbin_header, sections, 448);

/** struct xclbin_bank - one bank of memory; its size is in KiB. */
struct xclbin_bank {
	uint8_t type, used, padding[6];
	uint64_t kib, base;
	char name[16];
};
TUTTI_SIZE(struct xclbin_bank, 40);

#define XCLBIN_BANK_DDR4 1u
#define XCLBIN_BANK_HOST 10u

/** struct xclbin_connection - argument @argument of IP @ip uses bank @bank. */
struct xclbin_connection {
	int32_t argument, ip, bank;
};
TUTTI_SIZE(struct xclbin_connection, 12);

struct xclbin_ip {
	uint32_t type, properties;
	uint64_t base;
	char name[64]; /* kernel:instance */
};
TUTTI_SIZE(struct xclbin_ip, 80);

#define XCLBIN_IP_KERNEL 1u

/* Tables begin with their count; rows of 8-byte numbers are aligned to 8. */
struct xclbin_banks {
	int32_t count, padding;
	struct xclbin_bank bank[];
};
struct xclbin_connections {
	int32_t count;
	struct xclbin_connection connection[];
};
struct xclbin_ips {
	int32_t count, padding;
	struct xclbin_ip ip[];
};

/** xclbin_write() - the file for a card of @memory bytes that XRT's emulations load. 0 or -errno. */
int xclbin_write(const char *path, uint64_t memory);
/** xclbin_show() - print what the file contains. 0, -EINVAL if it is no xclbin, or -errno. */
int xclbin_show(const char *path);

#endif
