#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-shared-tls.sh [BUILD] - a module whose thread-local variables are shared by fibers of one carrier is named
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written.
. "$(dirname "$0")/tap.sh"

# A library with a thread-local variable, in which a fiber parks. Without TLS: the variable is an ordinary one.
cat >"$tmp/library.c" <<'END'
#include <unistd.h>

#ifdef TLS
static __thread
#else
static
#endif
volatile int calls;

int library_call(void)
{
	const int rc = usleep(100);

	/* Not the last call of the function, which would seem to come from its caller. */
	calls++;
	return rc;
}
END

# There are more fibers than carriers, so two are on one.
cat >"$tmp/program.c" <<'END'
#include <fiber.h>
#include <stdlib.h>
#include <string.h>

#define FIBERS 20

int library_call(void);

static _Atomic unsigned arrived;

static void *calls_once(void *arg)
{
	return library_call() ? arg : NULL;
}

static void *calls_until_all_do(void *arg)
{
	arrived++;
	do
		library_call();
	while (arrived < FIBERS);
	return arg;
}

static void *follow(void *arg)
{
	struct fiber *f;

	for (int i = 0; i < FIBERS; i++)
		if (fiber_spawn(calls_once, NULL, &f) < 0 || fiber_join(f, NULL, FIBER_FOREVER) < 0)
			abort();
	return arg;
}

static void *meet(void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = *(unsigned *)arg};
	struct fiber *f[FIBERS];

	for (int i = 0; i < FIBERS; i++)
		if (fiber_spawn_attr(&attr, calls_until_all_do, NULL, &f[i]) < 0)
			abort();
	for (int i = 0; i < FIBERS; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return arg;
}

int main(int argc, char **argv)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = (unsigned)atoi(argv[2]), .control_path = ""};
	unsigned flags = strcmp(argv[1], "own") ? 0 : FIBER_OWN_TLS;

	return argc != 3 || fiber_run(strcmp(argv[1], "follow") ? meet : follow, &flags, &options, NULL);
}
END

# compile NAME FLAG...: the library, and the program with it
compile() {
	name=$1
	shift
	"$cc" -std=gnu11 -O2 -Wall -Wextra -fPIC -shared "$@" -o "$tmp/lib$name.so" "$tmp/library.c" &&
		"$cc" -std=gnu11 -O2 -Wall -Wextra -Ilibfiber/include -o "$tmp/$name" "$tmp/program.c" -L"$build/lib" \
			-Wl,-rpath,"$build/lib" -Wl,-rpath,"$tmp" -lfiber-posix -lfiber -L"$tmp" -l"$name"
}

# says LINES PROGRAM CASE CARRIERS: standard error has so many lines, and each names the library
says() {
	"$tmp/$2" "$3" "$4" 2>"$tmp/lines" || return 1
	cat "$tmp/lines"
	[ "$(wc -l <"$tmp/lines")" = "$1" ] &&
		[ "$(grep -c "^libfiber-posix: fibers [0-9]* and [0-9]* of one carrier call from lib$2.so and share its thread-local variables; FIBER_OWN_TLS gives each fiber its own$" "$tmp/lines")" = "$1" ]
}

silent() {
	FIBER_SHARED_TLS=silent
	export FIBER_SHARED_TLS
	says 0 "$@"
	rc=$?
	unset FIBER_SHARED_TLS
	return $rc
}

compile keeps -DTLS && compile plain || exit 1
for carriers in 1 4; do
	prove "a library with thread-locals is named once, $carriers carriers" says 1 keeps meet "$carriers"
	prove "it is not if fibers follow each other, $carriers carriers" says 0 keeps follow "$carriers"
	prove "it is not if each fiber has its own, $carriers carriers" says 0 keeps own "$carriers"
	prove "it is not where FIBER_SHARED_TLS is silent, $carriers carriers" silent keeps meet "$carriers"
	prove "a library without thread-locals is not named, $carriers carriers" says 0 plain meet "$carriers"
done

echo "1..$count"
exit "$failed"
