/* SPDX-License-Identifier: MIT */
/* 01_hello.c - two fibers sleep, take turns at a mutex and are joined by a third. */
#include <fiber.h>
#include <stdio.h>

static struct fiber_mutex out; /* zero-initialised is ready */

static void *greet(void *name)
{
	for (int i = 1; i <= 3; i++) {
		fiber_sleep(10 * 1000000); /* parks the fiber; its thread runs others meanwhile */
		fiber_mutex_lock(&out, FIBER_FOREVER);
		printf("%s says hello (%d)\n", (const char *)name, i);
		fiber_mutex_unlock(&out);
	}
	return NULL;
}

static void *start(void *arg)
{
	struct fiber *ada, *ben;
	int rc = fiber_spawn(greet, "Ada", &ada);

	if (rc < 0 || (rc = fiber_spawn(greet, "Ben", &ben)) < 0)
		fiber_fail(rc, "cannot spawn");
	fiber_join(ada, NULL, FIBER_FOREVER);
	fiber_join(ben, NULL, FIBER_FOREVER);
	return arg;
}

int main(void)
{
	struct fiber_result result = {NULL, 0};

	return fiber_run(start, NULL, NULL, &result) < 0 || result.error < 0;
}
