/* SPDX-License-Identifier: MIT */
/* test_cancel_mask_kinds.c - no kind of wait is ended by a cancellation that the fiber masks. */
#include "carriers.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct {
	struct fiber_mutex mutex, cond_mutex;
	struct fiber_cond cond;
	struct fiber_sem sem;
	struct fiber_rwlock rwlock;
	struct fiber_event event;
	struct fiber_barrier barrier;
	struct fiber_waitgroup waitgroup;
	struct fiber_timer *timer;
	struct fiber_chan *empty, *meeting;
	struct fiber *sleeper;
	int ends[2];
} all;

/* -- every kind of wait, until a time that nothing comes before -- */

static int in_sleep(int64_t until)
{
	int rc = fiber_sleep_until(until);

	return rc == 0 ? -ETIMEDOUT : rc;
}

static int in_park(int64_t until)
{
	return fiber_park(until);
}

static int in_join(int64_t until)
{
	return fiber_join(all.sleeper, NULL, until);
}

static int in_mutex(int64_t until)
{
	return fiber_mutex_lock(&all.mutex, until);
}

static int in_rdlock(int64_t until)
{
	return fiber_rwlock_rdlock(&all.rwlock, until);
}

static int in_wrlock(int64_t until)
{
	return fiber_rwlock_wrlock(&all.rwlock, until);
}

static int in_cond(int64_t until)
{
	int rc = fiber_mutex_lock(&all.cond_mutex, FIBER_FOREVER);

	if (rc == 0) {
		rc = fiber_cond_wait(&all.cond, &all.cond_mutex, until);
		fiber_mutex_unlock(&all.cond_mutex);
	}
	return rc;
}

static int in_sem(int64_t until)
{
	return fiber_sem_wait(&all.sem, until);
}

static int in_event(int64_t until)
{
	return fiber_event_wait(&all.event, until);
}

static int in_barrier(int64_t until)
{
	return fiber_barrier_wait(&all.barrier, until);
}

static int in_waitgroup(int64_t until)
{
	return fiber_waitgroup_wait(&all.waitgroup, until);
}

static int in_timer(int64_t until)
{
	return fiber_timer_wait(all.timer, NULL, until);
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static int in_predicate(int64_t until)
{
	return fiber_wait_until(never, NULL, until);
}

static int in_send(int64_t until)
{
	return fiber_chan_send(all.meeting, "x", until);
}

static int in_recv(int64_t until)
{
	return fiber_chan_recv(all.empty, NULL, until);
}

static int in_select(int64_t until)
{
	struct fiber_select_case cases[] = {
		{.op = FIBER_SELECT_RECV, .chan = all.empty},
		{.op = FIBER_SELECT_FD, .fd = all.ends[0], .events = POLLIN},
	};

	return fiber_select(cases, COUNT(cases), until);
}

static int in_read(int64_t until)
{
	char c;

	return (int)fiber_read(all.ends[0], &c, 1, until);
}

static int in_wait_fd(int64_t until)
{
	return fiber_wait_fd(all.ends[0], POLLIN, until);
}

static int in_poll(int64_t until)
{
	struct pollfd fds[] = {{.fd = all.ends[0], .events = POLLIN},
			       {.fd = all.ends[1], .events = POLLIN}};
	int rc = fiber_poll(fds, COUNT(fds), until);

	return rc == 0 ? -ETIMEDOUT : rc;
}

static void *sleeps_in_the_system(void *arg)
{
	const struct timespec t = {.tv_nsec = 50 * MS};

	nanosleep(&t, NULL);
	return arg;
}

/* It is not left to itself before its deadline. */
static int in_block(int64_t until)
{
	return fiber_block(sleeps_in_the_system, NULL, NULL, until);
}

static void *sleeps_for_ever(void *arg)
{
	fiber_sleep_until(FIBER_FOREVER);
	return arg;
}

/* It would cancel its members. */
static int in_group(int64_t until)
{
	struct fiber_group group;
	int rc, end;

	fiber_group_init(&group);
	fiber_group_spawn(&group, sleeps_for_ever, NULL);
	rc = fiber_group_wait(&group, until);
	fiber_group_cancel(&group);
	end = fiber_group_wait(&group, FIBER_FOREVER);
	return end == -ECANCELED || end == 0 ? rc : end;
}

static int in_pinned_sem(int64_t until)
{
	FIBER_PINNED_SCOPE;

	return fiber_sem_wait(&all.sem, until);
}

static int in_pinned_read(int64_t until)
{
	FIBER_PINNED_SCOPE;

	return in_read(until);
}

static int in_pinned_predicate(int64_t until)
{
	FIBER_PINNED_SCOPE;

	return fiber_wait_until(never, NULL, until);
}

static const struct {
	const char *name;
	int (*wait)(int64_t until);
} waits[] = {
	{"sleep", in_sleep},
	{"park", in_park},
	{"join", in_join},
	{"mutex", in_mutex},
	{"rdlock", in_rdlock},
	{"wrlock", in_wrlock},
	{"cond", in_cond},
	{"sem", in_sem},
	{"event", in_event},
	{"barrier", in_barrier},
	{"waitgroup", in_waitgroup},
	{"timer", in_timer},
	{"predicate", in_predicate},
	{"send", in_send},
	{"recv", in_recv},
	{"select", in_select},
	{"read", in_read},
	{"wait_fd", in_wait_fd},
	{"poll", in_poll},
	{"block", in_block},
	{"group", in_group},
	{"pinned sem", in_pinned_sem},
	{"pinned read", in_pinned_read},
	{"pinned predicate", in_pinned_predicate},
};

static void make_all(struct fiber_runtime *rt)
{
	memset(&all, 0, sizeof all);
	fiber_mutex_lock(&all.mutex, 0);
	fiber_rwlock_wrlock(&all.rwlock, 0);
	fiber_barrier_init(&all.barrier, 2);
	fiber_waitgroup_add(&all.waitgroup, 1);
	assert_int_equal(fiber_timer_new(&all.timer), 0);
	assert_int_equal(fiber_chan_new(1, 1, &all.empty), 0);
	assert_int_equal(fiber_chan_new(1, 0, &all.meeting), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, sleeps_for_ever, NULL, &all.sleeper), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, all.ends), 0);
}

