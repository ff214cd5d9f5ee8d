/* SPDX-License-Identifier: MIT */
/* announce.h - a switch takes virtual time; there is no sanitizer to notify */
#ifndef MODEL_ANNOUNCE_H
#define MODEL_ANNOUNCE_H

#define fib_announce_leave fib_announce_leave_plain
#include "libfiber/context/announce/none/announce.h"
#undef fib_announce_leave

void fib_model_switch(void);

static inline void fib_announce_leave(struct fib_announce *from, struct fib_announce *to,
				      bool dying)
{
	fib_announce_leave_plain(from, to, dying);
	fib_model_switch();
}

#endif
