#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-posix-keys.sh [BUILD] - values of pthread_setspecific(3) in fibers, linked with libfiber-posix and preloaded
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written.
. "$(dirname "$0")/tap.sh"

headers="-I$build/include -Ilibfiber/include -Ilibfiber-posix/include"
shared="-L$build/lib -Wl,-rpath,$build/lib"

# One carrier, so that all fibers are one thread to the C library. usage: keys CASE. It prints what happened.
cat >"$tmp/keys.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <fiber.h>

#define N    10
#define KEYS 50 /* the C library keeps the first 32 in another place */

static pthread_key_t keys[KEYS], early;
static int ended[KEYS], rounds;

/* Before all constructors. */
static void make_early(int argc, char **argv, char **envp)
{
	(void)argc, (void)argv, (void)envp;
	pthread_key_create(&early, NULL);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = make_early;

static void end(void *value)
{
	ended[(intptr_t)value % KEYS]++;
}

static void *join(struct fiber *fiber)
{
	struct fiber_result result = {0};

	fiber_join(fiber, &result, FIBER_FOREVER);
	return result.value;
}

static void *spawn_and_join(fiber_fn *fn, void *arg)
{
	struct fiber *fiber;

	fiber_spawn(fn, arg, &fiber);
	return join(fiber);
}

/* -- each fiber has its own -- */

static int set_all(intptr_t base)
{
	int wrong = pthread_getspecific(early) != NULL;

	for (int i = 0; i < KEYS; i++)
		wrong += pthread_getspecific(keys[i]) != NULL;
	errno = 77;
	for (int i = 0; i < KEYS; i++)
		wrong += pthread_setspecific(keys[i], (void *)(base + i)) != 0;
	wrong += pthread_setspecific(early, (void *)base) != 0;
	return wrong + (errno != 77);
}

static int see_all(intptr_t base)
{
	int wrong = pthread_getspecific(early) != (void *)base;

	for (int i = 0; i < KEYS; i++)
		wrong += pthread_getspecific(keys[i]) != (void *)(base + i);
	return wrong;
}

static void *use_all(void *arg)
{
	const intptr_t base = KEYS * ((intptr_t)arg + 1);
	int wrong = set_all(base);

	for (int i = 0; i < 5; i++) {
		fiber_yield();
		usleep(10);
		wrong += see_all(base);
	}
	return (void *)(intptr_t)wrong;
}

static void each(void)
{
	struct fiber *fibers[N];
	intptr_t wrong = 0;
	pthread_t thread;
	void *value;

	for (int i = 0; i < KEYS; i++)
		pthread_key_create(&keys[i], end);
	for (intptr_t i = 0; i < N; i++)
		fiber_spawn(use_all, (void *)i, &fibers[i]);
	pthread_create(&thread, NULL, use_all, (void *)N);
	for (int i = 0; i < N; i++)
		wrong += (intptr_t)join(fibers[i]);
	pthread_join(thread, &value);
	printf("wrong %ld, of the thread %ld, of another fiber %d\n", (long)wrong, (long)(intptr_t)value,
	       pthread_getspecific(keys[0]) != NULL);
	for (int i = 1; i < KEYS; i++)
		wrong += ended[i] != ended[0];
	printf("ended %d, others %ld\n", ended[0], (long)wrong);
}

/* -- the same number, another key -- */

static void again(void)
{
	pthread_key_t before, after;

	pthread_key_create(&before, end);
	pthread_setspecific(before, &before);
	pthread_key_delete(before);
	printf("deleted: %d", pthread_getspecific(before) != NULL);
	pthread_key_create(&after, end);
	printf(", same number %d, value %d, ended %d\n", before == after, pthread_getspecific(after) != NULL, ended[0]);
	pthread_setspecific(after, &after);
	printf("value %d, invalid: %s, %d\n", pthread_getspecific(after) == &after,
	       strerror(pthread_setspecific(PTHREAD_KEYS_MAX + 5, &after)), pthread_getspecific(PTHREAD_KEYS_MAX + 5) != NULL);
}

/* -- the end -- */

static void set_others(void *value)
{
	printf(" %ld", (long)(intptr_t)value);
	usleep(10);
	if ((intptr_t)value < KEYS / 10)
		pthread_setspecific(keys[(intptr_t)value * 10], (void *)((intptr_t)value + 1));
}

static void set_again(void *value)
{
	rounds++;
	pthread_setspecific(early, value);
}

static void *set_and(void *arg)
{
	const char *const how = arg;

	printf("%s:", how);
	pthread_setspecific(keys[1], (void *)1);
	if (strcmp(how, "rounds") == 0)
		pthread_setspecific(early, (void *)1);
	if (strcmp(how, "deleted") == 0)
		pthread_key_delete(keys[1]);
	if (strcmp(how, "unset") == 0)
		pthread_setspecific(keys[1], NULL);
	if (strcmp(how, "exit") == 0)
		fiber_exit(NULL);
	if (strcmp(how, "fail") == 0)
		fiber_fail(-EIO, NULL);
	if (strcmp(how, "cancelled") == 0) {
		fiber_cancel(fiber_self());
		if (usleep(1000000) < 0 && errno == ECANCELED)
			fiber_exit(NULL);
	}
	return arg;
}

static void ends(void)
{
	const char *const ways[] = {"return", "exit", "fail", "cancelled", "unset", "rounds", "deleted"};

	for (int i = 0; i < KEYS; i++)
		pthread_key_create(&keys[i], set_others);
	pthread_key_delete(early);
	pthread_key_create(&early, set_again);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		spawn_and_join(set_and, (void *)ways[i]);
		puts("");
	}
	printf("rounds %d\n", rounds == PTHREAD_DESTRUCTOR_ITERATIONS);
}

