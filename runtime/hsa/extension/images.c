// SPDX-License-Identifier: MIT
/*
 * Images and samplers, of which the card has none: it supports no format, so that programs which ask first go another
 * way. The functions are there because programs that only may use images are linked with them.
 */
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"

#define UNSUPPORTED(what) ((hsa_status_t)HSA_EXT_STATUS_ERROR_##what##_UNSUPPORTED)

/* What all of them begin with. Images are the card's. */
#define REQUIRE_CARD(handle)                                               \
	do {                                                               \
		REQUIRE_INIT();                                            \
		REQUIRE(agent_of(handle) == AGENT_CARD, INVALID_AGENT);    \
	} while (0)

static bool access_ok(hsa_access_permission_t access)
{
	return access >= HSA_ACCESS_PERMISSION_RO && access <= HSA_ACCESS_PERMISSION_RW;
}

hsa_status_t hsa_ext_image_get_capability(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
					  const hsa_ext_image_format_t *format, uint32_t *mask)
{
	REQUIRE_CARD(agent);
	REQUIRE(geometry <= HSA_EXT_IMAGE_GEOMETRY_2DADEPTH && format && mask, INVALID_ARGUMENT);
	*mask = HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ext_image_get_capability_with_layout(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
						      const hsa_ext_image_format_t *format,
						      hsa_ext_image_data_layout_t layout, uint32_t *mask)
{
	REQUIRE_CARD(agent);
	REQUIRE(layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, INVALID_ARGUMENT);
	return hsa_ext_image_get_capability(agent, geometry, format, mask);
}

hsa_status_t hsa_ext_image_data_get_info(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor,
					 hsa_access_permission_t access, hsa_ext_image_data_info_t *info)
{
	REQUIRE_CARD(agent);
	REQUIRE(descriptor && access_ok(access) && info, INVALID_ARGUMENT);
	return UNSUPPORTED(IMAGE_FORMAT);
}

hsa_status_t hsa_ext_image_data_get_info_with_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor,
						     hsa_access_permission_t access, hsa_ext_image_data_layout_t layout,
						     size_t row_pitch, size_t slice_pitch,
						     hsa_ext_image_data_info_t *info)
{
	(void)row_pitch, (void)slice_pitch;
	REQUIRE_CARD(agent);
	REQUIRE(layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, INVALID_ARGUMENT);
	return hsa_ext_image_data_get_info(agent, descriptor, access, info);
}

hsa_status_t hsa_ext_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor, const void *data,
				  hsa_access_permission_t access, hsa_ext_image_t *image)
{
	REQUIRE_CARD(agent);
	REQUIRE(descriptor && data && access_ok(access) && image, INVALID_ARGUMENT);
	return UNSUPPORTED(IMAGE_FORMAT);
}

hsa_status_t hsa_ext_image_create_with_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor,
					      const void *data, hsa_access_permission_t access,
					      hsa_ext_image_data_layout_t layout, size_t row_pitch, size_t slice_pitch,
					      hsa_ext_image_t *image)
{
	(void)row_pitch, (void)slice_pitch;
	REQUIRE_CARD(agent);
	REQUIRE(layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, INVALID_ARGUMENT);
	return hsa_ext_image_create(agent, descriptor, data, access, image);
}

hsa_status_t hsa_amd_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t *descriptor,
				  const hsa_amd_image_descriptor_t *layout, const void *data,
				  hsa_access_permission_t access, hsa_ext_image_t *image)
{
	(void)layout; /* which is of AMD's hardware */
	return hsa_ext_image_create(agent, descriptor, data, access, image);
}

/* There is no image of which a size could be the largest. */
hsa_status_t hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
	(void)attribute, (void)value;
	REQUIRE_CARD(agent);
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* Functions of images that exist: no image is one. */
hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image)
{
	(void)image;
	REQUIRE_CARD(agent);
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_ext_image_copy(hsa_agent_t agent, hsa_ext_image_t from, const hsa_dim3_t *from_offset,
				hsa_ext_image_t to, const hsa_dim3_t *to_offset, const hsa_dim3_t *range)
{
	(void)to, (void)from_offset, (void)to_offset, (void)range;
	return hsa_ext_image_destroy(agent, from);
}

hsa_status_t hsa_ext_image_import(hsa_agent_t agent, const void *from, size_t row_pitch, size_t slice_pitch,
				  hsa_ext_image_t image, const hsa_ext_image_region_t *region)
{
	(void)from, (void)row_pitch, (void)slice_pitch, (void)region;
	return hsa_ext_image_destroy(agent, image);
}

hsa_status_t hsa_ext_image_export(hsa_agent_t agent, hsa_ext_image_t image, void *to, size_t row_pitch,
				  size_t slice_pitch, const hsa_ext_image_region_t *region)
{
	(void)to, (void)row_pitch, (void)slice_pitch, (void)region;
	return hsa_ext_image_destroy(agent, image);
}

hsa_status_t hsa_ext_image_clear(hsa_agent_t agent, hsa_ext_image_t image, const void *data,
				 const hsa_ext_image_region_t *region)
{
	(void)data, (void)region;
	return hsa_ext_image_destroy(agent, image);
}

hsa_status_t hsa_ext_sampler_create(hsa_agent_t agent, const hsa_ext_sampler_descriptor_t *descriptor,
				    hsa_ext_sampler_t *sampler)
{
	REQUIRE_CARD(agent);
	REQUIRE(descriptor && sampler, INVALID_ARGUMENT);
	return UNSUPPORTED(SAMPLER_DESCRIPTOR);
}

hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler)
{
	(void)sampler;
	REQUIRE_CARD(agent);
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
