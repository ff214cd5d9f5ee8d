#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-posix-threads.sh [BUILD] - locks of threads in fibers, in each way to link libfiber-posix: C, C++, preloaded, static
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written.
. "$(dirname "$0")/tap.sh"

headers="-I$build/include -Ilibfiber/include -Ilibfiber-posix/include"
shared="-L$build/lib -Wl,-rpath,$build/lib"
uring=$(pkg-config --libs liburing 2>/dev/null)

# One carrier. A fiber parks while it has the mutex that the others want: in the C library that would be for ever.
# With -DTHREADS it is an old program that knows no fibers; libfiber-posix is preloaded, and nothing changes.
cat >"$tmp/locks.c" <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>
#ifndef THREADS
#include <fiber.h>
#endif
#ifdef BY_HAND
#include <fiber/posix.h>
#define pthread_mutex_lock     fiber_posix_pthread_mutex_lock
#define pthread_mutex_unlock   fiber_posix_pthread_mutex_unlock
#define pthread_cond_wait      fiber_posix_pthread_cond_wait
#define pthread_cond_broadcast fiber_posix_pthread_cond_broadcast
#define pthread_rwlock_wrlock  fiber_posix_pthread_rwlock_wrlock
#define pthread_rwlock_unlock  fiber_posix_pthread_rwlock_unlock
#define pthread_once	       fiber_posix_pthread_once
#define pthread_barrier_init   fiber_posix_pthread_barrier_init
#define pthread_barrier_wait   fiber_posix_pthread_barrier_wait
#define sem_wait	       fiber_posix_sem_wait
#define sem_post	       fiber_posix_sem_post
#define usleep		       fiber_posix_usleep
#define mtx_lock(m)	       fiber_posix_pthread_mutex_lock((pthread_mutex_t *)(m))
#define mtx_unlock(m)	       fiber_posix_pthread_mutex_unlock((pthread_mutex_t *)(m))
#endif

#define N      6
#define ROUNDS 50

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static mtx_t c11;
static sem_t sem;
static int counts[4], calls, arrived;

static void call(void)
{
	usleep(1000);
	calls++;
}

static void add(int i)
{
	const int seen = counts[i];

	usleep(10);
	counts[i] = seen + 1;
}

static void *work(void *arg)
{
	pthread_barrier_wait(&barrier);
	pthread_once(&once, call);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		add(0);
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_wrlock(&rwlock);
		add(1);
		pthread_rwlock_unlock(&rwlock);
		sem_wait(&sem);
		add(2);
		sem_post(&sem);
		mtx_lock(&c11);
		add(3);
		mtx_unlock(&c11);
	}
	pthread_mutex_lock(&mutex);
	if (++arrived == N + 1)
		pthread_cond_broadcast(&cond);
	while (arrived <= N)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

int main(void)
{
	pthread_t thread;
#ifdef THREADS
	pthread_t threads[N];
#else
	const struct fiber_runtime_options options = {.size = sizeof options, .carriers = 1, .control_path = ""};
	struct fiber *fibers[N];
	struct fiber_runtime *rt;
#endif

	/* Before there are fibers. */
	pthread_barrier_init(&barrier, NULL, N + 1);
	sem_init(&sem, 0, 1);
	mtx_init(&c11, mtx_plain);
#ifdef THREADS
	for (int i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, work, NULL);
#else
	if (fiber_runtime_start(&options, &rt))
		return 1;
	for (int i = 0; i < N; i++)
		fiber_runtime_spawn(rt, NULL, work, NULL, &fibers[i]);
#endif
	pthread_create(&thread, NULL, work, NULL);
	for (int i = 0; i < N; i++) {
#ifdef THREADS
		pthread_join(threads[i], NULL);
#else
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
#endif
	}
	pthread_join(thread, NULL);
	printf("%d %d %d %d %d\n", counts[0], counts[1], counts[2], counts[3], calls);
	return 0;
}
END

