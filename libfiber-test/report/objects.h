/* SPDX-License-Identifier: MIT */
/*
 * objects.h - labels for the objects of a schedule: mutex "bob", chan 2
 *
 * Addresses differ from run to run. An object without a name is numbered among those of its kind in
 * the order of first use, so the report of a schedule is the same each time.
 */
#ifndef FIB_TEST_OBJECTS_H
#define FIB_TEST_OBJECTS_H

#include <stddef.h>

#define FIB_OBJECT_LABEL 64u

struct fib_object {
	const void *at;
	char kind[16];	 /* "mutex" */
	char name[32];	 /* from fiber_object_name(), or "" */
	unsigned number; /* among its kind, from 1 */
	unsigned same;	 /* how many older ones have its kind and name */
};

/* Forget all. */
void fib_objects_begin(void);

/*
 * Note that a public function is about to use the object at `at`, which is valid memory. Returns its
 * index; -1 for functions whose argument is no object of libfiber.
 */
int fib_objects_use(const char *call, const void *at);

unsigned fib_objects_count(void);

/* The object with that index; the last one that was used at an address, NULL: none. */
const struct fib_object *fib_objects_get(int index);
const struct fib_object *fib_objects_at(const void *at);

/* Write its label: the kind, and the quoted name or the number. Returns buf. */
const char *fib_object_label(const struct fib_object *object, char buf[FIB_OBJECT_LABEL]);

/* The part of the label after the kind. Returns buf. */
const char *fib_object_short(const struct fib_object *object, char buf[FIB_OBJECT_LABEL]);

#endif
