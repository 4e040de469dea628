# SPDX-License-Identifier: MIT
"""SYS-55: Python's ctypes opens LIBRARY and runs kernel vector_add of FILE on the emulated card."""
import ctypes
import sys

COUNT = 1000
SYSTEM, CARD = 0, 1
EQ = 0
SCOPE_SYSTEM = 2


class Kernel(ctypes.Structure):
    _fields_ = [("object", ctypes.c_uint64), ("kernarg_bytes", ctypes.c_uint32), ("kernarg_align", ctypes.c_uint32),
                ("group_bytes", ctypes.c_uint32), ("private_bytes", ctypes.c_uint32), ("descriptor", ctypes.c_void_p),
                ("reserved", ctypes.c_uint64 * 4)]


class Launch(ctypes.Structure):
    _fields_ = [("kernel", ctypes.POINTER(Kernel)), ("grid", ctypes.c_uint32 * 3), ("workgroup", ctypes.c_uint16 * 3),
                ("dynamic_group_bytes", ctypes.c_uint32), ("kernarg", ctypes.c_void_p), ("signal", ctypes.c_void_p),
                ("barrier", ctypes.c_bool), ("acquire", ctypes.c_uint8), ("release", ctypes.c_uint8),
                ("bytes", ctypes.c_uint32),
                ("tmd", ctypes.c_void_p)]


class Args(ctypes.Structure):
    _fields_ = [("a", ctypes.c_void_p), ("b", ctypes.c_void_p), ("sum", ctypes.c_void_p)]


def check(error, what):
    if error:
        sys.exit(f"{what}: error {error}")


tutti = ctypes.CDLL(sys.argv[1])
pointer = ctypes.c_void_p
device, executable, queue, done = pointer(), pointer(), pointer(), pointer()
kernel = Kernel()


def memory(pool, size):
    address = pointer()
    check(tutti.tutti_memory_alloc(device, pool, ctypes.c_size_t(size), ctypes.byref(address)), "memory")
    return address.value


check(tutti.tutti_device_open(None, ctypes.byref(device)), "open")
check(tutti.tutti_executable_load_file(device, sys.argv[2].encode(), ctypes.byref(executable), None), "load")
check(tutti.tutti_executable_kernel(executable, b"vector_add", ctypes.byref(kernel)), "kernel")
check(tutti.tutti_queue_create(device, None, ctypes.byref(queue)), "queue")
check(tutti.tutti_signal_create(device, ctypes.c_int64(1), ctypes.byref(done)), "signal")

args = Args.from_address(memory(SYSTEM, ctypes.sizeof(Args)))
args.a, args.b, args.sum = (memory(CARD, 4 * COUNT) for _ in range(3))
a, b, total = ((ctypes.c_float * COUNT).from_address(address) for address in (args.a, args.b, args.sum))
a[:] = range(COUNT)
b[:] = [0.5] * COUNT
launch = Launch(kernel=ctypes.pointer(kernel), grid=(COUNT, 1, 1), workgroup=(64, 1, 1),
                kernarg=ctypes.addressof(args), signal=done, acquire=SCOPE_SYSTEM, release=SCOPE_SYSTEM)
check(tutti.tutti_dispatch(queue, ctypes.byref(launch)), "dispatch")
check(tutti.tutti_signal_wait(device, done, EQ, ctypes.c_int64(0), ctypes.c_uint64(10**10), None), "wait")
check(list(total) != [i + 0.5 for i in range(COUNT)], "sums")
tutti.tutti_signal_destroy(device, done)
tutti.tutti_queue_destroy(queue)
tutti.tutti_executable_destroy(executable)
tutti.tutti_device_close(device)
