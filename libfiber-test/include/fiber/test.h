/* SPDX-License-Identifier: MIT */
/*
 * test.h - run a test of a fiber program in many orders, and give back the one that breaks it
 *
 * Link libfiber-test in place of libfiber; no object needs to be compiled again. See fiber_test(3).
 */
#ifndef FIBER_TEST_H
#define FIBER_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A test. Runs as the first fiber of each schedule. */
typedef void fiber_test_fn(void *arg);

enum fiber_test_verdict {
	FIBER_TEST_PASSED,   /* nothing was found within the limits */
	FIBER_TEST_COMPLETE, /* every schedule within the bound was run, nothing was found */
	FIBER_TEST_FAILED, /* fiber_test_fail(), assert(), an assertion of cmocka, abort(), exit() */
	FIBER_TEST_CRASHED,   /* a signal, a stack overflow, a sanitizer's report */
	FIBER_TEST_DEADLOCK,  /* the test has not returned and no fiber can ever run */
	FIBER_TEST_LEAK,      /* the test has returned and fibers are left */
	FIBER_TEST_LIVELOCK,  /* a schedule has more choices than `steps` */
	FIBER_TEST_HUNG,      /* a schedule took longer than hang_limit without a choice */
	FIBER_TEST_RACE,      /* two accesses, one a write, with no order between them */
	FIBER_TEST_NONLINEAR, /* a history that no order of its calls explains */
	FIBER_TEST_UNREACHED, /* nothing else was found, and no schedule reached something in `reach`,
				 or all were dropped */
	FIBER_TEST_DIVERGED, /* the same choices led elsewhere: the test is not deterministic, or the
				 token belongs to another test */
};

/* "passed", "complete", ...; never NULL. Any thread. */
const char *fiber_test_verdict_name(enum fiber_test_verdict verdict);

/* Faults. Each is a choice at the calls that can fail in this way. */
enum {
	FIBER_TEST_FAULT_MEMORY = 1, /* libfiber's allocations: -ENOMEM */
	FIBER_TEST_FAULT_SHORT = 2,  /* a read or write moves only part */
	FIBER_TEST_FAULT_RESET = 4,  /* a stream breaks, a connect is refused, a datagram is lost */
	FIBER_TEST_FAULT_DESCRIPTORS = 8, /* -EMFILE, -ENFILE; accept: -ECONNABORTED */
	FIBER_TEST_FAULT_CANCEL = 16,	  /* a fiber that is not the first is cancelled at a wait */
	FIBER_TEST_FAULT_SPURIOUS = 32,	  /* fiber_cond_wait() returns 0 without a signal */
	FIBER_TEST_FAULT_DISK = 64,	  /* files: -EIO, -ENOSPC, short reads and writes */
	FIBER_TEST_FAULT_SPAWN = 128,	  /* fiber_spawn(), fiber_block(): -ENOMEM, -EAGAIN */
	FIBER_TEST_FAULT_ALL = 255,
};

/* Flags. */
enum {
	FIBER_TEST_ISOLATE = 1,	    /* a process for each schedule */
	FIBER_TEST_DECLARED = 2,    /* all that fibers share is reached through libfiber or
				       fiber_test_access(): "exhaustive" may leave out orders */
	FIBER_TEST_MEMORY = 4,	    /* memory that a schedule allocated and left is a leak */
	FIBER_TEST_DESCRIPTORS = 8, /* so are descriptors that it left open */
	FIBER_TEST_KEEP_GOING = 16, /* go on after a finding; each distinct one is reported once */
	FIBER_TEST_NO_RACES = 32,   /* do not look for data races */
};

struct fiber_test_memory {
	void *at;
	size_t size;
};

