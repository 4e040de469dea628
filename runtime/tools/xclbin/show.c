// SPDX-License-Identifier: MIT
/* What an xclbin contains. The file is hostile: nothing in it is believed. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tutti/xrt_card.h"
#include "xclbin.h"

#define BYTES_MAX (1ull << 30)

/** struct image - the file. */
struct image {
	const uint8_t *data;
	size_t bytes;
};

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[XCLBIN_BITSTREAM] = "bitstream", [XCLBIN_METADATA] = "metadata (XML)", [XCLBIN_MEMORY] = "memory banks",
		[XCLBIN_CONNECTIVITY] = "connectivity", [XCLBIN_IPS] = "kernels", [XCLBIN_GROUP_MEMORY] = "groups of banks",
		[XCLBIN_GROUP_CONNECTIVITY] = "connectivity of groups",
	};

	return kind < sizeof(names) / sizeof(*names) && names[kind] ? names[kind] : "other";
}

/* The rows of a table that lie inside its section, as many as its count says. */
static int32_t table_rows(const uint8_t *data, uint64_t bytes, uint64_t head, uint64_t row)
{
	uint64_t room = bytes < head ? 0 : (bytes - head) / row;
	int32_t count = 0;

	if (bytes >= sizeof(count))
		memcpy(&count, data, sizeof(count));
	return count < 0 || (uint64_t)count > room ? (int32_t)room : count;
}

static void show_banks(const uint8_t *data, uint64_t bytes)
{
	int32_t count = table_rows(data, bytes, sizeof(struct xclbin_banks), sizeof(struct xclbin_bank));

	for (int32_t i = 0; i < count; i++) {
		struct xclbin_bank bank;

		memcpy(&bank, data + sizeof(struct xclbin_banks) + (size_t)i * sizeof(bank), sizeof(bank));
		printf("    bank %d: %-15.15s %10llu KiB at 0x%llx%s\n", i, bank.name, (unsigned long long)bank.kib,
		       (unsigned long long)bank.base, bank.used ? "" : " (not used)");
	}
}

static bool show_ips(const uint8_t *data, uint64_t bytes)
{
	int32_t count = table_rows(data, bytes, sizeof(struct xclbin_ips), sizeof(struct xclbin_ip));
	bool tutti = false;

	for (int32_t i = 0; i < count; i++) {
		struct xclbin_ip ip;

		memcpy(&ip, data + sizeof(struct xclbin_ips) + (size_t)i * sizeof(ip), sizeof(ip));
		printf("    kernel %d: %.63s, registers at 0x%llx\n", i, ip.name, (unsigned long long)ip.base);
		tutti |= !strncmp(ip.name, TUTTI_XRT_KERNEL ":", sizeof(TUTTI_XRT_KERNEL));
	}
	return tutti;
}

static void show_connections(const uint8_t *data, uint64_t bytes)
{
	int32_t count = table_rows(data, bytes, sizeof(struct xclbin_connections), sizeof(struct xclbin_connection));

	for (int32_t i = 0; i < count; i++) {
		struct xclbin_connection row;

		memcpy(&row, data + sizeof(struct xclbin_connections) + (size_t)i * sizeof(row), sizeof(row));
		printf("    argument %d of kernel %d: bank %d\n", row.argument, row.ip, row.bank);
	}
}

/* Return: does the section hold Tutti's kernel? */
static bool show_section(const struct image *image, const struct xclbin_section *section)
{
	const uint8_t *data = image->data + section->offset;

	printf("  section %u, %s: %llu bytes\n", section->kind, kind_name(section->kind), (unsigned long long)section->bytes);
	if (section->offset > image->bytes || section->bytes > image->bytes - section->offset) {
		printf("    lies outside of the file\n");
		return false;
	}
	if (section->kind == XCLBIN_MEMORY)
		show_banks(data, section->bytes);
	else if (section->kind == XCLBIN_CONNECTIVITY)
		show_connections(data, section->bytes);
	return section->kind == XCLBIN_IPS && show_ips(data, section->bytes);
}

static int show(const struct image *image)
{
	struct xclbin_header header;
	size_t room;
	bool tutti = false;

	if (image->bytes < sizeof(header))
		return -EINVAL;
	memcpy(&header, image->data, sizeof(header));
	if (memcmp(header.magic, XCLBIN_MAGIC, sizeof(header.magic)))
		return -EINVAL;
	room = (image->bytes - sizeof(header)) / sizeof(struct xclbin_section);
	printf("platform %.63s, %u sections, uuid ", header.platform, header.sections);
	for (unsigned i = 0; i < sizeof(header.uuid); i++)
		printf("%02x", header.uuid[i]);
	putchar('\n');
	for (uint32_t i = 0; i < header.sections && i < room; i++) {
		struct xclbin_section section;

		memcpy(&section, image->data + sizeof(header) + i * sizeof(section), sizeof(section));
		tutti |= show_section(image, &section);
	}
	printf(tutti ? "it holds a Tutti card\n" : "it holds no kernel '%s'\n", TUTTI_XRT_KERNEL);
	return 0;
}

int xclbin_show(const char *path)
{
	FILE *file = fopen(path, "re");
	uint8_t *data = NULL;
	long bytes;
	int error = 0;

	if (!file)
		return -errno;
	bytes = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
	rewind(file);
	if (bytes < 0 || (uint64_t)bytes > BYTES_MAX)
		error = -EFBIG;
	else if (!(data = malloc((size_t)bytes + 1)))
		error = -ENOMEM;
	else if (fread(data, 1, (size_t)bytes, file) != (size_t)bytes)
		error = -EIO;
	else
		error = show(&(struct image){data, (size_t)bytes});
	free(data);
	fclose(file);
	return error;
}
