/* SPDX-License-Identifier: MIT */
/* machine.h - the machine below libfiber: what a work may ask of it */
#ifndef BENCH_MODEL_MACHINE_H
#define BENCH_MODEL_MACHINE_H

#include <stdint.h>

/* Other seeds make carriers look for victims in another order. */
extern uint64_t fib_model_seed;

/* ns of virtual time; to read it takes none. */
int64_t fib_model_now(void);

/* The calling fiber computes for ns on memory of its own. */
void fib_model_compute(int64_t ns);

struct fib_poll_event;

/* Descriptors that become ready: the poller asks for them. */
struct fib_model_source {
	/* The time in ns when the next one becomes ready; INT64_MAX: none. */
	int64_t (*next)(void);
	/* Store at most max that are ready at now. Returns how many. */
	int (*take)(int64_t now, struct fib_poll_event *events, int max);
};
extern const struct fib_model_source *fib_model_source;

#endif
