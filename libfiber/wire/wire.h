/* SPDX-License-Identifier: MIT */
/*
 * wire.h - the control protocol: frames over a Unix stream socket
 *
 * A request is followed by its answer: any number of frames, the last of them END or ERROR. An
 * ERROR invalidates the frames before it. A connection may carry several requests one after
 * another. Numbers are in the host's byte order: both ends are on one machine. A receiver skips
 * unknown bytes at the end of a payload, so structs grow at the end only. This layer does not
 * interpret rows: it carries row_size and bytes.
 *
 * Requests are limited (FIB_WIRE_REQUEST_MAX), answers are streamed. Any input that is not a
 * well-formed request ends the connection after one ERROR frame.
 */
#ifndef FIB_WIRE_WIRE_H
#define FIB_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FIB_WIRE_MAGIC	     0x72626946u /* "Fibr" */
#define FIB_WIRE_VERSION     1u
#define FIB_WIRE_REQUEST_MAX 256u	/* bytes of a request's payload */
#define FIB_WIRE_FRAME_MAX   (2u << 20) /* bytes of an answer frame's payload */

/* The payload of each request, and the frames of its answer. */
enum fib_wire_type {
	/* Nothing: PROCESS, END. */
	FIB_WIRE_HELLO = 0x01,
	/* struct fib_wire_list, or nothing for all fields: PROCESS, LAYOUT, MAPS..., ROWS...,
	 * END. */
	FIB_WIRE_LIST = 0x02,
	/* struct fib_wire_id: PROCESS, LAYOUT, MAPS..., ROWS, END; or ERROR -ESRCH. */
	FIB_WIRE_SHOW = 0x03,
	/* struct fib_wire_stack_of, or struct fib_wire_id for all fields; id 0: all fibers.
	 * PROCESS, LAYOUT, MAPS..., STACKS..., END; or ERROR -ESRCH. */
	FIB_WIRE_STACK = 0x04,
	/* struct fib_wire_policy: POLICY_IS, END; or ERROR -EPERM, -EINVAL, -ESRCH (no runtime). */
	FIB_WIRE_POLICY = 0x05,
	/* Nothing: RUNTIME..., END, which counts carriers. */
	FIB_WIRE_CARRIERS = 0x06,
	/* Nothing: PROCESS, LAYOUT, COUNTERS_ARE, END, which counts fibers. */
	FIB_WIRE_COUNTERS = 0x09,
	/* struct fib_wire_act: ACTED, END; or ERROR -EPERM, -EINVAL, -ESRCH. */
	FIB_WIRE_ACT = 0x0a,
	/* Nothing: AUDITED, END, which counts entries. */
	FIB_WIRE_AUDIT = 0x0b,
	/* struct fib_wire_thread (thread.h): THREAD_IS, END. */
	FIB_WIRE_THREAD = 0x0c,
	/* struct fib_wire_events: PROCESS, LAYOUT, MAPS... unless bare, EVENT..., END; or ERROR
	 * -EINVAL (no such ring), and of a profile -EPERM, -ESRCH (no runtime), -ENOMEM. */
	FIB_WIRE_EVENTS = 0x07,
	/* struct fib_wire_watchdog: WATCHDOG_IS, END; or ERROR -EPERM, -EINVAL, -ESRCH (no
	 * runtime). */
	FIB_WIRE_WATCHDOG = 0x08,
	/* struct fib_wire_record (record.h): RECORD_IS, after READ also RECORDED..., END; or ERROR
	 * -EPERM, -EINVAL, -EBUSY, -ESRCH. */
	FIB_WIRE_RECORD = 0x10,

