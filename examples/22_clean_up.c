/* SPDX-License-Identifier: MIT */
/* 22_clean_up.c - three ways to clean up in a fiber that was cancelled. */
#include <fiber.h>
#include <stdio.h>

static struct fiber_mutex lock;
static int sessions = 1; /* under lock */
static struct fiber_sem places;
static struct fiber_chan *farewells;

/* Calls that never wait work as before: unlock, post, close. */
static void give_place_back(void)
{
	fiber_sem_post(&places);
}

/* A short wait is masked. The lock is only held for a moment. */
static void leave_table(void)
{
	FIBER_CANCEL_MASKED_SCOPE;

	fiber_mutex_lock(&lock, FIBER_FOREVER);
	sessions--;
	fiber_mutex_unlock(&lock);
}

/* A wait that may take long is masked and has a deadline, since nothing else ends it. */
static int say_goodbye(const char *word)
{
	FIBER_CANCEL_MASKED_SCOPE;

	return fiber_chan_send(farewells, &word, fiber_after(INT64_C(100000000)));
}

static void *serve(void *arg)
{
	int rc = fiber_sleep_until(FIBER_FOREVER);

	printf("the session ends: %s\n", rc < 0 && fiber_cancelled() ? "cancelled" : "done");
	give_place_back();
	leave_table();
	if (say_goodbye("bye") < 0)
		printf("nobody listened\n");
	return arg;
}

static void *start(void *arg)
{
	const char *word = "";
	struct fiber *session;

	if (fiber_chan_new(sizeof word, 0, &farewells) < 0 ||
	    fiber_spawn(serve, NULL, &session) < 0)
		return NULL;
	fiber_sleep(1000000);
	fiber_mutex_lock(&lock, FIBER_FOREVER);
	fiber_cancel(session);
	fiber_sleep(1000000); /* it waits for the lock, although it is cancelled */
	fiber_mutex_unlock(&lock);
	fiber_chan_recv(farewells, &word, FIBER_FOREVER);
	fiber_join(session, NULL, FIBER_FOREVER);
	printf("it said %s; %d sessions, %d place\n", word, sessions,
	       fiber_sem_wait(&places, 0) == 0);
	fiber_chan_unref(farewells);
	return arg;
}

int main(void)
{
	return fiber_run(start, NULL, NULL, NULL) < 0;
}
