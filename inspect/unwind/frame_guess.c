/* SPDX-License-Identifier: MIT */
/*
 * frame_guess.c - the stack of a thread that sleeps in the system, whose frame pointer nobody knows
 *
 * The kernel says where the stack is and not what is in the other registers. Most code needs none of them: its unwind
 * information counts from the stack pointer. Code that keeps a frame pointer (built without optimisation, or with a frame
 * of variable size) does need it, unless something below has saved it. Then the frame pointer is looked for: it points into
 * this stack, to where the caller's register was saved, with a return address above it.
 *
 * An old frame that nobody uses any more may look the same. So a guess is believed only if the walk is whole with it, and if
 * the call before the return address calls the function that the walk was in: by its address, or by its name where it goes
 * through a stub. What the caller had in the register is anything, where it keeps no frame pointer itself. Where there is none of
 * these, a call that does not say whom it calls will do if a frame pointer was saved, or none yet. Of those that hold the lowest
 * one is meant: callers' frames are above.
 */
#include "inspect/unwind/frame_guess.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/elf/debug.h"
#include "inspect/elf/image.h"
#include "inspect/elf/plt.h"

static uint64_t word_at(const struct ins_fiber *fiber, size_t at)
{
	uint64_t word;

	memcpy(&word, fiber->stack + at, sizeof word);
	return word;
}

enum belief { NOT, PERHAPS, SURELY };

/* Whether what was saved there is a frame pointer, which is further up, or was never set. */
static bool links(const struct ins_fiber *fiber, size_t at)
{
	const uint64_t saved = word_at(fiber, at);

	return !saved ||
	       (saved > fiber->row.sp + at && saved < fiber->row.sp + fiber->row.stack_size);
}

/* Where the call before `back` goes to, 0 when it does not say. x86-64. */
static uint64_t target_of(struct ins_source *source, uint64_t back)
{
	unsigned char code[5];
	int32_t distance;

	if (ins_machine_self() != EM_X86_64 ||
	    ins_source_memory(source, NULL, back - sizeof code, code, sizeof code) < 0 ||
	    code[0] != 0xe8)
		return 0;
	memcpy(&distance, code + 1, sizeof distance);
	return back + (uint64_t)(int64_t)distance;
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

/* Whether a symbol is of that name; a version behind it does not count. */
static bool is_called(const char *symbol, const char *name, size_t size)
{
	return symbol && strncmp(symbol, name, size) == 0 && (!symbol[size] || symbol[size] == '@');
}

/* Whether the function that begins there is the one of that name, to which its module's symbols must lead. */
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
		/* Of those the loader chooses one. */
		if (address == begin || GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
			return SURELY;
	}
	return count <= 1 ? PERHAPS : NOT;
}

/* Whether a call of the stub is one of the function that begins there: not where they have other names. */
static enum belief leads_to(struct ins_source *source, uint64_t stub, uint64_t begin)
{
	Dwfl_Module *module = module_of(source, stub);
	char *name = module ? ins_plt_name(module, stub) : NULL;
	enum belief ret = name ? is_named(module_of(source, begin), begin, name, strcspn(name, "@"))
			       : PERHAPS;

	free(name);
	return ret;
}

/* Whether the walk came to `back` out of a function that is called there. */
static enum belief called(struct ins_unwinder *unwinder, struct ins_source *source,
			  const struct ins_walk *walk, uint64_t back)
{
	uint64_t to = target_of(source, back), begin, inner;
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
