/* SPDX-License-Identifier: MIT */
/* restarted.h - the system call of a thread that was stopped in it and resumed */
#ifndef INS_RESTARTED_H
#define INS_RESTARTED_H

#include "inspect/model/source.h"
#include "inspect/model/thread_at.h"

/* The call that the thread is in: at->call, or the one that the kernel restarts. */
int64_t ins_restarted_call(struct ins_source *source, const struct ins_thread_at *at);

#endif
