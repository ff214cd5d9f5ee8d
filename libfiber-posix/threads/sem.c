/* SPDX-License-Identifier: MIT */
/*
 * sem.c - sem_t between fibers and threads
 *
 * The count stays with the C library, and threads wait there. A fiber tries, and waits in libfiber's
 * lot if it gets nothing. Who posts does so in the C library, which wakes a thread, and then wakes a
 * fiber too. One of the two finds the count above 0, and the other waits again.
 */
#include "threads/sem.h"

#include <errno.h>
#include <stdbool.h>

#include "threads/lot.h"

static bool must_wait(void *sem)
{
	return sem_trywait(sem) < 0;
}

int fpx_sem_wait(sem_t *sem, int64_t deadline)
{
	const struct fiber_lot_wait wait = {.address = sem,
					    .kind = FIB_WAIT_PTHREAD_SEM,
					    .cancellable = true,
					    .still = must_wait,
					    .arg = sem};
	int rc;

	while (must_wait(sem)) {
		rc = fpx_lot_wait(&wait, deadline);
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
