/* SPDX-License-Identifier: MIT */
/*
 * main.c - run the peers' works on libfiber
 *
 * Nothing is switched off for a measurement: it includes the registry, the record of every wait,
 * and the sequence numbers and counters that the tools read. A work starts only after verify.c has
 * checked them.
 */
#include "bench/libfiber/bench.h"

bool bench_watchable;

void bench_run(fiber_fn *fn, void *arg, unsigned carriers)
{
	struct fiber_runtime_options options = {
		.size = sizeof(options),
		.name = "bench",
		.carriers = carriers,
		/* no reports of long runs: works compute */
		.long_run_ns = bench_watchable ? 0 : -1,
		.control_path = bench_watchable ? NULL : "",
		.shared_fpu = bench_shares_fpu(),
	};
	int error = fiber_run(fn, arg, &options, NULL);

	if (error)
		work_die("fiber_run");
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"verify", bench_verify},
		{"switch", bench_switch},
		{"codes", bench_codes},
		{"yield", bench_yield},
		{"spawn", bench_spawn},
		{"cond", bench_cond},
		{"mutex", bench_mutex},
		{"mutex-used", bench_mutex_used},
		{"tree", bench_tree},
		{"memory-new", bench_memory_new},
		{"memory", bench_memory},
		{"memory-ended", bench_memory_ended},
		{"memory-joined", bench_memory_joined},
		{"naps", bench_naps},
		{"channel", bench_channel},
		{"beside", bench_beside},
		{"sem", bench_sem},
		{"select", bench_select},
		{"cancel", bench_cancel},
		{"timer", bench_timer},
		{"local", bench_local},
		{"echo-unix", bench_echo_unix},
		{"echo-pipe", bench_echo_pipe},
		{"file", bench_file},
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
		{"shared-table-mutex", bench_shared_table_mutex},
		{"shared-table-rwlock", bench_shared_table_rwlock},
		{"watchable", bench_watchable_yield},
		{"observed", bench_observed},
		{"recorded", bench_recorded},
	};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
