/* SPDX-License-Identifier: MIT */
/* snapshots.h - build snapshot files byte by byte, so that any field can be made wrong */
#ifndef TEST_INSPECT_SNAPSHOTS_H
#define TEST_INSPECT_SNAPSHOTS_H

#include <stdio.h>
#include <string.h>

#include "inspect/source/snapshot.h"
#include "inspect/source/snapshot_sums.h"
#include "tests/harness/inspect/rows.h"
#include "tests/harness/paths.h"
#include "wire/thread.h"

#define SNAPSHOT_ROOM 131072
#define SNAPSHOT_MAPS "7f0000000000-7f0000001000 r-xp 00000000 08:01 12   /nonexistent/library\n"

struct snapshot_file {
	_Alignas(8) unsigned char at[SNAPSHOT_ROOM];
	size_t size;
	size_t section; /* offset of the open section */
};

static inline void snapshot_put(struct snapshot_file *f, const void *bytes, size_t size)
{
	assert_true(f->size + size <= SNAPSHOT_ROOM);
	if (size)
		memcpy(f->at + f->size, bytes, size);
	f->size += size;
}

static inline void snapshot_begin(struct snapshot_file *f)
{
	struct ins_snapshot_head head = {
		.magic = INS_SNAPSHOT_MAGIC,
		.version = INS_SNAPSHOT_VERSION,
		.head_size = sizeof head,
		.taken = INT64_C(1700000000000000000),
		.now = 5000,
		.pid = 42,
		.machine = ins_machine_self(),
		.name = "remote",
		.host = "elsewhere",
	};

	f->size = 0;
	snapshot_put(f, &head, sizeof head);
}

static inline void snapshot_section(struct snapshot_file *f, uint32_t type)
{
	const struct ins_snapshot_section s = {INS_SNAPSHOT_SECTION, type, 0};

	f->section = f->size;
	snapshot_put(f, &s, sizeof s);
}

static inline void snapshot_section_end(struct snapshot_file *f)
{
	const uint64_t size = f->size - f->section - sizeof(struct ins_snapshot_section);

	memcpy(f->at + f->section + offsetof(struct ins_snapshot_section, size), &size,
	       sizeof size);
}

/* Append the checksums of all parts: the file is as fiberctl writes it. */
static inline void snapshot_sums(struct snapshot_file *f)
{
	struct ins_snapshot_head *head = (struct ins_snapshot_head *)f->at;
	struct ins_snapshot_sums sums = {0};
	struct ins_snapshot_section section;
	size_t at = head->head_size;

	ins_snapshot_sums_add(&sums, 0);
	for (; at < f->size; at += sizeof section + section.size) {
		memcpy(&section, f->at + at, sizeof section);
		ins_snapshot_sums_add(
			&sums, ins_snapshot_sum(ins_snapshot_sum(0, f->at + at + sizeof section,
								 section.size),
						&section, sizeof section));
	}
	head->flags |= INS_SNAPSHOT_SUMMED;
	head->size = f->size + sizeof section + (sums.count + 1) * sizeof sums.at[0];
	sums.at[0] = ins_snapshot_sum(0, head, head->head_size);
	snapshot_section(f, INS_SNAPSHOT_SUMS);
	snapshot_put(f, sums.at, ins_snapshot_sums_end(&sums));
	snapshot_section_end(f);
}

/* Set the size in the header and write the file. */
static inline void snapshot_save(struct snapshot_file *f, const char *path)
{
	const uint64_t size = f->size;
	FILE *out = fopen(path, "w");

	if (f->size >= sizeof(struct ins_snapshot_head))
		memcpy(f->at + offsetof(struct ins_snapshot_head, size), &size, sizeof size);
	assert_non_null(out);
	assert_int_equal(fwrite(f->at, 1, f->size, out), f->size);
	assert_int_equal(fclose(out), 0);
}

static inline void snapshot_frame(struct snapshot_file *f, uint16_t type, const void *a, size_t na,
				  const void *b, size_t nb)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, type,
					  (uint32_t)(na + nb)};

	snapshot_put(f, &h, sizeof h);
	snapshot_put(f, a, na);
	snapshot_put(f, b, nb);
}

/* Append what precedes the fibers. */
static inline void snapshot_preface(struct snapshot_file *f)
{
	const struct fib_wire_process p = {.pid = 42, .fibers = 3, .now = 5000, .name = "remote"};
	struct fib_layout layout;

	rows_layout(&layout);
	snapshot_frame(f, FIB_WIRE_PROCESS, &p, sizeof p, "", 0);
	snapshot_frame(f, FIB_WIRE_LAYOUT, &layout, sizeof layout, "", 0);
	/* In pieces that end at arbitrary bytes. */
	snapshot_frame(f, FIB_WIRE_MAPS, SNAPSHOT_MAPS, 30, "", 0);
	snapshot_frame(f, FIB_WIRE_MAPS, SNAPSHOT_MAPS + 30, sizeof SNAPSHOT_MAPS - 31, "", 0);
}

