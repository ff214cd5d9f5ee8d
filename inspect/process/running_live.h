/* SPDX-License-Identifier: MIT */
/* running_live.h - what a running fiber of a live process does */
#ifndef INS_RUNNING_LIVE_H
#define INS_RUNNING_LIVE_H

#include "inspect/model/running.h"

/* The function of struct ins_source_ops for a live process. No thread is stopped. */
int ins_running_live(struct ins_source *source, struct ins_running *ret);

#endif
