#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-headers.sh [BUILD] - check that each public header compiles alone in strict C11 and C++17, with the same meaning
#
# <fiber/test.h> also compiles as C++11 and C++20, and a test program in C++ explores schedules in which exceptions are in flight.
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build. Without a C++ compiler the C++ half is skipped. clang(1), which is
# stricter than gcc in places, also compiles the headers.
. "$(dirname "$0")/tap.sh"

cxx=${CXX:-c++}
strict="-pedantic -Wall -Wextra -Wundef -Werror -Ilibfiber/include -Ilibfiber-posix/include -Ilibfiber-test/include -Ilibfiber-tls/include -Ilibfiber-win32/include"
# The library that the archive needs.
test_needs="$(pkg-config --libs libdw)"
needs=$(nm "$build/lib/libfiber.a" | grep -q ' U io_uring_' && echo -luring)

skip() {
	count=$((count + 1))
	echo "ok $count # SKIP $1: no C++ compiler ($cxx)"
}

# alone LANGUAGE STANDARD COMPILER HEADER: compile HEADER, included twice to test its include guard
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
	SAY(struct fiber_once_flag);
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

cat >"$tmp/layout" <<'END'
#include <fiber_layout.h>
#include <stdio.h>
FIBER_LAYOUT_DEFINE(strange_registry);
static struct fiber_layout_record records[2];
int main(void)
{
	fiber_layout_describe(&strange_registry, records, 2, "own", "strange");
	fiber_layout_register(&strange_registry, FIB_REGISTER_PC, FIB_BASE_STACK, 8);
	fiber_layout_publish(&strange_registry);
	fwrite(&strange_registry.layout, FIB_LAYOUT_SIZE_1, 1, stdout);
	return 0;
}
END

# layout_alone LANGUAGE STANDARD COMPILER: compile a registry and its note without libfiber
layout_alone() {
	"$3" -x "$1" -std="$2" $strict -O2 -flto -no-pie -o "$tmp/own-$1" "$tmp/layout" &&
		"$tmp/own-$1" >"$tmp/own-$1.bytes" && grep -q FIBERREG "$tmp/own-$1.bytes" &&
		strip "$tmp/own-$1" && readelf -nW "$tmp/own-$1" | grep -q '^  fiber  *0x00000008'
}

adapters_are_short() {
	[ -f fixtures/adapters/ucontext_adapter.h ] && wc -l fixtures/adapters/*_adapter.h* |
		awk '{ print } $2 != "total" && $1 >= 100 { long = 1 } END { exit long }'
}

# names LANGUAGE STANDARD COMPILER: compile, link and run the program that uses every name
names() {
	"$3" -x "$1" -std="$2" $strict -o "$tmp/names" tests/strangers/names.c -x none \
		"$build/lib/libfiber.a" -pthread $needs && timeout 20 "$tmp/names"
}

# The same with the shared library, whose map lists the exported names.
names_are_exported() {
	"$cc" -std=c11 $strict -o "$tmp/names" tests/strangers/names.c "-L$build/lib" -lfiber \
		"-Wl,-rpath,$build/lib" -pthread && timeout 20 "$tmp/names"
}

exceptions_work() {
	"$cxx" -std=c++17 $strict -o "$tmp/throws" tests/strangers/throws.cc "$build/lib/libfiber.a" -pthread $needs &&
		timeout 60 "$tmp/throws"
}

# public_names COMPILER: compile and run a program, generated from the headers, that uses every public type and function; check
# that the shared library exports exactly these functions, and those for libfiber-posix (layout/lot.h)
public_names() {
	"$1" -std=c++17 $strict -o "$tmp/public-names" "$tmp/public-names.cc" "-L$build/lib" -lfiber \
		"-Wl,-rpath,$build/lib" -pthread && timeout 20 "$tmp/public-names" &&
		grep -o '::fiber_[a-z0-9_]*' "$tmp/public-names.cc" | cut -c3- | sort >"$tmp/named" &&
		nm -D --defined-only "$build/lib/libfiber.so" |
		sed -n 's/.* T \(fiber_[a-z0-9_]*\).*/\1/p' | grep -v -e '^fiber_lot_' -e '^fiber_own_tls' -e '^fiber_locale_keep' -e '^fiber_carrier_word' | sort >"$tmp/exported" &&
		diff "$tmp/exported" "$tmp/named"
}

# win32_names COMPILER: compile and run a program that uses every function of <fiber/win32.h>; check that the shared library exports
# exactly these
win32_names() {
	sed -n 's/^FIBER_API .* \([A-Z][A-Za-z]*\)(.*/\1/p' libfiber-win32/include/fiber/win32.h | sort >"$tmp/named"
	{
		echo '#include <fiber/win32.h>'
		echo 'int main() { const void *volatile seen = nullptr;'
		sed 's/.*/seen = reinterpret_cast<const void *>(\&::&);/' "$tmp/named"
		echo 'return seen == nullptr; }'
	} >"$tmp/win32-names.cc"
	"$1" -std=c++17 $strict -o "$tmp/win32-names" "$tmp/win32-names.cc" "-L$build/lib" -lfiber-win32 -lfiber \
		"-Wl,-rpath,$build/lib" -pthread && LD_LIBRARY_PATH=$build/lib timeout 20 "$tmp/win32-names" &&
		nm -D --defined-only "$build/lib/libfiber-win32.so" | sed -n 's/.* T \([A-Za-z]*\)@.*/\1/p' | sort >"$tmp/exported" &&
		[ -s "$tmp/named" ] && diff "$tmp/exported" "$tmp/named"
}

