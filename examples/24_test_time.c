/* SPDX-License-Identifier: MIT */
/*
 * 24_test_time.c - a time-out that races with the answer: who owns the request then?
 *
 * Without arguments the one who comes second frees the request. "hasty" tests a client that frees it
 * when it gives up. No time passes in the test: 200 ms are over at once.
 */
#include <fiber.h>
#include <fiber/test.h>
#include <stdlib.h>

#define MS INT64_C(1000000)

struct request {
	struct fiber_event answered;
	int answer;
	int users; /* the client and the server */
	bool freed;
};

static void drop(struct request *r)
{
	if (--r->users == 0)
		r->freed = true; /* free(r) in a program; kept here to see who uses it */
}

/* The answer is there after 190 ms. On a busy machine the server may come later. */
static void *serve(void *arg)
{
	struct request *r = arg;

	fiber_sleep(190 * MS);
	fiber_test_point("write the answer");
	fiber_test_assert(!r->freed);
	r->answer = 42;
	fiber_event_set(&r->answered);
	drop(r);
	return NULL;
}

/* Wait for the answer, 200 ms. Returns whether it has come. */
static bool wait_for_answer(struct request *r)
{
	return fiber_event_wait(&r->answered, fiber_after(200 * MS)) == 0;
}

static void ask(struct request *r, bool hasty)
{
	struct fiber *server;
	bool in_time;

	fiber_spawn(serve, r, &server);
	in_time = wait_for_answer(r);
	if (in_time)
		fiber_test_assert(r->answer == 42);
	fiber_test_reached(in_time ? "in time" : "too late");
	if (hasty)
		r->freed = true;
	else
		drop(r);
	fiber_join(server, NULL, FIBER_FOREVER);
	fiber_test_assert(r->freed);
}

static void test_shared(void *arg)
{
	struct request request = {.users = 2};

	(void)arg;
	ask(&request, false);
}

static void test_hasty(void *arg)
{
	struct request request = {.users = 2};

	(void)arg;
	ask(&request, true);
}

int main(int argc, char *argv[])
{
	static const char *const reach[] = {"in time", "too late", NULL};
	static const struct fiber_test_options options = {.size = sizeof options, .reach = reach};
	static const struct fiber_test_case cases[] = {
		{"shared", test_shared, NULL, &options},
		{"hasty", test_hasty, NULL, &options},
	};

	return fiber_test_main(argc, argv, cases, argc < 2 ? 1 : 2);
}
