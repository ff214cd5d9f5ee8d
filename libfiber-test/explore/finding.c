/* SPDX-License-Identifier: MIT */
/* finding.c - record what was found and leave the process */
#include "explore/finding.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	struct fib_shared *shared;
	void (*on_found)(struct fib_shared *shared);
	void (*on_drop)(void); /* NULL: nothing more */
} here;

static size_t size_of(unsigned steps)
{
	return sizeof(struct fib_shared) + steps * sizeof(struct fib_step);
}

struct fib_shared *fib_shared_new(unsigned steps)
{
	struct fib_shared *shared = mmap(NULL, size_of(steps), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return NULL;
	shared->step_room = steps;
	return shared;
}

void fib_shared_free(struct fib_shared *shared)
{
	if (shared)
		munmap(shared, size_of(shared->step_room));
}

void fib_finding_to(struct fib_shared *shared, void (*on_found)(struct fib_shared *shared))
{
	here.shared = shared;
	here.on_found = on_found;
}

void fib_finding_on_drop(void (*on_drop)(void))
{
	here.on_drop = on_drop;
}

_Noreturn void fib_finding_drop(void)
{
	fib_store(&here.shared->dropped, 1);
	if (here.on_drop)
		here.on_drop();
	_exit(0);
}

bool fib_finding_take_drop(void)
{
	const bool dropped = fib_load(&here.shared->dropped);

	fib_store(&here.shared->dropped, 0);
	return dropped;
}

void fib_finding_progress(void)
{
	fib_store(&here.shared->progress, fib_load(&here.shared->progress) + 1);
}

void fib_finding_places(uint64_t places)
{
	here.shared->places = places;
}

void fib_finding_reached(uint64_t bits)
{
	fib_store(&here.shared->reached, fib_load(&here.shared->reached) | bits);
}

_Noreturn void fib_finding_give_up(int error)
{
	fib_store(&here.shared->error, (uint32_t)error);
	_exit(1);
}

/* libfiber's own messages name fibers by their id, which counts on from schedule to schedule. */
static bool same_but_for_ids(const char *a, const char *b)
{
	static const char fiber[] = "fiber ";
	const char *const begin = a;

	for (; *a && *a == *b; a++, b++) {
		if (a + 1 - begin < (ptrdiff_t)strlen(fiber) ||
		    memcmp(a + 1 - strlen(fiber), fiber, strlen(fiber)) != 0)
			continue;
		a += strspn(a + 1, "0123456789");
		b += strspn(b + 1, "0123456789");
	}
	return *a == *b;
}

bool fib_finding_same(const struct fib_shared *a, const struct fib_shared *b)
{
	return fib_load(&a->found) && fib_load(&b->found) && a->verdict == b->verdict &&
	       a->line == b->line && a->places == b->places &&
	       same_but_for_ids(a->message, b->message) && strcmp(a->file, b->file) == 0;
}

bool fib_finding_stops_for_shell(int status)
{
	return WIFSTOPPED(status) && (WSTOPSIG(status) == SIGTSTP || WSTOPSIG(status) == SIGTTIN ||
				      WSTOPSIG(status) == SIGTTOU);
}

bool fib_finding_status(struct fib_shared *shared, int status)
{
	char text[128];

	if (fib_load(&shared->found) || fib_load(&shared->error))
		return true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	if (WIFEXITED(status))
		snprintf(text, sizeof text, "exit(%d)", WEXITSTATUS(status));
	else if (WIFSTOPPED(status))
		snprintf(text, sizeof text, "stopped by signal %d (%s)", WSTOPSIG(status),
			 strsignal(WSTOPSIG(status)));
	else if (WTERMSIG(status) == SIGABRT)
		snprintf(text, sizeof text, "abort()");
	else if (WTERMSIG(status) == SIGKILL)
		snprintf(text, sizeof text,
			 "killed by SIGKILL: from outside, or because memory ran out");
	else
		snprintf(text, sizeof text, "signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	shared->verdict = WIFEXITED(status) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
				  ? FIBER_TEST_FAILED
				  : FIBER_TEST_CRASHED;
	snprintf(shared->message, sizeof shared->message, "%s", text);
	fib_store(&shared->found, 1);
	return true;
}

void fib_finding_leave(int status)
{
	if (!fib_finding_status(here.shared, status))
		return;
	if (fib_load(&here.shared->found))
		here.on_found(here.shared);
	_exit(1);
}

_Noreturn void fib_finding_at(enum fiber_test_verdict verdict, const char *file, int line,
			      const char *message)
{
	struct fib_shared *shared = here.shared;
	char *newline;

	if (!fib_load(&shared->found)) {
		shared->verdict = verdict;
		shared->line = line;
		snprintf(shared->file, sizeof shared->file, "%s", file ? file : "");
		snprintf(shared->message, sizeof shared->message, "%s", message);
		while ((newline = strpbrk(shared->message, "\n\r")))
			*newline = ' ';
		fib_store_release(&shared->found, 1);
		here.on_found(shared);
	}
	_exit(1);
}

_Noreturn void fib_finding(enum fiber_test_verdict verdict, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fib_finding_at(verdict, NULL, 0, text);
}
