/* SPDX-License-Identifier: MIT */
/*
 * stress_mask.c - fibers that are cancelled at random and mask cancellation at random
 *
 * Data held by a mutex is restored in a masked scope, which must always get the mutex. Outside of
 * it the first wait after a request must fail, and no request may get lost: after the first
 * -ECANCELED every later wait fails too, with or without masked scopes in between.
 */
#include <errno.h>
#include <string.h>

#include "tests/stress/stress.h"

static struct {
	struct fiber_mutex mutex;
	uint64_t in, out; /* plain: accessed by the holder of the mutex */
} table;

static void put_in_order(struct stress_actor *a, unsigned depth)
{
	FIBER_CANCEL_MASKED_SCOPE;
	int rc;

	if (depth) {
		put_in_order(a, depth - 1);
		/* The outer scope still masks. */
	}
	rc = fiber_sleep(stress_rand(a, 4) ? 0 : 1000);
	if (rc == 0)
		rc = fiber_mutex_lock(&table.mutex, FIBER_FOREVER);
	if (rc < 0)
		stress_wrong("a masked wait was ended: %s", strerror(-rc));
	if (table.in++ != table.out)
		stress_wrong("two are at the table");
	stress_pause(a);
	table.out++;
	fiber_mutex_unlock(&table.mutex);
}

static void comes_and_goes(struct stress_actor *a)
{
	bool told = false;
	int rc;

	while (stress_on(a, "masked and not")) {
		const bool before = fiber_cancelled();

		rc = fiber_sleep(1 + stress_rand(a, 20000));
		stress_expect(rc, "fiber_sleep");
		if ((before || told) && rc != -ECANCELED)
			stress_wrong("a wait of a cancelled fiber gave %d", rc);
		told = told || rc == -ECANCELED;
		put_in_order(a, stress_rand(a, 3));
		if (told && fiber_park(FIBER_FOREVER) != -ECANCELED)
			stress_wrong("a request was lost");
	}
	put_in_order(a, 0);
}

static void begin(void)
{
	memset(&table, 0, sizeof table);
	fiber_object_name(&table.mutex, "table");
	stress_add("mask", 0, 4, comes_and_goes, NULL);
	stress_add("mask-mortal", STRESS_MORTAL, 16, comes_and_goes, NULL);
}

static void check(void)
{
	if (table.in != table.out || fiber_mutex_trylock(&table.mutex) < 0)
		stress_wrong("the table is not left as it was: %llu came, %llu went",
			     (unsigned long long)table.in, (unsigned long long)table.out);
}

const struct stress_theme stress_mask = {"mask", begin, check};
