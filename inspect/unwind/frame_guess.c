/* SPDX-License-Identifier: MIT */
/*
 * frame_guess.c - find the frame pointer of a thread that sleeps in the kernel
 *
 * The kernel reports only sp and pc of such a thread. Most code needs no other register: its unwind
 * information counts from the stack pointer. Code that keeps a frame pointer (built without
 * optimisation, or with a frame of variable size) does need it, unless an inner frame has saved it.
 * Then the stack is searched for the frame pointer: it points into this stack, to a place where the
 * caller's frame pointer was saved, with a return address above.
 *
 * An old, unused frame may look the same. So a candidate is believed only if two conditions hold.
 * The walk with it is whole. And the call before the return address calls the function that the
 * walk was in, by address, or by name if the call goes through a PLT stub. The saved value may be
 * anything if the caller keeps no frame pointer itself.
 *
 * If no candidate passes, an indirect call is accepted too, provided that the saved value is a
 * frame pointer or was never set. Among the candidates that pass, the lowest is taken: callers'
 * frames are above.
 */
#include "inspect/unwind/frame_guess.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/elf/debug.h"
#include "inspect/elf/plt.h"
#include "inspect/unwind/call_target.h"

static uint64_t word_at(const struct ins_fiber *fiber, size_t at)
{
	uint64_t word;

	memcpy(&word, fiber->stack + at, sizeof word);
	return word;
}

enum belief { NOT, PERHAPS, SURELY };

/* Whether the saved value is a frame pointer farther up, or was never set. */
static bool links(const struct ins_fiber *fiber, size_t at)
{
	const uint64_t saved = word_at(fiber, at);

	return !saved ||
	       (saved > fiber->row.sp + at && saved < fiber->row.sp + fiber->row.stack_size);
}

static bool is_stub(struct ins_source *source, uint64_t address)
{
	unsigned char code[8];
	size_t at;

	return ins_source_memory(source, NULL, address, code, sizeof code) == 0 &&
	       ins_plt_jumps(code, sizeof code, &at);
}

static Dwfl_Module *module_of(struct ins_source *source, uint64_t address)
{
	struct ins_module *m = ins_modules_find(source->modules, address);

	return m ? ins_debug_module(source->modules, m) : NULL;
}

/* Whether a symbol has this name, not counting a version suffix. */
static bool is_called(const char *symbol, const char *name, size_t size)
{
	return symbol && strncmp(symbol, name, size) == 0 && (!symbol[size] || symbol[size] == '@');
}

/* Whether the function that starts there has this name, according to its module's symbols. */
static enum belief is_named(Dwfl_Module *module, uint64_t begin, const char *name, size_t size)
{
	const int count = module ? dwfl_module_getsymtab(module) : 0;
	int i;

	for (i = 1; i < count; i++) {
		GElf_Addr address;
		GElf_Sym symbol;
		GElf_Word section;
		const char *found =
			dwfl_module_getsym_info(module, i, &symbol, &address, &section, NULL, NULL);

		if (!is_called(found, name, size) || section == SHN_UNDEF)
			continue;
		/* The loader chooses the function of an IFUNC. */
		if (address == begin || GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
			return SURELY;
	}
	return count <= 1 ? PERHAPS : NOT;
}

/*
 * Whether a call of the stub is a call of the function that starts there. Not if their names
 * differ.
 */
static enum belief leads_to(struct ins_source *source, uint64_t stub, uint64_t begin)
{
	Dwfl_Module *module = module_of(source, stub);
	char *name = module ? ins_plt_name(module, stub) : NULL;
	enum belief ret = name ? is_named(module_of(source, begin), begin, name, strcspn(name, "@"))
			       : PERHAPS;

	free(name);
	return ret;
}

/* Whether the walk came to `back` from a function that the instruction before `back` calls. */
static enum belief called(struct ins_unwinder *unwinder, struct ins_source *source,
			  const struct ins_walk *walk, uint64_t back)
{
	uint64_t to = ins_call_target(source, back), begin, inner;
	unsigned i;

	for (i = 1; i < walk->count && walk->pc[i] != back; i++)
		;
	if (i >= walk->count)
		return NOT;
	if (!to)
		return PERHAPS;
	inner = walk->pc[i - 1] - (i > 1);
	if (!ins_unwind_function(unwinder, inner, &begin))
		return PERHAPS;
	if (begin == to)
		return SURELY;
	return is_stub(source, to) ? leads_to(source, to, begin) : NOT;
}

bool ins_frame_guess(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		     struct ins_walk *ret)
{
	struct ins_source *source = ins_unwind_source(unwinder);
	struct ins_fiber guess = *fiber;
	uint64_t perhaps = 0;
	size_t at;

	guess.row.fp = 0;
	if (ins_unwind_whole(unwinder, &guess, ret))
		return true;
	for (at = 0; at + 16 <= fiber->stack_size; at += 8) {
		const uint64_t back = word_at(fiber, at + 8);
		enum belief belief;

		if (!back || !ins_modules_find(source->modules, back))
			continue;
		guess.row.fp = fiber->row.sp + at;
		if (!ins_unwind_whole(unwinder, &guess, ret))
			continue;
		belief = called(unwinder, source, ret, back);
		if (belief == SURELY)
			return true;
		if (belief == PERHAPS && !perhaps && links(fiber, at))
			perhaps = guess.row.fp;
	}
	guess.row.fp = perhaps;
	return perhaps && ins_unwind_whole(unwinder, &guess, ret);
}
