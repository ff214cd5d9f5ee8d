/* SPDX-License-Identifier: MIT */
/*
 * layout.h - the registry's self-description, for readers outside the process
 *
 * A program with fibers exports `fiber_registry`, a struct fib_layout. It says where the fiber
 * records are, how big one is, at which offset each field stands and how a suspended fiber's stack
 * is walked. An ELF note in the same object, allocated so that strip keeps it and a core contains
 * it, says where the struct is. A reader needs these two and the process' memory: no symbols, no
 * debug info, no header of the version that the program was built with.
 *
 * The rule: fields are only ever added. A reader takes what the struct's own size covers, asks
 * fib_layout_has() for anything younger than version 1, and treats every number it reads as
 * hostile.
 *
 * The struct lives in writable data (a core always contains a written page) and holds no pointers
 * to tables, so that one read fetches all of it.
 */
#ifndef FIB_LAYOUT_LAYOUT_H
#define FIB_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIB_LAYOUT_MAGIC     "FIBERREG"
#define FIB_LAYOUT_VERSION   1u
#define FIB_LAYOUT_NOTE_NAME "fiber" /* n_namesz 6, n_type FIB_LAYOUT_NOTE_TYPE */
#define FIB_LAYOUT_NOTE_TYPE 1u

/* Where a field stands in a record: size 0 means the record has no such field. */
struct fib_layout_field {
	uint16_t offset;
	uint16_t size;
};

enum fib_layout_field_id {
	FIB_FIELD_SP,	     /* saved stack pointer */
	FIB_FIELD_FP,	     /* saved frame pointer */
	FIB_FIELD_PC,	     /* where a walk starts */
	FIB_FIELD_SEQ,	     /* u64: odd while it runs, moves at every switch; switches = seq / 2 */
	FIB_FIELD_SINCE,     /* i64 ns: in its state since (coarse clock) */
	FIB_FIELD_STATE,     /* u8: enum fiber_state; DEAD with id 0 is a free record */
	FIB_FIELD_WAIT_KIND, /* u8: enum fib_wait_kind */
	FIB_FIELD_FLAGS,     /* u8: FIBER_DETACHED ... */
	FIB_FIELD_CARRIER,   /* u16: index, valid while it runs */
	FIB_FIELD_PINS,	     /* u16: nesting depth */
	FIB_FIELD_WAIT_OBJECT, /* u64: address of what it waits for */
	FIB_FIELD_WAIT_ARG, /* u64: join: target id; fd: descriptor | poll events << 32; predicate: since, ns */
	FIB_FIELD_DEADLINE,   /* i64 ns, INT64_MAX: none */
	FIB_FIELD_CPU,	      /* u64 ns on a carrier, in steps of the coarse clock */
	FIB_FIELD_ID,	      /* u64: 0 in a free record */
	FIB_FIELD_PARENT,     /* u64: id of the spawner, 0: spawned from a thread */
	FIB_FIELD_STACK_LOW,  /* u64: lowest usable address */
	FIB_FIELD_STACK_SIZE, /* u64: usable bytes above it */
	FIB_FIELD_SPAWN_PC,   /* u64: return address of the call that made it */
	FIB_FIELD_ENTRY,      /* u64: the function it runs */
	FIB_FIELD_NAME,	      /* char[32], NUL-terminated */
	FIB_FIELD_FAILURE,    /* char[]: fiber_fail's text */
	FIB_FIELD_LABELS,     /* u64: address of a struct fib_layout_labels, 0: none */
	FIB_FIELD_RUNNABLE,   /* u64 ns in line for a carrier, until `since` */
	FIB_FIELD_WAITED,     /* u64 ns suspended, until `since` */
	FIB_FIELD_BORN,	      /* i64 ns: when it was submitted (coarse clock); 0: it was not yet */
	FIB_FIELD_COUNT
};
#define FIB_LAYOUT_FIELDS 64 /* slots in the table, for fields to come */

