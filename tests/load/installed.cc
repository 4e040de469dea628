// SPDX-License-Identifier: MIT
/* A C++11 program of an installed Tutti: runs the README's kernel scale and prints one value. */
#include <cstdio>
#include <vector>

#include <tutti.h>

struct args {
	float *x;
	float factor;
};

int main()
{
	tutti_device *device;
	tutti_executable *executable;
	tutti_kernel kernel;
	tutti_queue *queue;
	tutti_signal_t done;
	void *x, *args;

	if (tutti_device_open(nullptr, &device) ||
	    tutti_executable_load_file(device, "scale.tco", &executable, nullptr) ||
	    tutti_executable_kernel(executable, "scale", &kernel) || tutti_queue_create(device, nullptr, &queue) ||
	    tutti_signal_create(device, 1, &done) || tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 4000, &x) ||
	    tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(struct args), &args))
		return 1;
	for (int i = 0; i < 1000; i++)
		static_cast<float *>(x)[i] = static_cast<float>(i);
	*static_cast<struct args *>(args) = {static_cast<float *>(x), 0.5f};
	tutti_launch launch = {};
	launch.kernel = &kernel;
	launch.grid[0] = 1000;
	launch.workgroup[0] = 64;
	launch.kernarg = args;
	launch.signal = done;
	launch.acquire = launch.release = TUTTI_SCOPE_SYSTEM;
	if (tutti_dispatch(queue, &launch) || tutti_signal_wait(device, done, TUTTI_EQ, 0, 10000000000, nullptr))
		return 1;
	std::printf("%g\n", static_cast<double>(static_cast<float *>(x)[999]));
	return tutti_device_close(device);
}
