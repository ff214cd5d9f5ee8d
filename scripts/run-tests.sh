#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run-tests.sh PROGRAM... - run test programs, print their TAP and count the results
#
# The last line is "N passed, N failed", with ", N skipped" if tests were skipped. The exit status is 1 if anything
# failed. A program that dies, hangs, or does not run all planned tests counts as one more failure.
# System tests and those of libfiber-tls run once for each number of carriers in $CARRIERS, passed in FIBER_TEST_CARRIERS. Programs that wait for
# descriptors run once for each poller in $POLLERS, passed to their runtimes in FIBER_POLLER; those that do not test the
# pollers themselves (see tests_pollers), for each in $POLLERS_ABOVE.
#
# FIBER_BUILD: the build folder. FIBER_SAN: its sanitizer. LIMIT: seconds a program may take, by default 120.
# FIBER_TEST_PATIENCE=N multiplies this and the limits inside the programs; they are there to end what hangs.
# UNTIL: the time, in seconds since 1970, after which no program is begun. Those left out are printed and counted as skipped.
# LANES=1: run one program after another. Otherwise there are three lanes. The first runs programs with deadlines, one
# after another. The second runs scripts, tools and computations beside it at a lower priority: nice 5 is a quarter of a CPU
# for which the first lane competes; nice 15 is a thirtieth, too little to end within LIMIT. The third runs the other tests of
# tests/cli, which wait for processes of theirs most of the time: until a fault is old enough to be reported, or until a tool's
# time limit; and the tests of libfiber-posix and libfiber-tls, which talk to a peer. When the first lane is finished, it takes
# programs from the end of the second and then of the third. Then what computes much runs in two lanes.
# Tests of tools that measure times, or that depend on which processes exist, run at the end, one after another.
# SLOWEST: the number of slow programs whose times are printed.
# EMULATOR: the command that runs programs of another machine. FIBER_LEFT_OUT: a file that names the tests that cannot run there
# (scripts/left-out.txt), FIBER_LEFT_OUT_PORT: the machine. These tests are printed and counted as skipped, with the reason.
# RESULT: a file that gets the last line.
# A failure is printed again at the end, with the last lines of that program's output; each such line starts with "# failed".
set -u

LIMIT=${LIMIT:-$((120 * ${FIBER_TEST_PATIENCE:-1}))}
UNTIL=${UNTIL:-}
LANES=${LANES:-2}
CARRIERS=${CARRIERS:-1 4}
SLOWEST=${SLOWEST:-10}
POLLERS=${POLLERS:-${FIBER_POLLER:-epoll uring poll}}
POLLERS_ABOVE=${POLLERS_ABOVE:-$POLLERS}
: "${FIBER_BUILD:?the build folder}"
export FIBER_BUILD FIBER_SAN="${FIBER_SAN:-}"
export CMOCKA_MESSAGE_OUTPUT=TAP

passed=0
failed=0
skipped=0
failures=()
times=()
claims=${claims:-} # folder shared by the lanes: a lane runs only the programs that it claims there
launch=()
if [ "$FIBER_SAN" = thread ]; then
	# TSan's shadow memory may collide with addresses that the kernel's mmap randomization chooses.
	launch=(setarch -R)
	# By default TSan waits a second at exit while other threads exist, and each test has a watchdog thread.
	export TSAN_OPTIONS="atexit_sleep_ms=10${TSAN_OPTIONS:+ $TSAN_OPTIONS}"
fi

folder=$(mktemp -d) || exit 1
inspect=$(cd "$(dirname "${BASH_SOURCE[0]}")/../inspect" && pwd) || exit 1
# A child that is killed before its execve(2) still has these traps.
lanes=() # processes
trap '[ "$BASHPID" != $$ ] || { [ ${#lanes[@]} -eq 0 ] || kill "${lanes[@]}" 2>/dev/null; rm -rf "$folder"; }' EXIT
trap 'exit 1' INT TERM

