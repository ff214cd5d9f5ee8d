#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-layers.sh [--self-test] - check that a file includes only lower layers
#
#   base wire layout 0 · arch 1 · os 2 · context 3 · stack poll 4 · core 5 · sched 6 · wait 7 · life 8 · watch 9 · sync 10 ·
#   io 11 · service 12 · runtime 13
#
#   inspect/: text 0 · elf 1 · model 2 · unwind process 3 · symbols corefile 4 · values source threads 5 · query recording 6 · waits 7 · leaks 8 ·
#   why 9 · render 10
#
# What a file may include:
#   libfiber/             its own folder, folders with a smaller number, the public <fiber/...>
#   layout/, wire/        their own folder and <fiber/...> only, because the tools link them
#   a folder of inspect/  folders of inspect/ with a smaller number, layout/, wire/
#   tool/                 also inspect/; tool/cmd/ may include tool/completion/, and both tool/ itself
#   fiberctl/, fibertrace/    all of these
#   fiberize/             inspect/
#   libfiber-posix/       system/ 0 · call/ 1 · threads/ 2 · streams/ 3 · entry/ 4, the public <fiber/...>, layout/ for what libfiber publishes, and the port's thread_pointer.h
#   libfiber-tls/, libfiber-win32/    their own folder and <fiber/...>
#   libfiber-test/        all of libfiber/, some of whose files it replaces
#   fixtures/, examples/      <fiber.h> and <fiber/...> only
# Other rules: <stdatomic.h> only in base/atomic.h; thread-locals only in base/tls.c; the variable errno only in os/, poll/,
# wire/client.c and outside libfiber/; no #if on a system, machine or sanitizer in shared code; jansson's json_dump... only
# where the tools escape its output.
#
# Prints each offence as FILE:LINE: what: why and fails, else prints "layers: ok". --self-test plants one offence of each kind
# in a temporary tree, and fails unless all of them and nothing else are reported.
set -u
LC_ALL=C
export LC_ALL

scripts=$(cd "$(dirname "$0")" && pwd) || exit 1

# check ROOT: apply the rules to every C and assembly file below ROOT
check() (
	cd "$1" || exit 1
	# shellcheck disable=SC2046 # no file name of this project contains a blank
	awk -f "$scripts/strip.awk" -f "$scripts/layers.awk" $(
		find libfiber libfiber-backtrace libfiber-posix libfiber-tls libfiber-win32 libfiber-test inspect tool fiberctl fibertrace fiberize fixtures examples bench tests \
			-type f \( -name '*.c' -o -name '*.h' -o -name '*.S' \) 2>/dev/null | sort
	)
)

# plant FILE CODE: add a file to the self-test's tree
plant() {
	mkdir -p "$tree/$(dirname "$1")"
	printf '%s\n' "$2" >"$tree/$1"
}