cat >"$tmp/locks.cc" <<'END'
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <unistd.h>

#include <fiber.h>

static std::mutex mutex;
static std::recursive_mutex again;
static std::shared_mutex readers;
static std::condition_variable cond;
static std::once_flag once;
static int count, nested, written, calls, turn;

static void call()
{
	calls++;
	usleep(1000);
	if (calls == 1)
		throw 1;
}

static void *work(void *arg)
{
	const int me = (int)(long)arg;

	for (;;) {
		try {
			std::call_once(once, call);
			break;
		} catch (int) {
		}
	}
	for (int i = 0; i < 50; i++) {
		std::unique_lock<std::mutex> lock(mutex);
		cond.wait(lock, [me] { return turn % 4 == me; });
		const int seen = count;
		usleep(10);
		count = seen + 1;
		turn++;
		cond.notify_all();
		lock.unlock();
		{
			std::lock_guard<std::recursive_mutex> outer(again), inner(again);
			const int before = nested;
			usleep(10);
			nested = before + 1;
		}
		std::unique_lock<std::shared_mutex> writer(readers);
		const int old = written;
		usleep(10);
		written = old + 1;
	}
	return NULL;
}

static void *root(void *arg)
{
	struct fiber *fibers[4];

	for (long i = 0; i < 4; i++)
		fiber_spawn(work, (void *)i, &fibers[i]);
	for (int i = 0; i < 4; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	return arg;
}

int main()
{
	struct fiber_runtime_options options = {};

	options.size = sizeof options;
	options.carriers = 1;
	options.control_path = "";
	if (fiber_run(root, NULL, &options, NULL))
		return 1;
	std::printf("%d %d %d %d\n", count, nested, written, calls);
	return 0;
}
END

# Three fibers and a thread take turns at a variable of C++20, which waits and wakes by futex(2) through syscall(2).
cat >"$tmp/turns.cc" <<'END'
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fiber.h>

static std::atomic<int> turn;
static int count;

static void *take_turns(void *arg)
{
	const int me = (int)(long)arg;

	for (int i = 0; i < 100; i++) {
		for (int now = turn; now % 4 != me; now = turn)
			turn.wait(now);
		count++;
		turn++;
		turn.notify_all();
	}
	return NULL;
}

int main(int, char **argv)
{
	struct fiber_runtime_options options = {};
	struct fiber_runtime *rt;
	struct fiber *fibers[3];

	options.size = sizeof options;
	options.carriers = (unsigned)std::atoi(argv[1]);
	options.control_path = "";
	if (fiber_runtime_start(&options, &rt))
		return 1;
	for (long i = 0; i < 3; i++)
		fiber_runtime_spawn(rt, NULL, take_turns, (void *)i, &fibers[i]);
	std::thread thread(take_turns, (void *)3L);
	for (int i = 0; i < 3; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	thread.join();
	std::printf("%d\n", count);
	return 0;
}
END

# Two fibers that cross, and a thread behind them.
cat >"$tmp/cross.c" <<'END'
#include <fiber.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int taken;

static void *cross(void *arg)
{
	pthread_mutex_t *const a = arg ? &first : &second, *const b = arg ? &second : &first;

	pthread_mutex_lock(a);
	taken++;
	while (taken < 2)
		usleep(1000);
	pthread_mutex_lock(b);
	return arg;
}

static void *come_late(void *arg)
{
	while (taken < 2)
		usleep(1000);
	pthread_mutex_lock(&first);
	return arg;
}

int main(void)
{
	const struct fiber_runtime_options options = {.size = sizeof options, .carriers = 2};
	const struct fiber_attr attr[2] = {{.size = sizeof attr[0], .name = "left"}, {.size = sizeof attr[0], .name = "right"}};
	struct fiber_runtime *rt;
	pthread_t thread;

	if (fiber_runtime_start(&options, &rt))
		return 1;
	for (long i = 0; i < 2; i++)
		fiber_runtime_spawn(rt, &attr[i], cross, (void *)i, NULL);
	pthread_create(&thread, NULL, come_late, NULL);
	while (taken < 2)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	pause();
}
END

# Fibers of one carrier, and the thread of a library that its constructor made before main(). Children, and the end.
cat >"$tmp/ends.c" <<'END'
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fiber.h>

#include "early.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void at_exit(void)
{
	if (write(1, "atexit\n", 7) != 7)
		_exit(99);
}

static void *ask(void *arg)
{
	long right = 0;

	for (int i = 0; i < 20; i++)
		right += early_ask(EARLY_DOUBLE, i) == 2 * i;
	return (void *)(right + (arg != NULL));
}

static void *wait_long(void *arg)
{
	pause();
	return arg;
}

/* The child is a plain thread. */
static void child(int kind)
{
	pthread_t thread;
	void *value = NULL;

	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, wait_long, NULL);
	pthread_cancel(thread);
	pthread_join(thread, &value);
	pthread_mutex_unlock(&mutex);
	usleep(1000);
	if (kind == 0)
		exit(value == PTHREAD_CANCELED ? 4 : 98);
	execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
	_exit(97);
}

static int status_of(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *root(void *arg)
{
	char *const argv[] = {"sh", "-c", "exit 7", NULL};
	struct fiber_result r;
	struct fiber *fibers[6];
	long right = 0;
	pid_t pid;

	for (int i = 0; i < 6; i++)
		fiber_spawn(ask, NULL, &fibers[i]);
	for (int i = 0; i < 6; i++) {
		fiber_join(fibers[i], &r, FIBER_FOREVER);
		right += (long)r.value;
	}
	printf("%ld are right\n", right);
	for (int kind = 0; kind < 2; kind++) {
		fflush(stdout);
		pid = fork();
		if (!pid)
			child(kind);
		printf("child %d\n", status_of(pid));
	}
	posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, NULL);
	printf("spawned %d\n", status_of(pid));
	pid = vfork();
	if (!pid)
		_exit(8);
	printf("vfork %d\n", status_of(pid));
	printf("child of the thread %d\n", early_ask(EARLY_FORK, 9));
	fflush(stdout);
	exit(10);
	return arg;
}

int main(void)
{
	const struct fiber_runtime_options options = {.size = sizeof options, .carriers = 1, .control_path = ""};

	atexit(at_exit);
	return fiber_run(root, NULL, &options, NULL) < 0;
}
END

# says EXPECTED COMMAND...
says() {
	expected=$1
	shift
	timeout 60 "$@" >"$tmp/out" || return 1
	cat "$tmp/out"
	[ "$(cat "$tmp/out")" = "$expected" ]
}

locks="350 350 350 350 1"

in_c() {
	# shellcheck disable=SC2086 # options
	"$cc" -O2 $headers "$tmp/locks.c" -o "$tmp/locks" $shared -lfiber-posix -lfiber && says "$locks" "$tmp/locks"
}

in_cxx() {
	# shellcheck disable=SC2086 # options
	"${CXX:-c++}" -O2 $headers "$tmp/locks.cc" -o "$tmp/locks.cxx" $shared -lfiber-posix -lfiber &&
		says "200 200 200 2" "$tmp/locks.cxx"
}

by_futex() {
	# shellcheck disable=SC2086 # options
	"${CXX:-c++}" -std=c++20 -O2 $headers "$tmp/turns.cc" -o "$tmp/turns" $shared -lfiber-posix -lfiber &&
		says 400 "$tmp/turns" 1 && says 400 "$tmp/turns" 2
}

by_hand_static() {
	# shellcheck disable=SC2086 # options
	"$cc" -O2 -static -DBY_HAND $headers "$tmp/locks.c" -o "$tmp/static" "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" \
		$uring && says "$locks" "$tmp/static"
}

in_archive() {
	# shellcheck disable=SC2086 # options
	"$cc" -O2 -DBY_HAND $headers "$tmp/locks.c" -o "$tmp/archive" "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" \
		$uring && says "$locks" "$tmp/archive"
}

preloaded() {
	"$cc" -O2 -DTHREADS "$tmp/locks.c" -o "$tmp/threads" &&
		says "$locks" env LD_PRELOAD="$build/lib/libfiber-posix.so" LD_LIBRARY_PATH="$build/lib" "$tmp/threads"
}

# ends_well NAME LIBRARIES...
ends_well() {
	program=$tmp/$1
	shift
	# shellcheck disable=SC2086 # options
	"$cc" -O2 $headers -Ifixtures/threaded "$tmp/ends.c" -o "$program" "$@" -Wl,-rpath,"$tmp:$build/lib" || return 1
	timeout 60 "$program" >"$tmp/out"
	echo "exit $?" >>"$tmp/out"
	diff "$tmp/out" - <<'END'
120 are right
atexit
child 4
child 6
spawned 7
vfork 8
child of the thread 9
atexit
exit 10
END
}

# The library's constructor runs after that of libfiber-posix, and before it.
ends_once() {
	"$cc" -O2 -fPIC -shared -o "$tmp/libearly.so" fixtures/threaded/early.c &&
		ends_well ends -L"$tmp" -learly -L"$build/lib" -lfiber-posix -lfiber &&
		ends_well ends-other -L"$build/lib" -lfiber-posix -lfiber -L"$tmp" -learly
}

# traced NAME WORD...: strace of the command from "start" on. NAME.alone: until "threads". NAME.threads: the rest, and all other
# threads, sorted, without futex(2), whose calls depend on who comes first, and gettid(2): in libfiber a thread that waits for the
# first time asks for its number. Addresses, ports, numbers of threads and what is given back of a stack are left out.
traced() {
	program=$1
	shift
	rm -f "$tmp/trace".*
	strace -ff -o "$tmp/trace" "$@" >/dev/null || return 1
	sed -e 's/0x[0-9a-f]\{6,\}/ADDRESS/g' -e 's/^getrandom("[^"]*"/getrandom(RANDOM/' -e 's/htons([0-9]*)/htons(PORT)/' \
		-e 's/^madvise(ADDRESS, [0-9]*/madvise(ADDRESS, SIZE/' \
		-e 's/parent_tid=\[[0-9]*\]}, 88) = [0-9]*$/THREAD/' -i "$tmp/trace".*
	first=$(grep -l '^write(1, "start' "$tmp/trace".*)
	sed -e '1,/^write(1, "start/d' -e '/^write(1, "threads/,$d' "$first" >"$tmp/$program.alone"
	sed -e '1,/^write(1, "threads/d' "$first" >"$tmp/trace.rest"
	rm "$first"
	sort "$tmp/trace".* | grep -v -e '^futex(' -e '^gettid()' >"$tmp/$program.threads"
}

# same_calls NAME WORD...: as those of the plain program
same_calls() {
	traced "$@" && diff "$tmp/bare.alone" "$tmp/$1.alone" && diff "$tmp/bare.threads" "$tmp/$1.threads"
}

makes_the_same_calls() {
	command -v strace >/dev/null || {
		echo "strace is not installed: make deps-bench"
		return 77
	}
	preload="$build/lib/libfiber-posix.so.0 $build/lib/libfiber.so.0"
	"$cc" -O2 fixtures/threaded/ordinary.c -o "$tmp/ordinary" -pthread &&
		"$cc" -O2 fixtures/threaded/ordinary.c -o "$tmp/ordinary-linked" -pthread -L"$build/lib" -Wl,-rpath,"$build/lib" \
			-Wl,--no-as-needed -lfiber-posix -lfiber &&
		traced bare "$tmp/ordinary" && [ "$(wc -l <"$tmp/bare.alone")" -ge 35 ] && [ "$(grep -c '^clone3\?(' "$tmp/bare.threads")" -eq 4 ] &&
		same_calls linked "$tmp/ordinary-linked" && same_calls preloaded -E "LD_PRELOAD=$preload" "$tmp/ordinary"
}

# A library that a fiber loads waits for what another fiber of the carrier writes.
runs_in_later_libraries() {
	cat >"$tmp/later.c" <<'END'
#include <dlfcn.h>
#include <fiber.h>
#include <stdio.h>
#include <unistd.h>

static int (*step)(int fd);
static int ends[2];

static void *wait_there(void *arg)
{
	return (void *)(long)(step(ends[0]) > 0 ? 1 : (long)arg);
}

static void *start(void *arg)
{
	void *module = dlopen(arg, RTLD_NOW);
	struct fiber_result r = {NULL, 0};
	struct fiber *f;

	if (!module || pipe(ends) < 0)
		return arg;
	*(void **)&step = dlsym(module, "module_step");
	fiber_spawn(wait_there, NULL, &f);
	while (fiber_state(f) != FIBER_SUSPENDED)
		fiber_yield();
	if (write(ends[1], "a", 1) == 1 && fiber_join(f, &r, FIBER_FOREVER) == 0 && r.value)
		puts("1 of 1");
	return arg;
}

int main(int argc, char **argv)
{
	const struct fiber_runtime_options o = {.size = sizeof o, .carriers = 1, .control_path = ""};

	return fiber_run(start, argv[argc - 1], &o, NULL) < 0;
}
END
	# shellcheck disable=SC2086 # options
	"$cc" -O2 -fPIC -shared -o "$tmp/module.so" fixtures/threaded/module.c &&
		"$cc" -O2 $headers "$tmp/later.c" -o "$tmp/later" $shared -Wl,--no-as-needed -lfiber-posix -lfiber &&
		[ "$(timeout 20 "$tmp/later" "$tmp/module.so")" = "1 of 1
destroy 106 106" ]
}

deadlock_is_named() {
	# shellcheck disable=SC2086 # options
	"$cc" -O2 -g $headers "$tmp/cross.c" -o "$tmp/cross" $shared -lfiber-posix -lfiber || return 1
	"$tmp/cross" >"$tmp/ready" &
	crossed=$!
	for _ in $(seq 200); do
		grep -q ready "$tmp/ready" && break
		sleep 0.1
	done
	# They are about to wait.
	for _ in $(seq 200); do
		"$build/bin/fiberctl" deadlock "$crossed" >"$tmp/fiberctl"
		[ $? -eq 3 ] && break
		sleep 0.1
	done
	for tool in fiberctl fibertrace; do
		"$build/bin/$tool" deadlock "$crossed" >"$tmp/$tool"
		echo "exit $?" >>"$tmp/$tool"
	done
	kill "$crossed"
	cat "$tmp/fiberctl" "$tmp/fibertrace"
	for tool in fiberctl fibertrace; do
		grep -q '^exit 3$' "$tmp/$tool" && grep -q '"left" .*pthread-mutex@0x.* held by' "$tmp/$tool" &&
			grep -q '"right" .*pthread-mutex@0x.* held by' "$tmp/$tool" && grep -q '^1 deadlock' "$tmp/$tool" || return 1
	done
}

prove "a fiber that parks with a lock stops no other, in C" in_c
prove "a deadlock of fibers and pthread mutexes is found and named" deadlock_is_named
prove "a fiber that parks with a lock stops no other, in C++" in_cxx
prove "fibers and a thread wait by futex(2)" by_futex
prove "locks by hand in a static program" by_hand_static
prove "locks by hand, linked with the archive" in_archive
prove "a thread that was made before main, children and the end of the program" ends_once
prove "calls of a library that a fiber loads park" runs_in_later_libraries
prove "threads of a program without fibers lock as ever" preloaded
prove "a program for threads without fibers makes the same system calls, linked and preloaded" makes_the_same_calls
echo "1..$count"
exit $failed
