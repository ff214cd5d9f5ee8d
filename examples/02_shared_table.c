/* SPDX-License-Identifier: MIT */
/*
 * 02_shared_table.c - a table that its first user creates, many fibers read and one changes
 *
 * fiber_once creates it, a readers-writer lock protects it, and a waitgroup waits for all fibers.
 * fiberctl and fibertrace show the names of these objects for a fiber that waits for one of them.
 */
#include <stdio.h>

#include <fiber.h>

static struct fiber_once made = {.name = "table made"};
static struct fiber_rwlock guard = {.name = "table"};
static struct fiber_waitgroup readers = {.name = "readers"};
static int table[4];

static void make(void *arg)
{
	(void)arg;
	fiber_sleep(1000000); /* as if it was read from a file */
	for (int i = 0; i < 4; i++)
		table[i] = i * i;
}

static void *sum(void *arg)
{
	int *total = arg;

	fiber_once(&made, make, NULL);
	fiber_rwlock_rdlock(&guard, FIBER_FOREVER);
	for (int i = 0; i < 4; i++)
		*total += table[i];
	fiber_rwlock_unlock(&guard);
	fiber_waitgroup_done(&readers);
	return NULL;
}

static void *first(void *arg)
{
	int totals[3] = {0};

	(void)arg;
	fiber_waitgroup_add(&readers, 3);
	for (int i = 0; i < 3; i++)
		if (fiber_spawn(sum, &totals[i], NULL) < 0)
			fiber_waitgroup_done(&readers);
	fiber_waitgroup_wait(&readers, FIBER_FOREVER);

	if (fiber_rwlock_wrlock(&guard, fiber_after(1000000000)) == 0) {
		table[0] = 100;
		fiber_rwlock_unlock(&guard);
	}
	printf("%d %d %d, then %d\n", totals[0], totals[1], totals[2], table[0]);
	return NULL;
}

int main(void)
{
	return fiber_run(first, NULL, NULL, NULL) < 0;
}
