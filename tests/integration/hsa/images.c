// SPDX-License-Identifier: MIT
/* SYS-43: a card without images says so, and each error of the functions that it has all the same. */
#include <hsa/hsa_ext_image.h>

#include "errors.h"

/* Older versions of clang take no constant object in the initializer of another. */
#define FORMAT {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}

static const hsa_ext_image_format_t format = FORMAT;
static const hsa_ext_image_descriptor_t descriptor = {
	.geometry = HSA_EXT_IMAGE_GEOMETRY_2D, .width = 16, .height = 16, .format = FORMAT};
static const hsa_ext_sampler_descriptor_t sampling = {.filter_mode = HSA_EXT_SAMPLER_FILTER_MODE_LINEAR};
static const hsa_access_permission_t access_right = HSA_ACCESS_PERMISSION_RO;
static hsa_ext_image_data_info_t about;
static hsa_ext_image_region_t region;
static hsa_ext_image_t image;
static hsa_ext_sampler_t sampler;
static hsa_dim3_t dim;
static uint64_t data[64];

#define LINEAR HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR

static void nothing_is_supported(void **state)
{
	const hsa_agent_t card = found.card;
	bool yes = true;
	const char *text = NULL;
	uint32_t mask = 77;

	(void)state;
	OK(hsa_ext_image_get_capability(card, HSA_EXT_IMAGE_GEOMETRY_2D, &format, &mask));
	assert_int_equal(mask, HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED);
	mask = 77;
	OK(hsa_ext_image_get_capability_with_layout(card, HSA_EXT_IMAGE_GEOMETRY_2D, &format, LINEAR, &mask));
	assert_int_equal(mask, HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED);
	assert_int_equal(hsa_ext_image_data_get_info(card, &descriptor, access_right, &about),
			 HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
	assert_int_equal(hsa_ext_image_create_with_layout(card, &descriptor, data, access_right, LINEAR, 0, 0, &image),
			 HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
	assert_int_equal(hsa_ext_sampler_create(card, &sampling, &sampler),
			 HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
	OK(hsa_status_string((hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED, &text));
	assert_non_null(strstr(text, "IMAGE_FORMAT_UNSUPPORTED"));
	OK(hsa_system_extension_supported(HSA_EXTENSION_IMAGES, 1, 0, &yes));
	assert_false(yes);
}

static void images(void **state)
{
	const hsa_agent_t card = found.card;
	uint32_t mask;

	(void)state;
	EACH(hsa_agent_t, hsa_ext_image_get_capability, ERROR_INVALID_AGENT, (bad, 0, &format, &mask));
	E(hsa_ext_image_get_capability, ERROR_INVALID_ARGUMENT, (card, 8, &format, &mask));
	E(hsa_ext_image_get_capability, ERROR_INVALID_ARGUMENT, (card, 0, NULL, &mask));
	E(hsa_ext_image_get_capability, ERROR_INVALID_ARGUMENT, (card, 0, &format, NULL));
	EACH(hsa_agent_t, hsa_ext_image_get_capability_with_layout, ERROR_INVALID_AGENT, (bad, 0, &format, LINEAR, &mask));
	E(hsa_ext_image_get_capability_with_layout, ERROR_INVALID_ARGUMENT, (card, 0, &format, 0, &mask));
	EACH(hsa_agent_t, hsa_ext_image_data_get_info, ERROR_INVALID_AGENT, (bad, &descriptor, access_right, &about));
	E(hsa_ext_image_data_get_info, ERROR_INVALID_ARGUMENT, (card, NULL, access_right, &about));
	E(hsa_ext_image_data_get_info, ERROR_INVALID_ARGUMENT, (card, &descriptor, 0, &about));
	E(hsa_ext_image_data_get_info, ERROR_INVALID_ARGUMENT, (card, &descriptor, access_right, NULL));
	E(hsa_ext_image_data_get_info_with_layout, ERROR_INVALID_ARGUMENT,
	  (card, &descriptor, access_right, 0, 0, 0, &about));
	EACH(hsa_agent_t, hsa_ext_image_create, ERROR_INVALID_AGENT, (bad, &descriptor, data, access_right, &image));
	E(hsa_ext_image_create, ERROR_INVALID_ARGUMENT, (card, NULL, data, access_right, &image));
	E(hsa_ext_image_create, ERROR_INVALID_ARGUMENT, (card, &descriptor, NULL, access_right, &image));
	E(hsa_ext_image_create, ERROR_INVALID_ARGUMENT, (card, &descriptor, data, 4, &image));
	E(hsa_ext_image_create, ERROR_INVALID_ARGUMENT, (card, &descriptor, data, access_right, NULL));
	EACH(hsa_agent_t, hsa_ext_image_create_with_layout, ERROR_INVALID_AGENT,
	     (bad, &descriptor, data, access_right, LINEAR, 0, 0, &image));
	E(hsa_ext_image_create_with_layout, ERROR_INVALID_ARGUMENT,
	  (card, &descriptor, data, access_right, 0, 0, 0, &image));
	E(hsa_amd_image_create, ERROR_INVALID_ARGUMENT, (card, &descriptor, NULL, NULL, access_right, &image));
	E(hsa_amd_image_get_info_max_dim, ERROR_INVALID_ARGUMENT, (card, 0x3000, data));
	assert_int_equal(end(), 0);
}

/* Functions of images that exist, of which there are none. */
static void no_image_is_one(void **state)
{
	const hsa_agent_t card = found.card;

	(void)state;
	EACH(hsa_agent_t, hsa_ext_image_destroy, ERROR_INVALID_AGENT, (bad, image));
	EACH(hsa_agent_t, hsa_ext_image_copy, ERROR_INVALID_AGENT, (bad, image, &dim, image, &dim, &dim));
	E(hsa_ext_image_copy, ERROR_INVALID_ARGUMENT, (card, image, &dim, image, &dim, &dim));
	EACH(hsa_agent_t, hsa_ext_image_import, ERROR_INVALID_AGENT, (bad, data, 0, 0, image, &region));
	E(hsa_ext_image_import, ERROR_INVALID_ARGUMENT, (card, data, 0, 0, image, &region));
	EACH(hsa_agent_t, hsa_ext_image_export, ERROR_INVALID_AGENT, (bad, image, data, 0, 0, &region));
	E(hsa_ext_image_export, ERROR_INVALID_ARGUMENT, (card, image, data, 0, 0, &region));
	EACH(hsa_agent_t, hsa_ext_image_clear, ERROR_INVALID_AGENT, (bad, image, data, &region));
	E(hsa_ext_image_clear, ERROR_INVALID_ARGUMENT, (card, image, data, &region));
	EACH(hsa_agent_t, hsa_ext_sampler_create, ERROR_INVALID_AGENT, (bad, &sampling, &sampler));
	E(hsa_ext_sampler_create, ERROR_INVALID_ARGUMENT, (card, NULL, &sampler));
	E(hsa_ext_sampler_create, ERROR_INVALID_ARGUMENT, (card, &sampling, NULL));
	EACH(hsa_agent_t, hsa_ext_sampler_destroy, ERROR_INVALID_AGENT, (bad, sampler));
	assert_int_equal(end(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_supported),
		cmocka_unit_test(images),
		cmocka_unit_test(no_image_is_one),
	};

	return errors_run(tests);
}
