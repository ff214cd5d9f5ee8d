/* SPDX-License-Identifier: MIT */
/*
 * test_idle_hook.c - a runtime inside a program that has its own way to wait
 *
 * In most tests the hook polls the runtime's descriptor and one of the program, as an event loop
 * does. The service thread ticks, but on one carrier nothing repairs a lost wake-up.
 */
#include "carriers.h"
#include "tests/harness/fibers.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

/* The program that contains the runtime. */
struct program {
	int (*wait)(struct program *p, int64_t deadline);
	struct fiber_runtime *rt;
	struct fiber *_Atomic parked; /* woken by the hook */
	unsigned more;		      /* additional carriers */
	int inbox[2];		      /* the program's own descriptor, read by its own loop */
	atomic_uint in, calls, crowded, strange, messages, made;
	atomic_int_least64_t sleep_until, early;
};

static int hook(void *arg, int64_t deadline)
{
	struct program *p = arg;
	int rc;

	p->crowded += p->in++ > 0;
	p->strange += fiber_self() || (p->rt && fiber_runtime_self() != p->rt);
	p->calls++;
	rc = p->wait(p, deadline);
	p->in--;
	return rc;
}

static struct timespec *left(int64_t deadline, struct timespec *t)
{
	int64_t ns = deadline - fiber_now();

	if (deadline == FIBER_FOREVER)
		return NULL;
	ns = ns < 0 ? 0 : ns;
	t->tv_sec = (time_t)(ns / (1000 * MS));
	t->tv_nsec = (long)(ns % (1000 * MS));
	return t;
}

/* One iteration of an event loop. */
static int polls(struct program *p, int64_t deadline)
{
	struct pollfd fds[2] = {{.fd = fiber_runtime_fd(NULL), .events = POLLIN},
				{.fd = p->inbox[0], .events = POLLIN}};
	struct timespec t;
	char c;

	ppoll(fds, 2, left(deadline, &t), NULL);
	if (fds[1].revents && read(p->inbox[0], &c, 1) == 1)
		p->messages++;
	return 0;
}

static struct fiber_runtime *start(struct program *p)
{
	struct fiber_runtime_options options = carriers_options();

	options.carriers += p->more;
	options.idle = hook;
	options.idle_arg = p;
	assert_int_equal(pipe(p->inbox), 0);
	assert_int_equal(fiber_runtime_start(&options, &p->rt), 0);
	return p->rt;
}

static void finish(struct program *p)
{
	carriers_finish(p->rt);
	close(p->inbox[0]);
	close(p->inbox[1]);
	assert_int_equal(p->in, 0);
	assert_int_equal(p->crowded, 0);
	assert_int_equal(p->strange, 0);
	assert_true(p->calls > 0);
}

static void await_hook(struct program *p)
{
	while (!p->in)
		sched_yield();
}

static struct fiber *spawn(struct program *p, unsigned flags, fiber_fn *fn, void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = flags};
	struct fiber *f = NULL;

	assert_int_equal(fiber_runtime_spawn(p->rt, &attr, fn, arg, &f), 0);
	return f;
}

static void test_idle_hook_hears_of_what_other_threads_make_runnable(void **state)
{
	struct program p = {.wait = polls};

	(void)state;
	start(&p);
	for (int i = 0; i < 500; i++) {
		static const unsigned flags[] = {0, FIBER_BOUND, FIBER_IDLE};
		struct fiber *f;

		await_hook(&p);
		f = spawn(&p, flags[i % 3], i % 2 ? harness_nothing : harness_park, NULL);
		if (i % 2 == 0) {
			carriers_await_suspended(f);
			await_hook(&p);
			fiber_unpark(f);
		}
		assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	}
	finish(&p);
}

static void test_idle_hook_serves_the_programs_own_descriptors(void **state)
{
	struct program p = {.wait = polls};

	(void)state;
	start(&p);
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(write(p.inbox[1], "x", 1), 1);
		while (p.messages == i)
			sched_yield();
	}
	finish(&p);
}

struct ends {
	int fd;
	int rounds;
};

static void *echoes(void *arg)
{
	struct ends *e = arg;
	char c;

	while (fiber_read(e->fd, &c, 1, FIBER_FOREVER) == 1 &&
	       fiber_write(e->fd, &c, 1, FIBER_FOREVER) == 1)
		e->rounds++;
	return NULL;
}

static void test_idle_hook_hears_of_ready_descriptors(void **state)
{
	struct program p = {.wait = polls};
	struct ends e = {.rounds = 0};
	struct fiber *f;
	int fds[2];
	char c;

	(void)state;
	start(&p);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	e.fd = fds[0];
	f = spawn(&p, 0, echoes, &e);
	for (int i = 0; i < 500; i++) {
		await_hook(&p);
		assert_int_equal(write(fds[1], "x", 1), 1);
		assert_int_equal(read(fds[1], &c, 1), 1);
	}
	close(fds[1]);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_int_equal(e.rounds, 500);
	close(fds[0]);
	finish(&p);
}

/* -- deadlines -- */

/* Sleeps until the deadline without polling; polls if there is no deadline. */
static int sleeps(struct program *p, int64_t deadline)
{
	struct timespec t;

	if (deadline == FIBER_FOREVER)
		return polls(p, deadline);
	p->early += deadline < p->sleep_until;
	ppoll(NULL, 0, left(deadline, &t), NULL);
	return 0;
}

static void *naps(void *arg)
{
	struct program *p = arg;
	intptr_t bad = 0;

	for (int i = 0; i < 50; i++) {
		int64_t until = fiber_after(MS / 4);

		p->sleep_until = until;
		bad += fiber_sleep_until(until) < 0 || fiber_now() < until;
	}
	return (void *)bad;
}