static void release_all(void)
{
	fiber_mutex_unlock(&all.mutex);
	fiber_rwlock_unlock(&all.rwlock);
	fiber_timer_free(all.timer);
	fiber_chan_unref(all.empty);
	fiber_chan_unref(all.meeting);
	fiber_cancel(all.sleeper);
	fiber_join(all.sleeper, NULL, FIBER_FOREVER);
	fiber_close(all.ends[0]);
	fiber_close(all.ends[1]);
}

struct turn {
	int (*wait)(int64_t until);
	bool before; /* cancelled before the wait, else in it */
	_Atomic bool began, asked;
	int rc, next;
	bool early, knew;
};

static void *waits_masked(void *arg)
{
	struct turn *t = arg;
	int64_t until;
	bool asked;

	if (t->before)
		fiber_cancel(fiber_self());
	atomic_store(&t->asked, t->before);
	{
		FIBER_CANCEL_MASKED_SCOPE;

		until = fiber_after(2 * MS);
		atomic_store(&t->began, true);
		t->rc = t->wait(until);
		t->early = fiber_now() < until;
		asked = atomic_load(&t->asked);
		t->knew = fiber_cancelled() || !asked;
	}
	t->next = fiber_park(FIBER_FOREVER);
	return t;
}

static bool outlasts_a_cancellation(struct fiber_runtime *rt, int (*wait)(int64_t), bool before)
{
	struct turn t = {.wait = wait, .before = before};
	struct fiber_result r;
	struct fiber *fiber;

	if (fiber_runtime_spawn(rt, NULL, waits_masked, &t, &fiber) < 0)
		return false;
	while (!atomic_load(&t.began))
		carriers_pause();
	if (!before) {
		fiber_cancel(fiber);
		atomic_store(&t.asked, true);
		usleep(500);
		fiber_cancel(fiber);
	}
	fiber_join(fiber, &r, FIBER_FOREVER);
	return t.rc == -ETIMEDOUT && !t.early && t.knew && t.next == -ECANCELED &&
	       r.error == -ECANCELED;
}

static void test_cancel_mask_lets_every_kind_of_wait_go_on(void **state)
{
	struct fiber_runtime_options options = carriers_options();
	struct fiber_runtime *rt;
	size_t i, bad = 0;

	(void)state;
	options.pinned_policy = FIBER_PINNED_SILENT;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	make_all(rt);
	for (i = 0; i < COUNT(waits); i++) {
		if (outlasts_a_cancellation(rt, waits[i].wait, false) &&
		    outlasts_a_cancellation(rt, waits[i].wait, true))
			continue;
		print_message("# %s\n", waits[i].name);
		bad++;
	}
	release_all();
	carriers_finish(rt);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancel_mask_lets_every_kind_of_wait_go_on),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
