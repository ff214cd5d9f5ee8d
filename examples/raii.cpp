// SPDX-License-Identifier: MIT
// raii.cpp - C++: objects that join their fiber and unlock their mutex, also when an exception passes
#include <cstdio>
#include <stdexcept>

#include <fiber.h>

struct joined { // a fiber that its scope waits for
	fiber *f = nullptr;
	joined(fiber_fn *fn, void *arg)
	{
		if (fiber_spawn(fn, arg, &f) < 0)
			throw std::runtime_error("no fiber");
	}
	joined(const joined &) = delete;
	joined &operator=(const joined &) = delete;
	~joined()
	{
		FIBER_CANCEL_MASKED_SCOPE; // the fiber uses variables of this scope

		fiber_join(f, nullptr, FIBER_FOREVER);
	}
};

struct locked { // a mutex that its scope holds
	fiber_mutex &mutex;
	explicit locked(fiber_mutex &m) : mutex(m)
	{
		if (fiber_mutex_lock(&mutex, FIBER_FOREVER) < 0)
			throw std::runtime_error("cancelled");
	}
	locked(const locked &) = delete;
	locked &operator=(const locked &) = delete;
	~locked()
	{
		fiber_mutex_unlock(&mutex);
	}
};

static fiber_mutex lock; // zero-initialised is ready
static int total;

static void *add(void *number)
{
	const locked guard(lock);

	total += *static_cast<int *>(number);
	fiber_yield(); // the others wait for the mutex meanwhile
	return nullptr;
}

static void *start(void *)
{
	int numbers[] = {1, 2, 3};

	try {
		const joined a(add, &numbers[0]), b(add, &numbers[1]), c(add, &numbers[2]);

		throw std::runtime_error("left early"); // a, b and c are joined first
	} catch (const std::exception &e) {
		std::printf("%s, total %d\n", e.what(), total);
	}
	return nullptr;
}

int main()
{
	return fiber_run(start, nullptr, nullptr, nullptr) < 0;
}
