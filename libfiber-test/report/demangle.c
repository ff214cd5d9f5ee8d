/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - ask the C++ runtime of the program
 *
 * A program in C has no such runtime, and no mangled names either. So the function is weak, and
 * libfiber-test needs no library for it.
 */
#include "report/demangle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

char *__cxa_demangle(const char *name, char *buf, size_t *size, int *ret_status)
	__attribute__((weak));

struct known {
	const char *name, *text;
	struct known *next;
};

static struct known *all;

static const char *ask(const char *name)
{
	int status;
	const char *text = __cxa_demangle(name, NULL, NULL, &status);

	return text ? text : name;
}

const char *fib_demangled(const char *name)
{
	struct known *k;

	if (!name || strncmp(name, "_Z", 2) != 0 || !__cxa_demangle)
		return name;
	for (k = all; k; k = k->next)
		if (k->name == name)
			return k->text;
	k = malloc(sizeof *k);
	if (!k)
		return name;
	*k = (struct known){name, ask(name), all};
	all = k;
	return k->text;
}
