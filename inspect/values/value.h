/* SPDX-License-Identifier: MIT */
/*
 * value.h - format the bytes of a variable for people
 *
 * Members and elements are shown one level deep, and no more text than fits the line. Text from the
 * program is escaped for the terminal.
 */
#ifndef INS_VALUE_H
#define INS_VALUE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "inspect/text/strbuf.h"
#include "inspect/model/source.h"

#define INS_VALUE_BYTES 1024 /* maximum size of a variable */

struct ins_value {
	struct ins_source *source;     /* for memory that pointers lead to */
	const struct ins_fiber *fiber; /* likewise */
	const unsigned char *bytes;
	const bool *known; /* whether each byte is valid */
	size_t size;	   /* of both arrays: bytes beyond it are not read */
};

/*
 * The size of a value of that type in bytes; 0: unknown. type is the variable's type, not stripped.
 */
size_t ins_value_size(Dwarf_Die *type);

/*
 * Write the value of that type. False: only the reason why it cannot be shown was written, between
 * angle brackets.
 */
bool ins_value_put(const struct ins_value *value, Dwarf_Die *type, struct ins_strbuf *line);

#endif
