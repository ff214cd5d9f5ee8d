/* SPDX-License-Identifier: MIT */
/*
 * posix.c - what the names that libfiber-posix takes cost
 *
 * Each line compares two ways to do the same: they take turns, and each counts with its fastest
 * turn. In a plain thread a call by name is compared with the same function of the C library. In a
 * fiber a call by name is compared with the call of libfiber, on a socket that is ready.
 *
 * With an argument it compares yields alone. posix_by_call does so where only arch_prctl(2) moves the
 * thread pointer.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber.h>
#include <fiber/posix.h>

#define CALLS 2000
#define TURNS 400

static int fds[2];
static char bytes[64];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*c_library_read)(int, void *, size_t);
static int (*c_library_lock)(pthread_mutex_t *), (*c_library_unlock)(pthread_mutex_t *);
static void *(*c_library_get)(pthread_key_t);

static pthread_key_t key;

static void by_name(void)
{
	(void)!read(fds[0], bytes, 0);
}

static void in_c_library(void)
{
	(void)!c_library_read(fds[0], bytes, 0);
}

static void by_names(void)
{
	(void)!write(fds[1], bytes, sizeof bytes);
	(void)!read(fds[0], bytes, sizeof bytes);
}

static void in_libfiber(void)
{
	(void)!fiber_write(fds[1], bytes, sizeof bytes, FIBER_FOREVER);
	(void)!fiber_read(fds[0], bytes, sizeof bytes, FIBER_FOREVER);
}

static void send_by_names(void)
{
	(void)!send(fds[1], bytes, sizeof bytes, MSG_NOSIGNAL);
	(void)!recv(fds[0], bytes, sizeof bytes, 0);
}

static void send_in_libfiber(void)
{
	(void)!fiber_send(fds[1], bytes, sizeof bytes, 0, FIBER_FOREVER);
	(void)!fiber_recv(fds[0], bytes, sizeof bytes, 0, FIBER_FOREVER);
}

static void lock_by_name(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void lock_in_c_library(void)
{
	c_library_lock(&mutex);
	c_library_unlock(&mutex);
}

static void get_by_name(void)
{
	(void)pthread_getspecific(key);
}

static void get_in_c_library(void)
{
	(void)c_library_get(key);
}

static double turn(void (*call)(void))
{
	const int64_t began = fiber_now();

	for (int i = 0; i < CALLS; i++)
		call();
	return (double)(fiber_now() - began) / CALLS;
}

static void compare(void (*ours)(void), void (*theirs)(void), double *ret_ours, double *ret_theirs)
{
	*ret_ours = *ret_theirs = 1e9;
	for (int i = 0; i < TURNS; i++) {
		const double a = turn(ours), b = turn(theirs);

		if (a < *ret_ours)
			*ret_ours = a;
		if (b < *ret_theirs)
			*ret_theirs = b;
	}
}

static void compare_gets(const char *what, const char *target)
{
	double ours, theirs;

	compare(get_by_name, get_in_c_library, &ours, &theirs);
	printf("%-40s %7.1f ns  C library %7.1f ns  +%.1f ns  (target %s)\n", what, ours, theirs,
	       ours - theirs, target);
}

static void *get_with_own_tls(void *arg)
{
	compare_gets("fiber: the same with FIBER_OWN_TLS", "2 ns");
	return arg;
}

static void compare_gets_in_fibers(void)
{
	const struct fiber_attr own = {.size = sizeof own, .flags = FIBER_OWN_TLS};
	struct fiber *fiber;

	pthread_setspecific(key, &key);
	compare_gets("fiber: get a value of a key", "10 ns");
	if (fiber_spawn_attr(&own, get_with_own_tls, NULL, &fiber) == 0)
		fiber_join(fiber, NULL, FIBER_FOREVER);
}

/* The C library's own lock costs the same in a fiber and in a thread. */
static void *in_fiber(void *arg)
{
	double ours, theirs;

	compare_gets_in_fibers();
	compare(lock_by_name, lock_in_c_library, &ours, &theirs);
	printf("fiber: lock and unlock of a free mutex   %7.1f ns  C library %7.1f ns  "
	       "%.3f x  (target 1.3 x)\n",
	       ours, theirs, ours / theirs);
	compare(by_names, in_libfiber, &ours, &theirs);
	printf("fiber: write and read of a ready socket  %7.1f ns  libfiber  %7.1f ns  "
	       "%.3f x  (target 1.05 x)\n",
	       ours, theirs, ours / theirs);
	compare(send_by_names, send_in_libfiber, &ours, &theirs);
	printf("fiber: send and recv of a ready socket   %7.1f ns  libfiber  %7.1f ns  "
	       "%.3f x  (target 1.05 x)\n",
	       ours, theirs, ours / theirs);
	return arg;
}

