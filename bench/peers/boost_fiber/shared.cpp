/* SPDX-License-Identifier: MIT */
/*
 * shared.cpp - boost.fiber on several threads, with its work-stealing scheduler
 *
 * With at most as many threads as CPUs the scheduler has its default setting: a thread that has
 * nothing to run looks for work without pause. With more threads that would take the CPU from the
 * others: 20,000 elements over a channel took 8 threads on 2 CPUs more than 20 s. There idle threads
 * are suspended; none is woken when another thread has work to steal. One thread uses the default
 * scheduler, because a work-stealing scheduler needs another one to steal from.
 *
 * The pool of stacks that main.cpp uses is not for several threads. Here stacks come from malloc.
 */
#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/all.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/peers/boost_fiber/shared.hpp"
#include "bench/shared.h"

namespace bf = boost::fibers;

static const long many = 100, ends = 10;

template <typename Fn> static bf::fiber start(Fn fn)
{
	return bf::fiber(std::allocator_arg, bf::fixedsize_stack(65536), fn);
}

/* Threads that run fibers beside the thread that made this, n together. */
class Threads
{
      public:
	explicit Threads(long n)
	{
		if (n == 1)
			return;
		for (long i = 1; i < n; i++)
			threads.emplace_back([this, n] {
				steal_work(n);
				std::unique_lock<bf::mutex> hold(lock);
				ended.wait(hold, [this] { return over; });
			});
		steal_work(n);
	}

	~Threads()
	{
		{
			std::unique_lock<bf::mutex> hold(lock);
			over = true;
		}
		ended.notify_all();
		for (auto &thread : threads)
			thread.join();
	}

	Threads(const Threads &) = delete;
	Threads &operator=(const Threads &) = delete;

      private:
	/* Returns when all n threads have called it. */
	static void steal_work(long n)
	{
		bf::use_scheduling_algorithm<bf::algo::work_stealing>(
			(uint32_t)n, n > (long)std::thread::hardware_concurrency());
	}

	std::vector<std::thread> threads;
	bf::mutex lock;
	bf::condition_variable ended;
	bool over = false;
};

struct Costs {
	double now = work_now(), cpu = work_cpu();

	void report(long n) const
	{
		work_report("ns", (work_now() - now) / (double)n);
		work_report("cpu", (work_cpu() - cpu) / (double)n);
	}
};

static void join(std::vector<bf::fiber> &fibers)
{
	for (auto &fiber : fibers)
		fiber.join();
}

/* Run fn(turns) in n fibers and report what an operation costs. */
template <typename Fn> static void race(long n, long turns, Fn fn)
{
	std::vector<bf::fiber> fibers;
	const Costs costs;

	for (long i = 0; i < n; i++)
		fibers.push_back(start([fn, turns] { fn(turns); }));
	join(fibers);
	costs.report(n * turns);
}

static bf::mutex table;
static long entries;

void shared_mutex(long count, long n)
{
	Threads threads(n);

	race(2, count / 2, [](long turns) {
		for (long i = 0; i < turns; i++) {
			std::unique_lock<bf::mutex> hold(table);
			entries++;
		}
	});
}

void shared_mutex_yield(long count, long n)
{
	Threads threads(n);

	race(many, count / many, [](long turns) {
		for (long i = 0; i < turns; i++) {
			std::unique_lock<bf::mutex> hold(table);
			entries++;
			if (i % 8 == 0)
				boost::this_fiber::yield();
		}
	});
}

/* Senders and receivers on one channel, n of each. */
template <typename Channel>
static void queue(Channel &channel, long count, long n, long thread_count)
{
	Threads threads(thread_count);
	const long turns = count / n;
	std::vector<bf::fiber> receivers;

	for (long i = 0; i < n; i++)
		receivers.push_back(start([&channel, turns] {
			long elem;

			for (long k = 0; k < turns; k++)
				channel.pop(elem);
		}));
	race(n, turns, [&channel](long times) {
		for (long i = 0; i < times; i++)
			channel.push(i);
	});
	join(receivers);
}

void shared_queue_0(long count, long n)
{
	bf::unbuffered_channel<long> channel;

	queue(channel, count, ends, n);
}

void shared_queue_16(long count, long n)
{
	bf::buffered_channel<long> channel(16);

	queue(channel, count, ends, n);
}

void shared_queue_1024(long count, long n)
{
	bf::buffered_channel<long> channel(1024);

	queue(channel, count, ends, n);
}

void shared_pipe_0(long count, long n)
{
	bf::unbuffered_channel<long> channel;

	queue(channel, count, 1, n);
}

void shared_pipe_16(long count, long n)
{
	bf::buffered_channel<long> channel(16);

	queue(channel, count, 1, n);
}

static bf::condition_variable round_begins, all_back;
static long current, back;

static void answer(long rounds)
{
	std::unique_lock<bf::mutex> hold(table);

	for (long seen = 0; seen < rounds; seen++) {
		if (++back == many)
			all_back.notify_one();
		while (current == seen)
			round_begins.wait(hold);
	}
}

void shared_broadcast(long rounds, long n)
{
	Threads threads(n);
	std::vector<bf::fiber> fibers;

	for (long i = 0; i < many; i++)
		fibers.push_back(start([rounds] { answer(rounds); }));
	std::unique_lock<bf::mutex> hold(table);
	const Costs costs;
	for (long i = 0; i < rounds; i++) {
		while (back < many)
			all_back.wait(hold);
		back = 0;
		current++;
		round_begins.notify_all();
	}
	hold.unlock();
	join(fibers);
	costs.report(rounds);
}

void shared_spawn(long count, long n)
{
	const long parents = 4, children = 10;
	Threads threads(n);

	race(parents, count / parents / children * children, [](long turns) {
		for (long done = 0; done < turns; done += children) {
			std::vector<bf::fiber> fibers;

			fibers.reserve(children);
			for (long i = 0; i < children; i++)
				fibers.push_back(start([] {}));
			join(fibers);
		}
	});
}

void shared_sleepers(long count, long n)
{
	Threads threads(n);
	std::vector<bf::fiber> fibers;
	std::vector<float> late(count * WORK_SHORT_NAPS, 1.0F);
	bf::condition_variable gate;
	bool opened = false;

	for (long i = 0; i < count; i++)
		fibers.push_back(start([&, i] {
			uint32_t state = work_nap_state(i);
			{
				std::unique_lock<bf::mutex> hold(table);
				gate.wait(hold, [&] { return opened; });
			}
			for (long k = 0; k < WORK_SHORT_NAPS; k++) {
				auto until = std::chrono::steady_clock::now() +
					     std::chrono::nanoseconds(work_short_nap(&state));
				boost::this_fiber::sleep_until(until);
				late[i * WORK_SHORT_NAPS + k] =
					std::chrono::duration<float, std::micro>(
						std::chrono::steady_clock::now() - until)
						.count();
			}
		}));
	boost::this_fiber::sleep_for(std::chrono::nanoseconds(WORK_UNTIL_ALL_WAIT));
	double cpu = work_cpu();
	{
		std::unique_lock<bf::mutex> hold(table);
		opened = true;
	}
	gate.notify_all();
	join(fibers);
	work_report_naps(late.data(), late.size(), work_cpu() - cpu);
}
