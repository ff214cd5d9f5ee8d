/* SPDX-License-Identifier: MIT */
/* 07_ticker.c - do something every 20 ms, without drift, and count the missed times. */
#include <stdio.h>

#include <fiber.h>

#define MS INT64_C(1000000)

static void *tick(void *arg)
{
	struct fiber_timer *timer;
	uint64_t beats = 0, n;
	bool late = false;
	int rc = fiber_timer_new(&timer);

	if (rc < 0)
		fiber_fail(rc, "no timer");
	fiber_object_name(timer, "metronome"); /* what fiberctl list shows */
	fiber_timer_arm(timer, fiber_after(20 * MS), 20 * MS);
	while (beats < 6 && fiber_timer_wait(timer, &n, FIBER_FOREVER) == 0) {
		if (beats == 0)
			fiber_sleep(70 * MS); /* too long: the beats of this time come together */
		late |= n > 1;
		beats += n;
	}
	printf("%s, %s\n", beats < 6 ? "no 6 beats" : "6 beats",
	       late ? "some were late" : "on time");
	fiber_timer_free(timer);
	return arg;
}

int main(void)
{
	return fiber_run(tick, NULL, NULL, NULL) < 0;
}
