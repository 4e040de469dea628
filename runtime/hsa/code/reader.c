// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsa/base/runtime.h"
#include "hsa/code/code.h"

static void code_free(struct object *object)
{
	struct code *code = (struct code *)object;

	if (code->view)
		hsa_executable_destroy((hsa_executable_t){code->view});
	free(code->owned);
	free(code);
}

uint64_t code_add(enum object_kind kind, const void *bytes, size_t size, void *owned)
{
	struct code *code = calloc(1, sizeof(*code));

	if (!code) {
		free(owned);
		return 0;
	}
	code->bytes = bytes;
	code->size = size;
	code->owned = owned;
	code->object.destroy = code_free;
	object_add(&code->object, kind, 0);
	return code->object.handle;
}

bool code_remove(enum object_kind kind, uint64_t handle)
{
	struct code *code = object_remove(kind, handle);

	if (code)
		code_free(&code->object);
	return code;
}

bool code_read_file(int file, void **bytes, size_t *size)
{
	struct stat about;
	size_t done = 0;

	if (fstat(file, &about) || !S_ISREG(about.st_mode) || about.st_size <= 0)
		return false;
	*size = (size_t)about.st_size;
	*bytes = malloc(*size);
	while (*bytes && done < *size) {
		ssize_t n = pread(file, (char *)*bytes + done, *size - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(*bytes);
			return false;
		}
		done += (size_t)n;
	}
	return true;
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t *reader)
{
	void *bytes;
	size_t size;

	REQUIRE_INIT();
	REQUIRE(reader, INVALID_ARGUMENT);
	REQUIRE(code_read_file(file, &bytes, &size), INVALID_FILE);
	REQUIRE(bytes, OUT_OF_RESOURCES);
	reader->handle = code_add(OBJECT_READER, bytes, size, bytes);
	REQUIRE(reader->handle, OUT_OF_RESOURCES);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_memory(const void *bytes, size_t size,
						       hsa_code_object_reader_t *reader)
{
	REQUIRE_INIT();
	REQUIRE(bytes && size && reader, INVALID_ARGUMENT);
	reader->handle = code_add(OBJECT_READER, bytes, size, NULL);
	REQUIRE(reader->handle, OUT_OF_RESOURCES);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader)
{
	REQUIRE_INIT();
	REQUIRE(code_remove(OBJECT_READER, reader.handle), INVALID_CODE_OBJECT_READER);
	return HSA_STATUS_SUCCESS;
}
