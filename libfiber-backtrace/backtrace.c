/* SPDX-License-Identifier: MIT */
/*
 * backtrace.c - walk a fiber's stack from inside the program
 *
 * The method is that of the tools, within one process. The record says where the registers were
 * saved. The bytes of the stack are copied between two readings of the sequence number, and
 * libunwind walks the copy. It may only read the copy and memory mapped from the program's files.
 * So a damaged stack ends the walk, and the program continues. A walk is complete only if it ends
 * in the routine in which every fiber starts.
 */
#include <fiber/backtrace.h>

#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <libunwind.h>

#include <fiber/time.h>

#include "layout/row.h"

#define FRAMES_MAX 256
#define TRIES	   16
#define RECORD_MAX 4096

extern struct fib_layout fiber_registry;

struct walk {
	struct fib_row row;
	unsigned char *stack;	      /* the bytes from row.sp up */
	uint64_t file_low, file_high; /* the part of a file that was read last */
};

/*
 * The fiber may write during the copy; the sequence number shows that. volatile: otherwise the
 * compiler would call memcpy, which sanitizers intercept.
 */
__attribute__((noinline, no_sanitize("address", "thread"))) static void copy_bytes(void *to,
										   uint64_t from,
										   size_t size)
{
	const volatile unsigned char *at = (const volatile unsigned char *)(uintptr_t)from;
	unsigned char *bytes = to;

	while (size--)
		*bytes++ = *at++;
}

static uint64_t field(const struct fiber *fiber, enum fib_layout_field_id id)
{
	const char *at = (const char *)fiber + fiber_registry.fields[id].offset;

	return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

/* Try once to copy the record and its stack at one moment: 1; 0: try again; or a negative errno. */
static int copy_once(const struct fiber *fiber, struct walk *w)
{
	const uint64_t id = field(fiber, FIB_FIELD_ID), seq = field(fiber, FIB_FIELD_SEQ);
	unsigned char record[RECORD_MAX];

	copy_bytes(record, (uint64_t)(uintptr_t)fiber, fiber_registry.record_size);
	if (!fib_row_decode(&fiber_registry, record, (uint64_t)(uintptr_t)fiber, fiber_now(),
			    &w->row))
		return -ESRCH;
	if (seq & 1)
		return 0;
	if (fib_row_walkable(&w->row)) {
		free(w->stack);
		w->stack = malloc(w->row.stack_used);
		if (!w->stack)
			return -ENOMEM;
		copy_bytes(w->stack, w->row.sp, w->row.stack_used);
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return field(fiber, FIB_FIELD_SEQ) == seq && field(fiber, FIB_FIELD_ID) == id;
}

static int copy_fiber(const struct fiber *fiber, struct walk *w)
{
	int i, rc = 0;

	for (i = 0; i < TRIES && rc == 0; i++)
		rc = copy_once(fiber, w);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return -EBUSY;
	return w->row.state == FIBER_DEAD ? -ESRCH : 0;
}

/* -- what libunwind may read -- */

static int find_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct walk *w = arg;
	uint64_t address = w->file_low;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_R) || address < low ||
		    address - low >= ph->p_memsz)
			continue;
		w->file_low = low;
		w->file_high = low + ph->p_memsz;
		return 1;
	}
	return 0;
}

static bool in_file(struct walk *w, uint64_t address)
{
	if (address >= w->file_low && address + sizeof(unw_word_t) <= w->file_high)
		return true;
	w->file_low = address;
	w->file_high = 0;
	return dl_iterate_phdr(find_file, w) && address + sizeof(unw_word_t) <= w->file_high;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write,
		      void *arg)
{
	struct walk *w = arg;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	if (address >= w->row.sp && address - w->row.sp <= w->row.stack_used - sizeof *value)
		memcpy(value, w->stack + (address - w->row.sp), sizeof *value);
	else if (in_file(w, address))
		copy_bytes(value, address, sizeof *value);
	else
		return -UNW_EINVAL;
	return 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	const struct walk *w = arg;

	(void)as;
	if (write)
		return -UNW_EREADONLYREG;
	if (reg == UNW_REG_IP)
		*value = w->row.pc;
	else if (reg == UNW_REG_SP)
		*value = w->row.sp;
	else
		return -UNW_EBADREG;
	return 0;
}

/* -- printing -- */

