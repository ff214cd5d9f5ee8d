/* SPDX-License-Identifier: MIT */
/*
 * asio.cpp - C++20's coroutines on Asio: one thread
 *
 * The context is told that no other thread uses it, so it takes no lock. A function that waits must
 * be an asio::awaitable, and so must each of its callers; it cannot wait in a plain function that it
 * calls. Its frame is on the heap.
 */
#include <array>
#include <chrono>
#include <vector>

#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/channel.hpp>

#include "bench/resident.h"
#include "bench/work.h"

using asio::awaitable;
using asio::co_spawn;
using asio::detached;
using asio::use_awaitable;
using std::chrono::steady_clock;

/* A wait that reports an error instead of throwing. */
constexpr auto without_throw = asio::experimental::as_tuple(use_awaitable);

static asio::io_context context{ASIO_CONCURRENCY_HINT_UNSAFE};

/* Many wait until open(). */
class gate
{
      public:
	gate() : timer(context, steady_clock::time_point::max())
	{
	}

	auto wait()
	{
		return timer.async_wait(without_throw);
	}

	void open()
	{
		timer.cancel();
	}

      private:
	asio::steady_timer timer;
};

static awaitable<void> yields(long rounds)
{
	for (long r = 0; r < rounds; r++)
		co_await asio::post(use_awaitable);
}

static void run_yield(long count, long n)
{
	long rounds = count / n;

	for (long i = 0; i < n; i++)
		co_spawn(context, yields(rounds), detached);
	double cpu = work_cpu();
	context.run();
	work_report_each(cpu, rounds * n);
}

static awaitable<void> nothing()
{
	co_return;
}

static awaitable<void> spawn_main(long rounds, long n)
{
	double cpu = 0;

	for (long r = -1; r < rounds; r++) {
		gate all_done;
		long left = n;

		if (!r)
			cpu = work_cpu();
		for (long i = 0; i < n; i++)
			co_spawn(context, nothing(), [&](std::exception_ptr) {
				if (!--left)
					all_done.open();
			});
		co_await all_done.wait();
		if (left)
			work_die("the join");
	}
	work_report_each(cpu, rounds * n);
}

static void run_spawn(long count, long n)
{
	co_spawn(context, spawn_main(count / n, n), detached);
	context.run();
}

using channel = asio::experimental::channel<void(std::error_code, long)>;

static awaitable<void> channel_echo(channel &there, channel &back)
{
	for (;;) {
		auto [error, message] = co_await there.async_receive(without_throw);

		if (error)
			break;
		co_await back.async_send(std::error_code(), message, use_awaitable);
	}
}

static awaitable<void> channel_main(channel &there, channel &back, long messages)
{
	double cpu = work_cpu();

	for (long i = 0; i < messages; i++) {
		co_await there.async_send(std::error_code(), i, use_awaitable);
		if (co_await back.async_receive(use_awaitable) != i)
			work_die("the echo");
	}
	work_report_each(cpu, messages * 2);
	there.close();
}

static void run_channel(long count, long)
{
	channel there(context), back(context);

	co_spawn(context, channel_echo(there, back), detached);
	co_spawn(context, channel_main(there, back, count / 2), detached);
	context.run();
}

/* The handler of a disarmed timer runs, with an error: every hundredth time for all since then. */
static void run_timer(long count, long)
{
	const auto far = steady_clock::now() + std::chrono::hours(1000);
	std::vector<asio::steady_timer> others;
	asio::steady_timer timer(context);
	long disarmed = 0;

	for (int i = 0; i < 100; i++) {
		others.emplace_back(context, steady_clock::now() + std::chrono::hours(1) +
						     std::chrono::nanoseconds(i));
		others.back().async_wait([](std::error_code) {});
	}
	double cpu = work_cpu();
	for (long i = 0; i < count; i++) {
		timer.expires_at(far - std::chrono::nanoseconds(i));
		timer.async_wait([&](std::error_code error) {
			disarmed += error == asio::error::operation_aborted;
		});
		timer.cancel();
		if (i % 100 == 99)
			context.poll();
	}
	context.poll();
	work_report_each(cpu, count);
	if (disarmed != count)
		work_die("steady_timer.cancel");
}

static awaitable<void> sleeper(gate &begin, long i, long naps, float *late)
{
	auto state = (uint32_t)i * 2654435761U + 1U;
	asio::steady_timer timer(context);

	co_await begin.wait();
	for (long k = 0; k < naps; k++) {
		const auto until = steady_clock::now() + std::chrono::nanoseconds(work_nap(&state));

		timer.expires_at(until);
		co_await timer.async_wait(use_awaitable);
		late[i * naps + k] =
			std::chrono::duration<float, std::micro>(steady_clock::now() - until)
				.count();
	}
}

static void run_naps(long n, long naps)
{
	std::vector<float> late(n * naps, 1.0F);
	gate begin;

	for (long i = 0; i < n; i++)
		co_spawn(context, sleeper(begin, i, naps, late.data()), detached);
	context.poll();
	double cpu = work_cpu();
	begin.open();
	context.run();
	work_report_naps(late.data(), late.size(), work_cpu() - cpu);
}

using stream = asio::local::stream_protocol::socket;
using message = std::array<char, 64>;

static awaitable<void> stream_echo(stream &end)
{
	message text;

	for (;;) {
		auto [error, n] = co_await asio::async_read(end, asio::buffer(text), without_throw);

		if (error)
			break;
		co_await asio::async_write(end, asio::buffer(text), use_awaitable);
	}
}

static awaitable<void> stream_main(stream &end, long messages)
{
	message text{"ping"};
	double cpu = work_cpu();

	for (long i = 0; i < messages; i++) {
		co_await asio::async_write(end, asio::buffer(text), use_awaitable);
		co_await asio::async_read(end, asio::buffer(text), use_awaitable);
	}
	work_report_each(cpu, messages * 2);
	end.close();
}

static void run_echo_unix(long count, long)
{
	stream near_end(context), far_end(context);

	asio::local::connect_pair(near_end, far_end);
	co_spawn(context, stream_echo(far_end), detached);
	co_spawn(context, stream_main(near_end, count / 2), detached);
	context.run();
}

static awaitable<void> waits(gate &end)
{
	co_await end.wait();
}

/* Report what n of them take since before, and exit. cpu: ns for making them. */
[[noreturn]] static void resident_since(const struct resident &before, long n, double cpu)
{
	struct resident after = resident_now();

	resident_report(&before, &after, n, cpu);
	fflush(stdout);
	_Exit(0);
}

/* n that wait at the gate; they begin when the context runs. then: brings them into the state. */
[[noreturn]] static void measure(long n, void (*then)(gate &))
{
	struct resident before = resident_now();
	double cpu = work_cpu();
	gate end;

	for (long i = 0; i < n; i++)
		co_spawn(context, waits(end), detached);
	then(end);
	resident_since(before, n, work_cpu() - cpu);
}

/* They have not begun. */
static void run_memory_new(long n, long)
{
	measure(n, [](gate &) {});
}

/* They wait. */
static void run_memory(long n, long)
{
	measure(n, [](gate &) { context.poll(); });
}

/* What the process keeps after they have waited and have ended. */
static void run_memory_joined(long n, long)
{
	measure(n, [](gate &end) {
		context.poll();
		end.open();
		context.run();
	});
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"yield", run_yield},
		{"spawn", run_spawn},
		{"channel", run_channel},
		{"timer", run_timer},
		{"naps", run_naps},
		{"echo-unix", run_echo_unix},
		{"memory", run_memory},
		{"memory-new", run_memory_new},
		{"memory-joined", run_memory_joined},
	};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
