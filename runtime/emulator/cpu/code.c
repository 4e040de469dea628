// SPDX-License-Identifier: MIT
/*
 * Pages of decoded instructions. A page is made at the first fetch from it: its halfwords are copied, and the
 * number of instructions to its end is known for each halfword from the lengths alone. A slot is decoded when
 * it is first executed, so that a large image costs what is run of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define PAGE_MASK ((uint64_t)CPU_PAGE - 1)

static uint64_t wrap(const struct cpu *cpu, uint64_t va)
{
	return cpu->xlen == 32 ? (uint32_t)va : va;
}

/* The bytes of [va, va + bytes) that can be executed from @va on, copied. Return: how many; 0 and cpu->fault
 * if none. */
static uint64_t fetch_bytes(struct cpu *cpu, uint64_t va, uint64_t bytes, void *to)
{
	struct cpu_span span = {0};
	uint64_t room;
	int reason;

	if (cpu->flat && va < cpu->flat_bytes) {
		span = (struct cpu_span){0, cpu->flat_bytes, cpu->flat, CPU_MAY_FETCH, false};
	} else {
		reason = cpu->bus->span(cpu->user, va, CPU_FETCH, &span);
		if (reason || !span.host) {
			cpu_refuse(cpu, CPU_FAULT_MEMORY, CPU_FETCH, va, reason);
			return 0;
		}
		if (!(span.rights & CPU_MAY_FETCH)) {
			cpu_refuse(cpu, CPU_FAULT_RIGHTS, CPU_FETCH, va, 0);
			return 0;
		}
	}
	room = span.first + span.bytes - va;
	if (room > bytes)
		room = bytes;
	memcpy(to, span.host + (va - span.first), room);
	return room;
}

bool cpu_fetch(struct cpu *cpu, uint64_t pc, uint32_t *raw)
{
	uint16_t half[2] = {0, 0};

	if (fetch_bytes(cpu, pc, 2, &half[0]) < 2)
		return false;
	if (cpu_insn_bytes(half[0]) == 4 && fetch_bytes(cpu, wrap(cpu, pc + 2), 2, &half[1]) < 2)
		return false;
	*raw = half[0] | (uint32_t)half[1] << 16;
	return true;
}

/* ---- decoding ---- */

/* Branches by their condition, for those to another page */
static const uint16_t conditions[] = {CPU_BEQ, CPU_BNE, CPU_BLT, CPU_BGE, CPU_BLTU, CPU_BGEU};

static unsigned condition_of(unsigned op)
{
	unsigned i = 0;

	while (conditions[i] != op)
		i++;
	return i;
}

/* Branches and jal know where they go: the slot of this page and what to count, or that it is another page.
 */
static void aim(struct cpu_page *page, struct cpu_op *op, const struct cpu_insn *insn)
{
	int64_t slot = op - page->op + insn->imm / 2;

	if (slot >= 0 && slot < CPU_PAGE_SLOTS) {
		op->imm = insn->imm / 2;
		op->count = (int16_t)(page->op[slot].left - op->left + 1);
	} else if (insn->op == CPU_JAL) {
		op->code = CPU_CODE_JAL_FAR;
		op->rm = insn->bytes;
	} else {
		op->code = CPU_CODE_BRANCH_FAR;
		op->rm = insn->bytes;
		op->rs3 = (uint8_t)condition_of(insn->op);
	}
}

static void decode(struct cpu *cpu, struct cpu_page *page, struct cpu_op *op, uint32_t raw)
{
	struct cpu_insn insn;
	uint32_t operands;

	cpu_decode(raw, cpu->xlen, &insn);
	operands = cpu_op_operands(insn.op);
	op->code = (uint16_t)(2 * insn.op + (insn.bytes == 4));
	op->rd = (operands & CPU_RD) && !insn.rd ? CPU_SINK : insn.rd;
	op->rs1 = insn.rs1;
	op->rs2 = insn.rs2;
	op->rs3 = insn.rs3;
	op->rm = insn.rm;
	op->imm = insn.op == CPU_ILLEGAL ? (int32_t)insn.raw : insn.imm;
	if (insn.op == CPU_JAL || (operands & CPU_IS_BRANCH))
		aim(page, op, &insn);
}

void cpu_page_decode(struct cpu *cpu, struct cpu_page *page, struct cpu_op *op)
{
	size_t slot = (size_t)(op - page->op);
	uint64_t pc = page->va + 2 * slot;
	uint32_t raw = page->half[slot];
	uint16_t high;

	if (cpu_breakpoint_at(cpu, pc)) {
		op->code = CPU_CODE_BREAKPOINT;
		return;
	}
	if (cpu_insn_bytes(raw) == 2) {
		decode(cpu, page, op, raw);
		return;
	}
	if (slot + 1 < CPU_PAGE_SLOTS)
		raw |= (uint32_t)page->half[slot + 1] << 16;
	else if (fetch_bytes(cpu, wrap(cpu, pc + 2), 2, &high) == 2)
		raw |= (uint32_t)high << 16;
	else
		return; /* still undecoded: cpu->fault says why */
	decode(cpu, page, op, raw);
}

