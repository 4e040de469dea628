// SPDX-License-Identifier: MIT
/* mkimage - make a firmware image (include/tutti/firmware.h) from the linked ELF file. */
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base.h"
#include "tutti/firmware.h"

struct image {
	uint8_t *bytes;
	size_t size;
};

static uint32_t append(struct image *image, const void *data, size_t bytes)
{
	size_t at = (image->size + 3) & ~(size_t)3;

	image->bytes = realloc(image->bytes, at + bytes);
	if (!image->bytes)
		err(1, "out of memory");
	memset(image->bytes + image->size, 0, at - image->size);
	if (data)
		memcpy(image->bytes + at, data, bytes);
	else
		memset(image->bytes + at, 0, bytes);
	image->size = at + bytes;
	return (uint32_t)at;
}

static uint32_t crc32(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0u;

	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void add_segments(struct image *image, Elf *elf, struct tutti_image *head)
{
	char *raw = elf_rawfile(elf, NULL);
	size_t i, n;
	GElf_Phdr p;

	if (!raw || elf_getphdrnum(elf, &n))
		errx(1, "%s", elf_errmsg(-1));
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !p.p_memsz)
			continue;
		if (head->segments == TUTTI_IMAGE_SEGMENTS)
			errx(1, "too many segments");
		head->segment[head->segments++] = (struct tutti_image_segment){
			.address = (uint32_t)p.p_paddr,
			.memory_bytes = (uint32_t)p.p_memsz,
			.file_offset = append(image, raw + p.p_offset, p.p_filesz),
			.file_bytes = (uint32_t)p.p_filesz,
		};
	}
}

static void add_symbols(struct image *image, Elf *elf, struct tutti_image *head)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_SYMTAB || !shdr.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		for (size_t i = 0; data && i < shdr.sh_size / shdr.sh_entsize; i++) {
			struct tutti_image_symbol s = { 0 };
			uint32_t at;

			if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
			    !symbol.st_size)
				continue;
			s.address = (uint32_t)symbol.st_value;
			s.bytes = (uint32_t)symbol.st_size;
			snprintf(s.name, sizeof(s.name), "%s", elf_strptr(elf, shdr.sh_link, symbol.st_name));
			at = append(image, &s, sizeof(s));
			if (!head->symbols++)
				head->symbols_offset = at;
		}
	}
}

int main(int argc, char **argv)
{
	struct tutti_image head = {
		.magic = TUTTI_IMAGE_MAGIC,
		.header_bytes = sizeof(head),
		.firmware_version = FW_VERSION,
		.contract_min = FW_CONTRACT_MIN,
		.contract_max = TUTTI_CONTRACT_VERSION,
		.build = "tutti 1.0",
	};
	struct image image = { 0 };
	GElf_Ehdr ehdr;
	FILE *out;
	Elf *elf;
	int fd;

	if (argc != 3)
		errx(2, "usage: mkimage firmware.elf firmware.bin");
	elf_version(EV_CURRENT);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || !gelf_getehdr(elf, &ehdr))
		errx(1, "%s: %s", argv[1], elf_errmsg(-1));
	head.entry = (uint32_t)ehdr.e_entry;
	append(&image, NULL, sizeof(head));
	add_segments(&image, elf, &head);
	add_symbols(&image, elf, &head);
	head.file_bytes = (uint32_t)image.size;
	memcpy(image.bytes, &head, sizeof(head));
	head.crc = crc32(image.bytes + 8, image.size - 8);
	memcpy(image.bytes, &head, sizeof(head));
	out = fopen(argv[2], "wb");
	if (!out || fwrite(image.bytes, 1, image.size, out) != image.size || fclose(out))
		err(1, "%s", argv[2]);
	elf_end(elf);
	close(fd);
	free(image.bytes);
	return 0;
}