/* -- two fibers that yield to each other, with thread-locals of their own or without -- */

#define HWCAP2_FSGSBASE 2u /* x86_64: a program may write the thread pointer itself */

#define YIELDS 20000
#define ROUNDS 60

static void *yield_often(void *arg)
{
	for (int i = 0; i < YIELDS; i++)
		fiber_yield();
	return arg;
}

/* *arg: ns for a yield, in: the flags. */
static void *yield_in_two(void *arg)
{
	double *const ns = arg;
	const struct fiber_attr attr = {.size = sizeof attr, .flags = (unsigned)*ns};
	struct fiber *other;
	int64_t began;

	if (fiber_spawn_attr(&attr, yield_often, NULL, &other) < 0)
		return NULL;
	fiber_yield();
	began = fiber_now();
	yield_often(NULL);
	*ns = (double)(fiber_now() - began) / (2 * YIELDS);
	fiber_join(other, NULL, FIBER_FOREVER);
	return arg;
}

/* Both fibers have the flags. */
static void *begin_yields(void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = (unsigned)*(double *)arg};
	struct fiber_result result = {NULL, 0};
	struct fiber *fiber;

	if (fiber_spawn_attr(&attr, yield_in_two, arg, &fiber) < 0)
		return NULL;
	fiber_join(fiber, &result, FIBER_FOREVER);
	return result.value;
}

/* In runtimes that take turns: a runtime without such fibers has nothing of them. */
static double fastest_yield(const struct fiber_runtime_options *one, unsigned flags, double before)
{
	double ns = flags;
	struct fiber_result result = {NULL, 0};

	if (fiber_run(begin_yields, &ns, one, &result) < 0 || !result.value)
		return before;
	return ns < before ? ns : before;
}

static void compare_yields(const struct fiber_runtime_options *one)
{
	const bool by_call = !(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE);
	double own = 1e9, without = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		without = fastest_yield(one, FIBER_MIGRATES, without);
		own = fastest_yield(one, FIBER_OWN_TLS, own);
	}
	printf("fiber: yield with FIBER_OWN_TLS%-9s %7.1f ns  without   %7.1f ns  +%.1f ns%s\n",
	       by_call ? " by call" : "", own, without, own - without,
	       by_call ? "" : "  (target 15 ns)");
}

int main(int argc, char **argv)
{
	const struct fiber_runtime_options one = {.size = sizeof one, .carriers = 1};
	void *const c_library = dlopen("libc.so.6", RTLD_LAZY);
	double ours, theirs;

	(void)argv;
	if (argc > 1)
		return compare_yields(&one), 0;
	*(void **)&c_library_read = c_library ? dlsym(c_library, "read") : NULL;
	*(void **)&c_library_lock = c_library ? dlsym(c_library, "pthread_mutex_lock") : NULL;
	*(void **)&c_library_unlock = c_library ? dlsym(c_library, "pthread_mutex_unlock") : NULL;
	*(void **)&c_library_get = c_library ? dlsym(c_library, "pthread_getspecific") : NULL;
	if (!c_library_read || !c_library_lock || !c_library_unlock || !c_library_get ||
	    !fiber_posix_linked() || pthread_key_create(&key, NULL) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return 1;
	compare(by_name, in_c_library, &ours, &theirs);
	printf("thread: read of 0 bytes                  %7.1f ns  C library %7.1f ns  "
	       "+%.1f ns  (target 2 ns)\n",
	       ours, theirs, ours - theirs);
	compare(lock_by_name, lock_in_c_library, &ours, &theirs);
	printf("thread: lock and unlock of a free mutex  %7.1f ns  C library %7.1f ns  "
	       "+%.1f ns  (target 4 ns for the two)\n",
	       ours, theirs, ours - theirs);
	compare_gets("thread: get a value of a key", "2 ns");
	compare_yields(&one);
	return fiber_run(in_fiber, NULL, &one, NULL) < 0;
}
