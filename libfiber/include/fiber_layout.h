/* SPDX-License-Identifier: MIT */
/*
 * fiber_layout.h - the registry's self-description, for readers outside the process
 *
 * A program with fibers exports `fiber_registry`, a struct fib_layout. It describes where the fiber
 * records are, the size of a record, the offset of each field and how to walk a suspended fiber's
 * stack. An ELF note in the same object says where the struct is. The note is allocated, so that
 * strip keeps it and a core contains it. A reader needs only the note, the struct and the process'
 * memory: no symbols, no debug info, no header of the version that the program was built with.
 *
 * Every number has the byte order of the program, which its ELF header announces. A reader that has
 * only the struct knows it from `version`. Where a pointer has 4 bytes, a field of a record that is
 * an address, or a size of memory, may have 4 as well: its size in the table says so.
 *
 * The rule: fields are only ever added. A reader uses only what the struct's own size covers, calls
 * fib_layout_has() for every field that is newer than version 1, and treats every number it reads
 * as hostile.
 *
 * The struct is in writable data (a core always contains a written page) and contains no pointers
 * to tables, so that one read fetches all of it.
 *
 * libfiber publishes itself with this header, and so can any library that switches stacks. It needs
 * no other file, and no libfiber. The header is C11 and C++11, with GNU's attributes. Its second
 * half is for such a library. The library keeps a record for each of its coroutines, calls
 * fiber_layout_enter() before it switches to one and fiber_layout_leave() after it has left it, and
 * describes once where it saves the registers. fixtures/adapters/ has two complete examples.
 */
#ifndef FIBER_LAYOUT_H
#define FIBER_LAYOUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FIB_LAYOUT_MAGIC     "FIBERREG"
#define FIB_LAYOUT_VERSION   1u
#define FIB_LAYOUT_NOTE_NAME "fiber" /* n_namesz 6, n_type FIB_LAYOUT_NOTE_TYPE */
#define FIB_LAYOUT_NOTE_TYPE 1u

/* The place of a field in a record. Size 0: the record has no such field. */
struct fib_layout_field {
	uint16_t offset;
	uint16_t size;
};