/* Zero-initialise, then set size. */
struct fiber_test_options {
	size_t size;
	const char *name;     /* of the test, in reports; NULL: "test" */
	const char *strategy; /* NULL: "portfolio" */
	uint64_t schedules;   /* at most, dropped ones included; 0: 2,000; "exhaustive": no limit */
	int64_t time_limit;   /* ns of real time for all; 0: 60 s; < 0: none */
	int64_t hang_limit;   /* ns of real time without a choice; 0: 10 s; < 0: none */
	uint64_t seed;	      /* 0: 1 */
	unsigned steps;	      /* choices in one schedule; 0: 20,000 */
	unsigned preemptions; /* "exhaustive": at most so many; 0: any number */
	unsigned faults;      /* FIBER_TEST_FAULT_*; 0: none */
	unsigned fault_limit; /* in one schedule; 0: 1 */
	int64_t slack; /* ns that the clock may run ahead while fibers can run; 0: 100 ms; < 0: 0 */
	unsigned jobs; /* processes; 0: 1 */
	unsigned flags;
	void (*prepare)(void *arg); /* before each schedule, outside any fiber; NULL: nothing */
	void (*finish)(void *arg);  /* after each schedule that ended well */
	const struct fiber_test_memory *memory; /* restored before each schedule */
	size_t nmemory;
	const char *const *reach; /* NULL-terminated: fiber_test_reached() is called with each */
	size_t stack_size;	  /* of fibers; 0: the default */
};

/* Set size; the rest is written. */
struct fiber_test_result {
	size_t size;
	enum fiber_test_verdict verdict;
	uint64_t schedules;  /* that were run, without replays and dropped ones */
	uint64_t failed;     /* the number of the one that failed, from 1; 0: none */
	unsigned choices;    /* in the failed schedule, else in the longest */
	unsigned deviations; /* in the token */
	char token[81];	     /* "" where nothing failed */
	char message[1024];  /* one line: what was found */
	char file[256];	     /* of a failed assertion, else "" */
	int line;
};

/*
 * Explore fn(arg). Returns 0: nothing found; 1: *ret says what; -EINVAL: options that make no sense
 * or an unknown strategy; -EPERM in a fiber or a schedule; -ENOMEM, -EAGAIN: no process. Prints
 * nothing but what the environment asks for. By a thread that is not a fiber.
 */
int fiber_test_explore(fiber_test_fn *fn, void *arg, const struct fiber_test_options *options,
		       struct fiber_test_result *ret);

/*
 * Explore inside a test of any framework: a finding prints the report on stderr and fails that
 * test, by cmocka where the program is linked with it, else by abort().
 */
#define fiber_test(fn, arg, options) fiber_test_at(fn, arg, options, __FILE__, __LINE__)
void fiber_test_at(fiber_test_fn *fn, void *arg, const struct fiber_test_options *options,
		   const char *file, int line);

struct fiber_test_case {
	const char *name;
	fiber_test_fn *fn;
	void *arg;
	const struct fiber_test_options *options; /* NULL: the defaults */
};

/* A whole test program: parse the command line, explore the cases. Returns the exit status. */
int fiber_test_main(int argc, char *argv[], const struct fiber_test_case cases[], size_t n);

/* -- inside a schedule; outside one each does what is said last -- */

/* Whether a schedule runs. */
bool fiber_test_running(void);

/* End the schedule as failed, from any fiber. Outside: print and abort(). */
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void fiber_test_fail(const char *fmt, ...)
#ifdef __GNUC__
	__attribute__((format(printf, 1, 2)))
#endif
	;

