/* SPDX-License-Identifier: MIT */
/*
 * thread_wait.c - block an OS thread until a futex word changes or a descriptor is ready
 *
 * Linux has no call that waits for a futex and for descriptors. A thread that needs both blocks in
 * poll(2) on its descriptors plus an eventfd of its own, and is entered in a list. A waker changes
 * the word, then writes to the eventfd of the listed thread that waits on this word. This needs no
 * poller, no runtime and no other thread, and consumes nothing from the caller's descriptors.
 *
 * A waker knows only the word, and once the word has its outcome the sleeper may be gone. So a
 * waker that does not find the word in the list writes to no eventfd. The list is usually empty: a
 * waker then pays one fence and one load besides its futex call.
 *
 * Race (thread_wait.gap): the sleeper enters the list and then reads the word; the waker writes the
 * word and then reads the list. At least one of them sees the other. A write before the poll(2)
 * leaves the eventfd readable. The eventfd is not closed while a waker is about to write it: a
 * waker counts itself in under the lock, and leaving waits until the count is 0.
 */
#include "wait/thread_wait.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "base/atomic.h"
#include "os/local.h"
#include "os/os.h"
#include "os/spin.h"

/* L under ->lock · A atomic */
static struct {
	_Atomic uint32_t lock;
	_Atomic uint32_t count;	       /* L writes, A reads */
	struct fib_thread_wait *first; /* L */
} thread_waits;

int fib_thread_wait_make(struct fib_thread_wait *v)
{
	int fd = fib_os_event();

	if (fd < 0)
		return fd;
	v->fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
	v->failed = 0;
	fib_store(&v->wakers, 0);
	return 0;
}

void fib_thread_wait_free(struct fib_thread_wait *v)
{
	fib_os_close(v->fds[0].fd);
}

void fib_thread_wait_enter(struct fib_thread_wait *v, _Atomic uint32_t *word)
{
	fib_spin_lock(&thread_waits.lock);
	v->word = word;
	v->next = thread_waits.first;
	thread_waits.first = v;
	fib_store(&thread_waits.count, fib_load(&thread_waits.count) + 1);
	fib_spin_unlock(&thread_waits.lock);
	/* label: thread_wait.gap -- in the list before the word is read. */
	fib_fence_seq();
}

void fib_thread_wait_leave(struct fib_thread_wait *v)
{
	struct fib_thread_wait **at;

	fib_spin_lock(&thread_waits.lock);
	for (at = &thread_waits.first; *at != v; at = &(*at)->next)
		;
	*at = v->next;
	fib_store(&thread_waits.count, fib_load(&thread_waits.count) - 1);
	fib_spin_unlock(&thread_waits.lock);
	/* pairs: thread_wait.end -- the wakers have written. */
	while (fib_load_acquire(&v->wakers))
		fib_os_yield();
}

int fib_thread_wait_sleep(struct fib_thread_wait *v, uint32_t expected, int64_t deadline)
{
	int n, state;

	if (fib_load_acquire(v->word) != expected)
		return 0;
	/* A thread that pthread_cancel() ended in poll(2) would stay in every list. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	n = fib_os_poll(v->fds, v->count, deadline);
	pthread_setcancelstate(state, NULL);
	if (n == 0)
		return -ETIMEDOUT;
	if (n < 0) {
		v->failed = n;
		return 1;
	}
	if (!v->fds[0].revents)
		return 1;
	fib_os_event_clear(v->fds[0].fd);
	return n > 1;
}

/* Find the sleeper on word, and count the caller as its waker. */
static struct fib_thread_wait *find(_Atomic uint32_t *word)
{
	struct fib_thread_wait *v;

	fib_spin_lock(&thread_waits.lock);
	for (v = thread_waits.first; v && v->word != word; v = v->next)
		;
	if (v)
		fib_add(&v->wakers, 1);
	fib_spin_unlock(&thread_waits.lock);
	return v;
}

void fib_thread_wait_wake(_Atomic uint32_t *word)
{
	struct fib_thread_wait *v;

	/* pairs: thread_wait.gap -- the word has changed before the list is read. */
	fib_fence_seq();
	if (!fib_load(&thread_waits.count))
		return;
	v = find(word);
	if (v) {
		fib_os_event_set(v->fds[0].fd);
		fib_sub(&v->wakers, 1); /* label: thread_wait.end */
	}
}

void fib_thread_wait_lock(void)
{
	fib_spin_lock(&thread_waits.lock);
}

void fib_thread_wait_unlock(void)
{
	fib_spin_unlock(&thread_waits.lock);
}

void fib_thread_wait_forget(void)
{
	thread_waits.first = NULL;
	fib_store(&thread_waits.count, 0);
}
