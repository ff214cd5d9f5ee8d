#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# test-port-walk.sh - an unwinder walks the saved stacks of a port for another machine
#
# $FIBER_BUILD/tests/arch/suspended is tests/arch/walk/suspended.c, built for that machine. It runs under the emulator $EMULATOR
# with qemu's server for debuggers. gdb-multiarch stops it in walk_here(), sets sp and pc to what a context has saved, and
# unwinds with nothing but the CFI of the program. The walk must end in the entry routine, and each function must have the value
# that it keeps in a callee-saved register.
set -u

program=${FIBER_BUILD:?the build folder}/tests/arch/suspended
read -ra launch <<<"${EMULATOR:?the emulator}"
folder=$(mktemp -d) || exit 1
emulator=
trap '[ -z "$emulator" ] || kill "$emulator" 2>/dev/null; rm -rf "$folder"' EXIT

# walk STOPS COMMAND...: stop in walk_here() STOPS times, unwind from its arguments and run gdb's commands
walk() {
	local stops=$1 commands=() i
	shift
	for ((i = 0; i < stops; i++)); do
		commands+=(-ex continue)
	done
	# The second assignment may change what the arguments are found by.
	# shellcheck disable=SC2016 # gdb's variables
	commands+=(-ex 'set $to = sp' -ex 'set $at = pc' -ex 'set $sp = $to' -ex 'set $pc = $at')
	for i; do
		commands+=(-ex "$i")
	done
	rm -f "$folder/socket"
	"${launch[0]}" -g "$folder/socket" "${launch[@]:1}" "$program" >"$folder/program" 2>&1 &
	emulator=$!
	until [ -S "$folder/socket" ]; do
		kill -0 "$emulator" 2>/dev/null || return 1
		sleep 0.05
	done
	gdb-multiarch -nx -batch -ex 'set pagination off' -ex 'set confirm off' -ex 'set backtrace past-main on' \
		-ex 'set backtrace past-entry on' -ex 'set auto-load off' -ex "target remote $folder/socket" \
		-ex 'break walk_here' "${commands[@]}" -ex kill "$program" >"$folder/walked" 2>&1
	wait "$emulator"
	emulator=
}

# frames: the functions of the walk, innermost first. A walk that gdb gives up ends with the word "stopped".
frames() {
	sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([A-Za-z_][A-Za-z0-9_]*) \(.*/\2/p; s/^Backtrace (stopped).*/\1/p' "$folder/walked" |
		tr '\n' ' '
}

# values: the numbers that gdb printed
values() {
	sed -nE 's/^\$[0-9]+ = ([0-9]+)$/\1/p' "$folder/walked" | tr '\n' ' '
}

# check NAME FOUND WANTED: one line of TAP
number=0
check() {
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		echo "# wanted '$3', found '$2'"
		sed 's/^/# /' "$folder/walked"
	fi
}

echo 1..3
walk 1 backtrace
check "test_walk_of_a_context_that_never_ran_ends_in_the_entry" "$(frames)" "fib_arch_switch fib_arch_entry "
walk 2 backtrace
check "test_walk_of_a_suspended_context_ends_in_the_entry" "$(frames)" "fib_arch_switch inner middle outer fib_arch_entry "
walk 2 'up 1' 'print inner_value' 'up 1' 'print middle_value' 'up 1' 'print outer_value'
check "test_walk_finds_the_callee_saved_registers_of_each_frame" "$(values)" "333 222 111 "