/* -- C11 -- */

static tss_t c11_key;

static void *use_c11(void *arg)
{
	int wrong = tss_get(c11_key) != NULL;

	wrong += tss_set(c11_key, arg) != thrd_success;
	fiber_yield();
	return (void *)(intptr_t)(wrong + (tss_get(c11_key) != arg));
}

static void c11(void)
{
	struct fiber *fibers[N];
	intptr_t wrong = 0;

	tss_create(&c11_key, end);
	for (intptr_t i = 0; i < N; i++)
		fiber_spawn(use_c11, (void *)(i + 1), &fibers[i]);
	for (int i = 0; i < N; i++)
		wrong += (intptr_t)join(fibers[i]);
	tss_delete(c11_key);
	printf("wrong %ld, ended %d %d, deleted: %d\n", (long)wrong, ended[1], ended[N], tss_set(c11_key, "value"));
}

/* -- what stays the C library's -- */

static void *(*c_library_get)(pthread_key_t);

static void *use_own(void *arg)
{
	int wrong = pthread_getspecific(early) != NULL;

	pthread_setspecific(early, arg);
	fiber_yield();
	wrong += pthread_getspecific(early) != arg || c_library_get(early) != arg;
	return (void *)(intptr_t)wrong;
}

static void others(void)
{
	void *const c_library = dlopen("libc.so.6", RTLD_LAZY);
	const struct fiber_attr own = {.size = sizeof own, .flags = FIBER_OWN_TLS};
	int (*create)(pthread_key_t *, void (*)(void *));
	struct fiber *fiber;
	pthread_key_t key;
	int rc;

	*(void **)&c_library_get = dlsym(c_library, "pthread_getspecific");
	*(void **)&create = dlsym(c_library, "pthread_key_create");
	create(&key, NULL);
	printf("made elsewhere: %d", pthread_setspecific(key, "value"));
	printf(" %d %s\n", c_library_get(key) == pthread_getspecific(key), (char *)pthread_getspecific(key));
	pthread_setspecific(early, "mine");
	printf("the carrier has it: %d\n", c_library_get(early) != NULL);
	rc = fiber_spawn_attr(&own, use_own, "own", &fiber);
	printf("own thread-locals: %ld\n", rc == 0 ? (long)(intptr_t)join(fiber) : rc == -ENOTSUP ? 0L : (long)rc);
	printf("still %s\n", (char *)pthread_getspecific(early));
}

