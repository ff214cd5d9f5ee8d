/* SPDX-License-Identifier: MIT */
/*
 * main.c - the scheduler of libfiber on more CPUs than this machine has
 *
 *	model WORK CARRIERS [SEED [LINE]]	LINE: ns to transfer a cache line; default: 100
 *	model bench WORK COUNT CARRIERS [SEED [LINE]]	a work of bench/libfiber
 *
 * All of libfiber runs: spawn, channels, run queues, stealing, idling. Only what is below it is
 * replaced: CPUs, caches, clocks, futexes, the poller. Each carrier has a CPU in virtual time
 * (engine.c), and each access of libfiber and of the work to memory takes time according to who has
 * the cache line (lines.c). The costs are in costs.h. Equal arguments give equal output.
 *
 * The model leaves out: the capacity of caches, and memory (a line that nobody has used costs
 * nothing); loads and prefetches that overlap, so a search that reads a line of each carrier takes
 * longer here than on a real CPU; CPUs that share a core or a cache, or are unequally far from each
 * other; fewer CPUs than carriers; the kernel's own locks; reordering, except of stores by the
 * store buffer; what libfiber does without locked instructions while one carrier uses all objects
 * (core/sole.h). Instructions between accesses are an average (COST_ACCESS).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/libfiber/bench.h"
#include "bench/model/costs.h"
#include "bench/model/engine.h"
#include "bench/model/lines.h"
#include "bench/model/machine.h"
#include "bench/model/works/works.h"

static const struct {
	const char *name;
	void (*run)(unsigned carriers);
} works[] = {
	{"tree", model_tree},
	{"server", model_server},
	{"pipeline", model_pipeline},
	{"shared", model_shared},
};

static const struct work rows[] = {
	{"tree", bench_tree},
	{"shared-mutex", bench_shared_mutex},
	{"shared-mutex-yield", bench_shared_mutex_yield},
	{"shared-rwlock", bench_shared_rwlock},
	{"shared-queue-0", bench_shared_queue_0},
	{"shared-queue-16", bench_shared_queue_16},
	{"shared-queue-1024", bench_shared_queue_1024},
	{"shared-pipe-0", bench_shared_pipe_0},
	{"shared-pipe-16", bench_shared_pipe_16},
	{"shared-broadcast", bench_shared_broadcast},
	{"shared-sem", bench_shared_sem},
	{"shared-waitgroup", bench_shared_waitgroup},
	{"shared-group", bench_shared_group},
	{"shared-select", bench_shared_select},
	{"shared-spawn", bench_shared_spawn},
	{"shared-sleepers", bench_shared_sleepers},
};

static void run_fiber(fiber_fn *fn, void *arg, unsigned carriers)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options,
		.carriers = carriers,
		.long_run_ns = -1,
		.control_path = "",
	};
	struct fiber_runtime *rt;
	struct fiber *fiber;
	int rc = fiber_runtime_start(&options, &rt);

	if (rc == 0)
		rc = fiber_runtime_spawn(rt, NULL, fn, arg, &fiber);
	if (rc == 0)
		rc = fiber_join(fiber, NULL, FIBER_FOREVER);
	if (rc < 0) {
		fprintf(stderr, "model: no runtime with %u carriers: %s\n", carriers,
			strerror(-rc));
		exit(2);
	}
}

bool bench_watchable;

void bench_run(fiber_fn *fn, void *arg, unsigned carriers)
{
	run_fiber(fn, arg, carriers);
}

struct run {
	void (*run)(unsigned carriers);
	unsigned carriers;
};

static void *run_work(void *arg)
{
	const struct run *run = arg;

	run->run(run->carriers);
	return NULL;
}

static __attribute__((noreturn)) void usage(const char *what, const char *text)
{
	fprintf(stderr, "model: %s: %s\n", what, text);
	exit(2);
}

static long number(const char *text, const char *what, long least, long most)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most)
		usage(what, text);
	return value;
}

/* Those after the others. */
static void read_settings(char **argv, int n)
{
	if (n > 2)
		usage("too many arguments", argv[2]);
	if (n > 0)
		fib_model_seed = (uint64_t)number(argv[0], "no seed", 1, INT32_MAX);
	if (n > 1)
		fib_model_line_cost = number(argv[1], "no time for a line", 1, 100000) * NS;
}

/* What a thread of the model runs. */
struct request {
	void (*row)(long count, long carriers); /* a work of bench/libfiber, or NULL */
	long count;
	struct run run;
};

static void read_bench(int argc, char **argv, struct request *ret)
{
	size_t i;

	if (argc < 5)
		usage("usage", "model bench WORK COUNT CARRIERS [SEED [LINE]]");
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].name, argv[2]) == 0)
			ret->row = rows[i].run;
	if (!ret->row)
		usage("no such work", argv[2]);
	ret->count = number(argv[3], "no count", 1, 100000000);
	ret->run.carriers = (unsigned)number(argv[4], "carriers are 1 to 256", 1, 256);
	read_settings(argv + 5, argc - 5);
}

static void read_model(int argc, char **argv, struct request *ret)
{
	size_t i;

	if (argc < 3)
		usage("usage", "model WORK CARRIERS [SEED [LINE]]");
	for (i = 0; i < sizeof works / sizeof works[0]; i++)
		if (strcmp(works[i].name, argv[1]) == 0)
			ret->run.run = works[i].run;
	if (!ret->run.run)
		usage("no such work", argv[1]);
	ret->run.carriers = (unsigned)number(argv[2], "carriers are 1 to 256", 1, 256);
	read_settings(argv + 3, argc - 3);
}

static void run_thread(void *arg)
{
	struct request *request = arg;

	if (request->row)
		request->row(request->count, request->run.carriers);
	else
		run_fiber(run_work, &request->run, request->run.carriers);
}

/* The system places the stack of main() differently each time, so carriers share no lines with it. */
int main(int argc, char **argv)
{
	static struct request request;

	if (argc > 1 && strcmp(argv[1], "bench") == 0)
		read_bench(argc, argv, &request);
	else
		read_model(argc, argv, &request);
	fib_engine_begin();
	fib_engine_block(fib_engine_start(run_thread, &request), INT64_MAX);
	if (getenv("MODEL_STALLS"))
		fib_lines_report(20);
	return 0;
}