/* ---- pages ---- */

/* @slots of the page are there; the rest, and an instruction of which only the first half is there, cannot be executed. */
static void prepare(struct cpu_page *page, size_t slots)
{
	for (size_t i = CPU_PAGE_SLOTS; i-- > 0;) {
		struct cpu_op *op = &page->op[i];
		size_t halves = cpu_insn_bytes(page->half[i]) / 2;

		op->code = CPU_CODE_UNDECODED;
		op->left = (uint16_t)(op[halves].left + 1);
		if (i >= slots || (slots < CPU_PAGE_SLOTS && i + halves > slots))
			op->code = CPU_CODE_FETCH_FAULT;
	}
}

static struct cpu_page *page_new(struct cpu *cpu, uint64_t va)
{
	struct cpu_page *page = calloc(1, sizeof(*page));
	uint64_t bytes;

	if (!page) {
		cpu_refuse(cpu, CPU_FAULT_MEMORY, CPU_FETCH, va, 0);
		return NULL;
	}
	page->va = va & ~PAGE_MASK;
	page->op[CPU_PAGE_SLOTS].code = page->op[CPU_PAGE_SLOTS + 1].code = CPU_CODE_END;
	bytes = fetch_bytes(cpu, page->va, CPU_PAGE, page->half);
	/* Spans need not be whole pages: what lies between two of them is asked for when it is executed. */
	prepare(page, bytes / 2);
	return page;
}

/* The table's first page of a place is the one used last. */
struct cpu_page *cpu_page(struct cpu *cpu, uint64_t pc)
{
	uint64_t va = pc & ~PAGE_MASK;
	struct cpu_page **head = &cpu->pages[va / CPU_PAGE % CPU_PAGES], **link, *page;
	uint16_t probe;

	for (link = head; *link && (*link)->va != va; link = &(*link)->next)
		;
	page = *link;
	if (page) {
		*link = page->next;
	} else {
		if (fetch_bytes(cpu, pc, 2, &probe) < 2)
			return NULL;
		page = page_new(cpu, va);
		if (!page)
			return NULL;
	}
	page->next = *head;
	*head = page;
	return page;
}

void cpu_drop_code(struct cpu *cpu, uint64_t first, uint64_t end)
{
	for (unsigned i = 0; i < CPU_PAGES; i++) {
		struct cpu_page **link = &cpu->pages[i], *page;

		while ((page = *link)) {
			/* its last instruction may lie on the next page, too */
			if (page->va >= end || page->va + CPU_PAGE + 2 <= first) {
				link = &page->next;
				continue;
			}
			*link = page->next;
			free(page);
		}
	}
}

/* ---- breakpoints ---- */

static size_t place_of(const struct cpu *cpu, uint64_t pc)
{
	size_t low = 0, high = cpu->breakpoint_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (cpu->breakpoints[middle] < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool cpu_breakpoint_at(const struct cpu *cpu, uint64_t pc)
{
	size_t at = place_of(cpu, pc);

	return at < cpu->breakpoint_count && cpu->breakpoints[at] == pc;
}

static void page_redecode(struct cpu *cpu, uint64_t pc)
{
	struct cpu_page *page = cpu->pages[pc / CPU_PAGE % CPU_PAGES];
	struct cpu_op *op;

	while (page && page->va != (pc & ~PAGE_MASK))
		page = page->next;
	if (!page)
		return;
	op = &page->op[(pc & PAGE_MASK) / 2];
	if (op->code != CPU_CODE_FETCH_FAULT)
		op->code = CPU_CODE_UNDECODED;
}

int cpu_breakpoint(struct cpu *cpu, uint64_t pc, bool set)
{
	size_t at = place_of(cpu, pc), rest = cpu->breakpoint_count - at;
	uint64_t *grown;

	if (set == cpu_breakpoint_at(cpu, pc))
		return 0;
	if (set) {
		grown = realloc(cpu->breakpoints, (cpu->breakpoint_count + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		cpu->breakpoints = grown;
		memmove(grown + at + 1, grown + at, rest * sizeof(*grown));
		grown[at] = pc;
		cpu->breakpoint_count++;
	} else {
		memmove(cpu->breakpoints + at, cpu->breakpoints + at + 1, (rest - 1) * sizeof(*grown));
		cpu->breakpoint_count--;
	}
	page_redecode(cpu, pc);
	return 0;
}
