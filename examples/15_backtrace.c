/* SPDX-License-Identifier: MIT */
/*
 * 15_backtrace.c - a program that prints where one of its fibers waits
 *
 * This needs the separate library libfiber-backtrace. fiberctl and fibertrace show more, and need
 * no code in the program. This is for programs that must report themselves.
 */
#include <errno.h>
#include <stdio.h>

#include <fiber.h>
#include <fiber/backtrace.h>

static struct fiber_mutex config = {.name = "config"};

static void *store(void *arg)
{
	fiber_set_name(fiber_self(), "worker");
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_mutex_unlock(&config);
	return arg;
}

static void *start(void *arg)
{
	struct fiber *worker;
	int rc;

	fiber_mutex_lock(&config, FIBER_FOREVER);
	rc = fiber_spawn(store, NULL, &worker);
	if (rc < 0)
		fiber_fail(rc, "cannot spawn");
	rc = fiber_join(worker, NULL, fiber_after(300000000));
	if (rc == -ETIMEDOUT)
		fiber_print_backtrace(worker, stdout, 0);
	fiber_mutex_unlock(&config);
	fiber_join(worker, NULL, FIBER_FOREVER);
	return arg;
}

int main(void)
{
	struct fiber_result result = {NULL, 0};

	return fiber_run(start, NULL, NULL, &result) < 0 || result.error < 0;
}
