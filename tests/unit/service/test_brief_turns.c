/* SPDX-License-Identifier: MIT */
/*
 * test_brief_turns.c - a turn that takes a carrier's CPU is short, whatever it answers
 *
 * The test counts and uses no clock. A child answers itself; each turn of its peer is between two
 * signals that stop the child. The test steps through the turn by instruction, or from one system
 * call to the next.
 *
 * An instruction takes at most 1 ns. A system call that finds nothing in a cache takes 1 to 10 us;
 * a write of more than the kernel can take from its slabs for a message now and then takes 100 us.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "records.h"
#include "service/answer.h"
#include "talk.h"
#include "tests/harness/one_cpu.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

#define FIBERS	     3000u /* many times as many as one piece reads */
#define TURNS	     30u   /* of an answer, at most */
#define INSTRUCTIONS 36000
#define CALLS	     12
#define WRITTEN	     3700 /* bytes: a page of 4 KiB minus the kernel's overhead */

static const struct asked {
	const char *name;
	enum fib_wire_type type;
	size_t length;
	uint64_t words[3];
} asked[] = {
	{"hello", FIB_WIRE_HELLO, 0, {0}},
	{"list with maps", FIB_WIRE_LIST, 0, {0}},
	{"list", FIB_WIRE_LIST, sizeof(struct fib_wire_list), {0}},
	{"list with labels", FIB_WIRE_LIST, sizeof(struct fib_wire_list), {FIB_WIRE_WANT_LABELS}},
	{"high water", FIB_WIRE_LIST, sizeof(struct fib_wire_list), {FIB_WIRE_WANT_HIGH_WATER}},
	{"show nobody", FIB_WIRE_SHOW, sizeof(struct fib_wire_id), {UINT64_C(1) << 50}},
	{"stacks", FIB_WIRE_STACK, sizeof(struct fib_wire_stack_of), {0}},
	{"counters", FIB_WIRE_COUNTERS, 0, {0}},
	{"carriers", FIB_WIRE_CARRIERS, 0, {0}},
	{"events", FIB_WIRE_EVENTS, sizeof(struct fib_wire_events), {UINT64_C(1) << 32}},
	{"policy", FIB_WIRE_POLICY, sizeof(struct fib_wire_policy), {FIB_WIRE_POLICY_READ}},
	{"audit", FIB_WIRE_AUDIT, 0, {0}},
};

#define ASKED (sizeof asked / sizeof asked[0])

/* -- the child -- */

static void make_fibers(void)
{
	static struct fiber_mutex mutexes[FIBERS];

	for (size_t i = 0; i < FIBERS; i++) {
		/* Every second fiber waits for its own mutex; the first 200 fibers have stacks. */
		struct fiber *f =
			record_make("one of many", i < 200 ? 16384 : 0, i < 200 ? 3000 : 0);

		if (i % 2)
			continue;
		snprintf(mutexes[i].name, sizeof mutexes[i].name, "mutex-%zu", i);
		f->wait_object = (uint64_t)(uintptr_t)&mutexes[i];
		fib_store(&f->wait_kind, FIB_WAIT_MUTEX);
	}
}

static void answer(const struct asked *a)
{
	struct talk t;
	unsigned i;

	talk_begin(&t);
	talk_request(&t, a->type, a->words, a->length);
	for (i = 0; i < TURNS; i++) {
		struct pollfd p = {.fd = t.peer.fd, .events = fib_peer_events(&t.peer)};

		if (poll(&p, 1, 0) < 0 || (!p.revents && !t.peer.command))
			break;
		raise(SIGUSR1);
		fib_peer_turn(&t.peer, p.revents, true, t.now);
		raise(SIGUSR1);
		while (talk_take(&t))
			;
	}
	talk_end(&t);
}

static void answer_each(void)
{
	fib_registry_init();
	fib_answer_introduce("brief", FIB_WIRE_RW);
	make_fibers();
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(77);
	for (size_t i = 0; i < ASKED; i++) {
		answer(&asked[i]);
		raise(SIGUSR2);
	}
	_exit(0);
}

/* -- the tracer -- */

