/* SPDX-License-Identifier: MIT */
/* topic_wait_kinds.c - `help wait-kinds`: the kinds of wait, with call, waker and fields */
#include <stdio.h>

#include "tool/topics.h"

static const struct {
	const char *kind, *waits, *call, *woken, *object;
} kinds[] = {
	{"yield", "for its turn behind the others; it is runnable", "fiber_yield()",
	 "its carrier, when the others have run", NULL},
	{"sleep", "until a time", "fiber_sleep(), fiber_sleep_until()",
	 "the deadline that is shown", NULL},
	{"park", "for a token", "fiber_park()", "fiber_unpark(); 'fiberctl wake'", NULL},
	{"predicate", "until a function says yes; it is asked again and again",
	 "fiber_wait_until()", "the function's answer", "the argument of that function"},
	{"join", "for the end of a fiber", "fiber_join()", "that fiber, when it ends",
	 "the fiber, whose id is shown"},
	{"mutex", "for a lock", "fiber_mutex_lock(); fiber_cond_wait() taking it back",
	 "fiber_mutex_unlock()", "the mutex; the holder has it locked"},
	{"rwlock-read", "to read under a lock", "fiber_rwlock_rdlock()",
	 "fiber_rwlock_unlock() of the writer", "the lock; the holder writes"},
	{"rwlock-write", "to write under a lock", "fiber_rwlock_wrlock()",
	 "fiber_rwlock_unlock() of the last reader or writer",
	 "the lock; the holder writes. None while readers have it"},
	{"cond", "for a signal", "fiber_cond_wait()", "fiber_cond_signal(), fiber_cond_broadcast()",
	 "the condition"},
	{"sem", "for a count above 0", "fiber_sem_wait()", "fiber_sem_post()", "the semaphore"},
	{"event", "for something to have happened", "fiber_event_wait()", "fiber_event_set()",
	 "the event"},
	{"barrier", "for the others to arrive", "fiber_barrier_wait()", "the last one that arrives",
	 "the barrier"},
	{"once", "for another one to finish the first call", "fiber_once()",
	 "the one that runs the function, when it returns",
	 "the once; the holder runs the function"},
	{"waitgroup", "for a count to reach 0", "fiber_waitgroup_wait()",
	 "fiber_waitgroup_done(), the last one", "the waitgroup"},
	{"group", "for the end of a group's fibers", "fiber_group_wait()",
	 "the last fiber of the group, when it ends", "the group"},
	{"chan-send", "for room, or for somebody who receives", "fiber_chan_send()",
	 "fiber_chan_recv() or fiber_chan_close()", "the channel"},
	{"chan-recv", "for something to receive", "fiber_chan_recv()",
	 "fiber_chan_send() or fiber_chan_close()", "the channel"},
	{"select", "for the first of several channels or descriptors",
	 "fiber_select(), fiber_poll(), fiber_await_fds()", "the first that is ready",
	 "the first channel among them; of poll() the first descriptors"},
	{"fd", "for a descriptor to become readable or writable",
	 "fiber_read(), fiber_write(), fiber_accept(), fiber_connect(), fiber_wait_fd() ...",
	 "the poller; fiber_close() of the descriptor",
	 "none; the descriptor and events are shown"},
	{"timer", "for a timer to expire", "fiber_timer_wait()",
	 "the expiration; fiber_timer_arm() and fiber_timer_free()", "the timer"},
	{"offload", "for a function that runs on a thread",
	 "fiber_block(), fiber_getaddrinfo(), fiber_open() and files",
	 "that thread, when the function returns", "the address of the function"},
	{"op", "for the kernel to complete an operation", "fiber_op_await()", "the completion",
	 "the operation"},
	{"pthread-mutex", "for a lock of <pthread.h>", "pthread_mutex_lock() with libfiber-posix",
	 "pthread_mutex_unlock()", "the mutex; the holder has it locked"},
	{"pthread-cond", "for a signal", "pthread_cond_wait() with libfiber-posix",
	 "pthread_cond_signal(), pthread_cond_broadcast()", "the condition"},
	{"pthread-rwlock", "to read or write under a lock",
	 "pthread_rwlock_rdlock(), pthread_rwlock_wrlock() with libfiber-posix",
	 "pthread_rwlock_unlock()", "the lock"},
	{"pthread-sem", "for a count above 0", "sem_wait() with libfiber-posix", "sem_post()",
	 "the semaphore"},
	{"pthread-barrier", "for the others to arrive",
	 "pthread_barrier_wait() with libfiber-posix", "the last one that arrives", "the barrier"},
	{"pthread-once", "for another one to finish the first call",
	 "pthread_once() with libfiber-posix", "the one that runs the function, when it returns",
	 "the once"},
	{"futex", "for a change of a number in memory", "syscall(SYS_futex) with libfiber-posix",
	 "syscall(SYS_futex)", "the number"},
	{"pinned", "in a call that blocks its carrier's thread", "none of this version",
	 "the call itself", NULL},
};

static void print(void)
{
	size_t i;

	puts("What a fiber waits for, as list, show and bt name it. 'object' is what it waits "
	     "for:\n"
	     "its name (fiber_object_name) and address. 'holder' is the fiber, or the thread,\n"
	     "that keeps it from it. A kind without a line for them has none.");
	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		printf("\n%s\n  waits   %s\n  in      %s\n  woken   %s\n", kinds[i].kind,
		       kinds[i].waits, kinds[i].call, kinds[i].woken);
		if (kinds[i].object)
			printf("  object  %s\n", kinds[i].object);
	}
	puts("\nThreads, which fibertrace shows of a program without fibers, wait for the "
	     "mutexes,\n"
	     "locks, conditions, semaphores, barriers and onces of the C library, to join a "
	     "thread,\n"
	     "for descriptors and for time. Their 'holder' is a thread. They have two more kinds:\n"
	     "futex, an object that was not identified, and call, a system call by its name.");
	puts("\nA deadline ends every wait that was given one, fiber_cancel() all but those of a\n"
	     "fiber that may not leave yet, because others use its memory: for a group, or for an\n"
	     "operation on a file.");
}

const struct tool_topic tool_topic_wait_kinds = {
	.name = "wait-kinds",
	.summary = "what a fiber can wait for, and what wakes it",
	.print = print,
};