	/* struct fib_wire_process */
	FIB_WIRE_PROCESS = 0x81,
	/* The bytes of the process' struct fib_layout. */
	FIB_WIRE_LAYOUT = 0x82,
	/* Text of /proc/self/maps in pieces that may end anywhere; none if it cannot be read. */
	FIB_WIRE_MAPS = 0x83,
	/* struct fib_wire_rows, then count rows of row_size bytes. */
	FIB_WIRE_ROWS = 0x84,
	/* struct fib_wire_stack, then the row, then the stack's bytes. */
	FIB_WIRE_STACKS = 0x85,
	/* struct fib_wire_policy_is */
	FIB_WIRE_POLICY_IS = 0x86,
	/* struct fib_wire_end */
	FIB_WIRE_END = 0x87,
	/* struct fib_wire_error */
	FIB_WIRE_ERROR = 0x88,
	/* struct fib_wire_runtime, then `carriers` carriers of carrier_size bytes. A runtime with
	 * many carriers is sent in several frames. */
	FIB_WIRE_RUNTIME = 0x89,
	/* struct fib_wire_counters */
	FIB_WIRE_COUNTERS_ARE = 0x8c,
	/* struct fib_wire_acted */
	FIB_WIRE_ACTED = 0x8d,
	/* struct fib_wire_audited, then count entries of entry_size bytes, the oldest first. */
	FIB_WIRE_AUDITED = 0x8e,
	/* struct fib_wire_thread_is (thread.h), then the stack's bytes from its sp upwards. */
	FIB_WIRE_THREAD_IS = 0x8f,
	/* struct fib_wire_event, then the stack's bytes from its sp upwards. */
	FIB_WIRE_EVENT = 0x8a,
	/* struct fib_wire_watchdog_is */
	FIB_WIRE_WATCHDOG_IS = 0x8b,
	/* struct fib_wire_record_is */
	FIB_WIRE_RECORD_IS = 0x90,
	/* struct fib_wire_recorded, then count events of event_size bytes (layout/event.h). */
	FIB_WIRE_RECORDED = 0x91,
	/* struct fib_wire_still, or nothing: work on the answer continues. Anywhere in an answer;
	 * fib_wire_receive() skips it. */
	FIB_WIRE_STILL = 0x92,
	/* struct fib_wire_refused: before the end of an answer, or before the part with missing
	 * data. An older tool skips it. */
	FIB_WIRE_REFUSED = 0x93,
};

struct fib_wire_header {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t length; /* of the payload that follows */
};

/* The parts of a list besides the records themselves. Rows end before parts that are not wanted; in
 * STACKS also before labels and locks that a fiber does not have, if there is one runtime. */
#define FIB_WIRE_WANT_MAPS	 1u
#define FIB_WIRE_WANT_LABELS	 2u
#define FIB_WIRE_WANT_HIGH_WATER 4u /* a system call a fiber */
#define FIB_WIRE_WANT_READS \
	8u /* which locks it holds, and its runtime; rows then have room for labels */
#define FIB_WIRE_WANT_ALL 15u
struct fib_wire_list {
	uint32_t wanted; /* FIB_WIRE_WANT_* */
};

struct fib_wire_id {
	uint64_t id;
};

struct fib_wire_stack_of {
	uint64_t id;
	uint32_t wanted; /* FIB_WIRE_WANT_* */
	uint32_t unused;
};

#define FIB_WIRE_POLICY_READ 0xffffffffu
struct fib_wire_policy {
	uint32_t policy; /* enum fiber_pinned_policy, or FIB_WIRE_POLICY_READ for no change */
};

struct fib_wire_policy_is {
	uint32_t policy;   /* in force now, read back after the change */
	uint32_t previous; /* in force before; equal to policy when only read */
	uint64_t events;   /* pinned waits counted so far */
	uint64_t dropped; /* of those, recorded but not in the ring any more; not in old programs */
};

enum fib_wire_act_what { FIB_WIRE_ACT_CANCEL = 1, FIB_WIRE_ACT_WAKE = 2 };

struct fib_wire_act {
	uint64_t id;
	uint32_t what; /* enum fib_wire_act_what */
	uint32_t unused;
};

struct fib_wire_acted {
	uint64_t id;
	uint32_t what;
	uint32_t ended_wait; /* 0: a cancellation that the fiber's next wait reports */
	uint32_t state;	     /* enum fiber_state, when found */
	uint32_t wait_kind;  /* what it waited for then */
	char name[32];
	uint64_t entry; /* the fiber's function; an older process does not send it */
};

/* The kind of a change, done or refused. */
enum fib_wire_audit_what {
	FIB_WIRE_AUDIT_POLICY = 1,    /* before and after: enum fiber_pinned_policy */
	FIB_WIRE_AUDIT_THRESHOLD = 2, /* ns */
	FIB_WIRE_AUDIT_CANCEL = 3,    /* fiber */
	FIB_WIRE_AUDIT_WAKE = 4,      /* fiber */
	FIB_WIRE_AUDIT_RECORD = 5,    /* before and after: events a ring, 0: off */
	FIB_WIRE_AUDIT_PROFILE = 6,   /* before and after: samples a second, 0: off */
};

