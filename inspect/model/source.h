/* SPDX-License-Identifier: MIT */
/*
 * source.h - where fibers come from: a control socket, a live process, a core file, a snapshot
 *
 * A source emits one fiber at a time to a callback, with its stack's bytes when asked for, so that
 * a process with a million fibers needs no more room here than one with ten. What it emits was of
 * one moment for each fiber: record and stack agree.
 *
 * Around the fibers a source knows the process' modules, and its memory where there is any.
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
#include "layout/layout.h"
#include "layout/row.h"

#define INS_FIBER_MOVING 1u /* it ran each time we looked: reported as running, no stack */
#define INS_FIBER_CUT	 2u /* deeper than what is copied: the outermost part is missing */
#define INS_FIBER_GONE	 4u /* its stack's memory could not be read */
#define INS_FIBER_PAUSED \
	16u /* it runs, and was stopped for the time of the copy: registers say where */
#define INS_FIBER_SWITCHING \
	32u /* caught on its way to or from a carrier: what there is is where it was left */
#define INS_FIBER_THREAD 64u /* it is no fiber, but a plain thread (thread_stack.h) */

/* One fiber as it was at one moment; valid during the callback. */
struct ins_fiber {
	struct fib_row row;
	int64_t now;		    /* the clock that row.age is measured against */
	int64_t until;		    /* by when it had been copied, its stack too; 0: not known */
	const unsigned char *stack; /* bytes from row.sp upwards; NULL: none */
	size_t stack_size;
	/* What is known at row.pc besides row.sp and, where that is not 0, row.fp: ins_registers_of() has all together. */
	struct ins_registers registers;
	uint64_t context; /* where some of them were read (resume.h); 0: nowhere */
	uint32_t popped;  /* bytes of its stack below row.sp that hold others */
	unsigned flags;	  /* INS_FIBER_* */
	/* What else was copied with it: what is below row.sp; of one in a signal handler that has a stack of its own, row.sp is on
	 * that and this is the fiber's. */
	uint64_t aside;
	const unsigned char *aside_bytes;
	size_t aside_size;
};

/* ns until the deadline of its wait, 0 once it is past, -1 when there is none. */
int64_t ins_fiber_left(const struct ins_fiber *fiber);

/* How often threads were stopped, and for how long: at most, since it ends when we know that they go on. */
struct ins_pauses {
	uint64_t threads;
	int64_t longest_ns, total_ns;
	int64_t copy_ns; /* the longest, from when we saw that a thread had stopped: the rest was waiting for a CPU */
};

struct ins_request {
	uint64_t id;	 /* one fiber; 0: all */
	bool stacks;	 /* copy the stacks of fibers that hold still */
	bool high_water; /* find out how deep each stack ever was: costs a look at all of it */
	/* Of a process that answers for itself these cost something too; other sources give them always.
	 * Of one fiber it gives all there is, and with stacks it always gives the modules. */
	bool labels;
	bool modules; /* for the names of places */
};

/* What a read amounted to. */
struct ins_summary {
	uint64_t total;	    /* fibers that existed */
	uint64_t shown;	    /* fibers emitted */
	int64_t sampled_ns; /* from the first to the last look; 0 for a core */
	/* Of a snapshot: when it was taken, ns of CLOCK_REALTIME, and where; else 0. Lives as long as the source. */
	int64_t taken;
	const char *host;
};

/* Called for each fiber. Anything but 0 ends the read, which then returns it. */
typedef int ins_fiber_fn(void *context, const struct ins_fiber *fiber);

struct ins_crash;

