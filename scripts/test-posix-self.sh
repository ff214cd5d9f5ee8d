#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-posix-self.sh [BUILD] - pthread_self(3) and uselocale(3) in fibers, linked with libfiber-posix and preloaded
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written.
. "$(dirname "$0")/tap.sh"

headers="-I$build/include -Ilibfiber/include -Ilibfiber-posix/include"
shared="-L$build/lib -Wl,-rpath,$build/lib"

# usage: self CASE CARRIERS. It prints what happened.
cat >"$tmp/self.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <fiber.h>

#define N 100

static void *join(struct fiber *fiber)
{
	struct fiber_result result = {0};

	fiber_join(fiber, &result, FIBER_FOREVER);
	return result.value;
}

/* -- pthread_self() -- */

static pthread_t selves[N + 2];

static void *see_self(void *arg)
{
	pthread_t *const self = arg;
	intptr_t wrong = 0;

	*self = pthread_self();
	for (int i = 0; i < 5; i++) {
		fiber_yield();
		usleep(10);
		wrong += !pthread_equal(*self, pthread_self()) || !thrd_equal(*self, thrd_current());
	}
	return (void *)wrong;
}

static void distinct(void)
{
	struct fiber *fibers[N];
	intptr_t wrong = 0, same = 0;
	pthread_t thread;
	void *value;

	for (int i = 0; i < N; i++)
		fiber_spawn(see_self, &selves[i], &fibers[i]);
	pthread_create(&thread, NULL, see_self, &selves[N]);
	selves[N + 1] = pthread_self();
	for (int i = 0; i < N; i++)
		wrong += (intptr_t)join(fibers[i]);
	pthread_join(thread, &value);
	for (int i = 0; i < N + 2; i++)
		for (int k = 0; k < i; k++)
			same += pthread_equal(selves[i], selves[k]) != 0;
	printf("wrong %ld %ld, the same %ld, thread %d\n", (long)wrong, (long)(intptr_t)value, (long)same,
	       selves[N] == thread);
}

/* -- the calls that take one -- */

static volatile sig_atomic_t got, got_value, got_in;

static void note(int number, siginfo_t *info, void *context)
{
	(void)context;
	got = number;
	got_value = info->si_value.sival_int;
	got_in = fiber_self() != NULL;
}

static void await(void)
{
	while (!got)
		usleep(1000);
	printf("got %d\n", got == SIGUSR1);
	got = 0;
}

static const char *name(int rc)
{
	return rc == 0 ? "0" : strerrorname_np(rc);
}

static void *use_calls(void *arg)
{
	const pthread_t self = pthread_self();
	struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
	struct sched_param param;
	pthread_attr_t attr;
	clockid_t clock;
	cpu_set_t cpus;
	char text[16], here;
	size_t size;
	void *low;
	int policy;

	(void)arg;
	printf("setname %s", name(pthread_setname_np(self, "walks")));
	printf(", getname %s %s, fiber %s\n", name(pthread_getname_np(self, text, sizeof text)), text,
	       fiber_name(fiber_self()));
	printf("too long %s\n", name(pthread_setname_np(self, "a name that is too long")));
	printf("getattr %s", name(pthread_getattr_np(self, &attr)));
	pthread_attr_getstack(&attr, &low, &size);
	printf(", on its stack %d\n", &here >= (char *)low && &here < (char *)low + size);
	pthread_attr_destroy(&attr);
	printf("join %s, tryjoin %s, detach %s, cancel %s\n", name(pthread_join(self, NULL)),
	       name(pthread_tryjoin_np(self, NULL)), name(pthread_detach(self)), name(pthread_cancel(self)));
	printf("clock %s, getaffinity %s, setaffinity %s", name(pthread_getcpuclockid(self, &clock)),
	       name(pthread_getaffinity_np(self, sizeof cpus, &cpus)), name(pthread_setaffinity_np(self, sizeof cpus, &cpus)));
	printf(", getschedparam %s, setschedprio %s\n", name(pthread_getschedparam(self, &policy, &param)),
	       name(pthread_setschedprio(self, 0)));
	sigaction(SIGUSR1, &action, NULL);
	printf("kill 0 %s", name(pthread_kill(self, 0)));
	printf(", kill %s, invalid %s\n", name(pthread_kill(self, SIGUSR1)), name(pthread_kill(self, 1000)));
	await();
	printf("sigqueue %s\n", name(pthread_sigqueue(self, SIGUSR1, (union sigval){.sival_int = 7})));
	await();
	printf("value %d\n", (int)got_value);
	printf("raise %d\n", raise(SIGUSR1));
	await();
	sigaction(SIGSEGV, &action, NULL);
	printf("fault %s", name(pthread_kill(self, SIGSEGV)));
	printf(" in a fiber %d\n", got == SIGSEGV && got_in);
	fflush(stdout);
	return (void *)self;
}

