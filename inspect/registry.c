/* SPDX-License-Identifier: MIT */
/*
 * registry.c - from a module's note to the registry
 *
 * The note holds a distance from itself to fiber_registry, so it is right wherever the module was
 * loaded, and needs no relocation. A program may contain several such notes (a static libfiber in
 * the program and a shared one in a plugin): the first registry whose carriers run now is taken, else the first that
 * has been used. When none has, the most useful complaint is the one of a note that was found.
 */
#include "inspect/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_file(void *reader, uint64_t address, void *buf, size_t size)
{
	const struct ins_module *m = reader;

	if (address > m->bytes_size || size > m->bytes_size - address)
		return -EFAULT;
	memcpy(buf, m->bytes + address, size);
	return 0;
}

/* Where the note of one module says the registry is; 0 when there is no note. */
static uint64_t registry_of(struct ins_modules *modules, struct ins_module *m)
{
	struct fib_layout_note note;
	uint64_t at = 0;
	uint32_t size = 0;
	int rc = -ENOENT;

	if (m->image.loaded)
		rc = ins_image_note(&m->image, modules->read, modules->reader, FIB_LAYOUT_NOTE_NAME,
				    FIB_LAYOUT_NOTE_TYPE, &note, sizeof note, &at, &size);
	if (rc < 0 && m->bytes) {
		rc = ins_image_note(&m->file_image, read_file, m, FIB_LAYOUT_NOTE_NAME,
				    FIB_LAYOUT_NOTE_TYPE, &note, sizeof note, &at, &size);
		at += m->bias;
	}
	if (rc < 0 || size < sizeof note)
		return 0;
	return at + (uint64_t)note.distance;
}

/* A port that runs on any machine says none; its stacks are not walked, so none is needed. */
static bool machine_fits(const struct fib_layout *layout)
{
	return layout->machine == ins_machine_self() ||
	       (layout->machine == EM_NONE && layout->recipe == FIB_RECIPE_NONE);
}

/* As much of it as there is; zeros behind that. */
static int read_layout(struct ins_modules *modules, uint64_t at, struct fib_layout *ret)
{
	char *tail = (char *)ret + FIB_LAYOUT_SIZE_1;
	size_t all;
	int rc = modules->read(modules->reader, at, ret, FIB_LAYOUT_SIZE_1);

	memset(tail, 0, sizeof *ret - FIB_LAYOUT_SIZE_1);
	if (rc < 0 || ret->size <= FIB_LAYOUT_SIZE_1)
		return rc;
	all = ret->size < sizeof *ret ? ret->size : sizeof *ret;
	return modules->read(modules->reader, at + FIB_LAYOUT_SIZE_1, tail,
			     all - FIB_LAYOUT_SIZE_1);
}

/* Read one registry that was found: 0, or what is wrong with it. */
static int look_at(struct ins_modules *modules, const struct ins_module *m, uint64_t at,
		   struct fib_layout *ret, struct ins_error *error)
{
	char theirs[32], ours[32];
	const char *wrong;

	if (read_layout(modules, at, ret) < 0)
		return ins_error_set(error, -ENODATA,
				     "the fiber registry of %s at 0x%llx cannot be read", m->path,
				     (unsigned long long)at);
	wrong = fib_layout_check(ret);
	if (wrong && memcmp(ret->magic, "\0\0\0\0\0\0\0\0", sizeof ret->magic) == 0)
		wrong = "no fiber runtime has been started yet";
	if (wrong)
		return ins_error_set(error, -ENODATA, "%s: %s", m->path, wrong);
	if (!machine_fits(ret))
		return ins_error_set(error, -ENODATA, "its fibers are %s code, this tool reads %s",
				     ins_machine_name(ret->machine, theirs, sizeof theirs),
				     ins_machine_name(ins_machine_self(), ours, sizeof ours));
	return 0;
}

int ins_registry_find(struct ins_modules *modules, struct fib_layout *ret, struct ins_error *error)
{
	struct fib_layout first;
	bool used = false;
	int rc = ins_error_set(error, -ENOENT,
			       "no module of it carries a fiber registry: not a fiber program");
	size_t i;

	for (i = 0; i < modules->count; i++) {
		struct ins_module *m = &modules->at[i];
		uint64_t at;

		if (!ins_modules_look(modules, m))
			continue;
		at = registry_of(modules, m);
		if (!at)
			continue;
		if (look_at(modules, m, at, ret, error) < 0) {
			rc = -ENODATA;
			continue;
		}
		if (ret->carriers)
			return 0;
		if (!used)
			first = *ret;
		used = true;
	}
	if (used)
		*ret = first;
	return used ? 0 : rc;
}
