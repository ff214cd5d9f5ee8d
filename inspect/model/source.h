/* SPDX-License-Identifier: MIT */
/*
 * source.h - the room model/: the interface of sources: socket, process, core file, snapshot
 *
 * Takes: nothing; each source fills it.
 * Gives: fibers, threads, events and registers as plain data, and the table of functions that every
 * source has.
 * Used by: unwind/, process/ and every room above, tool/, fibertrace/.
 *
 * A source emits one fiber at a time to a callback, with the bytes of its stack if requested. So
 * memory use does not depend on the number of fibers. Each emitted fiber is consistent: record and
 * stack are of the same moment.
 *
 * A source also has the process' modules, and its memory if available.
 */
#ifndef INS_SOURCE_H
#define INS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/text/error.h"
#include "inspect/elf/modules.h"
#include "inspect/text/progress.h"
#include "inspect/model/registers.h"
#include "inspect/model/thread_at.h"
#include "layout/layout.h"
#include "layout/row.h"

#define INS_FIBER_MOVING 1u /* it ran at every attempt: reported as running, no stack */
#define INS_FIBER_CUT	 2u /* deeper than the copy: the outermost part is missing */
#define INS_FIBER_GONE	 4u /* its stack's memory could not be read */
#define INS_FIBER_PAUSED \
	16u /* it runs; its thread was stopped for the copy: registers says where it is */
#define INS_FIBER_SWITCHING \
	32u /* it was being switched in or out: what is known is where it was left */
#define INS_FIBER_THREAD \
	64u /* not a fiber but a thread; beside fibers, ids have FIB_HOLDER_THREAD */
/* Of a snapshot: its thread slept in this wait during the whole reading. */
#define INS_FIBER_SLEPT 256u
/* The holder of what it waits for is the last thread that is known to have it: another may have it. */
#define INS_FIBER_UNSURE 512u
#define INS_FIBER_NAMED	 128u /* it has no name; row.name is its function's, for people */

/* One fiber at one moment; valid during the callback. */
struct ins_fiber {
	struct fib_row row;
	int64_t now;		    /* the clock that row.age is measured against */
	int64_t until;		    /* when the copy was complete; 0: unknown */
	const unsigned char *stack; /* bytes from row.sp up; NULL: none */
	size_t stack_size;
	/*
	 * The known registers besides row.pc, row.sp and, unless 0, row.fp; ins_registers_of() has
	 * all together.
	 */
	struct ins_registers registers;
	uint64_t context; /* where some of them were read (resume.h); 0: none */
	uint32_t popped;  /* bytes of saved registers on the stack below row.sp */
	unsigned flags;	  /* INS_FIBER_* */
	uint64_t place;	  /* an address in the program's innermost call; 0: unknown or not asked */
	/*
	 * A second copied range: the bytes below row.sp. If the fiber is in a signal handler on an
	 * alternate stack, row.sp is on that stack and this range is on the fiber's.
	 */
	uint64_t aside;
	const unsigned char *aside_bytes;
	size_t aside_size;
};

/* ns until the deadline of its wait; 0: past; -1: none. */
int64_t ins_fiber_left(const struct ins_fiber *fiber);

/*
 * How often threads were stopped, and for how long: an upper bound, as a stop ends only when the
 * tool knows that the thread was resumed.
 */
struct ins_pauses {
	uint64_t threads;
	int64_t longest_ns, total_ns;
	int64_t copy_ns; /* the longest copy; the rest of a stop is waiting for a CPU */
};

