/* SPDX-License-Identifier: MIT */
/*
 * Matrix products and convolutions by tensor requests (the kernels of the examples),
 * bit for bit what OpenBLAS and oneDNN say, on numbers whose sums are exact.
 */
#include <cblas.h>
#include <dnnl.h>

#include "examples/conv/conv.h"
#include "rig.h"

static float *numbers(size_t n, unsigned *seed)
{
	float *x = rig_alloc(rig, n * sizeof(*x));

	for (size_t i = 0; i < n && seed; i++)
		x[i] = (float)(rand_r(seed) % 15) - 7;
	return x;
}

static struct tutti_tensor *tiles(const void *base, unsigned rank, const uint64_t *size, const uint32_t *box,
				  enum tutti_swizzle swizzle)
{
	struct tutti_tiled t = { .tensor = { .base = base, .type = TUTTI_F32, .rank = rank, .swizzle = swizzle } };
	struct tutti_tensor *tensor = rig_alloc(rig, sizeof(*tensor));

	memcpy(t.tensor.size, size, rank * sizeof(*size));
	memcpy(t.box, box, rank * sizeof(*box));
	assert_int_equal(tutti_tensor_encode_tiled(tensor, &t), 0);
	return tensor;
}

/* One launch of @name from the example's code object. */
static void run(const char *file, const char *name, uint32_t x, uint32_t y, void *args)
{
	struct tutti_executable *code;
	struct tutti_kernel kernel;
	tutti_signal_t signal = rig_signal(rig, 1);
	struct tutti_launch launch = { .kernel = &kernel, .grid = { x * 128, y }, .workgroup = { 128, 1 },
				       .kernarg = args, .signal = signal, .acquire = 2, .release = 2 };

	assert_int_equal(tutti_executable_load_file(rig->device, rig_out(file), &code, NULL), 0);
	assert_int_equal(tutti_executable_kernel(code, name, &kernel), 0);
	assert_int_equal(tutti_dispatch(rig->queue, &launch), 0);
	rig_wait(rig, signal);
	tutti_signal_destroy(rig->device, signal);
	tutti_executable_destroy(code);
}

/* ---- matrix product ------------------------------------------------------ */

#define GEMM_TILE 32u

struct gemm_args { const struct tutti_tensor *a, *b, *c; uint32_t k; };

static void check_gemm(const char *kernel, uint32_t m, uint32_t n, uint32_t k)
{
	unsigned seed = m * 31 + n * 7 + k;
	float *a = numbers(m * k, &seed), *b = numbers(k * n, &seed), *c = numbers(m * n, NULL);
	float *want = calloc(m * n, sizeof(*want));
	const uint32_t box[] = { GEMM_TILE, GEMM_TILE };
	struct gemm_args *args = rig_alloc(rig, sizeof(*args));

	*args = (struct gemm_args){ tiles(a, 2, (uint64_t[]){ k, m }, box, TUTTI_SWIZZLE_128),
				    tiles(b, 2, (uint64_t[]){ n, k }, box, TUTTI_SWIZZLE_128),
				    tiles(c, 2, (uint64_t[]){ n, m }, box, TUTTI_SWIZZLE_128), k };
	run("examples/gemm.tco", kernel, (n + GEMM_TILE - 1) / GEMM_TILE, (m + GEMM_TILE - 1) / GEMM_TILE, args);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)n, 0, want,
		    (int)n);
	assert_memory_equal(c, want, m * n * sizeof(*c));
	free(want);
}

static void gemm(void **state)
{
	check_gemm("gemm", 32, 32, 32);
	check_gemm("gemm", 64, 96, 160);
	check_gemm("gemm", 33, 36, 40);   /* boxes overlap the edges on all sides */
	check_gemm("gemm", 1, 4, 4);
	check_gemm("gemm", 100, 64, 36);
}

/* By CGAs of 2 x 2 with multicast: grids of whole CGAs. */
static void gemm_cga(void **state)
{
	check_gemm("gemm_cga", 64, 64, 32);
	check_gemm("gemm_cga", 128, 192, 160);
	check_gemm("gemm_cga", 33, 36, 40);
	check_gemm("gemm_cga", 100, 64, 228);
}

/* ---- convolution ----------------------------------------------------------- */

/** struct shape - dimensions W, H, D. */
struct shape {
	unsigned dimensions;
	int images, in, out;
	int size[3], taps[3], stride[3], dilation[3], low[3], high[3];
};

static int out_size(const struct shape *s, unsigned d)
{
	return (s->size[d] + s->low[d] + s->high[d] - (s->taps[d] - 1) * s->dilation[d] - 1) / s->stride[d] + 1;
}

