/* SPDX-License-Identifier: MIT */
/*
 * PoCL, which PERF-03 is compared with, in this process: its devices "basic" and "pthread", and cl_khr_command_buffer.
 * It is loaded at run time; without it there is no comparison.
 */
#include <dlfcn.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#if __has_include(<CL/cl.h>) && __has_include(<CL/cl_ext.h>)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#define FUNCTIONS(X)                                                                                        \
	X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext)    \
	X(clCreateCommandQueueWithProperties) X(clCreateProgramWithSource) X(clBuildProgram)                \
	X(clCreateKernel) X(clEnqueueNDRangeKernel) X(clFinish) X(clFlush) X(clReleaseKernel)               \
	X(clReleaseProgram) X(clReleaseCommandQueue) X(clReleaseContext)                                    \
	X(clGetExtensionFunctionAddressForPlatform) X(clCreateBuffer) X(clSetKernelArg) X(clReleaseMemObject)

#define DECLARE(name) static __typeof__(&name) p_##name;
FUNCTIONS(DECLARE)

#define REPLAY_KERNELS 31

/** struct peer - one OpenCL device made ready. */
struct peer {
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
};

static bool load(void)
{
	void *library;

	/* Without this (in a bare chroot) PoCL aborts the process instead of failing. */
	if (access("/sys/devices/system/cpu", R_OK))
		return false;
	library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
#define RESOLVE(name)                            \
	p_##name = dlsym(library, #name);        \
	if (!p_##name)                           \
		return false;
	FUNCTIONS(RESOLVE)
	return true;
}

/* PoCL's platform, if its ICD is installed. */
static cl_platform_id platform_find(void)
{
	cl_platform_id platforms[16];
	cl_uint count = 0;

	if (p_clGetPlatformIDs(16, platforms, &count))
		return NULL;
	for (cl_uint p = 0; p < count && p < 16; p++) {
		char name[128] = "";

		p_clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof(name), name, NULL);
		if (strstr(name, "Portable Computing Language"))
			return platforms[p];
	}
	return NULL;
}

static bool device_find(cl_platform_id platform, const char *prefix, cl_device_id *device)
{
	cl_device_id devices[16];
	cl_uint count = 0;

	if (p_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices, &count))
		return false;
	for (cl_uint d = 0; d < count && d < 16; d++) {
		char name[256] = "";

		p_clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof(name), name, NULL);
		if (!strncmp(name, prefix, strlen(prefix))) {
			*device = devices[d];
			return true;
		}
	}
	return false;
}

static bool peer_init(struct peer *peer)
{
	const char *source = "__kernel void empty(void) {}\n"
		"__kernel void saxpy(__global const float *x, __global float *y, float a, uint n)\n"
		"{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }\n"
		"__kernel void matmul(__global const float *a, __global const float *b, __global float *c, uint n)\n"
		"{ size_t x = get_global_id(0), y = get_global_id(1); float sum = 0;\n"
		"  for (uint k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];\n"
		"  c[y * n + x] = sum; }\n";
	cl_int error = 0;

	peer->context = p_clCreateContext(NULL, 1, &peer->device, NULL, NULL, &error);
	if (!error)
		peer->queue = p_clCreateCommandQueueWithProperties(peer->context, peer->device, NULL, &error);
	if (!error)
		peer->program = p_clCreateProgramWithSource(peer->context, 1, &source, NULL, &error);
	if (!error)
		error = p_clBuildProgram(peer->program, 1, &peer->device, "", NULL, NULL);
	if (!error)
		peer->kernel = p_clCreateKernel(peer->program, "empty", &error);
	return !error;
}

static void peer_fini(struct peer *peer)
{
	if (peer->kernel)
		p_clReleaseKernel(peer->kernel);
	if (peer->program)
		p_clReleaseProgram(peer->program);
	if (peer->queue)
		p_clReleaseCommandQueue(peer->queue);
	if (peer->context)
		p_clReleaseContext(peer->context);
}