struct ins_request {
	uint64_t id; /* one fiber; 0: all */
	uint64_t
		record; /* of that fiber, row.record of an earlier read: saves a search; 0: unknown */
	bool stacks;	/* copy the stacks of fibers that are not running */
	bool high_water; /* find how deep each stack was ever used: reads all its page entries */
	/*
	 * These cost a process with a control socket something; other sources always give them. For
	 * one fiber the process sends everything, and with stacks it always sends the modules.
	 */
	bool labels;
	bool modules; /* for the names of places */
	bool reads;   /* which locks are held for reading, and by how many */
	bool threads; /* beside fibers, the threads of the graph of waits, if the source mixes them */
	/*
	 * Only what the records say. Rows lack labels and what the object of a wait has: object_name,
	 * holder, readers, FIB_ROW_FORGOTTEN. A live source then reads many records at once.
	 */
	bool bare;
	bool places; /* find the place of each fiber; needs a namer, and copies stacks */
};

/* The totals of a read. */
struct ins_summary {
	uint64_t total;	    /* fibers that existed */
	uint64_t shown;	    /* fibers emitted */
	int64_t sampled_ns; /* from the first to the last copy; 0 for a core */
	/*
	 * For a snapshot: when it was taken, ns of CLOCK_REALTIME, and on which host; else 0. Valid
	 * as long as the source.
	 */
	int64_t taken;
	const char *host;
	bool threads;	/* not fibers were counted, but threads */
	bool fiberless; /* because the program has no fibers */
};

/* Called for each fiber. A result other than 0 ends the read, which returns it. */
typedef int ins_fiber_fn(void *context, const struct ins_fiber *fiber);

struct ins_crash;
struct ins_source;

/* Gives fibers a name for people (inspect/symbols/fiber_names.h). */
struct ins_namer {
	/* Set the name of a fiber that has none, and INS_FIBER_NAMED; or leave it. */
	void (*name)(struct ins_namer *namer, struct ins_source *source, struct ins_fiber *fiber);
	/* Set the place of a fiber that was read with its stack; or leave it 0. */
	void (*place)(struct ins_namer *namer, struct ins_source *source, struct ins_fiber *fiber);
	void (*free)(struct ins_namer *namer);
};

struct ins_source {
	const char *kind; /* "control", "live", "core", "snapshot" */
	pid_t pid;	  /* 0: unknown */
	char name[64];	  /* of the program, as the tools show it */
	uint32_t threads; /* of a core and a snapshot: threads of the process; 0: unknown */
	/* Checked. A control source sets it, and modules, before the first callback. */
	struct fib_layout layout;
	struct ins_modules *modules; /* never NULL, may be empty */
	struct ins_problems problems;
	/* Set by a read of all fibers: there may be more, as records could not be read. */
	bool partial;
	/*
	 * How many incomplete fibers the callback has skipped, or completed, in this read: their
	 * problems are not reported. The callback counts them.
	 */
	uint64_t passed;
	unsigned looked_up;  /* how often a running fiber was looked up since the last read began */
	fib_read_fn *memory; /* NULL: this source has no memory */
	/*
	 * How many bytes from address on, at most size, are alike. *ret_there: they may hold data;
	 * else they were never written and need not be read. 0: stop, because far more is unwritten
	 * than a valid registry has. NULL: this source cannot tell.
	 */
	uint64_t (*run)(struct ins_source *source, uint64_t address, uint64_t size,
			bool *ret_there);
	bool sparse; /* set by the caller: run() skips unwritten memory of any size */
	/*
	 * Set by the caller: how long a read of a control source may take, ns, whatever its progress;
	 * 0: as long as it makes progress.
	 */
	int64_t longest;
	/* An upper limit for the bytes of all records together, at this moment; NULL: no limit. */
	uint64_t (*held)(const struct ins_source *source);
	/* Whether there is certainly no code at an address; NULL: this source cannot tell. */
	bool (*no_code)(const struct ins_source *source, uint64_t address);
	/*
	 * For a live process: if not NULL and stacks are requested, stop the threads that run
	 * fibers during the copy, and count the stops here.
	 */
	struct ins_pauses *pauses;
	struct ins_namer *namer;       /* NULL: fibers without a name stay so; owned */
	bool watched;		       /* show the progress of a read on standard error */
	struct ins_progress progress;  /* of a read; call ins_progress_give_way() before printing */
	const struct ins_crash *crash; /* of a core: what ended it (crash.h); NULL: no signal */
	const struct ins_source_ops *ops;
};

