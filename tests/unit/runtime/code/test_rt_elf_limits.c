/* SPDX-License-Identifier: MIT */
/*
 * Limits of the headers, segments and notes of a code object: what is just accepted, and what is refused one step further
 * (SYS-07, REL-01).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "code/elf_verdict.h"

/* Removes the relocations, so that nothing refers to the data segment. */
static void no_relocations(void)
{
	o.s[3].sh_type = SHT_NULL;
}

/* Gives the data segment this address and size, and adapts the symbol and the relocations that refer to it. */
static void move_data(uint64_t address, uint64_t size)
{
	o.p[2].p_vaddr = address;
	o.p[2].p_memsz = size;
	o.sym[2].st_value = address + 8;
	o.rela[0] = (Elf64_Rela){address, ELF64_R_INFO(0, R_RISCV_RELATIVE), (int64_t)address + 16};
	o.rela[1].r_offset = address + 16;
}

static void header(void **state)
{
	BAD(o.h.e_ident[EI_VERSION] = 0, "not a 64-bit little-endian ELF file");
	BAD(o.h.e_version = 2, "not a 64-bit little-endian ELF file");
	for (int more = -1; more <= 1; more += 2) {
		BAD(o.h.e_phentsize = (uint16_t)(sizeof(Elf64_Phdr) + more), "program headers are not inside the file");
		BAD(o.h.e_shentsize = (uint16_t)(sizeof(Elf64_Shdr) + more), "section headers are not inside the file");
	}
	BAD((memset(&o, 0, sizeof(o)), bytes = sizeof(o)), "not an ELF file");
}

/* Makes a file without data that ends with these program or section headers. */
static void at_the_end(const void *headers, size_t size)
{
	o.p[1].p_filesz = 100;
	o.p[2].p_filesz = 0;
	bytes = AT(data);
	memcpy((uint8_t *)&o + bytes - size, headers, size);
}

static void headers_at_the_end(void **state)
{
	good();
	o.h.e_phoff = AT(data) - sizeof(o.p);
	at_the_end(o.p, sizeof(o.p));
	assert_good();
	bytes--;
	assert_bad("program headers are not inside the file");
	good();
	o.h.e_shoff = AT(data) - sizeof(o.s);
	at_the_end(o.s, sizeof(o.s));
	assert_good();
	bytes--;
	assert_bad("section headers are not inside the file");
}

/* The image ends with the last page of any segment, whatever the order of the segments in the file. */
static void size_of_the_image(void **state)
{
	static const struct {
		uint64_t address, size, image;
	} rows[] = {{0x20000, 4095, 0x21000},
		    {0x20000, 4096, 0x21000},
		    {0x20000, 4097, 0x22000},
		    {0x20008, 4088, 0x21000},
		    {0x20008, 4089, 0x22000},
		    {0x11000, 64, 0x12000},
		    {0xf000, 4096, 0x11000},
		    {ELF_IMAGE_MAX - 8192, 8192, ELF_IMAGE_MAX},
		    {ELF_IMAGE_MAX - 4096, 4095, ELF_IMAGE_MAX}};

	for (unsigned i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Phdr data;

		GOOD(move_data(rows[i / 2].address, rows[i / 2].size));
		if (i % 2) {
			data = o.p[2];
			o.p[2] = o.p[1];
			o.p[1] = data;
			assert_good();
		}
		assert_true(elf.image_bytes == rows[i / 2].image);
		assert_int_equal(elf.segments, 3);
		for (unsigned k = 0; k < 3; k++) {
			assert_true(elf.segment[k].address == o.p[k].p_vaddr && elf.segment[k].offset == o.p[k].p_offset);
			assert_true(elf.segment[k].memory_bytes == o.p[k].p_memsz);
			assert_true(elf.segment[k].file_bytes == o.p[k].p_filesz);
			assert_int_equal(elf.segment[k].flags, o.p[k].p_flags);
		}
	}
	BAD(move_data(ELF_IMAGE_MAX - 4096, 4097), "the image is too large");
	BAD(move_data(ELF_IMAGE_MAX, 64), "the image is too large");
}

