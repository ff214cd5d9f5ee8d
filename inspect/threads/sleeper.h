/* SPDX-License-Identifier: MIT */
/* sleeper.h - one sleeping thread, while the object that it waits for is identified */
#ifndef INS_SLEEPER_H
#define INS_SLEEPER_H

#include "inspect/model/source.h"
#include "inspect/model/thread_at.h"
#include "inspect/process/descriptors.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"

struct ins_sleeper {
	struct ins_source *source;
	struct ins_symbols *symbols;
	const struct ins_thread_at *at;
	const struct ins_walk *walk;	     /* of its stack; needed for futex(2) only */
	struct ins_descriptors *descriptors; /* of a live process; NULL: none */
	int64_t now;			     /* ns of CLOCK_MONOTONIC; 0: unknown, as in a core */
};

/* Read the program's memory. All of it and true, or false. */
static inline bool ins_sleeper_read(const struct ins_sleeper *s, uint64_t address, void *buf,
				    size_t size)
{
	return s->source->memory(s->source, address, buf, size) == 0;
}

#endif