/* oneDNN's order: images, channels, then D H W. */
static void dims(dnnl_dims_t to, const struct shape *s, int first, int second, const int x[3])
{
	to[0] = first;
	to[1] = second;
	for (unsigned d = 0; d < s->dimensions; d++)
		to[2 + d] = x[s->dimensions - 1 - d];
}

/* Memory descriptors are pointers in oneDNN 3 and values in oneDNN 2, which Debian 12 has. */
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t layout_t;
#define LAYOUT(d) (d)
#else
typedef const dnnl_memory_desc_t *layout_t;
#define LAYOUT(d) (&(d))
#define dnnl_memory_desc_create_with_tag dnnl_memory_desc_init_by_tag
#define dnnl_memory_desc_destroy(d) ((void)(d))

static dnnl_status_t dnnl_convolution_forward_primitive_desc_create(
	dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnnl_prop_kind_t kind, dnnl_alg_kind_t algorithm, layout_t x,
	layout_t w, layout_t bias, layout_t y, const dnnl_dims_t stride, const dnnl_dims_t dilate, const dnnl_dims_t low,
	const dnnl_dims_t high, const_dnnl_primitive_attr_t attributes)
{
	dnnl_convolution_desc_t d;
	dnnl_status_t status =
		dnnl_dilated_convolution_forward_desc_init(&d, kind, algorithm, x, w, bias, y, stride, dilate, low, high);

	return status == dnnl_success ? dnnl_primitive_desc_create(pd, &d, attributes, engine, NULL) : status;
}
#endif

static dnnl_memory_t memory(layout_t d, dnnl_engine_t engine, const void *data)
{
	dnnl_memory_t m;

	assert_int_equal(dnnl_memory_create(&m, d, engine, (void *)(uintptr_t)data), dnnl_success);
	return m;
}

static void reference(const struct shape *s, const float *x, const float *w, float *y)
{
	bool flat = s->dimensions == 2;
	unsigned n = s->dimensions + 2;
	int out[3] = { 1, 1, 1 };
	dnnl_dims_t xd = { 0 }, wd = { 0 }, yd = { 0 }, stride = { 0 }, dilate = { 0 }, low = { 0 }, high = { 0 };
	dnnl_memory_desc_t x_md, w_md, y_md;
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t conv;
	dnnl_engine_t engine;
	dnnl_stream_t stream;

	for (unsigned d = 0; d < s->dimensions; d++) {
		unsigned e = s->dimensions - 1 - d;

		out[d] = out_size(s, d);
		stride[e] = s->stride[d];
		dilate[e] = s->dilation[d] - 1;
		low[e] = s->low[d];
		high[e] = s->high[d];
	}
	dims(xd, s, s->images, s->in, s->size);
	dims(wd, s, s->out, s->in, s->taps);
	dims(yd, s, s->images, s->out, out);
	dnnl_memory_desc_create_with_tag(&x_md, (int)n, xd, dnnl_f32, flat ? dnnl_nhwc : dnnl_ndhwc);
	dnnl_memory_desc_create_with_tag(&w_md, (int)n, wd, dnnl_f32, flat ? dnnl_ohwi : dnnl_odhwi);
	dnnl_memory_desc_create_with_tag(&y_md, (int)n, yd, dnnl_f32, flat ? dnnl_nhwc : dnnl_ndhwc);
	assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
	assert_int_equal(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), dnnl_success);
	assert_int_equal(dnnl_convolution_forward_primitive_desc_create(
				 &pd, engine, dnnl_forward_inference, dnnl_convolution_direct, LAYOUT(x_md), LAYOUT(w_md),
				 NULL, LAYOUT(y_md), stride, dilate, low, high, NULL),
			 dnnl_success);
	assert_int_equal(dnnl_primitive_create(&conv, pd), dnnl_success);

	dnnl_exec_arg_t args[] = { { DNNL_ARG_SRC, memory(LAYOUT(x_md), engine, x) },
				   { DNNL_ARG_WEIGHTS, memory(LAYOUT(w_md), engine, w) },
				   { DNNL_ARG_DST, memory(LAYOUT(y_md), engine, y) } };

	assert_int_equal(dnnl_primitive_execute(conv, stream, 3, args), dnnl_success);
	dnnl_stream_wait(stream);
	for (unsigned i = 0; i < 3; i++)
		dnnl_memory_destroy(args[i].memory);
	dnnl_primitive_destroy(conv);
	dnnl_primitive_desc_destroy(pd);
	dnnl_memory_desc_destroy(x_md);
	dnnl_memory_desc_destroy(w_md);
	dnnl_memory_desc_destroy(y_md);
	dnnl_stream_destroy(stream);
	dnnl_engine_destroy(engine);
}