static cl_int enqueue(const struct peer *peer)
{
	const size_t one = 1;

	return p_clEnqueueNDRangeKernel(peer->queue, peer->kernel, 1, NULL, &one, &one, 0, NULL, NULL);
}

static double latency_us(struct bench *bench, const struct peer *peer)
{
	enum { ROUNDS = 5000 };
	static double sample[ROUNDS];
	const unsigned rounds = bench->quick ? 1000 : ROUNDS;

	for (unsigned r = 0; r < rounds; r++) {
		double start = tool_seconds();

		if (enqueue(peer) || p_clFinish(peer->queue))
			return 0;
		sample[r] = 1e6 * (tool_seconds() - start);
	}
	return bench_median(sample, rounds);
}

static double batch_rate(struct bench *bench, const struct peer *peer)
{
	const unsigned rounds = 5, kernels = bench->quick ? 1000 : 10000;
	double sample[5];

	for (unsigned r = 0; r < rounds; r++) {
		double start = tool_seconds();

		for (unsigned k = 0; k < kernels; k++)
			if (enqueue(peer))
				return 0;
		if (p_clFinish(peer->queue))
			return 0;
		sample[r] = kernels / (tool_seconds() - start);
	}
	return bench_median(sample, rounds);
}

/*
 * The loops of PERF-13 (kernels/loops.c), with the same sizes.
 * Return: seconds of a launch from the second one on, 0 = failed.
 */
