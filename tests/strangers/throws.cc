/* SPDX-License-Identifier: MIT */
/*
 * throws.cc - C++ exceptions inside fibers: across waits, between threads, out of a pinned scope
 *
 * scripts/test-headers.sh compiles it as C++17, links it and runs it.
 */
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <fiber.h>

namespace
{

constexpr int fibers = 200, rounds = 20;

struct guard {
	int &count;
	explicit guard(int &c) : count(c)
	{
		count++;
	}
	~guard()
	{
		fiber_yield(); /* a destructor may wait while the stack is unwound */
		count--;
	}
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;
};

int deep(int depth, int &open, const std::string &what)
{
	guard g(open);

	fiber_sleep(1000);
	if (depth == 0)
		throw std::runtime_error(what);
	return deep(depth - 1, open, what) + 1;
}

/* Many fibers at once, each with its own exception in flight, and each migrates meanwhile. */
void *thrower(void *arg)
{
	const std::string mine = "of " + std::to_string(fiber_id(fiber_self()));
	intptr_t caught = 0;
	int open = 0;

	(void)arg;
	for (int i = 0; i < rounds; i++) {
		try {
			deep(i % 5, open, mine);
		} catch (const std::exception &e) {
			fiber_yield();
			caught += e.what() == mine && open == 0;
			try {
				throw;
			} catch (const std::runtime_error &again) {
				fiber_yield();
				caught += again.what() == mine;
			}
		}
	}
	return reinterpret_cast<void *>(caught);
}

int pinned_thrower(bool nested)
{
	FIBER_PINNED_SCOPE;

	if (nested) {
		FIBER_PINNED_SCOPE;
		throw 7;
	}
	throw 5;
}

/* Each way out of the scope; the last one is a throw through two scopes. */
void *leaves_pinned_scopes(void *arg)
{
	int &wrong = *static_cast<int *>(arg);

	for (bool nested : {false, true}) {
		try {
			pinned_thrower(nested);
			wrong++;
		} catch (int thrown) {
			wrong += thrown != (nested ? 7 : 5);
		}
		wrong += !fiber_can_yield() || fiber_yield() != 0;
	}
	for (int i = 0; i < 3; i++) {
		FIBER_PINNED_SCOPE;
		if (i == 1)
			continue;
		if (i == 2)
			break;
	}
	wrong += !fiber_can_yield();
	return nullptr;
}

int masked_thrower()
{
	FIBER_CANCEL_MASKED_SCOPE;

	throw fiber_sleep(1);
}

/* A cancelled fiber may wait inside the scope and not after it. */
void *leaves_masked_scope(void *arg)
{
	int &wrong = *static_cast<int *>(arg);

	fiber_cancel(fiber_self());
	try {
		masked_thrower();
		wrong++;
	} catch (int rc) {
		wrong += rc != 0;
	}
	wrong += fiber_sleep(1) == 0;
	return nullptr;
}

void throw_in_handler(void *arg)
{
	try {
		throw std::logic_error("handler");
	} catch (const std::logic_error &) {
		++*static_cast<int *>(arg);
	}
}

void *throws_in_handler(void *arg)
{
	fiber_at_exit(throw_in_handler, arg);
	throw_in_handler(arg);
	fiber_exit(nullptr);
}

} // namespace

int main()
{
	std::vector<fiber_fn *> fns(fibers, thrower);
	std::vector<void *> args(fibers);
	std::vector<fiber_result> results(fibers);
	fiber_runtime_options options = {};
	int wrong = 0, handled = 0;

	options.size = sizeof options;
	options.carriers = 4;
	options.control_path = "";
	if (fiber_run_many(fns.data(), args.data(), fns.size(), &options, results.data()) < 0)
		return 1;
	for (const fiber_result &r : results)
		wrong += reinterpret_cast<intptr_t>(r.value) != 2 * rounds || r.error;
	if (wrong) {
		std::printf("%d fibers did not catch what they threw\n", wrong);
		return 2;
	}
	if (fiber_run(leaves_pinned_scopes, &wrong, &options, nullptr) < 0 || wrong) {
		std::printf("pinned scopes: %d wrong\n", wrong);
		return 3;
	}
	if (fiber_run(leaves_masked_scope, &wrong, &options, nullptr) < 0 || wrong) {
		std::printf("masked scope: %d wrong\n", wrong);
		return 5;
	}
	if (fiber_run(throws_in_handler, &handled, &options, nullptr) < 0 || handled != 2)
		return 4;
	return 0;
}
