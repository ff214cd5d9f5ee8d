#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-posix-streams.sh [BUILD] - streams of stdio in fibers, in each way to link libfiber-posix
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written.
. "$(dirname "$0")/tap.sh"

shared="-L$build/lib -Wl,-rpath,$build/lib"
uring=$(pkg-config --libs liburing 2>/dev/null)

# Two fibers on one carrier talk over pipes through streams. With HAND, by the names of <fiber/posix.h>.
cat >"$tmp/lines.c" <<'END'
#include <fiber.h>
#include <fiber/posix.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef HAND
#define fgets	fiber_posix_fgets
#define fprintf fiber_posix_fprintf
#define fflush	fiber_posix_fflush
#define fscanf	fiber_posix_fscanf
#define getline fiber_posix_getline
#define fread	fiber_posix_fread
#endif

static FILE *in[2], *out[2];

static void *answer(void *arg)
{
	volatile size_t size = 16;
	char line[16];
	int n = 0;

	while (n < 1000 && fgets(line, (int)size, in[1])) {
		n = atoi(line);
		fprintf(out[1], "%d %s\n", n, n % 2 ? "odd" : "even");
		fflush(out[1]);
	}
	return arg;
}

static int ask(int n)
{
	volatile size_t size = 4;
	char *line = NULL, word[8];
	size_t room = 0;
	int got = 0, good;

	fprintf(out[0], "%d\n", n);
	fflush(out[0]);
	switch (n % 3) {
	case 0:
		return fscanf(in[0], "%d %7[a-z]%*c", &got, word) == 2 && got == n;
	case 1:
		good = getline(&line, &room, in[0]) > 0 && atoi(line) == n;
		free(line);
		return good;
	default:
		good = fread(word, 1, size, in[0]) == 4 && (word[4] = 0, atoi(word)) == n % 10000;
		return good && fgets(word, 8, in[0]);
	}
}

static void *start(void *arg)
{
	int fds[2], good = 0;
	struct fiber *f;

	for (int i = 0; i < 2; i++) {
		if (pipe(fds) < 0)
			return arg;
		in[i] = fdopen(fds[0], "r"), out[!i] = fdopen(fds[1], "w");
	}
	fiber_spawn(answer, NULL, &f);
	for (int n = 100; n <= 1000; n++)
		good += ask(n);
	fiber_join(f, NULL, FIBER_FOREVER);
	printf("%d of 901\n", good);
	return arg;
}

int main(void)
{
	const struct fiber_runtime_options o = {.size = sizeof o, .carriers = 1, .control_path = ""};

	return fiber_run(start, NULL, &o, NULL) < 0;
}
END

# talks NAME OPTION...: the fibers of lines.c get each answer
talks() {
	program=$1
	shift
	"$cc" -O2 -g -D_GNU_SOURCE -Ilibfiber/include -Ilibfiber-posix/include -pthread -o "$tmp/$program" "$tmp/lines.c" "$@" &&
		[ "$(timeout 20 "$tmp/$program")" = "901 of 901" ]
}

talks_linked() {
	# shellcheck disable=SC2086 # flags must be split
	talks linked -U_FORTIFY_SOURCE $shared -lfiber-posix -lfiber
}

talks_fortified() {
	# shellcheck disable=SC2086 # flags must be split
	talks fortified -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 $shared -lfiber-posix -lfiber &&
		nm -D --undefined-only "$tmp/fortified" >"$tmp/names" && grep -q __fprintf_chk "$tmp/names" &&
		grep -q __fgets_chk "$tmp/names" && grep -q __fread_chk "$tmp/names"
}

talks_preloaded() {
	# shellcheck disable=SC2086 # flags must be split
	"$cc" -O2 -D_GNU_SOURCE -Ilibfiber/include -Ilibfiber-posix/include -pthread -o "$tmp/without" "$tmp/lines.c" $shared -lfiber &&
		[ "$(timeout 20 env "LD_PRELOAD=$build/lib/libfiber-posix.so" "$tmp/without")" = "901 of 901" ]
}

talks_by_hand() {
	# shellcheck disable=SC2086 # flags must be split
	talks hand -DHAND $shared -lfiber-posix -lfiber &&
		talks hand-archive -DHAND "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring
}

talks_static() {
	# shellcheck disable=SC2086 # flags must be split
	talks static -DHAND -static "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring
}

# The names of stdio are not taken in a static program: a fiber that waits in one holds its carrier, and the watchdog says so.
static_names_are_reported() {
	# shellcheck disable=SC2086 # flags must be split
	"$cc" -O2 -g -D_GNU_SOURCE -Ilibfiber/include -Ilibfiber-posix/include -pthread -o "$tmp/blocks" "$tmp/lines.c" -static \
		"$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring || return 1
	: >"$tmp/line"
	"$tmp/blocks" 2>"$tmp/line" >/dev/null &
	blocks=$!
	tries=0
	until grep -q . "$tmp/line" || [ "$tries" -ge 200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	kill -9 "$blocks"
	wait "$blocks" 2>/dev/null
	cat "$tmp/line"
	grep -q '^libfiber: fiber 1 .* holds carrier 0 for .* in a system call .*; other fibers wait meanwhile' "$tmp/line"
}

prove "two fibers of one carrier talk in streams over pipes" talks_linked
prove "and in a program that is compiled with _FORTIFY_SOURCE" talks_fortified
prove "and where the library is preloaded" talks_preloaded
prove "and by hand, with the shared library and with the archive" talks_by_hand
prove "and by hand in a static program" talks_static
prove "a static program whose fibers wait in streams by name is reported" static_names_are_reported
echo "1..$count"
exit "$failed"