struct fib_wire_audit_entry {
	uint64_t serial; /* counts all entries, from 1 */
	int64_t when;	 /* ns, CLOCK_MONOTONIC */
	int64_t wall;	 /* ns, CLOCK_REALTIME */
	int32_t pid;	 /* of the client, from the kernel; 0: not visible from here */
	uint32_t uid;
	uint32_t what;	/* enum fib_wire_audit_what */
	int32_t result; /* 0: done; negative errno: refused, nothing changed */
	uint64_t fiber; /* 0: none */
	uint64_t before, after;
	/* Of that fiber, if it was found; an older process does not send them. */
	uint64_t entry;
	char name[32];
};

struct fib_wire_audited {
	uint32_t entry_size;
	uint32_t count;
	uint64_t total; /* ever; older entries are gone */
};

enum fib_wire_mode { FIB_WIRE_RO, FIB_WIRE_RW, FIB_WIRE_ADMIN };

struct fib_wire_process {
	int32_t pid;
	uint32_t mode; /* enum fib_wire_mode */
	uint32_t carriers;
	uint32_t policy;
	uint64_t fibers; /* live now */
	int64_t now;	 /* ns, CLOCK_MONOTONIC */
	char name[64];
};

/* The progress of a walk through the records. Only an increase counts as progress (budget.h). */
struct fib_wire_still {
	uint64_t done; /* records read */
	uint64_t all;
};

struct fib_wire_rows {
	uint32_t row_size;
	uint32_t count;
};

struct fib_wire_stack {
	uint32_t row_size;
	uint32_t stack_size; /* bytes that follow the row, from its sp upwards */
	uint32_t flags;	     /* FIB_WIRE_STACK_* */
	uint32_t after; /* us from PROCESS' now to the copy, rounded down; the age is of then */
};
#define FIB_WIRE_STACK_MOVING 1u /* it ran at each attempt: no bytes */
#define FIB_WIRE_STACK_CUT    2u /* deeper than a frame holds: the outermost part is missing */
#define FIB_WIRE_STACK_GONE   4u /* its memory could not be read: no bytes */
/* The upper half: duration of the copy in us, rounded up. 0: an older program; neither time is
 * known. FIB_WIRE_STACK_LONG: longer. */
#define FIB_WIRE_STACK_TOOK 16
#define FIB_WIRE_STACK_LONG 0xffffu

/* A carrier sleeps in the poller, sleeps elsewhere, searches for fibers to run, or runs a fiber. */
enum fib_wire_carrier_state {
	FIB_WIRE_CARRIER_POLLING,
	FIB_WIRE_CARRIER_IDLE,
	FIB_WIRE_CARRIER_SEARCHING,
	FIB_WIRE_CARRIER_RUNNING,
};

/* How long runnable fibers waited: element 0 up to 1 ms, element n up to 2^n ms, the last one
 * longer. */
#define FIB_WIRE_DELAYS 16u

/* Counters start with the carrier and never decrease. */
struct fib_wire_carrier {
	uint32_t index;
	uint32_t state;	 /* enum fib_wire_carrier_state */
	uint64_t fiber;	 /* that it runs, 0: none */
	uint32_t queued; /* runnable fibers in its run queue */
	uint32_t timers; /* fibers with a deadline that it will wake */
	int64_t since;	 /* ns that it has run this fiber, in steps of the coarse clock */
	uint64_t switches;
	uint64_t steals;   /* times that it took fibers from another carrier */
	uint64_t wakeups;  /* times that it woke from sleep */
	uint64_t polls;	   /* calls of the poller */
	uint64_t timeouts; /* waits that it ended at their deadline */
	int64_t cpu;	   /* ns of CPU time of its thread, -1: unknown */
	uint64_t stacks;   /* free stacks in its cache */
	uint64_t delayed;  /* total ns that fibers waited before they ran on it */
	uint64_t delays[FIB_WIRE_DELAYS];
	uint64_t entry; /* of the fiber that it runs, as its name; 0: none, or an older process */
	char name[32];
	uint64_t tid; /* its thread, for FIB_WIRE_THREAD; 0: not started yet, or an older process */
};