self_test() {
	tree=$(mktemp -d) || exit 1
	trap 'rm -rf "$tree"' EXIT

	# Allowed code must not be reported ...
	plant libfiber/sched/good.c '#include "sched/good.h"
#include "core/record.h"
#include "base/list.h"
#include <fiber/fiber.h>
#include <errno.h>
/* errno, _Thread_local and "#include "sync/mutex.h" in a comment
#include "sync/mutex.h"
errno */
int good(void) { return -EAGAIN; }
const char *text = "errno of _Thread_local";'
	plant libfiber/os/linux/good.c '#include "os/os.h"
#include <errno.h>
int leaf(void) { return -errno; }'
	plant libfiber/wire/client.c '#include "wire/wire.h"
int last(void) { return -errno; }'
	plant libfiber/arch/arch.h '#include "frame.h"'
	plant libfiber/base/atomic.h '#include <stdatomic.h>'
	plant libfiber/base/tls.c 'static _Thread_local void *self;'
	plant libfiber/include/fiber/io.h '#include <fiber/api.h>'
	plant inspect/model/good.c '#include "inspect/model/good.h"
#include "inspect/elf/image.h"
#include "layout/row.h"
#include <fiber/fiber.h>'
	plant fiberctl/good.c '#include "wire/wire.h"
#include "inspect/model/source.h"
int last(void) { return errno; }'
	plant inspect/text/json_put.c 'int rc = json_dump_callback(value, filter, &p, 0);'
	plant tool/cmd/good.c '#include "tool/cmd/commands.h"
#include "tool/completion/completion.h"
#include "tool/tool.h"'
	plant libfiber-posix/entry/good.c '#include "call/park.h"
#include "layout/layout.h"
#include "entry/entry.h"
int last(void) { return errno; }'
	plant fibertrace/good.c '#include "tool/cmd/commands.h"'
	plant fixtures/good.c '#include "options.h"
#include <fiber.h>'
	plant tests/unit/sched/good.c '#include "sched/good.h"
#include <stdatomic.h>'
	if ! out=$(check "$tree"); then
		echo "check-layers: self-test: reported what is allowed:" >&2
		echo "$out" >&2
		exit 1
	fi

	# ... and each of these offences must be, at its line.
	plant libfiber/core/up.c '#include "sched/sched.h"'
	plant libfiber/stack/beside.c '#include "poll/poller.h"'
	plant libfiber/arch/x86_64/beside.c '#include "os/os.h"'
	plant libfiber/base/tools.c '#include "wire/wire.h"'
	plant libfiber/layout/base.c '#include "base/atomic.h"'
	plant libfiber/wire/layout.c '#include "layout/layout.h"'
	plant libfiber/os/chosen.c '#include "announce.h"'
	plant libfiber/sync/angle.c '#include <base/list.h>'
	plant libfiber/sync/outside.c '#include "inspect/model/source.h"'
	plant libfiber/attic/file.c 'int attic;'
	plant libfiber/include/fiber/private.h '#include "core/record.h"'
	plant libfiber/core/atomic.c '#include <stdatomic.h>'
	plant libfiber/core/local.c 'static _Thread_local int mine;'
	plant libfiber/core/gnu.c 'static __thread int mine;'
	plant libfiber/io/errno.c 'int last(void) { return -errno; }'
	plant libfiber/wire/errno.c 'int last(void) { return -errno; }'
	plant libfiber/sched/choice.c '#ifdef __x86_64__'
	plant inspect/corefile/inside.c '#include "core/record.h"'
	plant inspect/query/command.c '#include "fiberctl/command.h"'
	plant inspect/model/up.c '#include "inspect/render/render.h"'
	plant inspect/unwind/beside.c '#include "inspect/process/memory.h"'
	plant inspect/attic/file.c 'int attic;'
	plant inspect/bare.c 'int bare;'
	plant fiberctl/sched.c '#include "watch/tick.h"'
	plant fibertrace/control.c '#include "fiberctl/command.h"'
	plant tool/up.c '#include "tool/cmd/commands.h"'
	plant tool/completion/up.c '#include "tool/cmd/commands.h"'
	plant tool/attic/file.c 'int attic;'
	plant fixtures/inside.c '#include "core/registry.h"'
	plant fiberctl/json.c 'json_dumpf(value, stdout, 0);'
	plant examples/inside.c '#include "layout/layout.h"'
	plant libfiber-posix/system/up.c '#include "call/park.h"'
	plant libfiber-posix/call/inside.c '#include "core/record.h"'
	plant libfiber-posix/attic/file.c 'int attic;'
	out=$(check "$tree")
	for file in core/up stack/beside arch/x86_64/beside base/tools layout/base wire/layout os/chosen \
		sync/angle sync/outside attic/file core/atomic core/local core/gnu io/errno wire/errno \
		sched/choice; do
		expect "libfiber/$file.c:1: "
	done
	for file in libfiber/include/fiber/private.h inspect/corefile/inside.c inspect/query/command.c inspect/model/up.c \
		inspect/unwind/beside.c inspect/attic/file.c inspect/bare.c fiberctl/sched.c \
		fiberctl/json.c fibertrace/control.c tool/up.c tool/completion/up.c tool/attic/file.c fixtures/inside.c \
		examples/inside.c libfiber-posix/system/up.c libfiber-posix/call/inside.c libfiber-posix/attic/file.c; do
		expect "$file:1: "
	done
	if [ "$(echo "$out" | wc -l)" -ne 34 ]; then
		echo "check-layers: self-test: 34 offences were planted, reported were:" >&2
		echo "$out" >&2
		exit 1
	fi
	echo "layers: self-test ok: 34 planted offences found"
}

# expect PREFIX: fail unless a line of the report begins with PREFIX
expect() {
	case "
$out" in
	*"
$1"*) ;;
	*)
		echo "check-layers: self-test: planted and not found: $1" >&2
		exit 1
		;;
	esac
}

if [ "${1-}" = --self-test ]; then
	self_test
	exit 0
fi
if ! check "$scripts/.."; then
	echo "check-layers: includes must point down (docs/contributing.md)" >&2
	exit 1
fi
echo "layers: ok"
