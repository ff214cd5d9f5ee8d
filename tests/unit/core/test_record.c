/* SPDX-License-Identifier: MIT */
/*
 * test_record.c - a reader that follows the rule in record.h never takes a torn record
 *
 * Owners take records, use them and free them as fast as they can. A reader copies meanwhile, as
 * the service thread and the tools do. All fields of a life have the same number, so a copy of two
 * moments shows.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "core/record_cache.h"
#include "core/registry.h"
#include "layout/row.h"
#include "os/os.h"
#include "tests/harness/watchdog.h"

#define OWNERS	 3u
#define HELD	 8u
#define CHANGES	 200u
#define COPIES	 50000u
#define MOVED	 5000u
#define PATIENCE INT64_C(3000000000)

static int take(unsigned n, struct fiber **ret)
{
	unsigned count;

	return fib_registry_take(n, ret, &count);
}

static int setup(void **state)
{
	(void)state;
	return fib_registry_init();
}

/* One life in a record: every field that is compared has the same number. */
static void live(struct fiber *f, uint64_t number)
{
	char name[32];
	unsigned i;

	snprintf(name, sizeof name, "%llu", (unsigned long long)number);
	fib_store(&f->seq, 0);
	f->parent = number;
	f->spawn_pc = number;
	fib_name_copy(f->name, sizeof f->name, name);
	f->wait_object = number;
	f->wait_arg = number;
	fib_store(&f->state, FIBER_SUSPENDED);
	fib_store(&f->wait_kind, FIB_WAIT_PARK);
	fib_record_name(NULL, f);

	/* The fiber runs, and its record changes for a while. Then it is switched away from. */
	fib_store(&f->seq, 1);
	fib_fence_release();
	for (i = 0; i < CHANGES; i++) {
		*(volatile uint64_t *)&f->wait_object = number + i;
		*(volatile uint64_t *)&f->wait_arg = number - i;
	}
	f->wait_object = number * 3;
	f->wait_arg = number * 3;
	fib_store_release(&f->seq, 2);
}

static _Atomic uint32_t read_enough;

static void *own(void *arg)
{
	uint64_t number = (uint64_t)(uintptr_t)arg << 32;
	struct fiber *held[HELD] = {0}, *f;
	unsigned i;

	for (i = 0; !fib_load(&read_enough); i++) {
		f = held[i % HELD];
		if (f) {
			fib_publish(&f->id, 0);
			f->link = NULL;
			fib_registry_give(f, f, 1);
			held[i % HELD] = NULL;
		}
		if (take(1, &f) < 0)
			break;
		live(f, ++number);
		held[i % HELD] = f;
	}
	for (i = 0; i < HELD; i++) {
		if (held[i]) {
			fib_publish(&held[i]->id, 0);
			fib_registry_give(held[i], held[i], 1);
		}
	}
	return NULL;
}

static unsigned moved; /* rejected copies */

/* Copy by the reader's rule of record.h. 1: *row is consistent; 0: free, running or changed. */
static int sample(struct fiber *f, struct fib_row *row)
{
	static char copy[sizeof(struct fiber)];
	uint64_t id = fib_observe(&f->id);
	uint64_t seq = fib_load_acquire(&f->seq);

	if (!id || seq & 1)
		return 0;
	if (fib_os_peek((uint64_t)(uintptr_t)f, copy, sizeof copy) < 0)
		return -1;
	fib_fence_acquire();
	if (fib_load(&f->seq) != seq || fib_observe(&f->id) != id) {
		moved++;
		return 0;
	}
	return fib_row_decode(&fiber_registry, copy, (uint64_t)(uintptr_t)f, 0, row) &&
	       row->id == id;
}

static bool whole(const struct fib_row *row)
{
	char name[32];

	snprintf(name, sizeof name, "%llu", (unsigned long long)row->parent);
	return row->parent == row->spawn_pc && strcmp(row->name, name) == 0 &&
	       row->wait_object == row->wait_arg &&
	       row->wait_arg == (row->seq ? row->parent * 3 : row->parent);
}

static void test_record_reader_beside_owners_never_takes_a_torn_one(void **state)
{
	struct fiber *records[HELD * OWNERS], *list;
	int64_t until = fib_os_now() + PATIENCE;
	unsigned torn = 0, taken = 0, failed = 0, i;
	pthread_t threads[OWNERS];
	struct fib_row row;

	(void)state;
	/* The newest on the free list are the records that the owners will reuse. */
	assert_int_equal(take(HELD * OWNERS, &list), 0);
	for (i = 0; i < HELD * OWNERS; i++, list = list->link)
		records[i] = list;
	fib_registry_give(records[0], records[i - 1], i);
	for (i = 0; i < OWNERS; i++)
		pthread_create(&threads[i], NULL, own, (void *)(uintptr_t)(i + 1));
	/* Take many copies, some of them of a record in use if there are enough CPUs for that. */
	for (i = 0; !failed && (taken < COPIES || (moved < MOVED && fib_os_now() < until)); i++) {
		int rc = sample(records[i % (HELD * OWNERS)], &row);

		failed += rc < 0;
		taken += rc > 0;
		torn += rc > 0 && !whole(&row);
	}
	fib_store(&read_enough, 1);
	for (i = 0; i < OWNERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(failed, 0);
	assert_int_equal(torn, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_record_reader_beside_owners_never_takes_a_torn_one,
				       setup),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