/* Append a fiber with 16 bytes of stack, or one that waits for an object of `holder`. */
static inline void snapshot_waiter(struct snapshot_file *f, uint64_t id, uint32_t flags,
				   uint64_t holder)
{
	struct ins_fiber fiber = rows_fiber(id, "kept");
	const struct fib_wire_stack s = {sizeof fiber.row, 16, flags, 0};
	char bytes[sizeof fiber.row + 17];

	fiber.row.holder = holder;
	memcpy(bytes, &fiber.row, sizeof fiber.row);
	strcpy(bytes + sizeof fiber.row, "0123456789abcdef");
	snapshot_frame(f, FIB_WIRE_STACKS, &s, sizeof s, bytes, sizeof bytes - 1);
}

static inline void snapshot_fiber(struct snapshot_file *f, uint64_t id, uint32_t flags)
{
	snapshot_waiter(f, id, flags, 0);
}

static inline void snapshot_end(struct snapshot_file *f, uint64_t total, uint64_t shown,
				uint64_t problems)
{
	const struct fib_wire_end e = {total, shown, 99, problems};

	snapshot_frame(f, FIB_WIRE_END, &e, sizeof e, "", 0);
}

/* Append an event of fiber 7 with 16 bytes of stack, whose innermost frame is in the library. */
static inline void snapshot_event(struct snapshot_file *f, uint64_t number, uint32_t doing)
{
	const struct fib_wire_event e = {
		.number = number,
		.fiber = 7,
		.duration = 50000000,
		.sp = 0x5000,
		.fp = 0x5008,
		.pc = UINT64_C(0x7f0000000123),
		.doing = doing,
		.wait_kind = FIB_WAIT_SLEEP,
		.stack_size = 16,
		.stack_all = 16,
		.name = "kept",
	};

	snapshot_frame(f, FIB_WIRE_EVENT, &e, sizeof e, "0123456789abcdef", 16);
}

/* Append a thread that sleeps, with 16 bytes of stack, or one that runs. */
static inline void snapshot_thread(struct snapshot_file *f, uint64_t tid, bool sleeps)
{
	const struct fib_wire_thread_is is = {
		.tid = tid,
		.call = sleeps ? 34 : -1,
		.sp = sleeps ? 0x6000 : 0,
		.pc = sleeps ? UINT64_C(0x7f0000000123) : 0,
		.state = sleeps ? FIB_WIRE_THREAD_SLEEPS : FIB_WIRE_THREAD_RUNS,
		.stack_size = sleeps ? 16 : 0,
	};

	snapshot_frame(f, FIB_WIRE_THREAD_IS, &is, sizeof is, "0123456789abcdef", is.stack_size);
}

/* Append a module's file: no segments. */
static inline void snapshot_module(struct snapshot_file *f, uint64_t start, const char *build_id)
{
	struct ins_snapshot_file file = {
		.start = start,
		.bias = start,
		.type = ET_DYN,
		.machine = (uint16_t)ins_machine_self(),
		.build_id_size = (uint32_t)strlen(build_id),
	};

	for (size_t i = 0; i < file.build_id_size; i++)
		file.build_id[i] = (unsigned char)build_id[i];
	snapshot_put(f, &file, sizeof file);
}

/* A complete snapshot: fibers 7, 8 and 9, of which 9 runs, a policy, two pinned waits, and two of
 * five long runs. */
static inline void snapshot_whole(struct snapshot_file *f)
{
	const struct fib_wire_policy_is policy = {1, 1, 3, 0};

	snapshot_begin(f);
	snapshot_section(f, FIB_WIRE_STACK);
	snapshot_preface(f);
	snapshot_fiber(f, 7, 0);
	snapshot_fiber(f, 8, 0);
	snapshot_fiber(f, 9, FIB_WIRE_STACK_MOVING);
	snapshot_end(f, 4, 3, 1);
	snapshot_section_end(f);
	snapshot_section(f, FIB_WIRE_POLICY);
	snapshot_frame(f, FIB_WIRE_POLICY_IS, &policy, sizeof policy, "", 0);
	snapshot_end(f, 0, 0, 0);
	snapshot_section_end(f);
	snapshot_section(f, INS_SNAPSHOT_EVENTS(FIB_WIRE_RING_PINNED));
	snapshot_event(f, 0, FIB_WIRE_DOING_WAITS);
	snapshot_event(f, 1, FIB_WIRE_DOING_WAITS);
	snapshot_end(f, 2, 2, 0);
	snapshot_section_end(f);
	snapshot_section(f, INS_SNAPSHOT_EVENTS(FIB_WIRE_RING_SLOW));
	snapshot_event(f, 3, FIB_WIRE_DOING_CALLS);
	snapshot_event(f, 4, FIB_WIRE_DOING_COMPUTES);
	snapshot_end(f, 5, 2, 0);
	snapshot_section_end(f);
	snapshot_section(f, INS_SNAPSHOT_FILES);
	snapshot_module(f, UINT64_C(0x7f0000000000), "a build id");
	snapshot_section_end(f);
}

#endif