static void test_idle_hook_is_told_the_nearest_deadline(void **state)
{
	struct program p = {.wait = sleeps};
	struct fiber_result r = {&r, 1};

	(void)state;
	start(&p);
	await_hook(&p);
	assert_int_equal(fiber_join(spawn(&p, 0, naps, &p), &r, FIBER_FOREVER), 0);
	assert_null(r.value);
	assert_int_equal(p.early, 0);
	finish(&p);
}

/* -- hooks that do not wait -- */

static int returns(struct program *p, int64_t deadline)
{
	(void)p;
	(void)deadline;
	return 0;
}

static void test_idle_hook_that_does_not_wait_is_called_again_and_again(void **state)
{
	struct program p = {.wait = returns};
	struct fiber_result r = {&r, 1};

	(void)state;
	start(&p);
	while (p.calls < 1000)
		sched_yield();
	assert_int_equal(fiber_join(spawn(&p, 0, naps, &p), &r, FIBER_FOREVER), 0);
	assert_null(r.value);
	assert_int_equal(fiber_join(spawn(&p, 0, harness_nothing, NULL), NULL, FIBER_FOREVER), 0);
	finish(&p);
}

static int fails(struct program *p, int64_t deadline)
{
	(void)p;
	(void)deadline;
	return -ENOSYS;
}

static void test_idle_hook_that_fails_leaves_the_waiting_to_the_runtime(void **state)
{
	struct program p = {.wait = fails};
	struct fiber_result r = {&r, 1};

	(void)state;
	start(&p);
	assert_int_equal(fiber_join(spawn(&p, 0, naps, &p), &r, FIBER_FOREVER), 0);
	assert_null(r.value);
	for (int i = 0; i < 50; i++)
		assert_int_equal(
			fiber_join(spawn(&p, 0, harness_nothing, NULL), NULL, FIBER_FOREVER), 0);
	/*
	 * The hook runs once for each sleep of a carrier, not continuously: for 100 wake-ups, and
	 * once a millisecond for the service thread while a fiber is busy.
	 */
	assert_in_range(p.calls, 1, 5000);
	finish(&p);
}

/* -- what the hook itself does -- */

static void *counts_and_parks(void *arg)
{
	struct program *p = arg;

	for (int i = 0; i < 200; i++) {
		fiber_park(FIBER_FOREVER);
		p->made++;
	}
	return NULL;
}

static void *counts(void *arg)
{
	struct program *p = arg;

	p->made++;
	return NULL;
}

/*
 * Makes a fiber runnable and waits for the notification. With several carriers another carrier may
 * run the fiber; then no notification is needed.
 */
static int makes(struct program *p, int64_t deadline)
{
	struct pollfd fd = {.fd = fiber_runtime_fd(NULL), .events = POLLIN};
	struct fiber *parked = p->parked;

	if (!parked || p->made >= 400)
		return polls(p, deadline);
	p->strange += fiber_runtime_finish(p->rt, 0) != -EPERM;
	p->strange += fiber_yield() != -EPERM;
	p->strange += fiber_spawn(harness_nothing, NULL, NULL) != -EPERM;
	if (p->made < 200)
		fiber_unpark(parked);
	else
		fiber_runtime_spawn(p->rt, NULL, counts, p, NULL);
	poll(&fd, 1, carriers() == 1 ? -1 : 1);
	return 0;
}

static void makes_work_for(unsigned flags)
{
	struct program p = {.wait = makes};
	struct fiber *f;

	start(&p);
	f = spawn(&p, flags, counts_and_parks, &p);
	carriers_await_suspended(f);
	await_hook(&p);
	p.parked = f;
	/* Wakes the hook that runs now, so that it sees the change. */
	assert_int_equal(write(p.inbox[1], "x", 1), 1);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	while (p.made < 400)
		sched_yield();
	finish(&p);
}

static void test_idle_hook_hears_of_what_it_made_runnable_itself(void **state)
{
	(void)state;
	makes_work_for(0);
	makes_work_for(FIBER_BOUND);
	makes_work_for(FIBER_IDLE);
	makes_work_for(FIBER_IDLE | FIBER_BOUND);
}

/* -- with a spare carrier -- */

static void *computes_until_the_hook_was_called(void *arg)
{
	struct program *p = arg;

	/* Occupies its carrier; the hook is called on another one. */
	for (unsigned i = 0; i < 20; i++) {
		unsigned before = p->messages;

		if (write(p->inbox[1], "x", 1) != 1)
			return arg;
		while (p->messages == before)
			sched_yield();
	}
	return NULL;
}

static void test_idle_hook_is_served_while_another_carrier_computes(void **state)
{
	struct program p = {.wait = polls, .more = carriers() == 1};
	struct fiber_result r = {&r, 1};

	(void)state;
	start(&p);
	assert_int_equal(
		fiber_join(spawn(&p, 0, computes_until_the_hook_was_called, &p), &r, FIBER_FOREVER),
		0);
	assert_null(r.value);
	finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_hook_hears_of_what_other_threads_make_runnable),
		cmocka_unit_test(test_idle_hook_serves_the_programs_own_descriptors),
		cmocka_unit_test(test_idle_hook_hears_of_ready_descriptors),
		cmocka_unit_test(test_idle_hook_is_told_the_nearest_deadline),
		cmocka_unit_test(test_idle_hook_that_does_not_wait_is_called_again_and_again),
		cmocka_unit_test(test_idle_hook_that_fails_leaves_the_waiting_to_the_runtime),
		cmocka_unit_test(test_idle_hook_hears_of_what_it_made_runnable_itself),
		cmocka_unit_test(test_idle_hook_is_served_while_another_carrier_computes),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
