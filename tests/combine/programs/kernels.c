// SPDX-License-Identifier: MIT
/* The kernels of a scenario: what each needs of an SM, and whether it says that it has CGAs. */
#include "programs/produce.h"

static unsigned largest_cpc, largest_gpc, largest_ugpu;

void produce_reset(void)
{
	const struct tutti_discovery *d = discovery();
	unsigned g, u[2] = {0, 0};

	largest_gpc = 0;
	for (g = 0; g < d->gpcs; g++) {
		largest_gpc = d->gpc[g].sms > largest_gpc ? d->gpc[g].sms : largest_gpc;
		u[d->gpc[g].ugpu & 1] += d->gpc[g].sms;
	}
	largest_ugpu = u[0] > u[1] ? u[0] : u[1];
	largest_cpc = largest_gpc < 6 ? largest_gpc : 6;
}

/* Shape 0 is small; the others differ in what they need most of. */
static void make_shape(struct tutti_kernel_descriptor *k, unsigned shape)
{
	static const struct {
		uint16_t scalar, vector, barriers;
		uint32_t shared;
	} shapes[9] = {
	    {1, 2, 0, 0},  {3, 5, 0, 5},  {5, 3, 1, 10}, {7, 1, 0, 21}, {2, 12, 2, 0},
	    {12, 2, 0, 3}, {4, 9, 0, 33}, {8, 8, 4, 0},	 {1, 1, 1, 64},
	};

	k->scalar_blocks = shapes[shape].scalar;
	k->vector_blocks = shapes[shape].vector;
	k->barriers = shapes[shape].barriers;
	k->flags = k->barriers ? TUTTI_KERNEL_BARRIER : 0;
	k->group_bytes = 2048 * shapes[shape].shared;
}

unsigned kernel_domain_sms(unsigned kind)
{
	switch (kind) {
	case TUTTI_CGA_CPC:
		return largest_cpc;
	case TUTTI_CGA_GPC:
		return largest_gpc;
	case TUTTI_CGA_UGPU:
		return largest_ugpu;
	default:
		return w.sms;
	}
}

unsigned kernel_some_kind(void)
{
	static const uint8_t feature[] = {F_CGA_CPC, F_CGA_GPC, F_CGA_UGPU, F_CGA_GPU};
	unsigned kind[4], n = 0, i;

	for (i = 0; i < 4; i++)
		if (features_has(&w.scenario.allowed, feature[i]))
			kind[n++] = i + 1;
	return n ? kind[roll(n)] : 0;
}

unsigned kernel_some_parts(unsigned kind)
{
	unsigned most = kernel_domain_sms(kind);

	return 1 + roll(most > 6 ? 6 : most);
}

void produce_kernels(void)
{
	unsigned i, kind, shapes = w.shapes;
	struct tutti_cga_shape cga;

	for (i = 0; i < KERNELS; i++) {
		kernels[i] = (struct tutti_kernel_descriptor){
		    .magic = TUTTI_KERNEL_MAGIC, .version = 1, .kernarg_align = 16, .entry_offset = 4096};
		make_shape(&kernels[i], shapes > 1 ? roll(shapes) : 0);
		if (i >= CGA_KERNELS && i < WHOLE_KERNELS && (kind = kernel_some_kind())) {
			cga = metadata_cga(kernel_some_parts(kind), kind);
			kernels[i].cga_kind = (uint8_t)kind;
			kernels[i].cga[0] = cga.x;
			kernels[i].cga[1] = cga.y;
			kernels[i].cga[2] = cga.z;
			if (kind <= TUTTI_CGA_GPC && MAYBE(LMEM, 2))
				kernels[i].flags |= TUTTI_KERNEL_LMEM;
		} else if (i >= WHOLE_KERNELS && ALLOWED(INDEPENDENT)) {
			make_shape(&kernels[i], shapes > 4 ? 4 : 0);
			kernels[i].barriers = kernels[i].group_bytes = kernels[i].flags = 0;
			kernels[i].flags = TUTTI_KERNEL_INDEPENDENT;
		}
	}
}
