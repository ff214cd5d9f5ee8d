/* SPDX-License-Identifier: MIT */
/* race.c - say which two accesses race, where they are, and which locks were held */
#include "memory/race.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "explore/explorer.h"
#include "explore/finding.h"
#include "memory/actors.h"
#include "memory/shadow.h"
#include "os/os.h"
#include "report/place.h"

#define LOCKS_SHOWN 4u

/* The race that was found, for the report. */
static struct {
	struct fib_access access;
	uint32_t number;
	const struct fib_held *held;
	struct fib_seen earlier;
	bool found;
} race;

static const char *verb(unsigned kind, bool earlier)
{
	static const char *const verbs[2][4] = {
		{"reads", "writes", "atomically reads", "atomically writes"},
		{"read", "wrote", "atomically read", "atomically wrote"},
	};

	return verbs[earlier][kind & (FIB_ACCESS_WRITES | FIB_ACCESS_ATOMIC)];
}

static unsigned bytes_of(uint8_t mask)
{
	return (unsigned)__builtin_popcount(mask);
}

_Noreturn void fib_race_found(const struct fib_actor *me, const struct fib_access *access,
			      const struct fib_seen *earlier)
{
	char here[256], there[256];

	race.access = *access;
	race.number = me->number;
	race.held = me->held;
	race.earlier = *earlier;
	race.found = true;
	fib_finding(FIBER_TEST_RACE, "fiber %u %s %zu byte%s in %s, fiber %u %s %u in %s: no order",
		    me->number, verb(access->kind, false), access->size,
		    access->size == 1 ? "" : "s", fib_place_text(access->pc, here, sizeof here),
		    earlier->number, verb(earlier->kind, true), bytes_of(earlier->mask),
		    fib_place_text(earlier->pc, there, sizeof there));
}

struct text {
	char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at, (size_t)(t->end - t->at), fmt, ap);
	va_end(ap);
	if (n > 0)
		t->at += n < t->end - t->at ? n : t->end - t->at - 1;
}

/* The lock may be gone: its name is read through the kernel. */
static void put_lock(struct text *t, const struct fib_held *held)
{
	char name[32] = "", place[256];
	unsigned i;

	if (fib_os_peek((uint64_t)(uintptr_t)held->lock, name, sizeof name) < 0)
		name[0] = 0;
	name[sizeof name - 1] = 0;
	for (i = 0; name[i]; i++)
		if (name[i] < ' ' || name[i] > '~' || name[i] == '"')
			name[i] = '?';
	put(t, " \"%s\" locked%s by %s", name, held->writes ? "" : " for reading",
	    fib_place_text(held->at, place, sizeof place));
}

static void put_locks(struct text *t, const struct fib_held *held, const char *hold)
{
	unsigned n = 0;

	if (!held) {
		put(t, "    %s no lock\n", hold);
		return;
	}
	put(t, "    %s", hold);
	for (; held && n < LOCKS_SHOWN; held = held->more, n++) {
		put(t, "%s", n ? "," : "");
		put_lock(t, held);
	}
	put(t, "%s\n", held ? ", ..." : "");
}

static void put_variable(struct text *t)
{
	size_t offset;
	const char *name = fib_place_variable((const void *)race.access.at, &offset);

	if (!name)
		put(t, "race:\n");
	else if (offset)
		put(t, "race on \"%s\", byte %zu:\n", name, offset);
	else
		put(t, "race on \"%s\":\n", name);
}

void fib_race_report(char *buf, size_t size)
{
	struct text t = {buf, buf + size};
	char place[256];

	buf[0] = 0;
	if (!race.found)
		return;
	put_variable(&t);
	put(&t, "  fiber %u %s %zu byte%s in %s\n", race.number, verb(race.access.kind, false),
	    race.access.size, race.access.size == 1 ? "" : "s",
	    fib_place_text(race.access.pc, place, sizeof place));
	put_locks(&t, race.held, "holds");
	put(&t, "  fiber %u %s %u of them before in %s\n", race.earlier.number,
	    verb(race.earlier.kind, true), bytes_of(race.earlier.mask),
	    fib_place_text(race.earlier.pc, place, sizeof place));
	put_locks(&t, race.earlier.held, "held");
}