/* Bytes outside printable ASCII are escaped, so that a name cannot affect the terminal. */
static void print_name(FILE *out, const char *name)
{
	for (; *name; name++) {
		const unsigned char c = (unsigned char)*name;

		if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fprintf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
}

static void print_header(FILE *out, const struct fib_row *row)
{
	fprintf(out, "fiber %" PRIu64 " \"", row->id);
	print_name(out, row->name);
	fprintf(out, "\" [%s", fiber_registry.state_names[row->state & 7]);
	if (row->wait_kind != FIB_WAIT_NONE)
		fprintf(out, ": %s", fiber_registry.wait_names[row->wait_kind]);
	fprintf(out, ", %" PRId64 "ms]\n", row->age / 1000000);
}

static void print_frame(FILE *out, int number, unw_cursor_t *cursor, unw_word_t pc)
{
	char name[256];
	unw_word_t offset;
	int rc = unw_get_proc_name(cursor, name, sizeof name, &offset);

	if (rc == 0 || rc == -UNW_ENOMEM)
		fprintf(out, "  #%-3d%s+0x%" PRIx64 "\n", number, name, (uint64_t)offset);
	else
		fprintf(out, "  #%-3d0x%" PRIx64 "\n", number, (uint64_t)pc);
}

/*
 * Print up to max frames. Returns their number; *ret_whole: the last is a fiber's first routine, or
 * max is reached.
 */
static int print_frames(FILE *out, unw_cursor_t *cursor, int max, bool *ret_whole)
{
	unw_word_t pc = 0, sp, last = 0;
	int n = 0;

	do {
		if (unw_get_reg(cursor, UNW_REG_IP, &pc) < 0 || !pc ||
		    unw_get_reg(cursor, UNW_REG_SP, &sp) < 0 || sp < last)
			break;
		last = sp;
		print_frame(out, n++, cursor, pc);
		*ret_whole = n == max ||
			     (pc >= fiber_registry.entry_low && pc < fiber_registry.entry_high);
	} while (!*ret_whole && unw_step(cursor) > 0);
	return n;
}

static int print_copy(FILE *out, struct walk *w, int max, bool *ret_whole)
{
	unw_accessors_t accessors = *unw_get_accessors(unw_local_addr_space);
	unw_addr_space_t space;
	unw_cursor_t cursor;
	int n = 0;

	accessors.access_mem = access_mem;
	accessors.access_reg = access_reg;
	space = unw_create_addr_space(&accessors, 0);
	if (!space)
		return -ENOMEM;
	if (unw_init_remote(&cursor, space, w) == 0)
		n = print_frames(out, &cursor, max, ret_whole);
	unw_destroy_addr_space(space);
	return n;
}

/* The fiber has no stack yet: print where it will start. */
static int print_beginning(FILE *out, struct walk *w, bool *ret_whole)
{
	w->row.pc = w->row.entry;
	return print_copy(out, w, 1, ret_whole);
}

static int print_self(FILE *out, int max, bool *ret_whole)
{
	unw_context_t here;
	unw_cursor_t cursor;

	if (unw_getcontext(&here) < 0 || unw_init_local(&cursor, &here) < 0)
		return 0;
	return print_frames(out, &cursor, max, ret_whole);
}

static const char *reason(int rc)
{
	switch (rc) {
	case -EBUSY:
		return "it runs, and only itself can walk its stack";
	case -ESRCH:
		return "it has ended";
	case -EFAULT:
		return "its stack pointer is outside its stack";
	case -ENOTSUP:
		return "the stacks of this port cannot be walked";
	default:
		return "no memory";
	}
}

int fiber_print_backtrace(struct fiber *fiber, FILE *out, int max_frames)
{
	const int max = max_frames > 0 && max_frames < FRAMES_MAX ? max_frames : FRAMES_MAX;
	struct walk w = {.stack = NULL};
	bool whole = false;
	int rc;

	rc = copy_fiber(fiber, &w);
	print_header(out, &w.row);
	if (fiber_registry.recipe != FIB_RECIPE_CFI)
		rc = -ENOTSUP;
	else if (fiber == fiber_self())
		rc = print_self(out, max, &whole);
	else if (rc == 0 && fib_row_astray(&w.row))
		rc = -EFAULT;
	else if (rc == 0 && fib_row_not_started(&w.row))
		rc = print_beginning(out, &w, &whole);
	else if (rc == 0)
		rc = print_copy(out, &w, max, &whole);
	if (rc < 0)
		fprintf(out, "  no frames: %s\n", reason(rc));
	else if (!whole)
		fprintf(out, "  truncated: no rule for what called this\n");
	free(w.stack);
	return rc;
}
