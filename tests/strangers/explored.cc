// SPDX-License-Identifier: MIT
//
// explored.cc - tests of libfiber-test in C++: exceptions are in flight while other fibers run
//
// unwinds: passes. lost: an exception leaves an account half changed. escapes: an exception leaves a fiber, if another fiber was
// first.
#include <cstring>
#include <stdexcept>

#include <fiber.h>
#include <fiber/test.h>

namespace
{

// Holds a mutex while it lives.
class guard
{
      public:
	explicit guard(fiber_mutex &m) : mutex(m)
	{
		fiber_test_assert(fiber_mutex_lock(&mutex, FIBER_FOREVER) == 0);
	}
	~guard()
	{
		fiber_mutex_unlock(&mutex);
	}
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

      private:
	fiber_mutex &mutex;
};

struct account {
	fiber_mutex mutex = fiber_mutex();
	int balance = 0, reserved = 0, alive = 0;
	bool careful = true;
};

// Lets other fibers run while it is destroyed, which may be during unwinding.
class reservation
{
      public:
	reservation(account &from, int sum) : a(from), n(sum)
	{
		a.reserved += n;
		a.alive++;
	}
	~reservation()
	{
		fiber_yield();
		if (a.careful || kept)
			a.reserved -= n;
		a.alive--;
	}
	void keep()
	{
		kept = true;
	}
	reservation(const reservation &) = delete;
	reservation &operator=(const reservation &) = delete;

      private:
	account &a;
	int n;
	bool kept = false;
};

void pay(account &a, int sum)
{
	const guard held(a.mutex);
	reservation r(a, sum);

	fiber_yield();
	if (a.balance < sum)
		throw std::runtime_error("out of money");
	a.balance -= sum;
	r.keep();
}

// Catches, lets others run in the handler, throws again, catches again.
void *buy(void *arg)
{
	account &a = *static_cast<account *>(arg);

	for (int i = 0; i < 2; i++) {
		try {
			try {
				pay(a, 2);
			} catch (const std::exception &e) {
				fiber_yield();
				fiber_test_assert(std::strcmp(e.what(), "out of money") == 0);
				throw;
			}
		} catch (const std::runtime_error &) {
			fiber_yield();
		}
	}
	return nullptr;
}

void *earn(void *arg)
{
	account &a = *static_cast<account *>(arg);
	const guard held(a.mutex);

	a.balance += 4;
	return nullptr;
}

void trade(bool careful)
{
	account a;
	fiber *fibers[3];

	a.careful = careful;
	fiber_test_assert(fiber_spawn(buy, &a, &fibers[0]) == 0);
	fiber_test_assert(fiber_spawn(buy, &a, &fibers[1]) == 0);
	fiber_test_assert(fiber_spawn(earn, &a, &fibers[2]) == 0);
	for (fiber *f : fibers)
		fiber_test_assert(fiber_join(f, nullptr, FIBER_FOREVER) == 0);
	fiber_test_assert(a.alive == 0);
	fiber_test_assert(a.reserved == 0);
}

void unwinds(void *)
{
	trade(true);
}

void lost(void *)
{
	trade(false);
}

struct shop {
	bool open;
};

void *open_shop(void *arg)
{
	static_cast<shop *>(arg)->open = true;
	return nullptr;
}

void *enter(void *arg)
{
	if (!static_cast<shop *>(arg)->open)
		throw std::logic_error("the shop is closed");
	return nullptr;
}

void escapes(void *)
{
	shop s = {false};
	fiber *opener, *customer;

	fiber_test_assert(fiber_spawn(open_shop, &s, &opener) == 0);
	fiber_test_assert(fiber_spawn(enter, &s, &customer) == 0);
	fiber_join(opener, nullptr, FIBER_FOREVER);
	fiber_join(customer, nullptr, FIBER_FOREVER);
}

} // namespace

int main(int argc, char *argv[])
{
	const fiber_test_case cases[] = {
		{"unwinds", unwinds, nullptr, nullptr},
		{"lost", lost, nullptr, nullptr},
		{"escapes", escapes, nullptr, nullptr},
	};

	return fiber_test_main(argc, argv, cases, 3);
}
