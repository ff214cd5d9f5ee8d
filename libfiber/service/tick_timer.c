/* SPDX-License-Identifier: MIT */
/*
 * tick_timer.c - wake the service thread for the next tick of the clock
 *
 * Arming a timer that becomes the earliest of the system makes the kernel reprogram the hardware
 * timer. In a virtual machine that is an exit to the host: 10 us, and twice as much if the host is
 * busy. It would happen a thousand times a second and delay the fiber that runs on this CPU. An
 * expired timer causes a reprogramming anyway. So there are two timers: the one that has expired is
 * armed for the tick after the other's, at the cost of a system call only.
 *
 * The program may close the descriptors and reuse their numbers. A descriptor that is not known to
 * be this file's is left alone (os/local.h), and poll(2) gets a timeout instead of the timers.
 */
#include "service/tick_timer.h"

#include "os/local.h"
#include "os/os.h"

void fib_tick_timer_open(struct fib_tick_timer *b)
{
	int i;

	for (i = 0; i < FIB_TICK_TIMER_SLOTS; i++) {
		b->fd[i] = fib_os_timer();
		b->at[i] = 0;
	}
	if (b->fd[0] < 0 || b->fd[1] < 0)
		fib_tick_timer_close(b);
}

void fib_tick_timer_close(struct fib_tick_timer *b)
{
	int i;

	for (i = 0; i < FIB_TICK_TIMER_SLOTS; i++) {
		if (b->fd[i] >= 0 && fib_os_timer_ours(b->fd[i]))
			fib_os_close(b->fd[i]);
		b->fd[i] = -1;
		b->at[i] = 0;
	}
}

/* False: the descriptor belongs to the program now; both timers are given up. */
static bool set(struct fib_tick_timer *b, int i, int64_t at)
{
	b->at[i] = at;
	if (fib_os_timer_set(b->fd[i], at))
		return true;
	fib_tick_timer_close(b);
	return false;
}

static int64_t stop(struct fib_tick_timer *b)
{
	int i;

	for (i = 0; i < FIB_TICK_TIMER_SLOTS; i++)
		if (b->at[i])
			set(b, i, 0);
	return INT64_MAX;
}

/* The timer that expires next, and within pause. -1: none. */
static int find_next(const struct fib_tick_timer *b, int64_t now, int64_t pause)
{
	int i, next = -1;

	for (i = 0; i < FIB_TICK_TIMER_SLOTS; i++)
		if (b->at[i] > now && b->at[i] <= now + pause &&
		    (next < 0 || b->at[i] < b->at[next]))
			next = i;
	return next;
}

int64_t fib_tick_timer_next(struct fib_tick_timer *b, int64_t now, int64_t pause)
{
	int next, other;

	if (!pause)
		return stop(b);
	next = b->fd[0] < 0 ? -1 : find_next(b, now, pause);
	if (next < 0) {
		next = 0;
		if (b->fd[0] < 0 || !set(b, next, now + pause))
			return now + pause;
	}
	other = !next;
	if ((b->at[other] <= b->at[next] || b->at[other] > b->at[next] + pause) &&
	    !set(b, other, b->at[next] + pause))
		return now + pause;
	return b->at[next];
}

bool fib_tick_timer_sure(const struct fib_tick_timer *b, int64_t next)
{
	return b->at[0] == next || b->at[1] == next;
}

void fib_tick_timer_fill(const struct fib_tick_timer *b, struct pollfd slots[FIB_TICK_TIMER_SLOTS])
{
	int i;

	for (i = 0; i < FIB_TICK_TIMER_SLOTS; i++)
		slots[i] = (struct pollfd){.fd = b->at[i] ? b->fd[i] : -1, .events = POLLIN};
}

void fib_tick_timer_look(struct fib_tick_timer *b, const struct pollfd slots[FIB_TICK_TIMER_SLOTS])
{
	if ((slots[0].revents | slots[1].revents) & POLLNVAL)
		fib_tick_timer_close(b);
}