# end_left MARK: end what a program that was killed has left running: its processes have this mark in their environment. They
# would take the CPU time of the next programs.
end_left() {
	local left
	mapfile -t left < <(grep -lszxF "FIBER_TEST_RUN=$1" /proc/[0-9]*/environ | cut -d/ -f3)
	[ ${#left[@]} -eq 0 ] || kill -KILL "${left[@]}" 2>/dev/null
}

# left_out NAME: print why the whole program is left out for this machine; fail if it is not
left_out() {
	[ -n "${FIBER_LEFT_OUT:-}" ] && awk -v name="$1" -v port="$FIBER_LEFT_OUT_PORT" '
		$1 == name && ($2 == "*" || index("," $2 ",", "," port ",")) {
			sub(/^[^ \t]+[ \t]+[^ \t]+[ \t]+/, "")
			print
			found = 1
			exit
		}
		END { exit !found }' "$FIBER_LEFT_OUT"
}

# is_late: print that no time is left; fail if some is
is_late() {
	[ -n "$UNTIL" ] && [ "$EPOCHSECONDS" -ge "$UNTIL" ] && echo "no time was left"
}

# run LABEL PROGRAM...: run one program in the caller's environment
run() {
	local label=$1 log=$folder/log began=${EPOCHREALTIME/./} code timed_out='' planned ok bad skip
	local mark=$folder.${#times[@]}
	shift
	[ -z "${EMULATOR:-}" ] || case $label in
	scripts/*) launch=() ;; # it starts the emulator itself
	*) read -ra launch <<<"$EMULATOR" ;;
	esac
	echo "# $label"
	FIBER_TEST_RUN=$mark "${launch[@]}" "$@" >"$log" 2>&1 &
	local program=$!
	sleep "$LIMIT" &
	local clock=$!
	wait -n "$program" "$clock" 2>/dev/null
	if ! kill -0 "$clock" 2>/dev/null; then
		timed_out=yes
		{
			echo "# still running after $LIMIT s; its fibers:"
			timeout 30 "$FIBER_BUILD/bin/fibertrace" "$program" | sed 's/^/# /'
		} >>"$log" 2>&1
		kill -KILL "$program"
	fi
	wait "$program" 2>/dev/null
	code=$?
	kill -KILL "$clock" 2>/dev/null
	wait "$clock" 2>/dev/null
	[ "$code" -le 128 ] || end_left "$mark"

	cat "$log"
	times+=("$(((${EPOCHREALTIME/./} - began) / 100000)) $label")
	planned=$(sed -n 's/^1\.\.\([0-9][0-9]*\).*/\1/p' "$log" | tail -n 1)
	ok=$(grep -acE '^ok ' "$log")
	skip=$(grep -acE '^(not )?ok [0-9]+ # SKIP' "$log")
	bad=$(grep -aE '^not ok ' "$log" | grep -acvE '^not ok [0-9]+ # SKIP')
	ok=$((ok - $(grep -acE '^ok [0-9]+ # SKIP' "$log")))
	passed=$((passed + ok))
	failed=$((failed + bad))
	skipped=$((skipped + skip))

	local why=
	if [ -n "$timed_out" ]; then
		why="did not end within $LIMIT s"
	elif [ "$code" -gt 128 ]; then
		why="died by signal $((code - 128))"
	elif [ -z "$planned" ]; then
		why="exit status $code and no plan"
	elif [ "$planned" -ne $((ok + bad + skip)) ]; then
		why="planned $planned tests and ran $((ok + bad + skip)), exit status $code"
	elif [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then
		why="exit status $code with no failed test"
	fi
	if [ -n "$why" ]; then
		echo "not ok - $label: $why"
		failed=$((failed + 1))
	elif [ "$bad" -gt 0 ]; then
		why=$(grep -aE '^not ok ' "$log" | grep -avE '# SKIP' | tr '\n' ';')
	fi
	if [ -n "$why" ]; then
		failures+=("# failed: $label: $why
$(grep -avE '^ok ' "$log" | tail -n 40 | sed 's/^/# failed| /')")
	fi
}

# Check from its source whether a test program waits for descriptors.
source=$(cd "$(dirname "$0")/.." && pwd)
waits_for_descriptors() {
	case $1 in
	*_model) return 1 ;;
	*/tests/unit/io/* | */tests/unit/libfiber-posix/* | */tests/unit/libfiber-tls/* | */tests/unit/sched/test_idle | */tests/cli/test_httpd) return 0 ;;
	*/tests/system/*) ;;
	*) return 1 ;;
	esac
	grep -qsE 'fiber_(read|write|recv|send|accept|connect|wait_fd|poll|await_fds|runtime_fd|waitpid)|FIBER_SELECT_FD' \
		"$source/tests/${1##*/tests/}.c"
}

# Check whether a program that waits for descriptors tests what differs between pollers: how descriptors are registered,
# and how a carrier that waits in the poller is woken.
tests_pollers() {
	case $1 in
	*/tests/unit/io/* | */tests/unit/sched/*) return 0 ;;
	*/tests/system/test_accept | */tests/system/test_await_ends | */tests/system/test_io | */tests/system/test_io_*) return 0 ;;
	*/tests/system/test_select_fd | */tests/system/test_tcp) return 0 ;;
	esac
	return 1
}

