/* SPDX-License-Identifier: MIT */
/*
 * 13_take_over.c - a fiber cancels another one and takes over its work
 *
 * One carrier, one counter, a queue of customers. Ada serves, and hangs with a customer who never
 * answers. Ben watches her, cancels her and continues her work on the same thread. No thread stops
 * or starts. Ada's exit handlers release what she held before Ben's fiber_join() returns.
 */
#include <stdio.h>
#include <unistd.h>

#include <fiber.h>

#define MS INT64_C(1000000)
enum { CUSTOMERS = 5, MUTE = 3 };

static struct fiber_mutex counter = {.name = "counter"}; /* its owner serves */
static struct fiber_event word = {.name = "a word of customer 3"};
static int next = 1; /* under counter: the customer to be served */

static void leave(void *name)
{
	printf("%s leaves the counter after customer %d\n", (char *)name, next - 1);
	fiber_mutex_unlock(&counter);
}

static void *serve(void *patience)
{
	char *name = (char *)fiber_name(fiber_self());
	int rc = fiber_mutex_lock(&counter, FIBER_FOREVER);

	if (rc < 0 || (rc = fiber_at_exit(leave, name)) < 0)
		fiber_fail(rc, "cannot serve");
	for (; next <= CUSTOMERS; next++) {
		if (next == MUTE)
			rc = fiber_event_wait(&word, patience ? fiber_after(*(int64_t *)patience)
							      : FIBER_FOREVER);
		if (fiber_cancelled())
			return NULL; /* the customer remains the next one */
		printf("%s: customer %d %s\n", name, next, rc < 0 ? "said nothing" : "served");
		rc = 0;
	}
	return NULL;
}

static void *watch(void *arg)
{
	struct fiber *ada = arg;
	struct fiber_result result;
	int64_t patience = 10 * MS;
	pid_t thread = gettid();
	int rc = fiber_join(ada, &result, fiber_after(100 * MS));

	if (rc < 0) { /* -ETIMEDOUT: she still serves */
		fiber_cancel(ada);
		fiber_join(ada, &result, FIBER_FOREVER);
		printf("Ada has ended with %d\n", result.error);
	}
	serve(&patience);
	printf("the same thread: %s\n", gettid() == thread ? "yes" : "no");
	return NULL;
}

static void *open_counter(void *arg)
{
	struct fiber_attr ada = {.size = sizeof(ada), .name = "Ada"};
	struct fiber_attr ben = {.size = sizeof(ben), .name = "Ben"};
	struct fiber *fiber;
	int rc = fiber_spawn_attr(&ada, serve, NULL, &fiber);

	if (rc < 0 || (rc = fiber_spawn_attr(&ben, watch, fiber, NULL)) < 0)
		fiber_fail(rc, "cannot spawn");
	return arg; /* the runtime runs until all fibers have exited */
}

int main(void)
{
	struct fiber_runtime_options one = {.size = sizeof(one), .carriers = 1};

	return fiber_run(open_counter, NULL, &one, NULL) < 0;
}
