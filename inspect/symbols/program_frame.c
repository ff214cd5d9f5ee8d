/* SPDX-License-Identifier: MIT */
/* program_frame.c - find the innermost frame of the program itself */
#include "inspect/symbols/program_frame.h"

#include <string.h>

#include "inspect/elf/plt.h"

static bool begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

/* Libraries that every program is linked with and that know nothing of fibers. */
static bool is_system(const struct ins_frame *f)
{
	const char *module = ins_frame_module(f);

	return begins(module, "libc.") || begins(module, "libc-") || begins(module, "libpthread") ||
	       begins(module, "ld-") || begins(module, "[vdso]") || begins(module, "libasan.") ||
	       begins(module, "libtsan.") || begins(module, "libubsan.") || ins_plt_is(f->function);
}

enum whose { PROGRAM, SYSTEM, INSIDE, PUBLIC };

/*
 * Whether a frame is the program's, libfiber's or the system's. Static functions of libfiber have
 * no prefix. So all frames from one inside libfiber outwards, up to a public function, are
 * libfiber's.
 */
static enum whose whose(const struct ins_frame f[], size_t count)
{
	enum whose ret = is_system(&f[count - 1]) ? SYSTEM : PROGRAM;
	size_t i;

	for (i = 0; i < count; i++)
		if (begins(f[i].function, "fib_"))
			ret = INSIDE;
		else if (begins(f[i].function, "fiber_"))
			ret = PUBLIC;
	return ret;
}

/*
 * By the marks of the walk (unwind/library_frames.h), which need no names. A function that the
 * program defines may have any name, also one of libfiber's.
 */
static unsigned by_marks(struct ins_symbols *symbols, const struct ins_walk *walk)
{
	unsigned i, called = walk->count;
	size_t count;

	for (i = 0; i < walk->count; i++) {
		const struct ins_frame *f =
			ins_symbols_at(symbols, walk->pc[i], ins_walk_returned(walk, i), &count);

		if (ins_walk_called(walk, i) && called == walk->count)
			called = i;
		if (!ins_walk_internal(walk, i) && !ins_walk_called(walk, i) &&
		    !ins_walk_is_entry(walk, i) && !is_system(&f[count - 1]))
			return i;
	}
	return called < walk->count ? called : 0;
}

unsigned ins_program_frame(struct ins_symbols *symbols, const struct ins_walk *walk)
{
	unsigned i, first = 0;
	bool inside = false, found = false;
	size_t count;

	if (walk->code.known)
		return by_marks(symbols, walk);
	for (i = 0; i < walk->count; i++) {
		const struct ins_frame *f =
			ins_symbols_at(symbols, walk->pc[i], ins_walk_returned(walk, i), &count);
		const enum whose w = whose(f, count);

		if (w == PROGRAM && !inside)
			return i;
		if (w == PROGRAM && !found) {
			first = i;
			found = true;
		}
		if (w == INSIDE || w == PUBLIC)
			inside = w == INSIDE;
	}
	return first;
}
