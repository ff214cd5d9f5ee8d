/* SPDX-License-Identifier: MIT */
/* thread_at_live.h - list the threads of a live process and read where each is */
#ifndef INS_THREAD_AT_LIVE_H
#define INS_THREAD_AT_LIVE_H

#include "inspect/model/source.h"
#include "inspect/model/thread_at.h"

/* The two functions of struct ins_source_ops for a live process. No thread is stopped. */
int ins_thread_ids_live(struct ins_source *source, struct ins_thread_ids *ret);
int ins_thread_at_live(struct ins_source *source, uint64_t tid, enum ins_thread_ask ask,
		       struct ins_thread_at *ret);

#endif