enum fib_layout_field_id {
	FIB_FIELD_SP,	       /* saved stack pointer */
	FIB_FIELD_FP,	       /* saved frame pointer; where the CFI at pc has it, perhaps 0 */
	FIB_FIELD_PC,	       /* the pc where a walk starts */
	FIB_FIELD_SEQ,	       /* u64: odd while it runs, new at every switch; switches = seq / 2 */
	FIB_FIELD_SINCE,       /* i64 ns: start of its state (coarse clock) */
	FIB_FIELD_STATE,       /* u8: enum fiber_state; DEAD with id 0 is a free record */
	FIB_FIELD_WAIT_KIND,   /* u8: enum fib_wait_kind */
	FIB_FIELD_FLAGS,       /* u8: FIBER_DETACHED ... */
	FIB_FIELD_CARRIER,     /* u16: index, valid while it runs */
	FIB_FIELD_PINS,	       /* u16: nesting depth */
	FIB_FIELD_WAIT_OBJECT, /* u64: address of what it waits for */
	FIB_FIELD_WAIT_ARG,    /* u64: join: target id; fd: descriptor | poll events << 32;
				* predicate: since when, ns, or 0: as FIB_FIELD_SINCE;
				* select: cases | cases that are descriptors << 32;
				* offload: see `worker` */
	FIB_FIELD_DEADLINE,    /* i64 ns, INT64_MAX: none */
	FIB_FIELD_CPU,	       /* u64 ns on a carrier, in steps of the coarse clock */
	FIB_FIELD_ID,	       /* u64: 0 in a free record */
	FIB_FIELD_PARENT,      /* u64: id of the spawner, 0: spawned from a thread */
	FIB_FIELD_STACK_LOW,   /* u64: lowest usable address */
	FIB_FIELD_STACK_SIZE,  /* u64: usable bytes above it */
	FIB_FIELD_SPAWN_PC,    /* u64: return address of the call that made it */
	FIB_FIELD_ENTRY,       /* u64: the function it runs; 0: it is a thread, made a fiber */
	FIB_FIELD_NAME,	       /* char[32], NUL-terminated */
	FIB_FIELD_FAILURE,     /* char[]: fiber_fail's text */
	FIB_FIELD_LABELS,      /* u64: address of a struct fib_layout_labels, 0: none */
	FIB_FIELD_RUNNABLE,    /* u64 ns waiting for a carrier, until `since` */
	FIB_FIELD_WAITED,      /* u64 ns suspended, until `since` */
	FIB_FIELD_BORN,	       /* i64 ns: when it was submitted (coarse clock); 0: not submitted */
	FIB_FIELD_CANCELLED,   /* u8: not 0: it was asked to exit, by fiber_cancel() and the like */
	FIB_FIELD_GUARD,       /* u16: bytes below the stack that fault, / 4096; 0: unknown */
	FIB_FIELD_MASKED,      /* u8: not 0: cancellations do not end its waits now */
	FIB_FIELD_READS,       /* u64[]: addresses of rwlocks that it holds for reading; 0: free */
	FIB_FIELD_READS_MORE,  /* u8: how many it holds for reading that are not in READS */
	FIB_FIELD_ERROR,       /* i32: the negative error that it exited with, or 0 */
	FIB_FIELD_HELD,	   /* u64: the lock that it took last and holds exclusively, 0: none; the
				* address of a mutex, or of a rwlock + 1 */
	FIB_FIELD_HELD_AT, /* u64: return address of the call that took it */
	FIB_FIELD_JOINER,  /* u32: a thread that joins it sleeps on this word with futex(2) */
	FIB_FIELD_RUNTIME, /* u64: the same number for all fibers of a runtime; 0: it has none yet */
	FIB_FIELD_PINNED_WAITS, /* u32: of a pinned fiber that waits: new at every wait */
	FIB_FIELD_POLLED, /* u64: of a fiber in a select for descriptors alone: address of their
			   * struct pollfd, in the order of the call; 0: there are none */
	FIB_FIELD_COUNT
};
#define FIB_LAYOUT_FIELDS 64 /* slots in the table, also for future fields */

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
	FIB_WAIT_PTHREAD_MUTEX, /* objects of the C library: libfiber-posix */
	FIB_WAIT_PTHREAD_COND,
	FIB_WAIT_PTHREAD_RWLOCK,
	FIB_WAIT_PTHREAD_SEM,
	FIB_WAIT_PTHREAD_BARRIER,
	FIB_WAIT_PTHREAD_ONCE,
	FIB_WAIT_FUTEX,
	FIB_WAIT_COUNT
};
/* The words for these kinds, in their order. */
#define FIB_LAYOUT_WAIT_NAMES                                                                    \
	"none", "yield", "sleep", "park", "predicate", "join", "mutex", "rwlock-read",           \
		"rwlock-write", "cond", "sem", "event", "barrier", "once", "waitgroup", "group", \
		"chan-send", "chan-recv", "select", "fd", "timer", "offload", "op", "pinned",    \
		"pthread-mutex", "pthread-cond", "pthread-rwlock", "pthread-sem",                \
		"pthread-barrier", "pthread-once", "futex"
#define FIB_LAYOUT_WAITS	 32
#define FIB_LAYOUT_PTHREAD_OWNER 24u /* where a pthread_mutex_t has its owner as below */

/* Fields of the wait object of a kind. Size 0: the object has no such field. */
struct fib_layout_object {
	struct fib_layout_field name;	/* char[], NUL-terminated unless full */
	struct fib_layout_field holder; /* u64: 0, a fiber's id, or FIB_HOLDER_THREAD | tid */
};

/*
 * A fiber's labels. The block is never unmapped, and is reused for another fiber after this one:
 * the labels are always those of `owner`. text[generation % 2] is valid; the other one may be half
 * written. So read owner and generation, that text, and both again: if they are unchanged, the text
 * is consistent.
 */
#define FIB_LAYOUT_LABELS 248
struct fib_layout_labels {
	uint64_t owner;			 /* A: id of the fiber, 0: none */
	uint64_t generation;		 /* A: increases with every change, also of the owner */
	char text[2][FIB_LAYOUT_LABELS]; /* key NUL value NUL ... and an empty key at the end */
};

/* Memory that stacks are cut from. Blocks are never unmapped, and entries never change. */
#define FIB_LAYOUT_STACKS 169
struct fib_layout_stacks {
	uint32_t count; /* A: valid entries */
	uint32_t unused;
	uint64_t next; /* A: address of the next block, 0: none */
	struct {
		uint64_t low, high, other;
	} at[FIB_LAYOUT_STACKS];
};

/*
 * Which fiber was the only one that ever signalled, posted or set an object: the low half of its id.
 * 0: none, or it is not known.
 */
#define FIB_TOUCHER_SEVERAL UINT32_MAX /* several fibers, or a thread */

