/* SPDX-License-Identifier: MIT */
/* waiters.h - waiters and their queue in the models of locks: mutex_steps.h, rwlock_steps.h */
#ifndef UNIT_SYNC_WAITERS_H
#define UNIT_SYNC_WAITERS_H

#include <stdint.h>
#include <string.h>

/* Outcomes of a wait. */
enum { IDLE, ARMED, WOKEN, TIMED_OUT };

/* An actor in a list, where 0 is no actor. */
#define ME(who) ((uint8_t)((who) + 1))

static inline void remove_from(uint8_t *list, uint8_t *length, uint8_t what)
{
	unsigned i, n = 0;

	for (i = 0; i < *length; i++)
		if (list[i] != what)
			list[n++] = list[i];
	memset(list + n, 0, *length - n);
	*length = (uint8_t)n;
}

#endif