static struct tutti_tensor *columns(const struct shape *s, const float *x)
{
	struct tutti_im2col t = { .tensor = { .base = x, .type = TUTTI_F32, .rank = s->dimensions + 2,
					      .swizzle = TUTTI_SWIZZLE_128 },
				  .channels = CHANNELS, .pixels = PIXELS };
	struct tutti_tensor *tensor = rig_alloc(rig, sizeof(*tensor));

	t.tensor.size[0] = (uint64_t)s->in;
	t.tensor.size[s->dimensions + 1] = (uint64_t)s->images;
	for (unsigned d = 0; d < s->dimensions; d++) {
		t.tensor.size[d + 1] = (uint64_t)s->size[d];
		t.tensor.traversal[d + 1] = (uint32_t)s->stride[d];
		t.lower[d] = -s->low[d];
		t.upper[d] = s->high[d] - (s->taps[d] - 1) * s->dilation[d];
	}
	assert_int_equal(tutti_tensor_encode_im2col(tensor, &t), 0);
	return tensor;
}

static void check_conv(const struct shape *s)
{
	unsigned seed = 5;
	size_t pixels = (size_t)s->images, points = (size_t)s->images * (size_t)s->in, taps = 1;
	struct conv_args *args = rig_alloc(rig, sizeof(*args));
	float *x, *w, *y, *want;

	args->dimensions = s->dimensions;
	args->channels = (uint32_t)s->in;
	for (unsigned d = 0; d < s->dimensions; d++) {
		pixels *= (size_t)out_size(s, d);
		points *= (size_t)s->size[d];
		taps *= (size_t)s->taps[d];
		args->taps[d] = (uint32_t)s->taps[d];
		args->size[d] = (uint32_t)out_size(s, d);
		args->stride[d] = s->stride[d];
		args->dilation[d] = s->dilation[d];
		args->lower[d] = -s->low[d];
	}
	x = numbers(points, &seed);
	w = numbers(taps * (size_t)s->in * (size_t)s->out, &seed);
	y = numbers(pixels * (size_t)s->out, NULL);
	want = calloc(pixels * (size_t)s->out, sizeof(*want));
	args->x = columns(s, x);
	args->w = tiles(w, 3, (uint64_t[]){ (uint64_t)s->in, taps, (uint64_t)s->out },
			(uint32_t[]){ CHANNELS, 1, FILTERS }, TUTTI_SWIZZLE_128);
	args->y = tiles(y, 2, (uint64_t[]){ (uint64_t)s->out, pixels }, (uint32_t[]){ FILTERS, PIXELS }, 0);
	run("examples/conv.tco", "conv", (uint32_t)(pixels + PIXELS - 1) / PIXELS,
	    (uint32_t)(s->out + FILTERS - 1) / FILTERS, args);
	reference(s, x, w, want);
	assert_memory_equal(y, want, pixels * (size_t)s->out * sizeof(*y));
	free(want);
}

static void conv_2d(void **state)
{
	static const struct shape shapes[] = {
		{ 2, 1, 4, 4, { 5, 5 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
		{ 2, 4, 36, 20, { 9, 14 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
		{ 2, 3, 32, 16, { 9, 13 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
		{ 2, 2, 8, 16, { 12, 10 }, { 3, 3 }, { 1, 1 }, { 2, 2 }, { 2, 2 }, { 2, 2 } },
		{ 2, 2, 8, 16, { 12, 10 }, { 3, 5 }, { 1, 2 }, { 3, 1 }, { 0, 3 }, { 5, 1 } }, /* all sizes differ */
		{ 2, 5, 64, 4, { 3, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
		{ 2, 2, 4, 8, { 17, 6 }, { 2, 4 }, { 3, 1 }, { 1, 1 }, { 0, 2 }, { 1, 1 } },
	};

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		check_conv(&shapes[i]);
}

static void conv_3d(void **state)
{
	static const struct shape shapes[] = {
		{ 3, 2, 8, 16, { 5, 4, 3 }, { 3, 3, 3 }, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 } },
		{ 3, 3, 4, 20, { 7, 6, 5 }, { 2, 3, 2 }, { 2, 1, 2 }, { 1, 2, 1 }, { 0, 2, 1 }, { 1, 1, 0 } },
	};

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		check_conv(&shapes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-48 TMA-08 TMA-15: products equal OpenBLAS's", gemm, NULL, NULL, NULL },
		{ "SYS-48 TMA-23: products by CGAs with multicast equal OpenBLAS's", gemm_cga, NULL, NULL, NULL },
		{ "TMA-14: convolutions in two dimensions equal oneDNN's", conv_2d, NULL, NULL, NULL },
		{ "TMA-14: convolutions in three dimensions equal oneDNN's", conv_3d, NULL, NULL, NULL },
	};

	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	setenv("OMP_NUM_THREADS", "1", 0);
	return cmocka_run_group_tests_name("TMAU arithmetic", tests, rig_group_open, rig_group_close);
}