struct ins_event;
struct fib_wire_events;
struct ins_thread_stack;
struct ins_thread_ids;
struct ins_regions;
struct ins_running;

/* Called for each event (event.h). A result other than 0 ends the read, which returns it. */
typedef int ins_event_fn(void *context, const struct ins_event *event);

struct ins_source_ops {
	int (*read)(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *error);
	void (*close)(struct ins_source *source);
	/* ins_events_read() (event.h), ret is zero; NULL: no events. */
	int (*events)(struct ins_source *source, const struct fib_wire_events *request,
		      ins_event_fn *fn, void *context, struct ins_summary *ret,
		      struct ins_error *error);
	/* ins_thread_stack_read() (thread_stack.h); NULL: not supported. */
	int (*thread)(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret);
	/* The threads of the process, in any order. 0 or -ENOMEM; NULL: not supported. */
	int (*threads)(struct ins_source *source, struct ins_thread_ids *ret);
	/*
	 * Where one of these threads is now (thread_at.h). 0; -ESRCH: it has exited; or another
	 * negative errno. NULL: not supported.
	 */
	int (*thread_at)(struct ins_source *source, uint64_t tid, enum ins_thread_ask ask,
			 struct ins_thread_at *ret);
	/*
	 * The readable memory at this moment (region.h), without devices. Returns 0 or a negative
	 * errno. NULL: not supported.
	 */
	int (*regions)(struct ins_source *source, struct ins_regions *ret);
	/*
	 * Emit complete rows of all threads, as they stand beside fibers: for a source that has no
	 * memory to make them of. Like read; request: whether stacks are wanted. *ret counts the
	 * threads. -EOPNOTSUPP: it has none. NULL: not supported.
	 */
	int (*thread_rows)(struct ins_source *source, const struct ins_request *request,
			   ins_fiber_fn *fn, void *context, struct ins_summary *ret,
			   struct ins_error *error);
	/*
	 * Stop a thread that runs, copy its stack and resume it. Counts the stop in
	 * source->pauses. Returns as ins_thread_stack_read(). NULL: not supported.
	 */
	int (*thread_stopped)(struct ins_source *source, uint64_t tid,
			      struct ins_thread_stack *ret);
	/*
	 * Complete *ret, which ins_running_begin() has set to a fiber that runs (running.h). Returns 0
	 * or a negative errno, then without bytes. NULL: not supported.
	 */
	int (*running)(struct ins_source *source, struct ins_running *ret);
};

void ins_source_close(struct ins_source *source);

/* Whether it never changes, so that one reading is enough: a core or a snapshot. */
bool ins_source_still(const struct ins_source *source);

/*
 * Emit the requested fibers. Returns 0, the callback's result, or a negative errno with error set:
 * -ESRCH if the one requested fiber does not exist. A control source can only be closed after a
 * callback has ended a read early. What is missing from a successful read is in source->problems.
 * *ret counts the emitted fibers also after an error.
 */
int ins_source_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *error);

/*
 * Read from the memory that was copied with a fiber. Returns 0; -EFAULT: on the fiber's stack but
 * not copied; -ENOENT: elsewhere.
 */
int ins_fiber_memory(const struct ins_fiber *fiber, uint64_t address, void *buf, size_t size);

/*
 * Copy bytes of the process for a walk of fiber (may be NULL): from the copied stack, else from the
 * read-only part of a module's file, else from the source's memory, else from the file. Returns 0
 * or a negative errno; never faults.
 */
int ins_source_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		      void *buf, size_t size);

/* The same for a number of 8 bytes, which is converted to this machine's byte order. */
int ins_source_word(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		    uint64_t *ret);

#endif
