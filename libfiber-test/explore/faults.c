/* SPDX-License-Identifier: MIT */
/*
 * faults.c - make a call fail
 *
 * A call that needs something (seams/fault.h) may fail in one or more ways, each with an errno. The
 * kinds that the options allow decide which ways there are; that it goes well is the first
 * alternative. The first fiber, which is the test itself, has faults too, but is never cancelled.
 */
#include "explore/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fiber/test.h>
#include <fiber/time.h>

#include "base/compiler.h"
#include "core/registry.h"
#include "explore/explorer.h"
#include "fault.h"
#include "report/place.h"
#include "report/report.h"
#include "sched/sched.h"
#include "wait/cancel.h"

#define LESS	    1 /* not an errno: fewer bytes move */
#define CANCELLED   2
#define FOR_NOTHING 3
#define FAILS	    4
#define LOST	    5
#define OVERTAKES   6
#define WAYS_MAX    8u

struct way {
	unsigned kinds; /* any of these allows it */
	int error;
};

static struct {
	unsigned kinds, left;
} faults;

void fib_faults_begin(unsigned kinds, unsigned limit)
{
	faults.kinds = kinds;
	faults.left = limit;
}

static const char *name_of(int error)
{
	switch (error) {
	case LESS:
		return "moves one byte";
	case CANCELLED:
		return "the fiber is cancelled";
	case FAILS:
		return "fails";
	case LOST:
		return "the datagram is lost";
	case OVERTAKES:
		return "the datagram overtakes the one before it";
	case FOR_NOTHING:
		return "ends without a signal";
	default:
		return strerrorname_np(-error);
	}
}

/* Whether this is a place for faults, and one is left. Returns the calling fiber, else NULL. */
static struct fiber *victim(void)
{
	return faults.left && faults.kinds && fib_explorer_on() ? fib_self() : NULL;
}

/* What is about to fail: a public call of the fiber, or another call at a place of its own. */
struct site {
	const struct fiber *fiber;
	const char *call;
	const void *at; /* NULL: where the fiber's call was made */
};

static void note(const struct site *site, int error)
{
	const uint32_t number = fib_explorer_number(site->fiber);

	if (!fib_explorer_traced())
		return;
	fib_report_fault(number, site->call, name_of(error),
			 site->at ? site->at : fib_explorer_intent(number)->at);
}

/* Choose whether and how it fails. Returns 0, or the error of the way. */
static int choose_way(const struct site *site, const struct way *ways, unsigned n)
{
	const struct way *open[WAYS_MAX];
	unsigned count = 0, chosen, i;

	for (i = 0; i < n && count < WAYS_MAX; i++)
		if (ways[i].kinds & faults.kinds)
			open[count++] = &ways[i];
	if (!count)
		return 0;
	chosen = fib_explore_one_of(FIB_CHOICE_FAULT, count + 1);
	if (!chosen)
		return 0;
	faults.left--;
	note(site, open[chosen - 1]->error);
	return open[chosen - 1]->error;
}

/* The call that the fiber is in. */
static struct site current_call(const struct fiber *fiber)
{
	const char *call = fib_explorer_intent(fib_explorer_number(fiber))->call;

	return (struct site){fiber, call ? call : "call", NULL};
}

/* The program's call of a function of libc; NULL: the public call that the fiber is in. */
static struct site site_of(const struct fiber *fiber, const struct fib_call *call)
{
	return call ? (struct site){fiber, call->name, call->at} : current_call(fiber);
}

/* For a fiber; NULL: nothing fails. */
static int fail_call(const struct fiber *fiber, const struct way *ways, unsigned n)
{
	struct site site;

	if (!fiber)
		return 0;
	site = current_call(fiber);
	return choose_way(&site, ways, n);
}

/* -- calls that need something -- */

/* The ways in which a call that needs this may fail. Returns their number. */
static unsigned ways_of(enum fib_fault what, const struct way **ret)
{
	static const struct way memory[] = {{FIBER_TEST_FAULT_MEMORY, -ENOMEM}};
	static const struct way spawn[] = {
		{FIBER_TEST_FAULT_SPAWN | FIBER_TEST_FAULT_MEMORY, -ENOMEM},
		{FIBER_TEST_FAULT_SPAWN, -EAGAIN},
	};
	static const struct way accept[] = {
		{FIBER_TEST_FAULT_DESCRIPTORS, -EMFILE},
		{FIBER_TEST_FAULT_DESCRIPTORS, -ENFILE},
		{FIBER_TEST_FAULT_DESCRIPTORS, -ECONNABORTED},
	};
	static const struct way connect[] = {
		{FIBER_TEST_FAULT_RESET, -ECONNREFUSED},
		{FIBER_TEST_FAULT_RESET, -ETIMEDOUT},
	};
	static const struct way descriptor[] = {
		{FIBER_TEST_FAULT_DESCRIPTORS, -EMFILE},
		{FIBER_TEST_FAULT_DESCRIPTORS, -ENFILE},
	};
	static const struct {
		const struct way *ways;
		unsigned n;
	} all[] = {
		[FIB_FAULT_MEMORY] = {memory, fib_countof(memory)},
		[FIB_FAULT_SPAWN] = {spawn, fib_countof(spawn)},
		[FIB_FAULT_THREAD] = {spawn, fib_countof(spawn)},
		[FIB_FAULT_ACCEPT] = {accept, fib_countof(accept)},
		[FIB_FAULT_CONNECT] = {connect, fib_countof(connect)},
		[FIB_FAULT_DESCRIPTOR] = {descriptor, fib_countof(descriptor)},
	};

	*ret = all[what].ways;
	return all[what].n;
}

