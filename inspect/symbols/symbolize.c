/* SPDX-License-Identifier: MIT */
/*
 * symbolize.c - find the functions, file and line of an address with libdw
 *
 * The debug information has functions, with inlined ones, and lines. Without it the ELF symbol
 * table has functions, and relocations name stubs. Without these the result is the module and the
 * offset in it, from which addr2line can find the rest on another machine.
 *
 * Looking up inline scopes takes 55 us a frame, and libdw does not cache them. So every answer is
 * cached.
 */
#include "inspect/symbols/symbolize.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/elf/debug.h"
#include "inspect/symbols/function_name.h"
#include "inspect/elf/plt.h"
#include "inspect/symbols/scopes.h"
#include "inspect/symbols/units.h"

#define INLINED_MAX 32
#define SCOPES_MAX  128

struct entry {
	uint64_t pc;
	bool returned;
	size_t count; /* 0: free slot */
	struct ins_frame *frames;
};

struct ins_symbols {
	struct ins_modules *modules;
	struct ins_units *units;
	struct entry *slots;
	size_t room; /* a power of two */
	size_t used;
	struct ins_frame unknown; /* returned if memory runs out */
};

int ins_symbols_new(struct ins_modules *modules, struct ins_symbols **ret)
{
	struct ins_symbols *s = calloc(1, sizeof *s);

	if (!s)
		return -ENOMEM;
	s->modules = modules;
	*ret = s;
	return 0;
}

static void drop_names(struct ins_frame *frame)
{
	free((char *)frame->function);
	free((char *)frame->file);
}

void ins_symbols_free(struct ins_symbols *symbols)
{
	size_t i, k;

	if (!symbols)
		return;
	for (i = 0; i < symbols->room; i++) {
		struct entry *e = &symbols->slots[i];

		for (k = 0; k < e->count; k++)
			drop_names(&e->frames[k]);
		free(e->frames);
	}
	free(symbols->slots);
	ins_units_free(symbols->units);
	free(symbols);
}

/* The place from which an inlined function was called. */
static void call_site(Dwarf_Die *cu, Dwarf_Die *inlined, const char **ret_file, int *ret_line)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word value;
	size_t count;

	*ret_file = NULL;
	*ret_line = 0;
	if (dwarf_attr(inlined, DW_AT_call_file, &attr) && dwarf_formudata(&attr, &value) == 0 &&
	    dwarf_getsrcfiles(cu, &files, &count) == 0 && value < count)
		*ret_file = dwarf_filesrc(files, value, NULL, NULL);
	if (dwarf_attr(inlined, DW_AT_call_line, &attr) && dwarf_formudata(&attr, &value) == 0 &&
	    value <= INT32_MAX)
		*ret_line = (int)value;
}

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_subprogram || tag == DW_TAG_entry_point;
}

/* What is known of an address before its functions are looked up. */
struct place {
	uint64_t at;
	Dwarf_Die unit;
	Dwarf_Addr bias; /* the unit's addresses are lower by this */
	bool has_unit;
	const char *file, *symbol; /* NULL: unknown */
	int line;
	GElf_Off offset; /* from the start of the symbol */
};

/*
 * Fill frames from the debug information. The file and line of the innermost function are those of
 * the address; those of each outer function are where it called the one inside it. Returns the
 * number of frames; 0: nothing is known. The last one is the function that has the code; its offset
 * is that of at.
 */
static size_t from_scopes(struct place *place, struct ins_frame *frames)
{
	const char *file = place->file;
	const uint64_t at = place->at - place->bias;
	Dwarf_Addr entry;
	int i, n, line = place->line;
	bool outermost = false;
	Dwarf_Die scopes[SCOPES_MAX];
	size_t count = 0;

	if (!place->has_unit)
		return 0;
	n = ins_scopes_at(&place->unit, at, scopes, SCOPES_MAX);
	for (i = 0; i < n && !outermost && count < INLINED_MAX; i++) {
		bool inlined = dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine, begun;

		outermost = is_function(&scopes[i]);
		if (!inlined && !outermost)
			continue;
		begun = outermost && dwarf_entrypc(&scopes[i], &entry) == 0 && entry <= at;
		frames[count].function = ins_function_name(
			&scopes[i], begun && at - entry == place->offset ? place->symbol : NULL);
		frames[count].file = file ? strdup(file) : NULL;
		frames[count].line = line;
		frames[count].inlined = inlined;
		if (begun) {
			frames[count].has_offset = true;
			frames[count].offset = at - entry;
		}
		count++;
		if (inlined)
			call_site(&place->unit, &scopes[i], &file, &line);
	}
	/* Without the function around them the inlined frames are useless. */
	while (count && !outermost) {
		count--;
		drop_names(&frames[count]);
		memset(&frames[count], 0, sizeof frames[count]);
	}
	return count;
}