/* Segments may be adjacent but must not share a page, whichever of them comes first in the file. */
static void neighbours(void **state)
{
	static const char text[] = "segments overlap or share a page";
	static const struct {
		uint64_t address, size;
	} rows[] = {{0xf000, 4097}, {0xe000, 8193}, {0x10000, 64}, {0x10ff8, 64}, {0x10fc0, 4096}, {0x8000, 0x10000}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Phdr data;

		BAD(move_data(rows[i].address, rows[i].size), text);
		data = o.p[2];
		o.p[2] = o.p[1];
		o.p[1] = data;
		assert_bad(text);
	}
	GOOD((o.p[1].p_memsz = 8192, move_data(0x12000, 64)));
	BAD((o.p[1].p_memsz = 8193, move_data(0x12000, 64)), text);
}

/* Segments without memory are ignored; of the others, up to ELF_SEGMENTS_MAX are accepted. */
static void number_of_segments(void **state)
{
	Elf64_Phdr *p = (Elf64_Phdr *)o.code;

	GOOD((no_relocations(), o.p[2] = (Elf64_Phdr){PT_LOAD, 7, UINT64_MAX, UINT64_MAX, 0, 5, 0, 0}));
	assert_int_equal(elf.segments, 2);
	for (unsigned more = 0; more < 2; more++) {
		good();
		o.h.e_phoff = AT(code);
		o.h.e_phnum = (uint16_t)(ELF_SEGMENTS_MAX + 1 + more);
		memcpy(p, o.p, sizeof(o.p));
		for (unsigned i = 4; i < o.h.e_phnum; i++)
			p[i] = (Elf64_Phdr){PT_LOAD, PF_R, 0, i * 0x100000, 0, 0, 8, 0};
		if (more) {
			assert_bad("too many segments");
			continue;
		}
		assert_good();
		assert_int_equal(elf.segments, ELF_SEGMENTS_MAX);
	}
	BAD((o.p[0].p_type = o.p[1].p_type = o.p[2].p_type = PT_NULL), "nothing to load");
	GOOD((no_relocations(), o.p[2].p_type = PT_TLS, o.p[2].p_memsz = 0));
	BAD((no_relocations(), o.p[2].p_type = PT_TLS, o.p[2].p_memsz = 1), "needs an interpreter or thread-local storage");
}

/* ---- notes ---- */

static uint8_t *const notes = (uint8_t *)o.code; /* good() zeroes this page, which has room for notes */
static unsigned seed;

