/* SPDX-License-Identifier: MIT */
/*
 * unwinds.cc - fiber_exit() and fiber_fail() run C++ destructors where that was requested, and
 * nowhere else
 *
 * scripts/test-headers.sh compiles it as C++17, links it and runs it. With the name of a misuse as
 * its argument it must abort and print the reason in one line.
 */
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <fiber.h>

namespace
{

std::string told; /* by one fiber at a time */
fiber_once_flag flag{};
fiber_runtime_options options;

struct teller {
	const char *what;
	explicit teller(const char *w) : what(w)
	{
	}
	~teller()
	{
		fiber_yield(); /* a destructor may wait */
		told += what;
	}
	teller(const teller &) = delete;
	teller &operator=(const teller &) = delete;
};

void tell(void *arg)
{
	told += static_cast<const char *>(arg);
}

[[gnu::noinline]] void leave(bool fails)
{
	teller inner("c");

	if (fails)
		fiber_fail(-EIO, "on purpose");
	fiber_exit(&told);
}

void leave_in_once(void *arg)
{
	teller in_once("b");

	leave(arg != nullptr);
}

/* The unwinding passes a call of the library, a pinned scope and a catch block that rethrows. */
void *middle(void *arg)
{
	static fiber_key_t key;

	if (!key)
		fiber_key_create(&key, tell);
	fiber_setspecific(key, "L");
	fiber_at_exit(tell, const_cast<char *>("X"));
	fiber_at_exit(tell, const_cast<char *>("Y"));
	teller outer("a");
	try {
		FIBER_PINNED_SCOPE;
		fiber_once(&flag, leave_in_once, arg);
	} catch (...) {
		told += fiber_can_yield() ? "!" : "?";
		throw;
	}
	return nullptr;
}

int failures;

void check(const char *what, bool good)
{
	if (!good) {
		std::printf("%s: told \"%s\"\n", what, told.c_str());
		failures++;
	}
	told.clear();
}

void run(const char *what, fiber_fn *fn, void *arg, const char *expected, int error)
{
	fiber_result result = {nullptr, 1};

	if (fiber_run(fn, arg, &options, &result) < 0)
		result.error = 2;
	check(what, told == expected && result.error == error);
}

void *spawn_with_flag(void *arg)
{
	fiber_attr attr = {};
	fiber_result result = {nullptr, 1};
	fiber *child = nullptr;

	attr.size = sizeof attr;
	attr.flags = FIBER_UNWIND;
	fiber_spawn_attr(&attr, middle, arg, &child);
	fiber_join(child, &result, FIBER_FOREVER);
	return result.value;
}

void exits_again(void *)
{
	teller in_handler("h");

	fiber_fail(-EPROTO, nullptr);
}

/* A handler that exits is unwound up to itself; the destructors before it do not run twice. */
void *exits_in_handlers(void *)
{
	teller outer("a");

	fiber_at_exit(tell, const_cast<char *>("X"));
	fiber_at_exit(exits_again, nullptr);
	fiber_at_exit(exits_again, nullptr);
	fiber_exit(nullptr);
}

struct exits_in_destructor {
	~exits_in_destructor()
	{
		fiber_exit(nullptr);
	}
};

void *exits_while_unwound(void *)
{
	teller outer("a");
	exits_in_destructor middle_one;
	teller inner("b");

	fiber_exit(nullptr);
}

void *returns(void *)
{
	teller outer("a");

	return nullptr;
}

void *throws_and_exits(void *)
{
	teller outer("a");

	try {
		throw 7;
	} catch (int) {
		teller inner("b");
		fiber_exit(nullptr);
	}
}

/* A background fiber that its runtime ends. It ignores all results, and its destructors wait. */
void *background(void *)
{
	teller outer("a");

	for (;;) {
		teller inner("");
		fiber_sleep(1000000);
	}
}

void *leaves_background(void *)
{
	fiber_attr attr = {};

	attr.size = sizeof attr;
	attr.flags = FIBER_BACKGROUND;
	fiber_spawn_attr(&attr, background, nullptr, nullptr);
	fiber_sleep(2000000);
	return nullptr;
}

std::atomic<int> open_guards;

struct guard {
	guard()
	{
		open_guards++;
	}
	~guard()
	{
		fiber_yield();
		open_guards--;
	}
};

void descend(intptr_t depth)
{
	guard one, two;

	fiber_yield();
	if (depth < 0)
		return;
	if (depth)
		descend(depth - 1);
	else
		fiber_exit(nullptr);
}

void *deep(void *arg)
{
	descend(reinterpret_cast<intptr_t>(arg) % 50);
	return nullptr;
}

void *many(void *)
{
	fiber_group group = {};

	for (intptr_t i = 0; i < 500; i++)
		fiber_group_spawn(&group, deep, reinterpret_cast<void *>(i));
	fiber_group_wait(&group, FIBER_FOREVER);
	return nullptr;
}

/* -- misuse -- */

void *swallows(void *)
{
	fiber_set_name(fiber_self(), "greedy");
	try {
		fiber_exit(nullptr);
	} catch (...) {
	}
	return nullptr;
}

} // namespace

int main(int argc, char **)
{
	options.size = sizeof options;
	options.carriers = 1;
	options.control_path = "";
	options.unwind = argc > 1;
	if (argc > 1)
		return fiber_run(swallows, nullptr, &options, nullptr);
	run("by default", middle, nullptr, "YXL", 0);
	run("by default, failing", middle, &told, "YXL", -EIO);
	run("by a flag", spawn_with_flag, nullptr, "cb!aYXL", 0);
	options.unwind = true;
	run("by the option", middle, nullptr, "cb!aYXL", 0);
	run("by the option, failing", middle, &told, "cb!aYXL", -EIO);
	run("handlers that exit", exits_in_handlers, nullptr, "ahhX", -EPROTO);
	run("a destructor that exits", exits_while_unwound, nullptr, "b", 0);
	run("a return", returns, nullptr, "a", 0);
	run("in a catch block", throws_and_exits, nullptr, "ba", 0);
	run("a background fiber", leaves_background, nullptr, "a", 0);
	options.carriers = 4;
	run("a background fiber, 4 carriers", leaves_background, nullptr, "a", 0);
	run("many on 4 carriers", many, nullptr, "", 0);
	check("guards", open_guards == 0);
	return failures ? 1 : 0;
}
