/* SPDX-License-Identifier: MIT */
/*
 * stress_mutex.c - three mutexes and data that only the holders may touch
 *
 * The counters are plain: two holders at once lose a count, and ThreadSanitizer sees the race. Each
 * actor counts its grants, so a grant that no actor got, or one in addition to an error, shows in
 * the end.
 */
#include <errno.h>
#include <string.h>

#include "tests/stress/stress.h"

#define MUTEXES 3

static struct {
	struct fiber_mutex mutex;
	uint64_t inside, entered; /* plain: accessed by the holder */
	_Atomic uint64_t granted;
} room[MUTEXES];

static void enter(struct stress_actor *a, unsigned i)
{
	if (room[i].inside++)
		stress_wrong("two hold the mutex \"%s\"", room[i].mutex.name);
	stress_pause(a);
	room[i].entered++;
	if (--room[i].inside)
		stress_wrong("two hold the mutex \"%s\"", room[i].mutex.name);
	room[i].granted++;
	fiber_mutex_unlock(&room[i].mutex);
}

static void lock_room(struct stress_actor *a)
{
	const unsigned i = stress_rand(a, MUTEXES);
	int rc;

	if (stress_rand(a, 8) == 0) {
		rc = fiber_mutex_trylock(&room[i].mutex);
		if (rc < 0 && rc != -EBUSY)
			stress_wrong("fiber_mutex_trylock: %s", strerror(-rc));
	} else {
		rc = fiber_mutex_lock(&room[i].mutex, stress_deadline(a));
		stress_expect(rc, "fiber_mutex_lock");
	}
	if (rc == 0)
		enter(a, i);
}

/* Blocks its carrier, so only for a short time. */
static void lock_pinned(struct stress_actor *a)
{
	const unsigned i = stress_rand(a, MUTEXES);
	int rc;

	fiber_pin();
	rc = fiber_mutex_lock(&room[i].mutex, fiber_after(stress_rand(a, 100000)));
	stress_expect(rc, "fiber_mutex_lock, pinned");
	if (rc == 0) {
		room[i].entered++;
		room[i].granted++;
		fiber_mutex_unlock(&room[i].mutex);
	}
	fiber_unpin();
}

static void lock_and_unlock(struct stress_actor *a)
{
	while (stress_on(a, "fiber_mutex_lock")) {
		if (stress_rand(a, 64) == 0)
			lock_pinned(a);
		else
			lock_room(a);
	}
}

static void begin(void)
{
	unsigned i;

	memset(room, 0, sizeof room);
	for (i = 0; i < MUTEXES; i++)
		fiber_object_name(&room[i].mutex, "stressed mutex");
	stress_add("mutex", 0, 16, lock_and_unlock, NULL);
	stress_add("mutex-mortal", STRESS_MORTAL, 8, lock_and_unlock, NULL);
	stress_add("mutex-thread", STRESS_THREAD, 3, lock_and_unlock, NULL);
}

static void check(void)
{
	unsigned i;

	for (i = 0; i < MUTEXES; i++)
		if (room[i].entered != room[i].granted || fiber_mutex_trylock(&room[i].mutex) < 0)
			stress_wrong(
				"mutex %u: entered %llu times, granted %llu times, holder %llx", i,
				(unsigned long long)room[i].entered,
				(unsigned long long)room[i].granted,
				(unsigned long long)room[i].mutex.owner);
}

const struct stress_theme stress_mutex = {"mutex", begin, check};
