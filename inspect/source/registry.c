/* SPDX-License-Identifier: MIT */
/*
 * registry.c - find the registry through a module's note
 *
 * The note holds a distance from itself to fiber_registry, so it is correct at any load address and
 * needs no relocation. A process may contain several such notes (a static libfiber in the program
 * and a shared one in a plugin). The first registry whose carriers run now is taken, else the first
 * that has been used. If there is neither, the error is that of a note that was found.
 *
 * The fibers of two registries cannot be shown as one list: each registry counts its ids from 1. So
 * every other registry with running carriers is reported as a problem that names the option to show
 * it. These are searched in memory only: finding the file of every module takes long if it is
 * requested over a network.
 */
#include "inspect/source/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inspect/source/byte_order.h"

static int read_file(void *reader, uint64_t address, void *buf, size_t size)
{
	const struct ins_module *m = reader;

	if (address > m->bytes_size || size > m->bytes_size - address)
		return -EFAULT;
	memcpy(buf, m->bytes + address, size);
	return 0;
}

static const char *chosen; /* the module that the user chose; NULL: any */

void ins_registry_choose(const char *module)
{
	chosen = module;
}

/* The name of its file, or the whole path if it has no folder. */
static const char *name_of(const struct ins_module *m)
{
	const char *slash = strrchr(m->path, '/');

	return slash ? slash + 1 : m->path;
}

static bool is_meant(const struct ins_module *m)
{
	return !chosen || strcmp(m->path, chosen) == 0 || strcmp(name_of(m), chosen) == 0;
}

/* The address of the registry that a module's note gives; 0: no note. */
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
	if (modules->machine.swapped)
		ins_swap(&note.distance, sizeof note.distance);
	return at + (uint64_t)note.distance;
}

/* The port for any machine publishes none. Its stacks are not walked, so none is needed. */
static bool machine_fits(const struct ins_modules *modules, const struct fib_layout *layout)
{
	return layout->machine == modules->machine.number ||
	       (layout->machine == EM_NONE && layout->recipe == FIB_RECIPE_NONE);
}

/* Read as much of the layout as exists; the rest is zeros. */
static int read_layout(struct ins_modules *modules, uint64_t at, struct fib_layout *ret)
{
	char *tail = (char *)ret + FIB_LAYOUT_SIZE_1;
	uint32_t size;
	size_t all;
	int rc = modules->read(modules->reader, at, ret, FIB_LAYOUT_SIZE_1);

	memset(tail, 0, sizeof *ret - FIB_LAYOUT_SIZE_1);
	if (rc < 0)
		return rc;
	memcpy(&size, &ret->size, sizeof size);
	if (modules->machine.swapped)
		ins_swap(&size, sizeof size);
	all = size < sizeof *ret ? size : sizeof *ret;
	if (all > FIB_LAYOUT_SIZE_1)
		rc = modules->read(modules->reader, at + FIB_LAYOUT_SIZE_1, tail,
				   all - FIB_LAYOUT_SIZE_1);
	ins_byte_order_layout(modules->machine, ret);
	return rc;
}

/* Read and check one registry. Returns 0, or an error that says what is wrong with it. */
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
	if (!machine_fits(modules, ret))
		return ins_error_set(error, -ENODATA,
				     "its fibers are %s code, the program is for %s",
				     ins_machine_name(ret->machine, theirs, sizeof theirs),
				     ins_machine_name(modules->machine.number, ours, sizeof ours));
	return 0;
}

/* The registry of a module that was not examined yet, from memory alone. */
static uint64_t registry_in_memory(struct ins_modules *modules, struct ins_module *m)
{
	struct ins_module copy = {.start = m->start};

	if (m->looked)
		return m->known ? registry_of(modules, m) : 0;
	if (ins_image_read(&copy.image, modules->read, modules->reader, m->start, true))
		return 0;
	return registry_of(modules, &copy);
}

/* The next module from *i on with a registry in memory whose carriers run; NULL: none. */
static const struct ins_module *next_running(struct ins_modules *modules, size_t *i, uint64_t *ret)
{
	struct fib_layout layout;
	struct ins_error ignored;

	for (; *i < modules->count; ++*i) {
		struct ins_module *m = &modules->at[*i];

		*ret = registry_in_memory(modules, m);
		if (*ret && look_at(modules, m, *ret, &layout, &ignored) == 0 && layout.carriers)
			return &modules->at[(*i)++];
	}
	return NULL;
}

/* Report the registries other than the one at `shown`. */
static void say_others(struct ins_modules *modules, uint64_t shown)
{
	const struct ins_module *m;
	size_t i = 0;
	uint64_t at;

	while (modules->problems && (m = next_running(modules, &i, &at)))
		if (at != shown)
			ins_problems_add(
				modules->problems,
				"the fibers of %s, which has a registry of its own, are not "
				"shown: --module %s shows those",
				m->path, name_of(m));
}

/* The chosen module does not exist, or has no registry. */
static int no_such_module(struct ins_modules *modules, struct ins_error *error)
{
	const struct ins_module *m;
	char names[512] = "";
	size_t i = 0, used = 0;
	uint64_t at;

	while (used < sizeof names && (m = next_running(modules, &i, &at)))
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
					 used ? ", " : "; there is one in ", name_of(m));
	return ins_error_set(error, -ENODATA, "no module of it is %s and has a fiber registry%s",
			     chosen, names);
}

int ins_registry_find(struct ins_modules *modules, struct fib_layout *ret, struct ins_error *error)
{
	struct fib_layout first;
	uint64_t shown = 0;
	bool found = false;
	int rc = ins_error_set(error, -ENOENT,
			       "no module of it carries a fiber registry: not a fiber program");
	size_t i;

	for (i = 0; i < modules->count; i++) {
		struct ins_module *m = &modules->at[i];
		uint64_t at;

		if (!is_meant(m) || !ins_modules_look(modules, m))
			continue;
		at = registry_of(modules, m);
		if (!at)
			continue;
		if (look_at(modules, m, at, ret, error) < 0) {
			rc = -ENODATA;
			continue;
		}
		if (!found || ret->carriers) {
			first = *ret;
			shown = at;
		}
		found = true;
		if (ret->carriers)
			break;
	}
	if (!found)
		return chosen && rc == -ENOENT ? no_such_module(modules, error) : rc;
	*ret = first;
	modules->registry = shown;
	if (!chosen)
		say_others(modules, shown);
	return 0;
}
