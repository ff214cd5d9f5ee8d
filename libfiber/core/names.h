/* SPDX-License-Identifier: MIT */
/* names.h - names that readers may read while they change */
#ifndef FIB_CORE_NAMES_H
#define FIB_CORE_NAMES_H

#include <stddef.h>

/*
 * Copy name into a field of size bytes, NUL-terminated and padded; NULL clears it. A cut never
 * splits a UTF-8 character. A concurrent reader may see a mixture of old and new, but never an
 * unterminated text. Returns the number of bytes that did not fit.
 */
int fib_name_copy(char *field, size_t size, const char *name);

#endif
