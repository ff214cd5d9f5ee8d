/* SPDX-License-Identifier: MIT */
/* registry.h - a registry as another program might describe it, at the end of a mapping */
#ifndef UNIT_LAYOUT_REGISTRY_H
#define UNIT_LAYOUT_REGISTRY_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout/layout.h"

#define RECORD_SIZE 320u

static inline void put_field(struct fib_layout *l, enum fib_layout_field_id id, uint16_t offset,
			     uint16_t size)
{
	l->fields[id].offset = offset;
	l->fields[id].size = size;
}

/* Every field has a different offset than in libfiber's own record, and no field is aligned. */
static inline void make_layout(struct fib_layout *l)
{
	static const uint16_t sizes[FIB_FIELD_COUNT] = {
		[FIB_FIELD_SP] = 8,	   [FIB_FIELD_FP] = 8,		 [FIB_FIELD_PC] = 8,
		[FIB_FIELD_SEQ] = 8,	   [FIB_FIELD_SINCE] = 8,	 [FIB_FIELD_STATE] = 1,
		[FIB_FIELD_WAIT_KIND] = 1, [FIB_FIELD_FLAGS] = 1,	 [FIB_FIELD_CARRIER] = 2,
		[FIB_FIELD_PINS] = 2,	   [FIB_FIELD_WAIT_OBJECT] = 8,	 [FIB_FIELD_WAIT_ARG] = 8,
		[FIB_FIELD_DEADLINE] = 8,  [FIB_FIELD_CPU] = 8,		 [FIB_FIELD_ID] = 8,
		[FIB_FIELD_PARENT] = 8,	   [FIB_FIELD_STACK_LOW] = 8,	 [FIB_FIELD_STACK_SIZE] = 8,
		[FIB_FIELD_SPAWN_PC] = 8,  [FIB_FIELD_ENTRY] = 8,	 [FIB_FIELD_NAME] = 32,
		[FIB_FIELD_FAILURE] = 40,  [FIB_FIELD_LABELS] = 8,	 [FIB_FIELD_RUNNABLE] = 8,
		[FIB_FIELD_WAITED] = 8,	   [FIB_FIELD_BORN] = 8,	 [FIB_FIELD_CANCELLED] = 1,
		[FIB_FIELD_MASKED] = 2,	   [FIB_FIELD_READS] = 16,	 [FIB_FIELD_READS_MORE] = 1,
		[FIB_FIELD_ERROR] = 4,	   [FIB_FIELD_HELD] = 8,	 [FIB_FIELD_HELD_AT] = 8,
		[FIB_FIELD_RUNTIME] = 8,   [FIB_FIELD_PINNED_WAITS] = 4, [FIB_FIELD_POLLED] = 8,
	};
	uint16_t at = RECORD_SIZE;
	int i;

	memset(l, 0, sizeof *l);
	memcpy(l->magic, FIB_LAYOUT_MAGIC, sizeof l->magic);
	l->version = FIB_LAYOUT_VERSION;
	l->size = sizeof *l;
	l->records = 0x10000;
	l->record_size = RECORD_SIZE;
	l->committed = 4096;
	l->capacity = 65536;
	l->field_count = FIB_FIELD_COUNT;
	l->state_count = 5;
	l->wait_count = FIB_WAIT_COUNT;
	/*
	 * Place the fields from the end backwards, so that the last byte of a record is read too.
	 */
	for (i = 0; i < FIB_FIELD_COUNT; i++) {
		at = (uint16_t)(at - sizes[i]);
		put_field(l, (enum fib_layout_field_id)i, at, sizes[i]);
	}
}

/* size bytes up to the end of readable memory: a read beyond them faults. */
static inline unsigned char *make_edge(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size + page - 1) / page * page;
	unsigned char *at =
		mmap(NULL, n + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + n, page, PROT_NONE) < 0)
		abort();
	return at + n - size;
}

#endif
