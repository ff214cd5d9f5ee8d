/* SPDX-License-Identifier: MIT */
/*
 * place.c - which loaded file and which function an address of code belongs to
 *
 * The table for unwinding (.eh_frame_hdr) has the start of each function, sorted, also in a stripped
 * program. It is read by fib_os_peek_through(), as is everything else of the found file. 32-bit ARM has
 * .ARM.exidx instead, with one entry for neighbours that are unwound alike: no function is found there.
 */
#include "os/place.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "os/linux/object.h"

/* The head of .eh_frame_hdr in the encoding that linkers use, before its entries. */
struct head {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};

struct entry {
	int32_t start, description; /* relative to the head */
};

/* The description of a function, in the encoding that compilers use. */
struct description {
	uint32_t length, origin;
	int32_t start; /* relative to this field */
	uint32_t size; /* bytes */
};

#define VERSION	       1u
#define COUNT_ENCODING 0x03u /* DW_EH_PE_udata4 */
#define TABLE_ENCODING 0x3bu /* DW_EH_PE_datarel, DW_EH_PE_sdata4 */

/* Whether the address is behind the end of the function that starts there. False: unknown, too. */
static bool is_behind(struct fib_os_pipe *pipe, uint64_t at, uint64_t start, uint64_t address)
{
	const uint64_t field = at + offsetof(struct description, start);
	struct description d;

	return fib_os_peek_through(pipe, at, &d, sizeof d) == 0 &&
	       field + (uint64_t)(int64_t)d.start == start && address - start >= d.size;
}

/*
 * The last function of the table that starts at or before the address. Code without a description,
 * such as that of a file in assembly, may follow it.
 */
uint64_t fib_os_place_function(struct fib_os_pipe *pipe, const struct fib_os_place *place,
			       uint64_t address)
{
	const uint64_t table = place->table;
	uint64_t low = 0, high, start = 0, description = 0;
	struct entry entry;
	struct head head;

	if (!table || fib_os_peek_through(pipe, table, &head, sizeof head) < 0 ||
	    head.version != VERSION || head.count_encoding != COUNT_ENCODING ||
	    head.table_encoding != TABLE_ENCODING)
		return 0;
	for (high = head.count; low < high;) {
		const uint64_t middle = low + (high - low) / 2;

		if (fib_os_peek_through(pipe, table + sizeof head + middle * sizeof entry, &entry,
					sizeof entry) < 0)
			return 0;
		if (table + (uint64_t)(int64_t)entry.start <= address) {
			start = table + (uint64_t)(int64_t)entry.start;
			description = table + (uint64_t)(int64_t)entry.description;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return start && is_behind(pipe, description, start, address) ? 0 : start;
}

/* Read a string in pieces that end with a page, as the memory behind it may be unmapped. */
static bool read_path(struct fib_os_pipe *pipe, uint64_t at, char *to, size_t size)
{
	size_t n = 0, piece;

	while (n < size) {
		piece = 64 - at % 64;
		if (piece > size - n)
			piece = size - n;
		if (fib_os_peek_through(pipe, at, to + n, piece) < 0)
			return false;
		if (memchr(to + n, 0, piece))
			return true;
		at += piece;
		n += piece;
	}
	return false;
}

static bool is_system(const char *module)
{
	static const char *const names[] = {"libc.",	   "libc-",    "libpthread", "ld-",
					    "linux-vdso.", "libasan.", "libtsan.",   "libubsan."};
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(module, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool fib_os_place_find(struct fib_os_pipe *pipe, uint64_t address, struct fib_os_place *ret)
{
	struct fib_os_object object;
	char path[512] = "";
	const char *name;

	if (!fib_os_object_find(pipe, address, &object) ||
	    (object.name && !read_path(pipe, object.name, path, sizeof path)))
		return false;
	name = strrchr(path, '/');
	/* The program itself has an empty name here. */
	name = name ? name + 1 : *path ? path : fib_os_program();
	memset(ret, 0, sizeof *ret);
	snprintf(ret->module, sizeof ret->module, "%.*s", (int)sizeof ret->module - 1, name);
	ret->offset = address - object.bias;
	ret->table = object.table;
	ret->system = is_system(name);
	return true;
}
