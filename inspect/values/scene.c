/* SPDX-License-Identifier: MIT */
/* scene.c - the registers and the memory of a frame */
#include "inspect/values/scene.h"

#include <errno.h>

#include "inspect/elf/modules.h"

bool ins_scene_register(const struct ins_scene *scene, uint64_t number, uint64_t *ret)
{
	return scene->at < scene->count &&
	       ins_registers_get(&scene->frames[scene->at].registers, number, ret);
}

int ins_scene_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		     void *buf, size_t size)
{
	int rc = ins_fiber_memory(fiber, address, buf, size);

	if (rc != -ENOENT)
		return rc;
	if (ins_modules_read(source->modules, address, buf, size, false) == 0)
		return 0;
	if (source->memory && source->memory(source, address, buf, size) == 0)
		return 0;
	return -EFAULT;
}