static unsigned ways_of_open(int flags, struct way ways[WAYS_MAX])
{
	ways[0] = (struct way){FIBER_TEST_FAULT_DESCRIPTORS, -EMFILE};
	ways[1] = (struct way){FIBER_TEST_FAULT_DESCRIPTORS, -ENFILE};
	ways[2] = (struct way){FIBER_TEST_FAULT_DISK, -EIO};
	ways[3] = (struct way){flags & O_CREAT ? FIBER_TEST_FAULT_DISK : 0, -ENOSPC};
	return 4;
}

int fib_explore_fault(enum fib_fault what)
{
	const struct way *ways;
	const unsigned n = ways_of(what, &ways);

	return fail_call(victim(), ways, n);
}

int fib_explore_fault_open(int flags)
{
	struct way ways[WAYS_MAX];
	const unsigned n = ways_of_open(flags, ways);

	return fail_call(victim(), ways, n);
}

int fib_explore_fault_wait(struct fiber *waiter, int64_t deadline)
{
	const struct fiber *fiber = victim();
	const bool may_cancel =
		fiber && fib_explorer_number(fiber) > 1 && !fib_load(&fiber->cancelled);
	const struct way ways[] = {
		{deadline == FIBER_FOREVER ? 0 : FIBER_TEST_FAULT_MEMORY, -ENOMEM},
		{may_cancel ? FIBER_TEST_FAULT_CANCEL : 0, CANCELLED},
	};
	int way;

	if (!fiber || waiter != fiber)
		return 0;
	way = fail_call(fiber, ways, fib_countof(ways));
	if (way == CANCELLED)
		fib_cancel_mark(waiter, FIB_CANCELLED);
	return way < 0 ? way : 0;
}

bool fib_explore_fault_spurious(void)
{
	static const struct way way = {FIBER_TEST_FAULT_SPURIOUS, FOR_NOTHING};

	return fail_call(victim(), &way, 1) != 0;
}

/* -- bytes -- */