#define FIB_HOLDER_THREAD    (UINT64_C(1) << 63)
#define FIB_HOLDER_CONTENDED (UINT64_C(1) << 62) /* not part of the id */

/*
 * Who holds a rwlock for reading: bits 0-29 are the number of readers. The upper 32 bits are the XOR
 * of a mark of each reader: (id << 1 | whether it is a thread) * FIB_READERS_FACTOR, modulo 2^32.
 * The records say which fibers read (FIB_FIELD_READS); one reader that they do not have can be
 * computed from the XOR.
 */
#define FIB_READERS_COUNT  ((UINT64_C(1) << 30) - 1)
#define FIB_READERS_MARK   32 /* shift */
#define FIB_READERS_FACTOR UINT32_C(0x9e3779b1)

/* How to walk a saved stack. */
enum fib_layout_recipe {
	FIB_RECIPE_NONE = 0, /* this port's stacks cannot be walked yet */
	FIB_RECIPE_CFI = 1,  /* sp and pc as saved, everything else by the CFI at pc */
	/* Registers are saved where `registers` says. Their pc is a return address: the fiber left
	 * in the call before it. The CFI at that pc gives all registers that are not listed. */
	FIB_RECIPE_SAVED = 2,
};

/* The base of a saved register's offset. */
enum fib_layout_base {
	FIB_BASE_RECORD = 1,  /* the record */
	FIB_BASE_STACK = 2,   /* the record's FIB_FIELD_SP */
	FIB_BASE_CONTEXT = 3, /* the address in the record at layout.context */
	FIB_BASE_SP = 4,      /* the value is FIB_FIELD_SP plus the offset, without a read */
};

/* DWARF's register numbers, plus two that DWARF does not define on all machines: */
#define FIB_REGISTER_SP 254u
#define FIB_REGISTER_PC 255u

/* Where a register of a suspended fiber is saved. Registers are 8 bytes. */
struct fib_layout_register {
	uint8_t number;
	uint8_t base;	 /* enum fib_layout_base */
	uint16_t offset; /* at most FIB_LAYOUT_REACH - 8 */
};
#define FIB_LAYOUT_REGISTERS 24

#define FIB_LAYOUT_REACH 4096u

/* Addresses from low up to high, not included; low == high: none. */
struct fib_layout_range {
	uint64_t low __attribute__((aligned(8))); /* i386 aligns it to 4 */
	uint64_t high;
};
#define FIB_LAYOUT_CODE 4

/*
 * What a plain thread waits for in the library: fields of the struct that has the word on which the
 * thread sleeps with futex(2). `who` must be that thread, else the word is another one.
 */
struct fib_layout_thread_wait {
	struct fib_layout_field word;	/* u32; size 0: not published */
	struct fib_layout_field who;	/* u64: FIB_HOLDER_THREAD | tid */
	struct fib_layout_field kind;	/* u32: enum fib_wait_kind */
	struct fib_layout_field object; /* u64: as FIB_FIELD_WAIT_OBJECT */
	struct fib_layout_field arg;	/* u64: as FIB_FIELD_WAIT_ARG */
};

struct fib_layout {
	char magic[8];	      /* written last: a reader that sees it sees all fields */
	uint32_t version;     /* FIB_LAYOUT_VERSION */
	uint32_t size;	      /* of this struct */
	uint32_t machine;     /* ELF e_machine of the program */
	uint32_t recipe;      /* enum fib_layout_recipe */
	uint64_t records;     /* address of record 0 */
	uint32_t record_size; /* distance of two records in bytes */
	uint32_t field_count; /* number of valid entries of fields[] */
	uint64_t committed;   /* A: records that can be read; never decreases */
	uint64_t capacity;    /* records reserved */
	uint64_t entry_low;   /* range of code in which a complete walk ends */
	uint64_t entry_high;
	uint64_t clock;	   /* address of the coarse clock, i64 ns CLOCK_MONOTONIC */
	uint32_t carriers; /* A: of all runtimes */
	uint32_t state_count;
	uint32_t wait_count;
	struct fib_layout_field fields[FIB_LAYOUT_FIELDS];
	struct fib_layout_object objects[FIB_LAYOUT_WAITS]; /* by wait kind */
	char state_names[8][16];
	char wait_names[FIB_LAYOUT_WAITS][16];
	char program[64]; /* name that the tools show */
	char port[16];	  /* architecture folder it was built from, or the library's name */

