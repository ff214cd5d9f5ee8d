#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run-tests.sh PROGRAM... - run test programs, print their TAP, count
#
# The last line is "N passed, N failed", with ", N skipped" when any were; the exit status is 1 when
# anything failed. A program that dies, hangs, or does not run all it planned counts as one failure more.
# System tests run once for each number of carriers in $CARRIERS, which they find in FIBER_TEST_CARRIERS; what waits for
# descriptors, once for each poller in $POLLERS, which its runtimes find in FIBER_POLLER.
#
# FIBER_BUILD: the build folder. FIBER_SAN: its sanitizer. LIMIT: seconds a program may take.
# LANES=1: one after another. Else in two lanes: programs that have deadlines run one after another; scripts, tools and
# what computes run beside them with a lower priority (nice), so they use the CPU time that the first lane leaves. When
# the first lane is finished, it takes programs from the end of the second. The programs of a few tools that measure
# times, or depend on which other processes exist, run at the end, one after another.
# SLOWEST: of so many it is said how long they took.
set -u

LIMIT=${LIMIT:-120}
LANES=${LANES:-2}
CARRIERS=${CARRIERS:-1 4}
SLOWEST=${SLOWEST:-10}
POLLERS=${POLLERS:-${FIBER_POLLER:-epoll uring poll}}
: "${FIBER_BUILD:?the build folder}"
export FIBER_BUILD FIBER_SAN="${FIBER_SAN:-}"
export CMOCKA_MESSAGE_OUTPUT=TAP

passed=0
failed=0
skipped=0
failures=()
times=()
claims=${claims:-} # within another run of this script: what one of the two runs, the other does not
launch=()
if [ "$FIBER_SAN" = thread ]; then
	# TSan's shadow collides with what the kernel's mmap randomness may choose.
	launch=(setarch -R)
	# At its end a program with a thread left, and each test has its watchdog, would give that thread a second to race in.
	export TSAN_OPTIONS="atexit_sleep_ms=10${TSAN_OPTIONS:+ $TSAN_OPTIONS}"
fi

folder=$(mktemp -d) || exit 1
inspect=$(cd "$(dirname "${BASH_SOURCE[0]}")/../inspect" && pwd) || exit 1
# A child that is killed before it has become another program still has these traps.
lane=
trap '[ "$BASHPID" != $$ ] || { [ -z "$lane" ] || kill "$lane"; rm -rf "$folder"; }' EXIT
trap 'exit 1' INT TERM

# Run one program in the environment given by the caller; $1 names the run.
run() {
	local label=$1 log=$folder/log began=${EPOCHREALTIME/./} code timed_out='' planned ok bad skip
	shift
	echo "# $label"
	"${launch[@]}" "$@" >"$log" 2>&1 &
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
		failures+=("$label: $why")
	elif [ "$bad" -gt 0 ]; then
		failures+=("$label: $(grep -aE '^not ok ' "$log" | grep -avE '# SKIP' | tr '\n' ';')")
	fi
}

# Whether a test program waits for descriptors, by what its source calls.
source=$(cd "$(dirname "$0")/.." && pwd)
waits_for_descriptors() {
	case $1 in
	*_model) return 1 ;;
	*/tests/unit/io/* | */tests/unit/sched/test_idle | */tests/cli/test_httpd) return 0 ;;
	*/tests/system/*) ;;
	*) return 1 ;;
	esac
	grep -qsE 'fiber_(read|write|recv|send|accept|connect|wait_fd|poll|await_fds|runtime_fd|waitpid)|FIBER_SELECT_FD' \
		"$source/tests/${1##*/tests/}.c"
}

# run(), for each poller where that matters.
run_pollers() {
	local label=$1 poller
	if ! waits_for_descriptors "$2"; then
		run "$label" "$2"
		return
	fi
	for poller in $POLLERS; do
		FIBER_POLLER=$poller run "$label, $poller" "$2"
	done
}

# Whether nobody else runs that program: the first who asks does.
claim() {
	[ -z "$claims" ] || mkdir "$claims/${1//\//:}" 2>/dev/null
}

# run(), for each number of carriers and each poller where that matters.
run_all() {
	local program label carriers
	for program; do
		claim "$program" || continue
		label=${program#"$FIBER_BUILD"/tests/}
		label=${label#"$PWD"/}
		case $program in
		*/tests/system/*)
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

# Where a test program is run: scripts, tools and computing are parts of the second lane, in this order. The scripts, which
# take longest, come first, so that both lanes end at about the same time.
lane_of() {
	local room=${1%/*}
	room=${room##*/}
	if [ -d "$inspect/$room" ]; then
		echo computing
		return
	fi
	case $1 in
	*/scripts/* | scripts/*) echo scripts ;;
	*/tests/fuzz/*) echo computing ;;
	*/tests/unit/base/* | */tests/unit/context/* | */tests/unit/core/* | */tests/unit/layout/* | */tests/unit/stack/*) echo computing ;;
	*/tests/unit/*_model) echo computing ;;
	*_slow | *_watchdog | *_watch | *_pinned | *_policy | *_top | *_top_live | *_carriers | *_metrics) echo alone ;;
	*_processes | *_completion | *_named | *_running | *_random_traces) echo alone ;; # which processes exist matters
	*/tests/cli/test_fiberctl_* | */tests/cli/test_fibertrace_*) echo tools ;;
	*) echo timed ;;
	esac
}

# What another run of this script has printed, to its last line.
add() {
	local counts well bad skips
	grep -av '^[0-9]* passed, ' "$1"
	counts=$(tail -n 1 "$1")
	read -r well bad skips < <(tr -cs '0-9\n' ' ' <<<"$counts")
	passed=$((passed + ${well:-0}))
	failed=$((failed + ${bad:-1}))
	skipped=$((skipped + ${skips:-0}))
}

scripts=() tools=() computing=() timed=() alone=()
for program; do
	case $LANES$(lane_of "$program") in
	2scripts) scripts+=("$program") ;;
	2tools) tools+=("$program") ;;
	2computing) computing+=("$program") ;;
	2timed) timed+=("$program") ;;
	*) alone+=("$program") ;;
	esac
done
second=("${scripts[@]}" "${tools[@]}" "${computing[@]}")
if [ ${#second[@]} -gt 0 ] && [ ${#timed[@]} -gt 0 ]; then
	claims=$folder/claims
	mkdir "$claims"
	LANES=1 claims=$claims nice -n 15 "${BASH_SOURCE[0]}" "${second[@]}" >"$folder/second" 2>&1 &
	lane=$!
	run_all "${timed[@]}"
	for ((i = ${#second[@]} - 1; i >= 0; i--)); do
		run_all "${second[i]}"
	done
	wait "$lane"
	claims=
	lane=
	add "$folder/second"
else
	run_all "${second[@]}" "${timed[@]}"
fi
run_all "${alone[@]}"

# What to look at when all of it takes too long.
printf '%s\n' "${times[@]}" | grep . | sort -rn | sed -n "1,${SLOWEST}p" | while read -r tenths label; do
	echo "# took $((tenths / 10)).$((tenths % 10)) s: $label"
done
for failure in "${failures[@]}"; do
	echo "# failed: $failure"
done
echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
[ "$failed" -eq 0 ]
