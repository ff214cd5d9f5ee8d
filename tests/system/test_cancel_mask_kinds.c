/* SPDX-License-Identifier: MIT */
/* test_cancel_mask_kinds.c - no kind of wait ends when the fiber masks the cancellation */
#include "waits.h"

#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* -- the kinds that only this test has -- */

static int in_select(int64_t until)
{
	struct fiber_select_case cases[] = {
		{.op = FIBER_SELECT_RECV, .chan = all.empty},
		{.op = FIBER_SELECT_FD, .fd = all.ends[0], .events = POLLIN},
	};

	return fiber_select(cases, COUNT(cases), until);
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

/* The blocked call must not be abandoned before its deadline. */
static int in_block(int64_t until)
{
	return fiber_block(sleeps_in_the_system, NULL, NULL, until);
}

/* A cancelled wait for a group would cancel its members. */
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

	return fiber_wait_until(harness_never, NULL, until);
}

static const struct {
	const char *name;
	int (*wait)(int64_t until);
} waits[] = {
	{"sleep", in_sleep_until},
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

struct turn {
	int (*wait)(int64_t until);
	bool before; /* cancelled before the wait, else during it */
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
	waits_make(rt);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, all.ends), 0);
	for (i = 0; i < COUNT(waits); i++) {
		if (outlasts_a_cancellation(rt, waits[i].wait, false) &&
		    outlasts_a_cancellation(rt, waits[i].wait, true))
			continue;
		print_message("# %s\n", waits[i].name);
		bad++;
	}
	waits_release();
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
