/* SPDX-License-Identifier: MIT */
/*
 * descriptor.c - find the descriptor that a thread waits for in a system call
 *
 * Most calls have the descriptor as their first argument. poll(2) has an array: if it has one
 * entry, that is the descriptor; of several no single one is meant, and only their events are
 * shown.
 */
#include "inspect/threads/descriptor.h"

#include <poll.h>
#include <sys/syscall.h>

#include "inspect/threads/deadline.h"

#define POLL_MAX 64 /* entries of an array that are read */

/* The calls whose first argument is the descriptor, and what it has to be ready for. */
static const struct {
	long call;
	unsigned events;
} calls[] = {
	{SYS_read, POLLIN},	  {SYS_readv, POLLIN},	   {SYS_pread64, POLLIN},
	{SYS_recvfrom, POLLIN},	  {SYS_recvmsg, POLLIN},   {SYS_recvmmsg, POLLIN},
	{SYS_accept, POLLIN},	  {SYS_accept4, POLLIN},   {SYS_epoll_pwait, POLLIN},
	{SYS_write, POLLOUT},	  {SYS_writev, POLLOUT},   {SYS_pwrite64, POLLOUT},
	{SYS_sendto, POLLOUT},	  {SYS_sendmsg, POLLOUT},  {SYS_sendmmsg, POLLOUT},
	{SYS_connect, POLLOUT},	  {SYS_sendfile, POLLOUT}, {SYS_epoll_pwait2, POLLIN},
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, POLLIN},
#endif
};

static void take(struct fib_row *row, uint32_t fd, unsigned events)
{
	row->wait_kind = FIB_WAIT_FD;
	row->wait_arg = fd | (uint64_t)events << 32;
}

/*
 * gdb's gcore leaves zeros where it stops at a guard, as at those that glibc has below stacks since version
 * 2.42. An entry of zeros is none: it would wait for no event of the standard input.
 */
static bool is_entry(const struct pollfd *entry)
{
	return entry->fd || entry->events;
}

/* poll(2) of `count` entries at address. */
static void take_poll(const struct ins_sleeper *s, struct fib_row *row)
{
	const uint64_t address = s->at->argument[0], count = (uint32_t)s->at->argument[1];
	struct pollfd entry[POLL_MAX];
	const size_t n = count < POLL_MAX ? count : POLL_MAX;
	unsigned events = 0;
	size_t i;

	if (n && (!ins_sleeper_read(s, address, entry, n * sizeof entry[0]) || !is_entry(entry))) {
		row->wait_kind = FIB_WAIT_FD;
		row->wait_arg = FIB_ROW_UNKNOWN;
		return;
	}
	for (i = 0; i < n; i++)
		events |= (unsigned)entry[i].events & (POLLIN | POLLOUT | POLLPRI);
	take(row, count == 1 ? (uint32_t)entry[0].fd : UINT32_MAX, events);
}

static bool take_first_argument(const struct ins_sleeper *s, struct fib_row *row)
{
	size_t i;

	for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (calls[i].call == s->at->call) {
			take(row, (uint32_t)s->at->argument[0], calls[i].events);
			return true;
		}
	return false;
}

static bool take_call(const struct ins_sleeper *s, struct fib_row *row)
{
	switch (s->at->call) {
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		take_poll(s, row);
		return true;
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		row->wait_kind = FIB_WAIT_FD;
		row->wait_arg = FIB_ROW_UNKNOWN;
		return true;
	default:
		return take_first_argument(s, row);
	}
}

/* When the call ends by itself, if it has such an argument. */
static int64_t deadline_of(const struct ins_sleeper *s)
{
	const uint64_t *argument = s->at->argument;

	switch (s->at->call) {
#ifdef SYS_poll
	case SYS_poll:
		return ins_deadline_ms(s, (int32_t)argument[2]);
#endif
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
		return ins_deadline_ms(s, (int32_t)argument[3]);
	case SYS_ppoll:
		return ins_deadline_after(s, argument[2]);
	case SYS_epoll_pwait2:
		return ins_deadline_after(s, argument[3]);
	case SYS_pselect6:
	case SYS_recvmmsg:
		return ins_deadline_after(s, argument[4]);
#ifdef SYS_select
	case SYS_select:
		return ins_deadline_after_timeval(s, argument[4]);
#endif
	default:
		return INT64_MAX;
	}
}

bool ins_descriptor_wait(const struct ins_sleeper *sleeper, struct fib_row *row)
{
	if (!take_call(sleeper, row))
		return false;
	row->deadline = deadline_of(sleeper);
	if (sleeper->descriptors && (uint32_t)row->wait_arg != UINT32_MAX)
		ins_descriptor_name(sleeper->descriptors, (uint32_t)row->wait_arg,
				    row->object_name);
	return true;
}