/* -- fork -- */

static void forks(void)
{
	pthread_key_t unset;
	int status;
	pid_t pid;

	c_library_get = NULL;
	pthread_key_create(&unset, NULL);
	for (int i = 0; i < KEYS; i++)
		pthread_key_create(&keys[i], end);
	set_all(KEYS);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		int wrong = see_all(KEYS) + (pthread_getspecific(unset) != NULL);

		pthread_setspecific(keys[3], "set");
		_exit(wrong + (pthread_getspecific(keys[3]) == NULL));
	}
	waitpid(pid, &status, 0);
	printf("child %d, parent %d\n", status, see_all(KEYS));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"each", each}, {"again", again}, {"ends", ends}, {"c11", c11}, {"others", others}, {"forks", forks}};

static void *run_case(void *name)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(name, cases[i].name))
			cases[i].run();
	return NULL;
}

int main(int argc, char **argv)
{
	const struct fiber_runtime_options options = {.size = sizeof options, .carriers = 1, .control_path = ""};

	return argc != 2 || fiber_run(run_case, argv[1], &options, NULL) < 0;
}
END

# An allocator that remembers each thread that calls it, as jemalloc does, and says so if that is a fiber.
cat >"$tmp/allocator.c" <<'END'
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *fiber_self(void);

static __thread int known;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void *value)
{
	*(int *)value = 0;
	if (fiber_self())
		(void)!write(1, "a fiber ends as a thread\n", 25);
}

static void make_key(void)
{
	pthread_key_create(&key, forget);
}

void *malloc(size_t size)
{
	if (!known) {
		known = 1;
		pthread_once(&once, make_key);
		pthread_setspecific(key, &known);
		if (fiber_self())
			(void)!write(1, "a fiber comes as a thread\n", 26);
	}
	return __libc_malloc(size);
}
END

cat >"$tmp/expected.each" <<'END'
wrong 0, of the thread 0, of another fiber 0
ended 11, others 0
END
cat >"$tmp/expected.again" <<'END'
deleted: 0, same number 1, value 0, ended 0
value 1, invalid: Invalid argument, 0
END
cat >"$tmp/expected.ends" <<'END'
return: 1 2 3 4 5
exit: 1 2 3 4 5
fail: 1 2 3 4 5
cancelled: 1 2 3 4 5
unset:
rounds: 1 2 3 4 5
deleted:
rounds 1
END
cat >"$tmp/expected.c11" <<'END'
wrong 0, ended 1 1, deleted: 2
END
cat >"$tmp/expected.others" <<'END'
made elsewhere: 0 1 value
the carrier has it: 0
own thread-locals: 0
still mine
END
cat >"$tmp/expected.forks" <<'END'
child 0, parent 0
END

# shellcheck disable=SC2086 # options
"$cc" -O2 $headers "$tmp/keys.c" -o "$tmp/linked" $shared -lfiber-posix -lfiber || exit 1
# shellcheck disable=SC2086 # options
"$cc" -O2 $headers "$tmp/keys.c" -o "$tmp/without" $shared -lfiber || exit 1

with_allocator() {
	# shellcheck disable=SC2086 # options
	"$cc" -O2 -shared -fPIC "$tmp/allocator.c" -o "$tmp/allocator.so" $shared -lfiber || return 1
	prints "$tmp/expected.each" env LD_PRELOAD="$tmp/allocator.so" "$tmp/linked" each
}

for case in each again ends c11 others forks; do
	prove "values of fibers, linked: $case" prints "$tmp/expected.$case" "$tmp/linked" "$case"
	prove "values of fibers, preloaded: $case" prints "$tmp/expected.$case" env LD_PRELOAD="$build/lib/libfiber-posix.so" "$tmp/without" "$case"
done
prove "an allocator remembers carriers, not fibers" with_allocator
echo "1..$count"
exit "$failed"