struct fib_wire_runtime {
	uint64_t serial; /* counts the runtimes of a process, from 1 */
	uint64_t polls;	 /* calls of its poller so far */
	uint32_t carriers;
	uint32_t carrier_size;
	uint32_t queued; /* runnable fibers in no carrier's queue */
	uint32_t first;	 /* index of the first carrier that follows */
	char poller[16];
	char note[160]; /* why the wanted poller is not used; empty when it is */
	int64_t now;	/* ns, CLOCK_MONOTONIC */
	uint64_t spawned;
	uint64_t ended;		 /* of those spawned */
	uint64_t pinned;	 /* waits of pinned fibers */
	uint64_t pinned_dropped; /* see struct fib_wire_policy_is */
	uint32_t all;		 /* number of its carriers; `carriers` of them follow */
	uint32_t substitutes;	 /* of these: for carriers that one fiber keeps */
};

/* Counters of the whole process. Numbers of states and kinds are those of the layout. */
#define FIB_WIRE_STATES 8u
#define FIB_WIRE_WAITS	32u
struct fib_wire_counters {
	int64_t now;		/* ns, CLOCK_MONOTONIC */
	int64_t service_cpu;	/* ns of CPU time of the service thread ... */
	int64_t service_began;	/* ... since then, ns */
	uint64_t fibers;	/* all fibers, including those never submitted */
	uint64_t records;	/* records in the registry that have memory ... */
	uint64_t record_size;	/* ... of this many bytes each */
	uint64_t resident;	/* bytes of the process that are in memory, 0: unknown */
	uint64_t stacks;	/* made so far; stacks are never unmapped */
	uint64_t stacks_free;	/* of those, without those in carriers' caches */
	uint64_t stacks_cold;	/* of the free ones: without memory */
	uint64_t stacks_wanted; /* of the free ones: reserved for fibers that have not started */
	uint64_t stack_bytes;	/* address space of all stacks */
	uint64_t trimmed;	/* times that a stack's memory was given back */
	uint64_t slow;		/* fibers that held their carrier too long; 0 if not watched */
	uint32_t watched;	/* not 0: long runs are watched */
	uint32_t unused;
	uint64_t states[FIB_WIRE_STATES]; /* fibers in each */
	uint64_t waits[FIB_WIRE_WAITS];	  /* fibers in each kind of wait */
	/*
	 * Facilities of the kernel that it uses: words "name=value" with a blank between them. The value is
	 * "-" until the facility was tried. A newer program may have further names. Empty: an older one.
	 */
	char features[192];
};

/*
 * Recorded events of fibers that keep others waiting: pinned waits, and long runs; and samples of
 * what carriers compute. Samples are only taken while clients ask for them: for
 * FIB_WIRE_PROFILE_LEASE after a request with hz.
 */
enum fib_wire_ring { FIB_WIRE_RING_PINNED, FIB_WIRE_RING_SLOW, FIB_WIRE_RING_PROFILE };
#define FIB_WIRE_PROFILE_LEASE INT64_C(3000000000) /* ns */
#define FIB_WIRE_PROFILE_HZ    100u		   /* the most */

struct fib_wire_events {
	uint32_t ring; /* enum fib_wire_ring */
	uint32_t bare; /* not 0: only the events, for a client that has asked before */
	uint64_t from; /* the first number wanted */
	uint32_t hz; /* PROFILE: samples a second of each carrier, from 1 to FIB_WIRE_PROFILE_HZ */
	uint32_t unused;
};

/* What the fiber did. */
enum fib_wire_doing {
	FIB_WIRE_DOING_COMPUTES,
	FIB_WIRE_DOING_CALLS,	  /* sleeps in a system call */
	FIB_WIRE_DOING_FAULTS,	  /* sleeps until a page of its memory is loaded */
	FIB_WIRE_DOING_WAITS,	  /* waits while pinned */
	FIB_WIRE_DOING_SCHEDULES, /* no fiber: the carrier searches, polls or switches */
};