	/* -- after FIB_LAYOUT_SIZE_1; only for FIB_RECIPE_SAVED -- */
	uint32_t register_count;
	struct fib_layout_field context; /* u64: the address of FIB_BASE_CONTEXT */
	struct fib_layout_register registers[FIB_LAYOUT_REGISTERS];

	/* -- for every recipe; where `size` does not cover these: not known, as if 0 -- */
	/* Where the library's own code is, besides entry_low. Readers hide its frames. */
	struct fib_layout_range code[FIB_LAYOUT_CODE];
	struct fib_layout_field readers; /* u64 of a rwlock: FIB_READERS_*; see there */
	/*
	 * A: threads besides the carriers that wake a fiber only after another fiber has acted:
	 * helper threads without work, and threads that wait in the library without a deadline.
	 * 0: not counted.
	 */
	uint32_t waiting_threads;
	/*
	 * A: threads that run blocking calls for fibers, and calls that no thread has taken yet.
	 * offload_since: when the first of these calls was queued, ns of the coarse clock; 0: there is
	 * none, or it is not known.
	 */
	uint32_t offload_threads;
	uint32_t offload_queued;
	uint64_t offload_since;
	/* A: events of the recording in progress that were overwritten before they were read. */
	uint64_t recording_lost;
	/* By wait kind: u64 of the object, 0 as long as it has no waiter. */
	struct fib_layout_field waiters[FIB_LAYOUT_WAITS];
	/*
	 * Address of the first struct fib_layout_stacks, which says in which memory stacks are, in
	 * use or free. Nothing else is there, so the rest of it holds only what fibers have left.
	 */
	uint64_t stacks;
	struct fib_layout_thread_wait thread_wait;
	/* By wait kind: u32 of the object, see FIB_TOUCHER_SEVERAL. */
	struct fib_layout_field touchers[FIB_LAYOUT_WAITS];
	/*
	 * u64 of what FIB_FIELD_WAIT_ARG of a wait for FIB_WAIT_OFFLOAD is the address of:
	 * FIB_HOLDER_THREAD | tid of the thread that runs the call, 0: none has taken it yet. Size 0:
	 * FIB_FIELD_WAIT_ARG is not such an address.
	 */
	struct fib_layout_field worker;
};
#define FIB_LAYOUT_SIZE_1 offsetof(struct fib_layout, register_count) /* in every registry */

/* The contents of the note: the distance from this field to the registry. */
struct fib_layout_note {
	/* address of the struct fib_layout - address of this field; in a program with addresses of
	 * 32 bits: modulo 2^32 */
	int64_t distance;
};

/* -- for other libraries that publish their coroutines; libfiber uses none of this -- */

/* A record as described by fiber_layout_describe(). The library writes the fields, except where a
 * function is named. It writes the fields below seq only while the fiber runs, or under the lock
 * that protects its switches. */
struct fiber_layout_record {
	uint64_t id;  /* fiber_layout_take(); 0: free */
	uint64_t seq; /* fiber_layout_enter(), _leave() */
	uint64_t sp;  /* fiber_layout_leave() */
	uint64_t pc;  /* if FIB_BASE_RECORD is used, as other registers that a library saves here */
	uint64_t context;  /* the address that FIB_BASE_CONTEXT uses */
	int64_t since;	   /* ns, like all times here */
	uint8_t state;	   /* index into state_names */
	uint8_t wait_kind; /* enum fib_wait_kind, if suspended */
	uint8_t unused[6];
	uint64_t wait_object; /* address, 0: none; objects[wait_kind] describes where its name is */
	uint64_t wait_arg;    /* see FIB_FIELD_WAIT_ARG */
	int64_t deadline;     /* INT64_MAX: none */
	uint64_t cpu;
	uint64_t parent;    /* id, 0: none */
	uint64_t stack_low; /* set both just before it is entered for the first time, not earlier */
	uint64_t stack_size;
	uint64_t entry; /* the function it runs; 0: it is a thread that was made a fiber */
	char name[32];
};

/* One registry. Zeroed until fiber_layout_describe(). */
struct fiber_layout {
	struct fib_layout layout; /* first: the note leads here */
	struct fiber_layout_record *records;
	int64_t clock; /* last time passed to a function here: the reference for ages in a core */
	uint64_t ids;  /* number of ids used */
};

#ifdef __cplusplus
#define FIBER_LAYOUT_LINKAGE extern "C"
#else
#define FIBER_LAYOUT_LINKAGE extern
#endif

