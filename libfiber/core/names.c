/* SPDX-License-Identifier: MIT */
/* names.c - copy a name while readers may read it */
#include "base/check.h"
#include "core/names.h"

#include <string.h>

#include <fiber/sync.h>

int fib_name_copy(char *field, size_t size, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	size_t n = length < size ? length : size - 1;

	/* Never cut within a character: step back over continuation bytes. */
	if (n < length)
		while (n && ((unsigned char)name[n] & 0xc0) == 0x80)
			n--;
	/* The last byte is 0 from the start and stays 0. */
	if (n)
		memcpy(field, name, n);
	memset(field + n, 0, size - n);
	return (int)(length - n);
}

/* Every object of sync.h begins with its name. */
int fiber_object_name(void *object, const char *name)
{
	fib_must_have(object, "the object");
	return fib_name_copy(object, sizeof((struct fiber_mutex *)0)->name, name);
}