static void *sees_another(void *arg)
{
	*(pthread_t *)arg = pthread_self();
	usleep(20000);
	return NULL;
}

static void calls(void)
{
	pthread_t other = 0;
	struct fiber *fiber;

	fiber_spawn(use_calls, NULL, &fiber);
	join(fiber);
	fiber_spawn(sees_another, &other, &fiber);
	while (!other)
		fiber_yield();
	printf("another: kill 0 %s, kill %s, join %s", name(pthread_kill(other, 0)), name(pthread_kill(other, SIGUSR1)),
	       name(pthread_join(other, NULL)));
	join(fiber);
	printf(", ended: kill %s\n", name(pthread_kill(other, SIGUSR1)));
}

/* A fiber with thread-locals of its own that pthread_create() has not made. */
static void own(void)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_OWN_TLS};
	struct fiber *fiber;
	int rc = fiber_spawn_attr(&attr, use_calls, NULL, &fiber);

	if (rc == 0)
		join(fiber);
	else
		printf("%s\n", name(-rc));
}

/* -- uselocale() -- */

static locale_t utf8;

static intptr_t sees(locale_t locale)
{
	return uselocale((locale_t)0) != locale || (MB_CUR_MAX > 1) != (locale == utf8) ||
	       strcmp(nl_langinfo(CODESET), locale == utf8 ? "UTF-8" : "ANSI_X3.4-1968") != 0;
}

static void *use_locale(void *arg)
{
	const locale_t mine = (intptr_t)arg % 2 ? utf8 : LC_GLOBAL_LOCALE;
	intptr_t wrong = sees(LC_GLOBAL_LOCALE);

	wrong += uselocale(mine) != LC_GLOBAL_LOCALE;
	for (int i = 0; i < 20; i++) {
		fiber_yield();
		usleep(10);
		wrong += sees(mine);
	}
	return (void *)wrong;
}

static void locales(void)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_OWN_TLS};
	struct fiber *fibers[N + 1];
	intptr_t wrong = 0;
	pthread_t thread;
	void *value;
	int n = N;

	utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
	for (intptr_t i = 0; i < N; i++)
		fiber_spawn(use_locale, (void *)i, &fibers[i]);
	if (fiber_spawn_attr(&attr, use_locale, (void *)1, &fibers[n]) == 0)
		n++;
	pthread_create(&thread, NULL, use_locale, (void *)1);
	for (int i = 0; i < n; i++) {
		wrong += (intptr_t)join(fibers[i]);
		wrong += sees(LC_GLOBAL_LOCALE);
	}
	pthread_join(thread, &value);
	printf("wrong %ld, of the thread %ld\n", (long)wrong, (long)(intptr_t)value);
	freelocale(utf8);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"distinct", distinct}, {"calls", calls}, {"own", own}, {"locales", locales}};

static void *run_case(void *name)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(name, cases[i].name))
			cases[i].run();
	return NULL;
}

int main(int argc, char **argv)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = argc == 3 ? (unsigned)atoi(argv[2]) : 0, .control_path = ""};

	return argc != 3 || fiber_run(run_case, argv[1], &options, NULL) < 0;
}
END

cat >"$tmp/expected.distinct" <<'END'
wrong 0 0, the same 0, thread 1
END
cat >"$tmp/expected.own" <<'END'
setname 0, getname 0 walks, fiber walks
too long ERANGE
getattr 0, on its stack 1
join EDEADLK, tryjoin EDEADLK, detach ESRCH, cancel ESRCH
clock ENOENT, getaffinity 0, setaffinity 0, getschedparam 0, setschedprio 0
kill 0 0, kill 0, invalid EINVAL
got 1
sigqueue 0
got 1
value 7
raise 0
got 1
fault 0 in a fiber 1
END
cp "$tmp/expected.own" "$tmp/expected.calls"
cat >>"$tmp/expected.calls" <<'END'
another: kill 0 0, kill 0, join ESRCH, ended: kill ESRCH
END
cat >"$tmp/expected.locales" <<'END'
wrong 0, of the thread 0
END

# shellcheck disable=SC2086 # options
"$cc" -O2 $headers "$tmp/self.c" -o "$tmp/linked" $shared -lfiber-posix -lfiber || exit 1
# shellcheck disable=SC2086 # options
"$cc" -O2 $headers "$tmp/self.c" -o "$tmp/without" $shared -lfiber || exit 1

for case in distinct calls own locales; do
	for carriers in 1 4; do
		prove "$case, linked, $carriers carriers" prints "$tmp/expected.$case" "$tmp/linked" "$case" "$carriers"
		prove "$case, preloaded, $carriers carriers" prints "$tmp/expected.$case" \
			env LD_PRELOAD="$build/lib/libfiber-posix.so" "$tmp/without" "$case" "$carriers"
	done
done
echo "1..$count"
exit "$failed"
