#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-headers.sh [BUILD] - every public header stands alone, in strict C11 and in C++17, and means the same in both
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build. Without a C++ compiler its half is skipped.
set -u
LC_ALL=C
export LC_ALL

build=${1:-${FIBER_BUILD:?the build folder}}
if [ -n "${FIBER_SAN-}" ]; then
	echo "1..0 # SKIP strangers do not link sanitizers"
	exit 0
fi
cd "$(dirname "$0")/.." || exit 1
cc=${CC:-cc}
cxx=${CXX:-c++}
strict="-pedantic -Wall -Wextra -Wundef -Werror -Ilibfiber/include"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0

# prove NAME COMMAND...: one line of TAP; what a failed command said goes to stderr
prove() {
	name=$1
	shift
	count=$((count + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		sed 's/^/# /' "$tmp/said" >&2
		failed=1
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count # SKIP $1: no C++ compiler ($cxx)"
}

# alone LANGUAGE STANDARD COMPILER HEADER: twice, so that its include guard is tried too
alone() {
	printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$4" "$4" |
		"$3" -x "$1" -std="$2" $strict -fsyntax-only -
}

cat >"$tmp/sizes" <<'END'
#include <fiber.h>
#include <stdio.h>
#define SAY(T) printf("%s %zu\n", #T, sizeof(T))
int main(void)
{
	SAY(struct fiber_attr);
	SAY(struct fiber_result);
	SAY(struct fiber_runtime_options);
	SAY(struct fiber_mutex);
	SAY(struct fiber_cond);
	SAY(struct fiber_sem);
	SAY(struct fiber_rwlock);
	SAY(struct fiber_event);
	SAY(struct fiber_barrier);
	SAY(struct fiber_once);
	SAY(struct fiber_waitgroup);
	SAY(enum fiber_state);
	SAY(enum fiber_pinned_policy);
	return 0;
}
END

sizes_agree() {
	"$cc" -x c -std=c11 $strict -o "$tmp/sizes-c" "$tmp/sizes" &&
		"$cxx" -x c++ -std=c++17 $strict -o "$tmp/sizes-cxx" "$tmp/sizes" &&
		"$tmp/sizes-c" >"$tmp/c" && "$tmp/sizes-cxx" >"$tmp/cxx" && diff "$tmp/c" "$tmp/cxx"
}

cat >"$tmp/throws.cc" <<'END'
#include <fiber.h>
#include <stdexcept>
#include <string>

static void *thrower(void *arg)
{
	try {
		fiber_yield();
		throw std::runtime_error("caught");
	} catch (const std::exception &e) {
		fiber_yield();
		*static_cast<std::string *>(arg) = e.what();
	}
	return nullptr;
}

int main()
{
	std::string one, two;
	fiber_fn *fns[] = {thrower, thrower};
	void *args[] = {&one, &two};

	if (fiber_run_many(fns, args, 2, nullptr, nullptr) < 0)
		return 1;
	return one == "caught" && two == "caught" ? 0 : 2;
}
END

exceptions_work() {
	"$cxx" -std=c++17 $strict -o "$tmp/throws" "$tmp/throws.cc" "$build/lib/libfiber.a" -pthread &&
		timeout 20 "$tmp/throws"
}

headers="fiber.h $(cd libfiber/include && echo fiber/*.h)"
for header in $headers; do
	prove "<$header> alone is strict C11" alone c c11 "$cc" "$header"
done
if command -v "$cxx" >/dev/null 2>&1; then
	for header in $headers; do
		prove "<$header> alone is C++17" alone c++ c++17 "$cxx" "$header"
	done
	prove "public structs have one size in C and C++" sizes_agree
	prove "an exception is thrown and caught inside a fiber" exceptions_work
else
	skip "public headers are C++17"
fi
echo "1..$count"
exit $failed
