/* SPDX-License-Identifier: MIT */
/* objects.c - label the objects of a schedule */
#include "report/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/compiler.h"
#include "report/place.h"
#include "text/escape.h"

static struct {
	struct fib_object *at;
	unsigned n, room;
} objects;

void fib_objects_begin(void)
{
	objects.n = 0;
}

/* The kind of the object of a public function, "" if it has none. */
static void kind_of(const char *call, char kind[16])
{
	static const char *const kinds[] = {"mutex", "rwlock",	"cond",	    "sem",
					    "event", "barrier", "once",	    "chan",
					    "group", "timer",	"waitgroup"};
	size_t n;
	unsigned i;

	kind[0] = 0;
	if (strcmp(call, "read") == 0 || strcmp(call, "write") == 0 ||
	    strncmp(call, "atomic_", 7) == 0)
		strcpy(kind, "memory");
	if (strncmp(call, "fiber_", 6) != 0)
		return;
	n = strcspn(call + 6, "_");
	for (i = 0; i < fib_countof(kinds); i++)
		if (strlen(kinds[i]) == n && strncmp(call + 6, kinds[i], n) == 0)
			snprintf(kind, 16, "%s", kinds[i]);
}

static struct fib_object *find(const void *at, const char *kind)
{
	unsigned i;

	for (i = objects.n; i > 0; i--)
		if (objects.at[i - 1].at == at && strcmp(objects.at[i - 1].kind, kind) == 0)
			return &objects.at[i - 1];
	return NULL;
}

static struct fib_object *add(const void *at, const char *kind)
{
	struct fib_object *object;
	unsigned i;

	if (objects.n == objects.room) {
		objects.room = objects.room ? 2 * objects.room : 64;
		objects.at = realloc(objects.at, objects.room * sizeof *objects.at);
		fib_check(objects.at);
	}
	object = &objects.at[objects.n++];
	*object = (struct fib_object){.at = at, .number = 1};
	snprintf(object->kind, sizeof object->kind, "%s", kind);
	for (i = 0; i + 1 < objects.n; i++)
		object->number += strcmp(objects.at[i].kind, kind) == 0;
	return object;
}

static void set_name(struct fib_object *object, const char *name)
{
	unsigned i;

	snprintf(object->name, sizeof object->name, "%s", name);
	object->same = 0;
	for (i = 0; &objects.at[i] < object; i++)
		object->same += strcmp(objects.at[i].kind, object->kind) == 0 &&
				strcmp(objects.at[i].name, name) == 0;
}

/* "table+8", or "" for memory that is in no global variable. */
static void name_variable(const void *at, char name[32])
{
	size_t offset;
	const char *variable = fib_place_variable(at, &offset);

	if (variable && offset)
		snprintf(name, 32, "%.20s+%zu", variable, offset % 1000000);
	else if (variable)
		snprintf(name, 32, "%.31s", variable);
}

int fib_objects_use(const char *call, const void *at)
{
	char kind[16], name[32] = "";
	struct fib_object *object;

	kind_of(call, kind);
	if (!kind[0] || !at)
		return -1;
	if (strcmp(kind, "memory") == 0)
		name_variable(at, name);
	else /* Every object begins with its name (fiber_object_name()). */
		snprintf(name, sizeof name, "%.31s", (const char *)at);
	object = find(at, kind);
	/* Another object at the address of one that no longer exists. */
	if (!object || (name[0] && object->name[0] && strcmp(name, object->name) != 0))
		object = add(at, kind);
	if (name[0] && strcmp(name, object->name) != 0)
		set_name(object, name);
	return (int)(object - objects.at);
}

unsigned fib_objects_count(void)
{
	return objects.n;
}

const struct fib_object *fib_objects_get(int index)
{
	return index < 0 ? NULL : &objects.at[index];
}

const struct fib_object *fib_objects_at(const void *at)
{
	unsigned i;

	for (i = objects.n; at && i > 0; i--)
		if (objects.at[i - 1].at == at)
			return &objects.at[i - 1];
	return NULL;
}

const char *fib_object_short(const struct fib_object *object, char buf[FIB_OBJECT_LABEL])
{
	char name[FIB_OBJECT_LABEL - 16];

	if (!object->name[0])
		snprintf(buf, FIB_OBJECT_LABEL, "%u", object->number);
	else if (object->same)
		snprintf(buf, FIB_OBJECT_LABEL, "\"%s\" %u",
			 fib_plain(object->name, name, sizeof name), object->same + 1);
	else
		snprintf(buf, FIB_OBJECT_LABEL, "\"%s\"",
			 fib_plain(object->name, name, sizeof name));
	return buf;
}

const char *fib_object_label(const struct fib_object *object, char buf[FIB_OBJECT_LABEL])
{
	char rest[FIB_OBJECT_LABEL];

	snprintf(buf, FIB_OBJECT_LABEL, "%s %.*s", object->kind, (int)FIB_OBJECT_LABEL - 18,
		 fib_object_short(object, rest));
	return buf;
}
