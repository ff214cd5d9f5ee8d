/* SPDX-License-Identifier: MIT */
/*
 * posix.c - what the names that libfiber-posix takes cost
 *
 * Each line compares two ways to do the same: they take turns, and each counts with its fastest
 * turn. In a plain thread a call by name is compared with the same function of the C library. In a
 * fiber a call by name is compared with the call of libfiber, on a socket that is ready.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
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

/* The C library's own lock costs the same in a fiber and in a thread. */
static void *in_fiber(void *arg)
{
	double ours, theirs;

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

int main(void)
{
	const struct fiber_runtime_options one = {.size = sizeof one, .carriers = 1};
	void *const c_library = dlopen("libc.so.6", RTLD_LAZY);
	double ours, theirs;

	*(void **)&c_library_read = c_library ? dlsym(c_library, "read") : NULL;
	*(void **)&c_library_lock = c_library ? dlsym(c_library, "pthread_mutex_lock") : NULL;
	*(void **)&c_library_unlock = c_library ? dlsym(c_library, "pthread_mutex_unlock") : NULL;
	if (!c_library_read || !c_library_lock || !c_library_unlock || !fiber_posix_linked() ||
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
	return fiber_run(in_fiber, NULL, &one, NULL) < 0;
}
