/* SPDX-License-Identifier: MIT */
/**
 * DOC: Code: loading code objects and looking at what is in them
 *
 * A code object is the file that tuttic makes of kernels in C; its form is in tutti/code_object.h. tutti.h includes this
 * header. (spec SYS-07, SYS-58)
 */
#ifndef TUTTI_CODE_API_H
#define TUTTI_CODE_API_H

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>

#include "code_object.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_device;
struct tutti_executable;

/**
 * struct tutti_kernel - what a launch needs to know of a kernel; tutti_executable_kernel() fills it.
 * @object: address of the kernel's descriptor, "kernel_object" of packets
 * @kernarg_bytes: size of its arguments
 * @kernarg_align: their alignment, a power of two
 * @group_bytes: shared memory of a workgroup, as far as it is declared in the kernel
 * @private_bytes: private memory of a work-item
 * @descriptor: the kernel descriptor that the card reads; do not write to it
 * @reserved: room for later versions; 0
 */
struct tutti_kernel {
	uint64_t object;
	uint32_t kernarg_bytes;
	uint32_t kernarg_align;
	uint32_t group_bytes;
	uint32_t private_bytes;
	const struct tutti_kernel_descriptor *descriptor;
	uint64_t reserved[4];
};

/**
 * tutti_executable_load() - load a code object, which tuttic has made, from memory.
 * @device: device
 * @elf: the code object; not needed any more afterwards
 * @bytes: its size
 * @executable: gets the executable
 * @message: may be NULL; in case of -ENOEXEC gets what is wrong with the code object, as static text
 *
 * The code object may come from anywhere: everything about it is checked.
 *
 * Return: 0; -ENOEXEC: not a valid code object for this card; -ENOMEM; -ENOSPC: no card memory for code.
 */
int tutti_executable_load(struct tutti_device *device, const void *elf, size_t bytes,
			  struct tutti_executable **executable, const char **message);

/**
 * struct tutti_external - a variable that a code object leaves undefined and the application defines.
 * @name: name of the variable in the kernels' source, which declares it as extern
 * @address: where it is, in memory that the card can use
 */
struct tutti_external {
	const char *name;
	void *address;
};

/**
 * tutti_executable_load_with() - the same, with definitions of variables that the code object leaves undefined.
 * @device: device
 * @elf: the code object, linked with tuttic --allow-undefined
 * @bytes: its size
 * @externals: definitions; those that are not asked for are ignored
 * @count: how many
 * @executable: gets the executable
 * @message: as for tutti_executable_load()
 *
 * Return: as tutti_executable_load(); -ENOLINK: a variable is not defined, @message says which. (spec SYS-58)
 */
int tutti_executable_load_with(struct tutti_device *device, const void *elf, size_t bytes,
			       const struct tutti_external *externals, size_t count,
			       struct tutti_executable **executable, const char **message);

/**
 * tutti_executable_load_file() - tutti_executable_load(), from a file.
 *
 * Return: as tutti_executable_load(); -EFBIG: the file is too large; -EIO, or what open() says.
 */
int tutti_executable_load_file(struct tutti_device *device, const char *path,
			       struct tutti_executable **executable, const char **message);

/**
 * tutti_executable_destroy() - unload it. No packet that is still to run may name its kernels. NULL is fine.
 *
 * Launches of its kernels are refused from now on. Return: 0, -EINVAL.
 */
int tutti_executable_destroy(struct tutti_executable *executable);

/**
 * tutti_executable_kernel() - look up a kernel.
 * @executable: executable
 * @name: "foo"; "foo.kd" and "&foo" mean the same
 * @kernel: gets what launches need
 *
 * Return: 0; -ENOENT: there is no such kernel; -EINVAL.
 */
int tutti_executable_kernel(struct tutti_executable *executable, const char *name, struct tutti_kernel *kernel);

/**
 * tutti_executable_variable() - look up a global variable of the kernels.
 * @executable: executable
 * @name: its name
 * @address: gets its address, the same on host and card
 * @bytes: gets its size; may be NULL
 *
 * Return: 0; -ENOENT: there is no such variable.
 */
int tutti_executable_variable(struct tutti_executable *executable, const char *name, void **address,
			      size_t *bytes);

/**
 * tutti_executable_iterate() - call @visit for each kernel until it returns something other than 0.
 *
 * Return: 0, or what @visit has returned.
 */
int tutti_executable_iterate(struct tutti_executable *executable,
			     int (*visit)(const char *name, const struct tutti_kernel *kernel, void *context),
			     void *context);

/** enum tutti_symbol_kind - what a name in an executable stands for. */
enum tutti_symbol_kind { TUTTI_SYMBOL_KERNEL, TUTTI_SYMBOL_VARIABLE };

/**
 * struct tutti_symbol - something in an executable that has a name.
 * @name: name, of a kernel without ".kd"; valid until the executable is destroyed
 * @kind: what it is
 * @writable: kernels may change it
 * @global: it can be seen from other source files
 * @address: of a kernel that of its descriptor, "kernel_object" of packets
 * @bytes: size
 */
struct tutti_symbol {
	const char *name;
	enum tutti_symbol_kind kind;
	bool writable, global;
	uint64_t address;
	uint64_t bytes;
};

/**
 * tutti_executable_symbols() - call @visit for each kernel, then for each variable, until it returns something other
 * than 0.
 *
 * Return: 0, or what @visit has returned; -EINVAL.
 */
int tutti_executable_symbols(struct tutti_executable *executable,
			     int (*visit)(const struct tutti_symbol *symbol, void *context), void *context);
/**
 * struct tutti_argument - a member of a kernel's arguments.
 * @name: its name
 * @type: its type, as in C
 * @offset: where it lies
 * @bytes: its size; 0 if it is not known
 */
struct tutti_argument {
	const char *name;
	const char *type;
	uint32_t offset;
	uint32_t bytes;
};

/**
 * tutti_executable_arguments() - call @visit for each argument of a kernel until it returns something other than 0.
 * @executable: executable
 * @name: name of the kernel, as for tutti_executable_kernel()
 * @visit: called with an argument, which is valid during the call
 * @context: given to @visit
 *
 * It is told by the debug information that tuttic keeps in code objects, and read by libdw of elfutils.
 *
 * Return: 0, or what @visit has returned; -ENOENT: there is no such kernel; -ENODATA: the code object does not tell;
 * -ENOTSUP: libdw is not installed; -EINVAL.
 */
int tutti_executable_arguments(struct tutti_executable *executable, const char *name,
			       int (*visit)(const struct tutti_argument *argument, void *context), void *context);

#ifdef __cplusplus
}
#endif

#endif