static void find_place(struct ins_symbols *s, Dwfl_Module *module, struct place *place)
{
	Dwarf_Line *line = NULL;
	GElf_Sym sym;

	place->symbol =
		dwfl_module_addrinfo(module, place->at, &place->offset, &sym, NULL, NULL, NULL);
	place->has_unit = ins_units_find(&s->units, module, place->at, &place->unit, &place->bias);
	if (place->has_unit)
		line = dwarf_getsrc_die(&place->unit, place->at - place->bias);
	if (line && dwarf_lineno(line, &place->line) == 0)
		place->file = dwarf_linesrc(line, NULL, NULL);
}

static size_t look_up(struct ins_symbols *s, uint64_t pc, bool returned, struct ins_frame *frames)
{
	uint64_t at = pc - returned;
	struct ins_module *m = ins_modules_find(s->modules, at);
	Dwfl_Module *module = m ? ins_debug_module(s->modules, m) : NULL;
	struct place place = {.at = at};
	struct ins_frame *last;
	size_t i, count = 0;

	if (module) {
		find_place(s, module, &place);
		count = from_scopes(&place, frames);
	}
	if (!count) {
		frames[0].function = ins_demangled(place.symbol);
		frames[0].file = place.file ? strdup(place.file) : NULL;
		frames[0].line = place.file ? place.line : 0;
		count = 1;
	}
	last = &frames[count - 1];
	if (!last->function)
		last->function = ins_demangled(place.symbol);
	if (!last->function && module)
		last->function = ins_plt_name(module, at);
	if (last->has_offset) {
		last->offset += returned;
	} else if (m) {
		last->has_offset = place.symbol || !last->function;
		last->offset = last->function ? place.offset + returned : pc - m->bias;
	}
	for (i = 0; i < count; i++) {
		frames[i].pc = pc;
		/* The frames own their names. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
		frames[i].module = m ? m->path : NULL;
	}
	return count;
}

static struct entry *slot_of(struct ins_symbols *s, uint64_t pc, bool returned)
{
	size_t i = (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (s->room - 1);

	while (s->slots[i].count && (s->slots[i].pc != pc || s->slots[i].returned != returned))
		i = (i + 1) & (s->room - 1);
	return &s->slots[i];
}

static bool grow(struct ins_symbols *s)
{
	struct entry *old = s->slots;
	size_t i, room = s->room;

	if (s->used * 2 < room)
		return true;
	s->slots = calloc(room ? room * 2 : 256, sizeof *s->slots);
	if (!s->slots) {
		s->slots = old;
		return false;
	}
	s->room = room ? room * 2 : 256;
	for (i = 0; i < room; i++) {
		if (old[i].count)
			*slot_of(s, old[i].pc, old[i].returned) = old[i];
	}
	free(old);
	return true;
}

const struct ins_frame *ins_symbols_at(struct ins_symbols *symbols, uint64_t pc, bool returned,
				       size_t *ret_count)
{
	struct ins_frame frames[INLINED_MAX] = {{0}};
	struct ins_frame *copy;
	struct entry *e;
	size_t count;

	*ret_count = 1;
	symbols->unknown.pc = pc;
	if (!grow(symbols))
		return &symbols->unknown;
	e = slot_of(symbols, pc, returned);
	if (!e->count) {
		count = look_up(symbols, pc, returned, frames);
		copy = malloc(count * sizeof *copy);
		if (!copy) {
			while (count)
				drop_names(&frames[--count]);
			return &symbols->unknown;
		}
		memcpy(copy, frames, count * sizeof *copy);
		*e = (struct entry){pc, returned, count, copy};
		symbols->used++;
	}
	*ret_count = e->count;
	return e->frames;
}

const char *ins_frame_file(const struct ins_frame *frame)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

	return slash ? slash + 1 : frame->file;
}

const char *ins_frame_module(const struct ins_frame *frame)
{
	const char *slash;

	if (!frame->module || !frame->module[0])
		return NULL;
	slash = strrchr(frame->module, '/');
	return slash && slash[1] ? slash + 1 : frame->module;
}