static unsigned draw(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

/*
 * Adds a note at @at: a valid TUTTI note if @ours, otherwise one with a random name, type and length. Return: where the next
 * note begins
 */
static size_t add_note(size_t at, bool ours)
{
	static const char *const owners[] = {"", "GNU", "TUTTI", "TUTTJ", "TUTTI+", "Linux kernel"};
	const char *owner = ours ? "TUTTI" : owners[draw(6)];
	Elf64_Nhdr n = {.n_namesz = (uint32_t)strlen(owner) + 1, .n_descsz = draw(70), .n_type = draw(3)};

	if (ours)
		n = (Elf64_Nhdr){6, sizeof(struct tutti_code_note) + draw(2) * draw(7), TUTTI_CODE_NOTE_TYPE};
	else if (!*owner || !draw(4))
		n.n_namesz -= !!n.n_namesz; /* without the terminating zero */
	memcpy(notes + at, &n, sizeof(n));
	memcpy(notes + at + sizeof(n), owner, n.n_namesz);
	at += sizeof(n) + (n.n_namesz + 3) / 4 * 4;
	if (n.n_descsz >= sizeof(struct tutti_code_note))
		memcpy(notes + at, &o.note.note, sizeof(o.note.note));
	return at + (n.n_descsz + 3) / 4 * 4;
}

/* What the ELF specification says about this many bytes of notes: "" if a TUTTI note is among them, or the error. */
static const char *expected(size_t size)
{
	bool seen = false;
	size_t at = 0;

	while (at < size && size - at >= 12) {
		uint32_t field[3];
		size_t content;

		memcpy(field, notes + at, 12);
		content = at + 12 + ((size_t)field[0] + 3) / 4 * 4;
		if (content + field[1] > size)
			return "a note is longer than its segment";
		if (field[0] == 6 && !memcmp(notes + at + 12, "TUTTI", 6) && field[2] == 1) {
			if (field[1] < 48)
				return "the TUTTI note is too short";
			seen = true;
		}
		at = content + ((size_t)field[1] + 3) / 4 * 4;
	}
	return seen ? "" : "no TUTTI note: not made by tuttic";
}

/* Notes of other owners, of any length, are skipped before and behind ours. The last note may lack its padding. */
static void other_notes(void **state)
{
	unsigned taken = 0;

	seed = 3;
	for (unsigned round = 0; round < 4000; round++) {
		unsigned count = 1 + draw(5), ours = draw(6);
		size_t size = 0, cut;
		const char *want;

		good();
		for (unsigned i = 0; i < count; i++)
			size = add_note(size, i == ours);
		cut = draw(3) ? 0 : draw(2) ? draw(16) : draw((unsigned)size);
		o.p[3].p_offset = AT(code);
		o.p[3].p_filesz = size = cut < size ? size - cut : 0;
		want = expected(size);
		if (*want)
			assert_bad(want);
		else
			assert_good();
		taken += !*want;
	}
	assert_in_range(taken, 1000, 3000);
}

/*
 * The TUTTI note is refused if its ISA string is wrong or not terminated, if its contract version is too new or has another
 * major number, if it has unknown flags, or if it is too short.
 */
static void our_note(void **state)
{
	const unsigned major = TUTTI_VERSION_MAJOR(TUTTI_CONTRACT_VERSION);
	char *isa = o.note.note.isa;

	BAD(isa[sizeof(o.note.note.isa) - 1] = 'x', "made for another ISA");
	GOOD(isa[sizeof(o.note.note.isa) - 2] = 'x');
	BAD(isa[strlen(isa)] = '2', "made for another ISA");
	BAD(o.note.note.contract = TUTTI_VERSION(major - 1, 0), "made for another contract version");
	BAD(o.note.note.contract = TUTTI_CONTRACT_VERSION + 1, "made for another contract version");
	BAD(o.note.note.contract = TUTTI_VERSION(major + 1, 0), "made for another contract version");
	for (uint32_t bit = 1; bit; bit <<= 1)
		BAD(o.note.note.flags = bit, "unknown flags in the TUTTI note");
	BAD((o.note.n.n_descsz--, o.p[3].p_filesz--), "the TUTTI note is too short");
}

/* Segments of notes may overlap, but their sizes must not add up to more than the size of the file. */
static void amount_of_notes(void **state)
{
	for (unsigned more = 0; more < 2; more++) {
		good();
		no_relocations();
		memcpy(o.code, &o.note, sizeof(o.note)); /* the zeroes behind it are empty notes without an owner */
		o.p[2] = (Elf64_Phdr){PT_NOTE, PF_R, AT(code), 0, 0, sizeof(o.code), 0, 4};
		o.p[3].p_offset = AT(code);
		o.p[3].p_filesz = bytes - sizeof(o.code) + more;
		if (more)
			assert_bad("more notes than bytes");
		else
			assert_good();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(header),		 cmocka_unit_test(headers_at_the_end),
	    cmocka_unit_test(size_of_the_image), cmocka_unit_test(neighbours),
	    cmocka_unit_test(number_of_segments), cmocka_unit_test(other_notes),
	    cmocka_unit_test(our_note),		 cmocka_unit_test(amount_of_notes),
	};

	return cmocka_run_group_tests_name("SYS-07, REL-01 limits of code objects: segments and notes", tests, NULL, NULL);
}
