/* SPDX-License-Identifier: MIT */
/*
 * small_core.h - a valid core of four fibers in ten kilobytes, to be corrupted
 *
 * A program without a file, whose note leads to a registry of four fibers: two suspended, one that
 * ran when a signal came to its thread, one that has exited. Everything from SMALL_DATA on (the
 * registry, the records and what they point to) is data that such a program could have written.
 */
#ifndef FUZZ_SMALL_CORE_H
#define FUZZ_SMALL_CORE_H

#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/procfs.h>

#include <fiber/fiber.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/unit/layout/registry.h"

#define SMALL_PROGRAM UINT64_C(0x400000)
#define SMALL_DATA    UINT64_C(0x500000)

struct small_data {
	struct fib_layout layout;
	int64_t clock;
	unsigned char records[4 * RECORD_SIZE];
	struct fib_layout_labels labels;
	uint64_t stack[2][64];
};

/* Offsets of the data in the core. */
struct small_core {
	struct elf_bytes elf;
	size_t data;
};

static inline uint64_t small_at(size_t offset)
{
	return SMALL_DATA + offset;
}

static inline void small_put(struct small_data *d, unsigned i, enum fib_layout_field_id id,
			     uint64_t value)
{
	memcpy(d->records + i * RECORD_SIZE + d->layout.fields[id].offset, &value,
	       d->layout.fields[id].size);
}

static inline void small_fiber(struct small_data *d, unsigned i, uint8_t state)
{
	const uint64_t low = small_at(offsetof(struct small_data, stack[i & 1]));

	small_put(d, i, FIB_FIELD_ID, i + 1);
	small_put(d, i, FIB_FIELD_PARENT, i);
	small_put(d, i, FIB_FIELD_SEQ, 20 + (state == FIBER_RUNNING));
	small_put(d, i, FIB_FIELD_STATE, state);
	small_put(d, i, FIB_FIELD_WAIT_KIND, FIB_WAIT_MUTEX);
	small_put(d, i, FIB_FIELD_WAIT_OBJECT, small_at(offsetof(struct small_data, clock)));
	small_put(d, i, FIB_FIELD_STACK_LOW, low);
	small_put(d, i, FIB_FIELD_STACK_SIZE, sizeof d->stack[0]);
	small_put(d, i, FIB_FIELD_SP, low + 128);
	small_put(d, i, FIB_FIELD_FP, low + 256);
	small_put(d, i, FIB_FIELD_PC, SMALL_PROGRAM + 0x100);
	small_put(d, i, FIB_FIELD_ENTRY, SMALL_PROGRAM + 0x200);
	small_put(d, i, FIB_FIELD_LABELS, small_at(offsetof(struct small_data, labels)));
	memcpy(d->records + i * RECORD_SIZE + d->layout.fields[FIB_FIELD_NAME].offset, "name", 4);
}

static inline void small_fill(struct small_data *d)
{
	static const uint8_t states[] = {FIBER_SUSPENDED, FIBER_RUNNABLE, FIBER_RUNNING,
					 FIBER_DEAD};
	unsigned i;

	memset(d, 0, sizeof *d);
	make_layout(&d->layout);
	d->layout.machine = ins_machine_self();
	d->layout.recipe = FIB_RECIPE_CFI;
	d->layout.carriers = 1;
	d->layout.records = small_at(offsetof(struct small_data, records));
	d->layout.committed = d->layout.capacity = 4;
	d->layout.clock = small_at(offsetof(struct small_data, clock));
	d->layout.entry_low = SMALL_PROGRAM + 0x200;
	d->layout.entry_high = SMALL_PROGRAM + 0x240;
	strcpy(d->layout.program, "small");
	d->clock = 5000000000;
	for (i = 0; i < 4; i++)
		small_fiber(d, i, states[i]);
	d->labels.owner = 1;
	memcpy(d->labels.text[0], "key\0value", 10);
	/* A cyclic chain of frame pointers. */
	for (i = 0; i < 64; i++)
		d->stack[0][i] = i & 1 ? SMALL_PROGRAM + 0x100
				       : small_at(offsetof(struct small_data, stack)) + 8 * (i / 2);
}

static inline void small_notes(struct elf_bytes *elf)
{
	struct elf_prpsinfo info = {.pr_pid = 77, .pr_fname = "small"};
	struct elf_prstatus status = {.pr_pid = 78, .pr_cursig = SIGSEGV};
	const uint64_t files[] = {1, 4096, SMALL_PROGRAM, SMALL_PROGRAM + 0x1000, 0};
	char names[sizeof files + 16];
	siginfo_t signal = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
	const uint64_t auxv[] = {AT_PHDR, SMALL_PROGRAM + 64, AT_ENTRY, SMALL_PROGRAM + 0x100, 0,
				 0};

#ifdef __x86_64__
	status.pr_reg[19] = small_at(offsetof(struct small_data, stack[0][20]));
	status.pr_reg[16] = SMALL_PROGRAM + 0x120;
#endif
	memset(names, 0, sizeof names);
	memcpy(names, files, sizeof files);
	memcpy(names + sizeof files, "/nonexistent/p", 15);
	elf_note(elf, "CORE", NT_PRSTATUS, &status, sizeof status);
	elf_note(elf, "CORE", NT_PRPSINFO, &info, sizeof info);
	elf_note(elf, "CORE", NT_SIGINFO, &signal, sizeof signal);
	elf_note(elf, "CORE", NT_AUXV, auxv, sizeof auxv);
	elf_note(elf, "CORE", NT_FILE, names, sizeof names);
}

/* The program's image, as in memory. */
static inline void small_program(struct elf_bytes *elf)
{
	struct fib_layout_note note = {0};
	uint64_t notes, at;

	elf_start(elf, ET_EXEC);
	notes = elf_append(elf, NULL, 0);
	at = elf_note(elf, FIB_LAYOUT_NOTE_NAME, FIB_LAYOUT_NOTE_TYPE, &note, sizeof note);
	note.distance = (int64_t)(SMALL_DATA - (SMALL_PROGRAM + at));
	memcpy(elf->at + at, &note, sizeof note);
	elf_add(elf, PT_LOAD, 0, SMALL_PROGRAM, 0x1000);
	elf_add(elf, PT_NOTE, notes, SMALL_PROGRAM + notes, elf->size - notes);
}

static inline void small_core(struct small_core *ret)
{
	static struct elf_bytes program;
	static struct small_data data;
	size_t from;

	small_program(&program);
	small_fill(&data);
	elf_start(&ret->elf, ET_CORE);
	from = ret->elf.size;
	small_notes(&ret->elf);
	elf_add(&ret->elf, PT_NOTE, from, 0, ret->elf.size - from);
	from = elf_append(&ret->elf, program.at, program.size);
	elf_add(&ret->elf, PT_LOAD, from, SMALL_PROGRAM, program.size);
	ret->data = elf_append(&ret->elf, &data, sizeof data);
	elf_add(&ret->elf, PT_LOAD, ret->data, SMALL_DATA, sizeof data);
}

#endif