static bool is_stream(int fd)
{
	socklen_t size = sizeof(int);
	int type;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/* The ways in which a transfer of so many bytes may fail. */
static unsigned ways_of_transfer(int fd, size_t size, bool writing, struct way ways[WAYS_MAX])
{
	const unsigned less = size > 1 ? FIBER_TEST_FAULT_SHORT : 0;
	struct stat st;
	unsigned n = 0;

	if (fstat(fd, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode)) {
		ways[n++] = (struct way){less | (less ? FIBER_TEST_FAULT_DISK : 0), LESS};
		ways[n++] = (struct way){FIBER_TEST_FAULT_DISK, -EIO};
		if (writing)
			ways[n++] = (struct way){FIBER_TEST_FAULT_DISK, -ENOSPC};
	} else if (S_ISFIFO(st.st_mode)) {
		ways[n++] = (struct way){less, LESS};
		if (writing)
			ways[n++] = (struct way){FIBER_TEST_FAULT_RESET, -EPIPE};
	} else if (S_ISSOCK(st.st_mode) && is_stream(fd)) {
		ways[n++] = (struct way){less, LESS};
		ways[n++] = (struct way){FIBER_TEST_FAULT_RESET, -ECONNRESET};
		if (writing)
			ways[n++] = (struct way){FIBER_TEST_FAULT_RESET, -EPIPE};
	}
	return n;
}

/* Returns 0, LESS, or a negative errno. After a reset nothing moves any more, at both ends. */
static int fail_transfer(int fd, size_t size, bool writing)
{
	const unsigned kinds =
		FIBER_TEST_FAULT_SHORT | FIBER_TEST_FAULT_RESET | FIBER_TEST_FAULT_DISK;
	const struct fiber *fiber = victim();
	struct way ways[WAYS_MAX];
	int way;

	if (!fiber || !(faults.kinds & kinds))
		return 0;
	way = fail_call(fiber, ways, ways_of_transfer(fd, size, writing, ways));
	if (way == -ECONNRESET || way == -EPIPE)
		shutdown(fd, SHUT_RDWR);
	return way;
}

ssize_t fib_fault_transfer(int fd, size_t *size, bool writing)
{
	const int way = fail_transfer(fd, *size, writing);

	if (way == LESS)
		*size = 1;
	return way < 0 ? way : 0;
}

/* The bytes of the pieces, and the first piece that has some. */
static size_t size_of(const struct iovec *pieces, size_t count, size_t *ret_first)
{
	size_t size = 0, i;

	for (i = 0; i < count; i++) {
		if (!size)
			*ret_first = i;
		size += pieces[i].iov_len;
	}
	return size;
}

ssize_t fib_fault_vector(int fd, const struct iovec **pieces, int *count, struct iovec *part,
			 bool writing)
{
	size_t first = 0;
	const size_t size = size_of(*pieces, *count > 0 ? (size_t)*count : 0, &first);
	const int way = fail_transfer(fd, size, writing);

	if (way == LESS) {
		*part = (struct iovec){(*pieces)[first].iov_base, 1};
		*pieces = part;
		*count = 1;
	}
	return way < 0 ? way : 0;
}

ssize_t fib_fault_message(int fd, const struct msghdr *msg, int flags, struct fib_part *part,
			  bool writing)
{
	const bool whole = !(faults.kinds & FIBER_TEST_FAULT_SHORT) ||
			   flags & (MSG_WAITALL | MSG_OOB | MSG_ERRQUEUE);
	size_t first = 0;
	const size_t size = whole ? 0 : size_of(msg->msg_iov, msg->msg_iovlen, &first);
	const int way = fail_transfer(fd, size, writing);

	part->is_used = way == LESS;
	if (part->is_used) {
		part->byte = (struct iovec){msg->msg_iov[first].iov_base, 1};
		part->msg = *msg;
		part->msg.msg_iov = &part->byte;
		part->msg.msg_iovlen = 1;
	}
	return way < 0 ? way : 0;
}

void fib_part_received(const struct fib_part *part, struct msghdr *msg)
{
	if (!part->is_used)
		return;
	msg->msg_namelen = part->msg.msg_namelen;
	msg->msg_controllen = part->msg.msg_controllen;
	msg->msg_flags = part->msg.msg_flags;
}

enum fib_arrival fib_fault_of_datagram(const struct fib_call *call, bool (*overtakes)(void *arg),
				       void *arg)
{
	const struct fiber *fiber = faults.kinds & FIBER_TEST_FAULT_RESET ? victim() : NULL;
	struct way ways[] = {{FIBER_TEST_FAULT_RESET, LOST}, {0, OVERTAKES}};
	struct site site;

	if (!fiber)
		return FIB_ARRIVES;
	if (overtakes(arg))
		ways[1].kinds = FIBER_TEST_FAULT_RESET;
	site = site_of(fiber, call);
	switch (choose_way(&site, ways, fib_countof(ways))) {
	case LOST:
		return FIB_ARRIVES_NEVER;
	case OVERTAKES:
		return FIB_ARRIVES_EARLIER;
	default:
		return FIB_ARRIVES;
	}
}

/* -- the program's own -- */

/* Calls of libfiber are no places for faults, and neither are those of libdw for a report. */
static int fail_own(const struct fib_call *call, const struct way *ways, unsigned n)
{
	struct site site = {call && !fib_place_is_sought() ? victim() : NULL, NULL, NULL};

	if (!site.fiber)
		return 0;
	site.call = call->name;
	site.at = call->at;
	return choose_way(&site, ways, n);
}

int fib_fault_of_call(const struct fib_call *call, enum fib_fault what)
{
	const struct way *ways;
	const unsigned n = ways_of(what, &ways);

	return fail_own(call, ways, n);
}

int fib_fault_of_open(const struct fib_call *call, int flags)
{
	struct way ways[WAYS_MAX];
	const unsigned n = ways_of_open(flags, ways);

	return fail_own(call, ways, n);
}

int fib_fault_of_connect(const struct fib_call *call, bool waits)
{
	const struct way *ways;
	const unsigned n = ways_of(FIB_FAULT_CONNECT, &ways);

	return fail_own(call, ways, waits ? n : 1);
}

static bool fails(const char *call, const void *at, unsigned kinds, int error)
{
	const struct way way = {kinds, error};
	const struct site site = {victim(), call, at};

	return site.fiber && choose_way(&site, &way, 1) != 0;
}

bool fib_fault_of_program(const char *what, const void *at)
{
	return fails(what, at, FIBER_TEST_FAULT_ALL, FAILS);
}

bool fib_fault_of_allocation(const char *call, const void *at)
{
	return fails(call, at, FIBER_TEST_FAULT_MEMORY, -ENOMEM);
}
