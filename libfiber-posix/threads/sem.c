/* SPDX-License-Identifier: MIT */
/*
 * sem.c - sem_t between fibers and threads
 *
 * The count stays with the C library, and threads wait there. A fiber tries, and waits in libfiber's
 * lot if it gets nothing. Who posts does so in the C library, which wakes a thread, and then wakes a
 * fiber too. One of the two finds the count above 0, and the other waits again.
 *
 * Another process can post to a semaphore that is shared, and wakes no fiber here. So a fiber tries
 * such a one again after 1 to 8 ms.
 */
#include "threads/sem.h"

#include <errno.h>
#include <stdbool.h>

#include <fiber/time.h>

#include "threads/lot.h"
#include "threads/thread.h"

static bool must_wait(void *sem)
{
	return sem_trywait(sem) < 0;
}

#define SHARED	    8 /* offset of an int that the C library has set in a semaphore that is shared */
#define FIRST_PAUSE 1000000
#define LAST_PAUSE  (8 * FIRST_PAUSE)

static bool is_shared(const sem_t *sem)
{
	return *(const int *)(const void *)&sem->__size[SHARED] != 0;
}

int fpx_sem_wait(sem_t *sem, int64_t deadline)
{
	int64_t pause = FIRST_PAUSE;
	const struct fiber_lot_wait wait = {.address = sem,
					    .kind = FIB_WAIT_PTHREAD_SEM,
					    .cancellable = true,
					    .still = must_wait,
					    .arg = sem};
	int rc;

	/* A thread that was cancelled ends here, also if it need not wait. */
	fpx_thread_test_cancel();
	while (must_wait(sem)) {
		const int64_t until = is_shared(sem) ? fiber_after(pause) : FIBER_FOREVER;

		rc = fpx_lot_wait(&wait, until < deadline ? until : deadline);
		if (rc == -ETIMEDOUT && until < deadline) {
			if (pause < LAST_PAUSE)
				pause *= 2;
			continue;
		}
		if (rc < 0)
			return rc == -EAGAIN ? 0 : rc;
	}
	return 0;
}

void fpx_sem_wake(sem_t *sem)
{
	/* pairs: lot.meet */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (fpx_lot_occupied())
		fiber_lot_wake(sem, 1);
}
