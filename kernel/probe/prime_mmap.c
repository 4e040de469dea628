// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
void probe(struct drm_driver *d);
void probe(struct drm_driver *d) { d->gem_prime_mmap = drm_gem_prime_mmap; }
