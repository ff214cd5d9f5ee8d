/* SPDX-License-Identifier: MIT */
/*
 * main.cpp - boost.fiber: one thread, its default scheduler; shared.cpp has the works of several threads
 *
 * Stacks come from its pool: the default, malloc, maps and unmaps each of them. None has a guard.
 */
#include <boost/fiber/all.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <vector>

#include "bench/peers/boost_fiber/shared.hpp"
#include "bench/work.h"

namespace bf = boost::fibers;

static bf::pooled_fixedsize_stack stacks(65536);

template <typename Fn> static bf::fiber start(Fn fn)
{
	return bf::fiber(std::allocator_arg, stacks, fn);
}

static void run_yield(long count, long n)
{
	long rounds = count / n;
	std::vector<bf::fiber> fibers;

	fibers.reserve(n);
	for (long i = 0; i < n; i++)
		fibers.push_back(start([rounds] {
			for (long r = 0; r < rounds; r++)
				boost::this_fiber::yield();
		}));
	double cpu = work_cpu();
	for (auto &fiber : fibers)
		fiber.join();
	work_report_each(cpu, rounds * n);
}

static void run_spawn(long count, long n)
{
	long rounds = count / n;
	std::vector<bf::fiber> fibers;
	double cpu = 0;

	fibers.reserve(n);
	for (long r = -1; r < rounds; r++) {
		if (!r)
			cpu = work_cpu();
		fibers.clear();
		for (long i = 0; i < n; i++)
			fibers.push_back(start([] {}));
		for (auto &fiber : fibers)
			fiber.join();
	}
	work_report_each(cpu, rounds * n);
}

static bf::mutex table;
static bf::condition_variable turned;
static int turn;

static void play(int me, long messages)
{
	std::unique_lock<bf::mutex> lock(table);

	while (messages-- > 0) {
		while (turn != me)
			turned.wait(lock);
		turn = !me;
		turned.notify_one();
	}
}

static void run_cond(long count, long)
{
	long messages = count / 2;
	bf::fiber other = start([messages] { play(1, messages); });
	double cpu = work_cpu();

	play(0, messages);
	other.join();
	work_report_each(cpu, messages * 2);
}

static void run_channel(long count, long)
{
	long messages = count / 2, answer = 0;
	bf::unbuffered_channel<long> there, back;
	bf::fiber other = start([&] {
		long message;

		while (there.pop(message) == bf::channel_op_status::success)
			back.push(message);
	});
	double cpu = work_cpu();

	for (long i = 0; i < messages; i++) {
		there.push(i);
		back.pop(answer);
	}
	work_report_each(cpu, messages * 2);
	there.close();
	other.join();
}

static void run_mutex(long count, long)
{
	double cpu = work_cpu();

	for (long i = 0; i < count; i++) {
		table.lock();
		table.unlock();
	}
	work_report_each(cpu, count);
}

static void run_naps(long n, long naps)
{
	std::vector<bf::fiber> fibers;
	std::vector<float> late(n * naps, 1.0F);
	bf::condition_variable gate;
	bool opened = false;

	fibers.reserve(n);
	for (long i = 0; i < n; i++)
		fibers.push_back(start([&, i] {
			uint32_t state = (uint32_t)i * 2654435761U + 1U;
			{
				std::unique_lock<bf::mutex> lock(table);
				gate.wait(lock, [&] { return opened; });
			}
			for (long k = 0; k < naps; k++) {
				auto until = std::chrono::steady_clock::now() +
					     std::chrono::nanoseconds(work_nap(&state));
				boost::this_fiber::sleep_until(until);
				late[i * naps + k] =
					std::chrono::duration<float, std::micro>(
						std::chrono::steady_clock::now() - until)
						.count();
			}
		}));
	boost::this_fiber::yield();
	double cpu = work_cpu();
	{
		std::unique_lock<bf::mutex> lock(table);
		opened = true;
	}
	gate.notify_all();
	for (auto &fiber : fibers)
		fiber.join();
	work_report_naps(late.data(), late.size(), work_cpu() - cpu);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"yield", run_yield},
		{"spawn", run_spawn},
		{"cond", run_cond},
		{"mutex", run_mutex},
		{"naps", run_naps},
		{"channel", run_channel},
		{"shared-mutex", shared_mutex},
		{"shared-mutex-yield", shared_mutex_yield},
		{"shared-queue-0", shared_queue_0},
		{"shared-queue-16", shared_queue_16},
		{"shared-queue-1024", shared_queue_1024},
		{"shared-pipe-0", shared_pipe_0},
		{"shared-pipe-16", shared_pipe_16},
		{"shared-broadcast", shared_broadcast},
		{"shared-spawn", shared_spawn},
		{"shared-sleepers", shared_sleepers},
	};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