/* The note's distance in assembly. An assembler for 32 bits has no distance of 64 bits. */
#if __SIZEOF_POINTER__ == 8
#define FIBER_LAYOUT_DISTANCE(name) "1:	.quad " #name " - 1b\n"
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FIBER_LAYOUT_DISTANCE(name) "1:	.long 0, " #name " - 1b\n"
#else
#define FIBER_LAYOUT_DISTANCE(name) "1:	.long " #name " - 1b, 0\n"
#endif

/* Used in one file of the module, outside functions: defines `struct fiber_layout name` and the
 * note that leads to it. Use it once in each program or shared library: readers take the first note
 * of a module. */
#define FIBER_LAYOUT_DEFINE(name)                                                            \
	FIBER_LAYOUT_LINKAGE struct fiber_layout name __attribute__((visibility("hidden"))); \
	struct fiber_layout name __attribute__((used));                                      \
	__asm__(".pushsection .note.fiber, \"a\", %note\n"                                   \
		"	.balign 4\n"                                                               \
		"	.long 6, 8, 1\n"                                                           \
		"	.asciz \"fiber\"\n"                                                        \
		"	.balign 4\n" FIBER_LAYOUT_DISTANCE(name) "	.popsection\n")

/* Put this before the function that every coroutine starts in: a walk that reaches it is complete
 * and ends there. The function calls the coroutine's function and does something after the call, so
 * that its frame stays. */
#define FIBER_LAYOUT_ENTRY __attribute__((noinline, section("fiber_entry")))
/* The first statement in that function, so that a debugger finds the end too. pc: the return
 * address' name in CFI, "rip", "x30", "ra". */
#define FIBER_LAYOUT_OUTERMOST(pc) __asm__ volatile(".cfi_undefined " pc)

/* Put this before each function of the library that may be in a fiber's stack, or rename the text
 * sections of the library's objects to fiber_text (objcopy --rename-section .text=fiber_text).
 * Readers hide frames of this code, except for the function that the program called. */
#define FIBER_LAYOUT_INTERNAL __attribute__((noinline, section("fiber_text")))

/* Defined by the linker: start and end of these sections, and the ELF header of the module. */
FIBER_LAYOUT_LINKAGE const char __start_fiber_entry[] __attribute__((visibility("hidden"), weak));
FIBER_LAYOUT_LINKAGE const char __stop_fiber_entry[] __attribute__((visibility("hidden"), weak));
FIBER_LAYOUT_LINKAGE const char __start_fiber_text[] __attribute__((visibility("hidden"), weak));
FIBER_LAYOUT_LINKAGE const char __stop_fiber_text[] __attribute__((visibility("hidden"), weak));
FIBER_LAYOUT_LINKAGE const unsigned char __ehdr_start[] __attribute__((visibility("hidden"), weak));

/* Describe where register number is saved when a fiber does not run. */
static inline void fiber_layout_register(struct fiber_layout *f, unsigned number,
					 enum fib_layout_base base, size_t offset)
{
	struct fib_layout_register *r = &f->layout.registers[f->layout.register_count++];

	r->number = (uint8_t)number;
	r->base = (uint8_t)base;
	r->offset = (uint16_t)offset;
}

#define FIBER_LAYOUT_FIELD(l, id, member)                                                 \
	((l)->fields[id].offset = (uint16_t)offsetof(struct fiber_layout_record, member), \
	 (l)->fields[id].size = (uint16_t)sizeof(((struct fiber_layout_record *)0)->member))

/*
 * Describe n zeroed records, which must not move. program: the name that the tools show; library:
 * the library's name, shown if its stacks cannot be walked. Other descriptions (registers, objects,
 * other names) go between this call and fiber_layout_publish().
 */