# Call run() once for each poller, if the program waits for descriptors.
run_pollers() {
	local label=$1 poller pollers=$POLLERS_ABOVE
	if ! waits_for_descriptors "$2"; then
		run "$label" "$2"
		return
	fi
	! tests_pollers "$2" || pollers=$POLLERS
	for poller in $pollers; do
		FIBER_POLLER=$poller run "$label, $poller" "$2"
	done
}

# Claim a program for this lane; fails if another lane has claimed it.
claim() {
	[ -z "$claims" ] || mkdir "$claims/${1//\//:}" 2>/dev/null
}

# Call run() for each number of carriers and each poller that the program is to run with.
run_all() {
	local program label carriers reason
	for program; do
		claim "$program" || continue
		label=${program#"$FIBER_BUILD"/tests/}
		label=${label#"$PWD"/}
		export FIBER_LEFT_OUT_PROGRAM=$label
		if reason=$(is_late || left_out "$label"); then
			printf '# %s\n1..1\nok 1 # SKIP %s: %s\n' "$label" "$label" "$reason"
			skipped=$((skipped + 1))
			continue
		fi
		case $program in
		*/tests/system/* | */tests/posix/* | */tests/unit/libfiber-tls/*)
			for carriers in $CARRIERS; do
				FIBER_TEST_CARRIERS=$carriers run_pollers "$label, $carriers carriers" "$program"
			done
			;;
		*)
			run_pollers "$label" "$program"
			;;
		esac
	done
}

# Print the lane of a test program. scripts, tools and computing are the second lane, in this order: scripts take longest and
# start first, so that the lanes end at about the same time. waiting is the third lane. Tests that compare times, or that load
# the machine themselves, are timed. builds and large compute so much that three lanes are too many for them. The programs of
# builds install the tree or pack it, so no two of them may run at the same time.
lane_of() {
	local room=${1%/*}
	room=${room##*/}
	if [ -d "$inspect/$room" ]; then
		echo computing
		return
	fi
	case $1 in
	*/scripts/test-install.sh | */scripts/test-dist.sh | */scripts/test-buildsystems.sh | */scripts/test-meson.sh) echo builds ;;
	*/scripts/test-matrix.py) echo large ;;
	*/scripts/* | scripts/*) echo scripts ;;
	*/tests/cli/test_why_everywhere | */tests/cli/test_why_nowhere | */tests/cli/test_fiberctl_serve_page_looks) echo large ;;
	*/tests/fuzz/* | */tests/single/* | */tests/explore/* | */tests/cli/test_explore_*) echo computing ;;
	*/tests/arch/* | */tests/unit/base/* | */tests/unit/context/* | */tests/unit/core/* | */tests/unit/layout/* | */tests/unit/os/* | */tests/unit/stack/*) echo computing ;;
	*/tests/unit/*_model) echo computing ;;
	*_slow | *_watchdog | *_watch | *_pinned | *_policy | *_top | *_top_live | *_carriers | *_metrics | *_metrics_json | *_metrics_findings) echo alone ;;
	*_processes | *_completion | *_named | *_running | *_random_traces) echo alone ;; # depends on which processes exist
	*/tests/cli/test_fiberctl_* | */tests/cli/test_fibertrace_*) echo tools ;;
	*/tests/cli/test_exact | */tests/cli/test_idle | */tests/cli/test_state_times) echo timed ;;
	*/tests/cli/* | */tests/posix/* | */tests/unit/libfiber-posix/* | */tests/unit/libfiber-tls/*) echo waiting ;;
	*) echo timed ;;
	esac
}

# Print the output of another run of this script without its last line, and add its counts.
add() {
	local counts well bad skips
	grep -av '^[0-9]* passed, ' "$1"
	counts=$(tail -n 1 "$1")
	read -r well bad skips < <(tr -cs '0-9\n' ' ' <<<"$counts")
	passed=$((passed + ${well:-0}))
	failed=$((failed + ${bad:-1}))
	skipped=$((skipped + ${skips:-0}))
}

# Run programs in a lane beside this one: begin_lane PRIORITY PROGRAM...
begin_lane() {
	local priority=$1
	shift
	[ $# -gt 0 ] || return
	LANES=1 RESULT='' claims=$claims nice -n "$priority" "${BASH_SOURCE[0]}" "$@" >"$folder/lane${#lanes[@]}" 2>&1 &
	lanes+=($!)
}

# Wait for the lanes beside this one and print what they printed.
end_lanes() {
	local count=${#lanes[@]} i
	[ "$count" -eq 0 ] || wait "${lanes[@]}"
	lanes=()
	for ((i = 0; i < count; i++)); do
		add "$folder/lane$i"
	done
}

scripts=() tools=() computing=() waiting=() timed=() builds=() large=() alone=()
for program; do
	case $LANES$(lane_of "$program") in
	2scripts) scripts+=("$program") ;;
	2tools) tools+=("$program") ;;
	2computing) computing+=("$program") ;;
	2waiting) waiting+=("$program") ;;
	2timed) timed+=("$program") ;;
	2builds) builds+=("$program") ;;
	2large) large+=("$program") ;;
	*) alone+=("$program") ;;
	esac
done
second=("${scripts[@]}" "${tools[@]}" "${computing[@]}")
if [ ${#timed[@]} -gt 0 ]; then
	claims=$folder/claims
	mkdir "$claims"
	begin_lane 5 "${second[@]}"
	begin_lane 0 "${waiting[@]}"
	run_all "${timed[@]}"
	rest=("${waiting[@]}" "${second[@]}")
	for ((i = ${#rest[@]} - 1; i >= 0; i--)); do
		run_all "${rest[i]}"
	done
	end_lanes
	claims=
else
	run_all "${second[@]}" "${waiting[@]}"
fi
begin_lane 0 "${large[@]}"
run_all "${builds[@]}"
end_lanes
run_all "${alone[@]}"

# The slowest programs: start here if the tests take too long.
printf '%s\n' "${times[@]}" | grep . | sort -rn | sed -n "1,${SLOWEST}p" | while read -r tenths label; do
	echo "# took $((tenths / 10)).$((tenths % 10)) s: $label"
done
for failure in "${failures[@]}"; do
	echo "$failure"
done
echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")" | tee ${RESULT:+"$RESULT"}
[ "$failed" -eq 0 ]