/* fiber_test_assert(condition): fail with its text, file and line. */
#define fiber_test_assert(condition) \
	((condition) ? (void)0 : fiber_test_assert_failed(#condition, __FILE__, __LINE__))
void fiber_test_assert_failed(const char *text, const char *file, int line);

/*
 * false: the schedule is dropped here. It has no finding, and is not counted. By any fiber, `prepare`
 * and `finish`. Outside: nothing.
 */
void fiber_test_assume(bool condition);

/* 0..n-1, explored. Outside, or n < 2: 0. */
unsigned fiber_test_choose(unsigned n, const char *what);

/*
 * Whether something of the program's own fails here: a fault, where options.faults allows any.
 * Outside: false.
 */
bool fiber_test_fault(const char *what);

/* The same sequence in every schedule of a test. Outside: from seed 1. */
uint64_t fiber_test_random(void);

/* Another fiber may run here. Outside: nothing. */
void fiber_test_point(const char *what);

/* The same, and what is touched next. Outside: nothing. */
void fiber_test_access(const void *at, size_t size, bool writes);

/* What `reach` names has happened. Outside: nothing. */
void fiber_test_reached(const char *what);

/* A line in the trace of the schedule. Outside: nothing. */
void fiber_test_note(const char *fmt, ...)
#ifdef __GNUC__
	__attribute__((format(printf, 1, 2)))
#endif
	;

/*
 * In this schedule name resolves to the address (AF_INET or AF_INET6), and this host has the
 * address: a test may listen there. Several calls give a name several addresses, in their order.
 * The port counts where the program asks for no service. name and address are copied. 0; -EINVAL:
 * no name, a name of more than 253 bytes, or another family; -ENOMEM; -EPERM outside a schedule. By
 * fibers, `prepare` and `finish`.
 */
int fiber_test_host(const char *name, const struct sockaddr *address, socklen_t size);

/* Return when no other fiber can run; no time passes. Outside: nothing. */
void fiber_test_settle(void);

/* -- histories of an object with a sequential specification; see fiber_test_linearizable(3) -- */

struct fiber_test_call {
	unsigned op;
	int64_t key, arg, result;
	uint64_t begin, end; /* logical times; end 0: has not returned */
};

/* Zero-initialise, then set size. */
struct fiber_test_model {
	size_t size, state_size;   /* of this structure, of a state; bytes */
	void (*init)(void *state); /* the state is all zero before; NULL: it stays so */
	/*
	 * Return whether the call can have this result in *state; if so, *state is what it is after
	 * the call. end 0: any result will do. Depends on nothing but *state, op, key, arg, result
	 * and whether end is 0.
	 */
	bool (*step)(void *state, const struct fiber_test_call *call);
	/* Write a call as text; return as snprintf() does. NULL: numbers. */
	int (*print)(const struct fiber_test_call *call, char *text, size_t size);
	bool by_key; /* calls of different keys do not touch each other: a state for each key */
};

/*
 * Begin a history: calls that begin from now on belong to it. It is checked when the schedule ends
 * well. The model is copied. A model that makes no sense fails the schedule. In a schedule, also in
 * `prepare`. Outside: nothing.
 */
void fiber_test_history(const struct fiber_test_model *model);

/*
 * A call begins, on the calling fiber. Returns its number, from 1. Another fiber may run before it.
 * Without a history, or with too many calls, the schedule fails. Outside: 0.
 */
unsigned fiber_test_call(unsigned op, int64_t key, int64_t arg);

/*
 * The call with this number returns. By any fiber; another fiber may run before it. A number that
 * no call has, or a call that has returned, fails the schedule. Outside: nothing.
 */
void fiber_test_return(unsigned call, int64_t result);

/*
 * Find an order of n calls that the model allows and in which a call that returned before another
 * began comes first. The times of the calls may come from anywhere. Returns 1, and the indices of
 * the calls in that order; calls that have not returned and need not have happened come last. 0:
 * there is no such order. -EINVAL: a model or a history that makes no sense, or more than 1,048,576
 * calls. -ENOMEM: no memory, or the search exceeds its limits. ret_order: room for n; NULL: not
 * wanted. Any thread, any fiber; allocates.
 */
int fiber_test_linearizable(const struct fiber_test_model *model,
			    const struct fiber_test_call calls[], size_t n, uint32_t *ret_order);

/* Set a breakpoint here: called once, on the failing fiber, when a replay fails. */
void fiber_test_failed(void);

/* For objects that production links too: only the test of a weak symbol where libfiber-test is not
 * linked. */
#if defined(__GNUC__)
void fiber_test_weak_point(const char *what) __attribute__((weak));
void fiber_test_weak_access(const void *at, size_t size, bool writes) __attribute__((weak));
#define FIBER_TEST_POINT(what) (fiber_test_weak_point ? fiber_test_weak_point(what) : (void)0)
#define FIBER_TEST_ACCESS(at, size, writes) \
	(fiber_test_weak_access ? fiber_test_weak_access(at, size, writes) : (void)0)
#endif

#ifdef __cplusplus
}
#endif

#endif