static double loop_seconds(const struct peer *peer, const char *name, size_t width, size_t height)
{
	enum { LAUNCHES = 6 };
	const size_t grid[2] = { width, height }, bytes = width * height * sizeof(float);
	const float a = 0.5f;
	const cl_uint n = (cl_uint)width;
	bool is_saxpy = !strcmp(name, "saxpy");
	double sample[LAUNCHES];
	cl_mem memory[3] = { NULL };
	cl_int error = 0;
	cl_kernel kernel = p_clCreateKernel(peer->program, name, &error);

	for (unsigned m = 0; m < 3 && !error; m++) {
		memory[m] = p_clCreateBuffer(peer->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
		if (!error && !(is_saxpy && m == 2))
			error = p_clSetKernelArg(kernel, m, sizeof(memory[m]), &memory[m]);
	}
	if (!error && is_saxpy)
		error = p_clSetKernelArg(kernel, 2, sizeof(a), &a);
	if (!error)
		error = p_clSetKernelArg(kernel, 3, sizeof(n), &n);
	for (unsigned l = 0; l < LAUNCHES && !error; l++) {
		double start = tool_seconds();

		error = p_clEnqueueNDRangeKernel(peer->queue, kernel, height > 1 ? 2 : 1, NULL, grid, NULL, 0, NULL, NULL);
		error = error ? error : p_clFinish(peer->queue);
		sample[l] = tool_seconds() - start;
	}
	for (unsigned m = 0; m < 3; m++)
		if (memory[m])
			p_clReleaseMemObject(memory[m]);
	if (kernel)
		p_clReleaseKernel(kernel);
	return error ? 0 : bench_median(sample + 1, LAUNCHES - 1);
}

#ifdef cl_khr_command_buffer
#define RESOLVE_EXTENSION(name) \
	name##_fn name = (name##_fn)p_clGetExtensionFunctionAddressForPlatform(peer->platform, #name)

static double replay_rate(struct bench *bench, const struct peer *peer)
{
	RESOLVE_EXTENSION(clCreateCommandBufferKHR);
	RESOLVE_EXTENSION(clCommandNDRangeKernelKHR);
	RESOLVE_EXTENSION(clFinalizeCommandBufferKHR);
	RESOLVE_EXTENSION(clEnqueueCommandBufferKHR);
	RESOLVE_EXTENSION(clReleaseCommandBufferKHR);
	const unsigned rounds = bench->quick ? 50 : 500;
	const size_t one = 1;
	cl_command_queue queue = peer->queue;
	cl_command_buffer_khr buffer;
	cl_int error = 0;
	double rate = 0, start;

	if (!clCreateCommandBufferKHR || !clCommandNDRangeKernelKHR || !clFinalizeCommandBufferKHR ||
	    !clEnqueueCommandBufferKHR || !clReleaseCommandBufferKHR)
		return 0;
	buffer = clCreateCommandBufferKHR(1, &queue, NULL, &error);
	if (error)
		return 0;
	for (unsigned k = 0; k < REPLAY_KERNELS && !error; k++)
		error = clCommandNDRangeKernelKHR(buffer, NULL, NULL, peer->kernel, 1, NULL, &one, &one, 0, NULL, NULL,
						  NULL);
	if (!error)
		error = clFinalizeCommandBufferKHR(buffer);
	start = tool_seconds();
	for (unsigned r = 0; r < rounds && !error; r++) {
		error = clEnqueueCommandBufferKHR(0, NULL, buffer, 0, NULL, NULL);
		if (!error)
			error = p_clFinish(queue); /* a command buffer may be pending only once at a time */
	}
	if (!error)
		rate = (double)rounds * REPLAY_KERNELS / (tool_seconds() - start);
	clReleaseCommandBufferKHR(buffer);
	return rate;
}
#else
static double replay_rate(struct bench *bench, const struct peer *peer)
{
	return 0;
}
#endif

static void report(struct bench *bench, const char *device, const struct bench_peer *peer)
{
	char name[64];

	snprintf(name, sizeof(name), "pocl_%s_latency", device);
	bench_report(bench, "PERF-03", name, peer->latency_us, "us", BENCH_NO_TARGET, BENCH_LOWER);
	snprintf(name, sizeof(name), "pocl_%s_batch", device);
	bench_report(bench, "PERF-03", name, peer->kernels_per_second, "kernels/s", BENCH_NO_TARGET, BENCH_HIGHER);
	snprintf(name, sizeof(name), "pocl_%s_saxpy_ms", device);
	bench_report(bench, "PERF-13", name, peer->saxpy_seconds * 1e3, "ms", BENCH_NO_TARGET, BENCH_LOWER);
	snprintf(name, sizeof(name), "pocl_%s_matmul_ms", device);
	bench_report(bench, "PERF-13", name, peer->matmul_seconds * 1e3, "ms", BENCH_NO_TARGET, BENCH_LOWER);
	snprintf(name, sizeof(name), "pocl_%s_command_buffer_31", device);
	if (peer->replay_per_second > 0)
		bench_report(bench, "PERF-03", name, peer->replay_per_second, "kernels/s", BENCH_NO_TARGET,
			     BENCH_HIGHER);
}

static void measure(struct bench *bench, cl_platform_id platform, const char *device, struct bench_peer *figures)
{
	struct peer peer = { .platform = platform };

	if (device_find(platform, device, &peer.device) && peer_init(&peer)) {
		figures->latency_us = latency_us(bench, &peer);
		figures->kernels_per_second = batch_rate(bench, &peer);
		figures->replay_per_second = replay_rate(bench, &peer);
		figures->saxpy_seconds = loop_seconds(&peer, "saxpy", 1u << 20, 1);
		figures->matmul_seconds = loop_seconds(&peer, "matmul", 512, 512);
		report(bench, device, figures);
	} else {
		printf("%-8s pocl_%s: no such device, no peer\n", "PERF-03", device);
	}
	peer_fini(&peer);
}

int bench_opencl(struct bench *bench)
{
	cl_platform_id platform;

	setenv("POCL_DEVICES", "basic pthread", 0);
	platform = load() ? platform_find() : NULL;
	if (!platform) {
		printf("%-8s PoCL is not installed: no peer (Debian: pocl-opencl-icd)\n", "PERF-03");
		return 0;
	}
	measure(bench, platform, "basic", &bench->basic);
	measure(bench, platform, "pthread", &bench->pthread);
	return 0;
}

#else

int bench_opencl(struct bench *bench)
{
	printf("%-8s built without OpenCL headers: no peer (Debian: opencl-headers)\n", "PERF-03");
	return 0;
}

#endif
