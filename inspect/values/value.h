/* SPDX-License-Identifier: MIT */
/*
 * value.h - the bytes of a variable as a person writes them
 *
 * One level of what has members or elements, and no more text than fits the line. Everything that is not a number is the
 * program's, and made harmless.
 */
#ifndef INS_VALUE_H
#define INS_VALUE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "inspect/text/strbuf.h"
#include "inspect/model/source.h"

#define INS_VALUE_BYTES 1024 /* of a variable, at most */

struct ins_value {
	struct ins_source *source;     /* for what pointers lead to */
	const struct ins_fiber *fiber; /* likewise */
	const unsigned char *bytes;
	const bool *known; /* of each byte */
	size_t size;	   /* of both: what is behind them is not looked at */
};

/* How many bytes a value of that type has; 0: not known. type is as the variable has it. */
size_t ins_value_size(Dwarf_Die *type);

/* Put the value of that type. False: all that was put is why it cannot be shown, between angle brackets. */
bool ins_value_put(const struct ins_value *value, Dwarf_Die *type, struct ins_strbuf *line);

#endif