struct ins_source {
	const char *kind; /* "control", "live", "core", "snapshot" */
	pid_t pid;	  /* 0: unknown */
	char name[64];	  /* of the program, as the tools show it */
	/* Checked. A control source has it, and modules, from the first callback on. */
	struct fib_layout layout;
	struct ins_modules *modules; /* never NULL, perhaps empty */
	struct ins_problems problems;
	/* Fibers of which something was missing, but which the callback has passed over and counted here, in this read: nobody misses it. */
	uint64_t passed;
	fib_read_fn *memory; /* NULL: this source has no memory */
	/*
	 * How many bytes from address on, at most size, are alike: *ret_there: they may hold something, else nothing was ever
	 * written there and they are not worth a read. 0: it gives up, since nothing was written to much more than can
	 * be meant. NULL: this source cannot tell.
	 */
	uint64_t (*run)(struct ins_source *source, uint64_t address, uint64_t size,
			bool *ret_there);
	/* Bytes that there can be of all records together, now; NULL: any number. */
	uint64_t (*held)(const struct ins_source *source);
	/* Whether no code can be at an address; NULL: this source cannot tell. */
	bool (*no_code)(const struct ins_source *source, uint64_t address);
	/* Of a live process: not NULL, stop who runs a fiber for the time of a copy, when stacks are asked for; and count here. */
	struct ins_pauses *pauses;
	bool watched; /* who reads it at a terminal is told how far a read is, on standard error */
	struct ins_progress
		progress; /* of a read; who prints what is emitted has it give way first */
	const struct ins_crash *crash; /* of a core: what ended it (crash.h); NULL: nothing did */
	const struct ins_source_ops *ops;
};

struct ins_event;
struct fib_wire_events;
struct ins_thread_stack;

/* Called for each event (event.h). Anything but 0 ends the read, which then returns it. */
typedef int ins_event_fn(void *context, const struct ins_event *event);

struct ins_source_ops {
	int (*read)(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *error);
	void (*close)(struct ins_source *source);
	/* ins_events_read() (event.h), ret is zero; NULL: it has none. */
	int (*events)(struct ins_source *source, const struct fib_wire_events *request,
		      ins_event_fn *fn, void *context, struct ins_summary *ret,
		      struct ins_error *error);
	/* ins_thread_stack_read() (thread_stack.h); NULL: it cannot tell. */
	int (*thread)(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret);
};

/* Open the control socket at path of process pid (0: not known yet). Answers that do not come
 * within timeout_ns are an error. 0, or a negative errno with error set: exit code 2. */
int ins_source_open_control(const char *path, pid_t pid, int64_t timeout_ns,
			    struct ins_error *error, struct ins_source **ret);

/* Open the memory of a live process: -ESRCH, -EPERM (error names the right that is missing),
 * -ENOENT when it has no fibers, ... */
int ins_source_open_live(pid_t pid, struct ins_error *error, struct ins_source **ret);

/* Open a core file. exe: the executable to use, NULL: what the core's own list says. -ENOENT,
 * -EINVAL for a file that is no core of a fiber program, of another machine, ... */
int ins_source_open_core(const char *core, const char *exe, struct ins_error *error,
			 struct ins_source **ret);

/* Open a snapshot (snapshot.h). Layout and modules are there at once; it can be read any number of times. */
int ins_source_open_snapshot(const char *path, struct ins_error *error, struct ins_source **ret);

void ins_source_close(struct ins_source *source);

/*
 * Emit the fibers that the request asks for. 0, what the callback returned, or a negative errno
 * with error set: -ESRCH when the one fiber asked for does not exist. A control source that a
 * callback ended early can only be closed. What is missing from a read
 * that succeeded is in source->problems. *ret counts what was emitted also when it fails.
 */
int ins_source_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *error);

/* Copy what was copied with a fiber. 0; -EFAULT: it is of the fiber's stack, and was not; -ENOENT: it is elsewhere. */
int ins_fiber_memory(const struct ins_fiber *fiber, uint64_t address, void *buf, size_t size);

/*
 * Copy bytes of the process for a walk of fiber (may be NULL): from the copied stack, else from
 * the unwritable part of a module's file, else from the source's memory, else from the file. 0 or a
 * negative errno; never faults.
 */
int ins_source_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		      void *buf, size_t size);

#endif