enum fib_wait_kind {
	FIB_WAIT_NONE,
	FIB_WAIT_YIELD,
	FIB_WAIT_SLEEP,
	FIB_WAIT_PARK,
	FIB_WAIT_PREDICATE,
	FIB_WAIT_JOIN,
	FIB_WAIT_MUTEX,
	FIB_WAIT_RWLOCK_READ,
	FIB_WAIT_RWLOCK_WRITE,
	FIB_WAIT_COND,
	FIB_WAIT_SEM,
	FIB_WAIT_EVENT,
	FIB_WAIT_BARRIER,
	FIB_WAIT_ONCE,
	FIB_WAIT_WAITGROUP,
	FIB_WAIT_GROUP,
	FIB_WAIT_CHAN_SEND,
	FIB_WAIT_CHAN_RECV,
	FIB_WAIT_SELECT,
	FIB_WAIT_FD,
	FIB_WAIT_TIMER,
	FIB_WAIT_OFFLOAD,
	FIB_WAIT_OP,
	FIB_WAIT_PINNED,
	FIB_WAIT_COUNT
};
#define FIB_LAYOUT_WAITS 32

/* What the wait object of a kind looks like; sizes 0: it has no such field. */
struct fib_layout_object {
	struct fib_layout_field name;	/* char[], NUL-terminated unless full */
	struct fib_layout_field holder; /* u64: 0, a fiber's id, or FIB_HOLDER_THREAD | tid */
};

/*
 * A fiber's labels. The block is never unmapped, and serves another fiber when this one has gone: they are
 * the labels of `owner` and of nobody else. text[generation % 2] counts; the other one may be being written.
 * So read owner and generation, that text, and both again: when they are the same, it was whole.
 */
#define FIB_LAYOUT_LABELS 248
struct fib_layout_labels {
	uint64_t owner;			 /* A: id of the fiber, 0: of nobody */
	uint64_t generation;		 /* A: counts up with every change, also of the owner */
	char text[2][FIB_LAYOUT_LABELS]; /* key NUL value NUL ... and an empty key */
};

#define FIB_HOLDER_THREAD    (UINT64_C(1) << 63)
#define FIB_HOLDER_CONTENDED (UINT64_C(1) << 62) /* not part of the id */

/* How a saved stack is walked. */
enum fib_layout_recipe {
	FIB_RECIPE_NONE = 0, /* this port's stacks cannot be walked yet */
	FIB_RECIPE_CFI = 1,  /* sp and pc as saved, everything else by the CFI at pc */
};

struct fib_layout {
	char magic[8];	      /* written last: a reader that sees it sees the rest */
	uint32_t version;     /* FIB_LAYOUT_VERSION */
	uint32_t size;	      /* of this struct */
	uint32_t machine;     /* ELF e_machine of the program */
	uint32_t recipe;      /* enum fib_layout_recipe */
	uint64_t records;     /* address of record 0 */
	uint32_t record_size; /* bytes from one record to the next */
	uint32_t field_count; /* entries of fields[] that mean something */
	uint64_t committed;   /* A: records that can be read; grows only */
	uint64_t capacity;    /* records reserved */
	uint64_t entry_low;   /* code range in which a complete walk ends */
	uint64_t entry_high;
	uint64_t clock;	   /* address of the coarse clock, i64 ns CLOCK_MONOTONIC */
	uint32_t carriers; /* A: of all runtimes */
	uint32_t state_count;
	uint32_t wait_count;
	struct fib_layout_field fields[FIB_LAYOUT_FIELDS];
	struct fib_layout_object objects[FIB_LAYOUT_WAITS]; /* by wait kind */
	char state_names[8][16];
	char wait_names[FIB_LAYOUT_WAITS][16];
	char program[64]; /* the name the tools show */
	char port[16];	  /* the architecture folder this was built from */
};

/* True when the registry that was read carries field id, of the size this reader knows. */
bool fib_layout_has(const struct fib_layout *layout, enum fib_layout_field_id id, size_t size);

/*
 * Check what was read from memory that may be anything: magic, version, sizes, every offset inside
 * the record, names terminated. NULL when it can be used, else what is wrong, a constant string.
 */
const char *fib_layout_check(const struct fib_layout *layout);

/* The note that fib_layout's object carries: the registry's distance from this field. */
struct fib_layout_note {
	int64_t distance; /* address of fiber_registry - address of this field */
};

#endif