static inline void fiber_layout_describe(struct fiber_layout *f,
					 struct fiber_layout_record *records, uint32_t n,
					 const char *program, const char *library)
{
	static const char states[5][16] = {"created", "runnable", "running", "suspended", "dead"};
	static const char waits[FIB_WAIT_COUNT][16] = {FIB_LAYOUT_WAIT_NAMES};
	struct fib_layout *l = &f->layout;
	uint16_t machine;

	f->records = records;
	l->version = FIB_LAYOUT_VERSION;
	l->size = sizeof *l;
	memcpy(&machine, __ehdr_start + 18, sizeof machine); /* e_machine */
	l->machine = machine;
	l->recipe = FIB_RECIPE_SAVED;
	l->records = (uint64_t)(uintptr_t)records;
	l->record_size = sizeof *records;
	l->committed = l->capacity = n;
	l->entry_low = (uint64_t)(uintptr_t)__start_fiber_entry;
	l->entry_high = (uint64_t)(uintptr_t)__stop_fiber_entry;
	l->code[0].low = (uint64_t)(uintptr_t)__start_fiber_text;
	l->code[0].high = (uint64_t)(uintptr_t)__stop_fiber_text;
	l->clock = (uint64_t)(uintptr_t)&f->clock;
	l->carriers = 1;
	l->state_count = 5;
	l->wait_count = FIB_WAIT_COUNT;
	memcpy(l->state_names, states, sizeof states);
	memcpy(l->wait_names, waits, sizeof waits);
	strncpy(l->program, program, sizeof l->program - 1);
	strncpy(l->port, library, sizeof l->port - 1);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_ID, id);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_SEQ, seq);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_SP, sp);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_PC, pc);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_SINCE, since);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_STATE, state);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_WAIT_KIND, wait_kind);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_WAIT_OBJECT, wait_object);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_WAIT_ARG, wait_arg);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_DEADLINE, deadline);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_CPU, cpu);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_PARENT, parent);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_STACK_LOW, stack_low);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_STACK_SIZE, stack_size);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_ENTRY, entry);
	FIBER_LAYOUT_FIELD(l, FIB_FIELD_NAME, name);
	l->field_count = FIB_FIELD_COUNT;
	l->context.offset = offsetof(struct fiber_layout_record, context);
	l->context.size = sizeof records->context;
}

/* Publish the registry: readers accept it from now on. */
static inline void fiber_layout_publish(struct fiber_layout *f)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(f->layout.magic, FIB_LAYOUT_MAGIC, sizeof f->layout.magic);
}

/*
 * Take a record for a coroutine that was created and not started. Returns NULL when none is free;
 * then readers do not see the coroutine. entry: the function it will run. now: ns of
 * CLOCK_MONOTONIC, need not be exact.
 *
 * The call searches the records: a library that creates many coroutines a second should keep a list
 * of free ones. Two threads must not make this call at once, nor any other call here for the same
 * record.
 */
static inline struct fiber_layout_record *fiber_layout_take(struct fiber_layout *f,
							    const char *name, uint64_t parent,
							    uint64_t entry, int64_t now)
{
	struct fiber_layout_record *r = f->records, *end = r + f->layout.capacity;
	uint64_t seq;

	while (r < end && r->id)
		r++;
	if (r == end)
		return NULL;
	seq = r->seq;
	memset(r, 0, sizeof *r);
	r->seq = seq;
	r->deadline = INT64_MAX;
	r->since = f->clock = now;
	r->parent = parent;
	r->entry = entry;
	strncpy(r->name, name, sizeof r->name - 1);
	/* A reader that sees the id sees the other fields. */
	__atomic_store_n(&r->id, ++f->ids, __ATOMIC_RELEASE);
	return r;
}

/* Call this before the switch to the coroutine: its stack and saved registers may change from now
 * on. */
static inline void fiber_layout_enter(struct fiber_layout *f, struct fiber_layout_record *r,
				      int64_t now)
{
	__atomic_store_n(&r->seq, r->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* seq is odd before any other field changes */
	r->since = f->clock = now;
	r->state = 2;
	r->wait_kind = FIB_WAIT_NONE;
}

/*
 * Call this after the switch from the coroutine, in the code that runs next, when all its registers
 * are saved. sp: its saved stack pointer; nothing below it may be needed. kind: what it waits for,
 * FIB_WAIT_YIELD: to be scheduled; object: address, or NULL.
 */
static inline void fiber_layout_leave(struct fiber_layout *f, struct fiber_layout_record *r,
				      const void *sp, enum fib_wait_kind kind, const void *object,
				      int64_t now)
{
	r->cpu += (uint64_t)(now - r->since);
	r->since = f->clock = now;
	r->sp = (uint64_t)(uintptr_t)sp;
	r->wait_kind = (uint8_t)kind;
	r->wait_object = (uint64_t)(uintptr_t)object;
	r->state = kind == FIB_WAIT_YIELD ? 1 : 3;
	/* Even: record and stack do not change. */
	__atomic_store_n(&r->seq, r->seq + 1, __ATOMIC_RELEASE);
}

/* The coroutine has exited and was left: free its record. */
static inline void fiber_layout_give(struct fiber_layout_record *r)
{
	r->state = 4;
	__atomic_store_n(&r->id, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&r->seq, r->seq + (r->seq & 1), __ATOMIC_RELEASE);
}

#endif