struct counted {
	unsigned turns;	  /* number of turns */
	unsigned counted; /* number of turns that were counted */
	long most, all;
	long written; /* largest number of bytes in one call */
};

/* Run the child until it stops. Returns the signal (SIGTRAP after a step), or -1 if it has
 * ended; *ret is the wait status. */
static int go_on(pid_t child, int how, int *ret)
{
	int status;

	assert_int_equal(ptrace(how, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	*ret = status;
	return WIFSTOPPED(status) ? WSTOPSIG(status) & 0x7f : -1;
}

/* The child is at the entry of a system call: return how many bytes the call will write. */
static long writes(pid_t child)
{
	struct __ptrace_syscall_info info = {0};

	assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0);
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_sendto)
		return 0;
	return (long)info.entry.args[2];
}

/* Count the turn that has just started. */
static void count_turn(pid_t child, int how, struct counted *c)
{
	long n = 0;
	int signal, status;

	while ((signal = go_on(child, how, &status)) == SIGTRAP) {
		long written = how == PTRACE_SYSCALL ? writes(child) : 0;

		n++;
		c->written = written > c->written ? written : c->written;
	}
	assert_int_equal(signal, SIGUSR1);
	c->counted++;
	c->all += n;
	c->most = n > c->most ? n : c->most;
}

/* Stepping is slow: only the first turns and some of the others are stepped through. */
static void take_turn(pid_t child, int how, struct counted *c)
{
	const unsigned turn = c->turns++;
	int status;

	if (how != PTRACE_SINGLESTEP || turn < 3 || turn % 6 == 0)
		count_turn(child, how, c);
	else
		assert_int_equal(go_on(child, PTRACE_CONT, &status), SIGUSR1);
}

/* how: PTRACE_SINGLESTEP, or PTRACE_SYSCALL, which stops at both ends of a system call. */
static void count(int how, struct counted ret[ASKED])
{
	size_t at = 0;
	int signal, status;
	pid_t child = fork();

	assert_true(child >= 0);
	memset(ret, 0, ASKED * sizeof ret[0]);
	if (!child)
		answer_each();
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("# ptrace is forbidden here\n");
		skip();
	}
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD), 0);
	for (signal = WSTOPSIG(status);; signal = go_on(child, PTRACE_CONT, &status)) {
		if (signal < 0)
			break;
		if (signal == SIGUSR2)
			at++;
		else if (at < ASKED)
			take_turn(child, how, &ret[at]);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(at, ASKED);
}

static void test_brief_turns_are_of_few_instructions(void **state)
{
	struct counted c[ASKED];
	size_t i;

	(void)state;
	if (harness_sanitizer()[0]) {
		print_message("# a sanitizer's instructions are not the program's\n");
		skip();
	}
	count(PTRACE_SINGLESTEP, c);
	for (i = 0; i < ASKED; i++)
		print_message("# %-16s %2u turns, instructions: %ld at most, %ld in the mean\n",
			      asked[i].name, c[i].counted, c[i].most,
			      c[i].counted ? c[i].all / c[i].counted : 0);
	for (i = 0; i < ASKED; i++) {
		assert_in_range(c[i].turns, 2, TURNS);
		assert_in_range(c[i].most, 100, INSTRUCTIONS);
	}
}

static void test_brief_turns_are_of_few_and_small_system_calls(void **state)
{
	struct counted c[ASKED];
	size_t i;

	(void)state;
	count(PTRACE_SYSCALL, c);
	for (i = 0; i < ASKED; i++)
		print_message("# %-16s %2u turns, system calls: %ld at most; %ld bytes in one\n",
			      asked[i].name, c[i].turns, c[i].most / 2, c[i].written);
	for (i = 0; i < ASKED; i++) {
		assert_in_range(c[i].turns, 2, TURNS);
		assert_in_range(c[i].most / 2, 1, CALLS);
		assert_in_range(c[i].written, 1, WRITTEN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brief_turns_are_of_few_instructions),
		cmocka_unit_test(test_brief_turns_are_of_few_and_small_system_calls),
	};

	harness_watchdog(60);
	/* Stepping takes a tenth of the time if no other CPU has to be woken for each stop. */
	harness_one_cpu();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