# own_types: compile a program that has the types of Windows from elsewhere
own_types() {
	cat >"$tmp/own-types.c" <<'END'
#include <stddef.h>
#include <stdint.h>
typedef int BOOL;
typedef unsigned DWORD;
typedef unsigned long SIZE_T;
typedef void *PVOID, *LPVOID;
#define VOID void
#define WINAPI
#define FIBER_WIN32_OWN_TYPES
#include <fiber/win32.h>
int main(void)
{
	return sizeof(DWORD) != 4 || GetCurrentFiber();
}
END
	"$cc" -std=c11 $strict -fsyntax-only "$tmp/own-types.c"
}

# destructors_run COMPILER LINK...: check that fiber_exit() unwinds C++ frames and reports a catch (...) that swallows it
destructors_run() {
	"$1" -std=c++17 $strict -o "$tmp/unwinds" tests/strangers/unwinds.cc "-L$build/lib" "$2" \
		"-Wl,-rpath,$build/lib" -pthread $needs && timeout 60 "$tmp/unwinds" || return 1
	(ulimit -c 0 && exec timeout 20 "$tmp/unwinds" misuse) >"$tmp/unwinds.said" 2>&1
	[ $? -eq 134 ] && [ "$(wc -l <"$tmp/unwinds.said")" -eq 1 ] &&
		grep -q '^libfiber: fiber 1 "greedy": a catch (...) caught the end' "$tmp/unwinds.said"
}

# says TEXT: check for a line of the report of the explored program
says() {
	grep -qxF "$1" "$tmp/explored.said" || {
		echo "missing: $1"
		cat "$tmp/explored.said"
		return 1
	}
}

# explores COMPILER STANDARD: build a test program in C++; check what it passes, what it finds and how it names functions
explores() {
	"$1" -std="$2" $strict -g -o "$tmp/explored" tests/strangers/explored.cc "$build/lib/libfiber-test.a" -pthread $needs \
		$test_needs || return 1
	timeout 60 "$tmp/explored" --schedules 500 >"$tmp/explored.said" 2>&1
	[ $? -eq 1 ] && says "fiber-test: unwinds: passed: 500 schedules" &&
		says "fiber-test: lost: failed: a.reserved == 0" &&
		says "fiber-test: escapes: failed: std::logic_error: the shop is closed" &&
		grep -q 'called by (anonymous namespace)::escapes(void\*) at explored.cc:' "$tmp/explored.said"
}

headers="fiber.h fiber_layout.h $(cd libfiber/include && echo fiber/*.h)"
for header in $headers; do
	prove "<$header> alone is strict C11" alone c c11 "$cc" "$header"
done
prove "every name has its type, in strict C11" names c c11 "$cc"
prove "fiber_layout.h alone makes a registry, in strict C11" layout_alone c c11 "$cc"
prove "an adapter of another library is less than 100 lines" adapters_are_short
prove "every name is exported by the shared library" names_are_exported
if command -v "$cxx" >/dev/null 2>&1; then
	prove "every name has its type, in C++17" names c++ c++17 "$cxx"
	for header in $headers; do
		prove "<$header> alone is C++17" alone c++ c++17 "$cxx" "$header"
	done
	prove "fiber_layout.h alone makes a registry, in C++17" layout_alone c++ c++17 "$cxx"
	scripts/public-names.py "$cxx" >"$tmp/public-names.cc"
	prove "every public type and function is used from C++17, by $cxx" public_names "$cxx"
	prove "every public type and function is used from C++17, by clang++" public_names clang++
	prove "fiber_exit() runs destructors where it is asked to, by $cxx" destructors_run "$cxx" -l:libfiber.a
	prove "fiber_exit() runs destructors, with the shared library" destructors_run "$cxx" -lfiber
	prove "fiber_exit() runs destructors, by clang++" destructors_run clang++ -l:libfiber.a
	prove "<fiber/tls.h> alone is C++17" alone c++ c++17 "$cxx" fiber/tls.h
	prove "public structs have one size in C and C++" sizes_agree
	prove "exceptions are thrown and caught inside fibers, across waits and out of pinned scopes" exceptions_work
else
	skip "public headers are C++17"
fi
for header in $headers; do
	prove "<$header> alone is strict C11 to clang" alone c c11 clang "$header"
	prove "<$header> alone is C++17 to clang" alone c++ c++17 clang "$header"
done
prove "<fiber/test.h> alone is strict C11" alone c c11 "$cc" fiber/test.h
prove "<fiber/posix.h> alone is strict C11" alone c c11 "$cc" fiber/posix.h
prove "<fiber/tls.h> alone is strict C11" alone c c11 "$cc" fiber/tls.h
prove "<fiber/win32.h> alone is strict C11" alone c c11 "$cc" fiber/win32.h
prove "<fiber/win32.h> takes the types of the program" own_types
for compiler in "$cxx" clang++; do
	command -v "$compiler" >/dev/null 2>&1 || continue
	prove "<fiber/posix.h> alone is C++17, by $compiler" alone c++ c++17 "$compiler" fiber/posix.h
	prove "<fiber/win32.h> alone is C++17, by $compiler" alone c++ c++17 "$compiler" fiber/win32.h
	prove "every name of <fiber/win32.h> is used from C++17, by $compiler" win32_names "$compiler"
	for standard in c++11 c++20; do
		prove "<fiber/test.h> alone is $standard, by $compiler" alone c++ $standard "$compiler" fiber/test.h
		prove "exceptions are in flight in a schedule: $standard, by $compiler" explores "$compiler" $standard
	done
done
echo "1..$count"
exit $failed
