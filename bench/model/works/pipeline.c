/* SPDX-License-Identifier: MIT */
/*
 * pipeline.c - a pipeline of four stages a carrier, with channels of 16 places between the stages
 *
 * A stage computes 500 ns for each element. An operation is an element that has passed all stages;
 * its delay lasts from its first stage to its last.
 */
#include <fiber.h>
#include <fiber/chan.h>

#include "bench/model/counts.h"
#include "bench/model/machine.h"
#include "bench/model/works/works.h"
#include "bench/work.h"

#define STAGES	 4
#define ELEMENTS 2000 /* of a pipeline */
#define PLACES	 16
#define NS	 500

struct stage {
	struct fiber_chan *from, *to; /* NULL: the first, the last */
};

static void *work_on(void *arg)
{
	const struct stage *stage = arg;
	int64_t began;

	for (unsigned i = 0; i < ELEMENTS; i++) {
		if (stage->from)
			fiber_chan_recv(stage->from, &began, FIBER_FOREVER);
		else
			began = fib_model_now();
		fib_model_compute(NS);
		if (stage->to)
			fiber_chan_send(stage->to, &began, FIBER_FOREVER);
		else
			fib_counts_delay(fib_model_now() - began);
	}
	return NULL;
}

void model_pipeline(unsigned carriers)
{
	const unsigned n = carriers * STAGES;
	struct stage *stages = calloc(n, sizeof *stages);
	struct fiber **fibers = calloc(n, sizeof(struct fiber *));

	for (unsigned i = 0; i < n; i++) {
		if (i % STAGES)
			stages[i].from = stages[i - 1].to;
		if (i % STAGES < STAGES - 1 &&
		    fiber_chan_new(sizeof(int64_t), PLACES, &stages[i].to))
			work_die("fiber_chan_new");
	}
	fib_counts_begin();
	for (unsigned i = 0; i < n; i++)
		if (fiber_spawn(work_on, &stages[i], &fibers[i]))
			work_die("fiber_spawn");
	for (unsigned i = 0; i < n; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	fib_counts_end((int64_t)carriers * ELEMENTS);
}