/* Why there is no stack. */
enum fib_wire_lack {
	FIB_WIRE_LACK_NOTHING, /* there is one */
	FIB_WIRE_LACK_MISSED,  /* the fiber continued before it was copied */
	FIB_WIRE_LACK_SIGNAL,  /* the program uses SIGURG itself, or blocks it */
	FIB_WIRE_LACK_PORT,    /* this port of the library cannot copy it */
	FIB_WIRE_LACK_MEMORY,  /* it could not be read */
};

struct fib_wire_event {
	uint64_t number; /* counts from 0 in its ring; roughly in order of their start */
	uint64_t fiber;
	int64_t began;	  /* ns, CLOCK_MONOTONIC */
	int64_t duration; /* ns; so far, if it lasts. PROFILE: CPU time that the sample stands for */
	int64_t call;	  /* CALLS: number of the system call */
	uint64_t object;  /* WAITS: see struct fib_row */
	uint64_t arg;
	uint64_t sp, fp, pc; /* fp 0: unknown */
	uint32_t doing;	     /* enum fib_wire_doing */
	uint32_t lack;	     /* enum fib_wire_lack */
	uint32_t wait_kind;  /* WAITS */
	uint32_t carrier;    /* FIB_WIRE_EVENT_NO_CARRIER: not recorded */
	uint32_t flags;	     /* FIB_WIRE_EVENT_* */
	uint32_t stack_size; /* bytes that follow */
	uint64_t stack_all;  /* bytes in use */
	char name[32];
	uint64_t entry; /* the fiber's function; an older process does not send it */
};
#define FIB_WIRE_EVENT_LASTS	  1u /* it still lasts */
#define FIB_WIRE_EVENT_REFUSED	  2u /* a pinned wait that was refused */
#define FIB_WIRE_EVENT_ASTRAY	  4u /* its stack pointer was outside its stack */
#define FIB_WIRE_EVENT_NO_CARRIER 0xffffffffu

#define FIB_WIRE_WATCHDOG_READ INT64_MIN
struct fib_wire_watchdog {
	int64_t threshold; /* ns, 0: off; FIB_WIRE_WATCHDOG_READ for no change */
};

struct fib_wire_watchdog_is {
	int64_t threshold; /* in force now, ns, 0: off */
	int64_t previous;  /* in force before */
	uint64_t events;   /* long runs recorded so far */
};

struct fib_wire_end {
	uint64_t total;	    /* fibers that existed */
	uint64_t shown;	    /* rows or stacks sent */
	int64_t sampled_ns; /* from the first to the last record read */
	uint64_t problems;  /* rows whose wait object could not be read, stacks without bytes */
};

/* A system call that a sandbox of the program refuses, and the data that is missing because of
 * it. */
struct fib_wire_refused {
	int32_t error; /* negative errno */
	char call[28];
	char lacks[96]; /* "where thread 12 is" */
};

struct fib_wire_error {
	int32_t error; /* negative errno */
	char text[252];
};

/* -- both sides -- */

/* Check a header that was received. Returns 0; -EPROTO: wrong magic or version; -EMSGSIZE: a
 * payload above the caller's limit. */
int fib_wire_check(const struct fib_wire_header *header, size_t limit);

/*
 * Write the folder of the sockets of a uid, without a slash at the end: $XDG_RUNTIME_DIR/fiber,
 * else /tmp/fiber-<uid>. runtime_dir is the value of XDG_RUNTIME_DIR or NULL. Returns the length,
 * or -ENAMETOOLONG.
 */
int fib_wire_folder(char *buf, size_t size, const char *runtime_dir, uid_t uid);

/*
 * Identify the process that made a control socket, from the file alone, when no process listens any
 * more. A process id is not enough: it is reused, and means another process in another pid
 * namespace. The time of the file is not enough either, since the clock may have been set.
 *
 * So the nanoseconds of the file's modification time contain the start time of the process, in
 * ticks since the machine started (field 22 of proc_pid_stat(5)), as far as it fits: 6 digits, and
 * 3 check digits that tell a mark from a time. (connect(2) changes the other time of a socket.)
 */
uint32_t fib_wire_mark(uint64_t started);
/* Return whether the nanoseconds are a mark: an older program makes none, and some file systems
 * store no nanoseconds. */
bool fib_wire_marked(uint32_t nanoseconds);

#endif
