#!/bin/sh
# SPDX-License-Identifier: MIT
#
# demo.sh - run the tools on a real server and check every step
#
# Starts fixtures/httpd with a few hundred open connections from fixtures/load. Inspects it with fiberctl and
# fibertrace as a person would do if it hung. Then ends it and reads its core. Each step prints the command as
# one types it and its output, shortened. If a step fails or its output lacks what the step is there to show,
# the script names the step and exits with status 1.
#
# The server runs under a name that no other process has, so that another httpd of the user is not meant.
#
# All files, such as sockets and the core, are in a temporary folder. After at most $LIMIT seconds the folder and
# both programs are gone. FIBER_BUILD: the build folder.
set -u
LC_ALL=C
export LC_ALL

LIMIT=${LIMIT:-50}
CONNECTIONS=300
FIBERS=$((CONNECTIONS + 2)) # one accepts, one waits for signals
POLICY='pinned blocking: '

bin=${FIBER_BUILD:?the build folder}/bin
deadline=$(($(date +%s) + LIMIT))
httpd=
loads=
connections=0
folder=$(mktemp -d) || exit 1
said=$folder/said
name=httpd-$$ # of the server, in the tools

# end PID: end a child with SIGTERM, and with SIGKILL after 3 s
end() {
	looks=0
	kill "$1" 2>/dev/null
	while kill -0 "$1" 2>/dev/null; do
		looks=$((looks + 1))
		[ $looks -ne 30 ] || kill -KILL "$1"
		sleep 0.1
	done
	wait "$1" 2>/dev/null
}

finish() {
	trap '' INT TERM HUP
	for pid in $loads $httpd; do
		end "$pid"
	done
	rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# fail WHY: name the current step and exit
fail() {
	echo "demo: step '$title': $1" >&2
	exit 1
}

left() {
	seconds=$((deadline - $(date +%s)))
	[ $seconds -gt 0 ] && echo $seconds
}

# step WORD...: print the command, run it, keep its output in $said; it must end with the status $wanted
wanted=0
step() {
	title=$*
	printf '\n$ %s\n' "$title"
	tool=$bin/$1
	shift
	seconds=$(left) || fail "$LIMIT s are over"
	timeout -k 2 "$seconds" "$tool" "$@" >"$said"
	status=$?
	[ $status -eq $wanted ] || {
		cat "$said"
		fail "exit status $status"
	}
}

# show LINES: print the first LINES lines of the output, and the last one
show() {
	lines=$(wc -l <"$said")
	if [ "$lines" -le $(($1 + 2)) ]; then
		cat "$said"
	else
		head -n "$1" "$said"
		echo "... ($((lines - $1 - 1)) lines left out here)"
		tail -n 1 "$said"
	fi
}

# says PATTERN: fail unless a line of the output matches
says() {
	grep -Eq -- "$1" "$said" || fail "no line of it matches: $1"
}

# counts: fail unless the output ends with the number of all fibers
counts() {
	tail -n 1 "$said" | grep -Eq "^shown $FIBERS of $FIBERS fibers, sampled over [0-9]" ||
		fail "it does not end with: shown $FIBERS of $FIBERS fibers, sampled over T"
}

# groups: fail unless the groups have complete stacks of all fibers
groups() {
	! grep -E 'truncated|no frames|incomplete' "$said" || fail "backtraces are missing"
	total=$(awk '/^[0-9]+ fibers? \[/ { n += $1 } END { print n + 0 }' "$said")
	[ "$total" -eq $FIBERS ] || fail "its groups have $total fibers instead of $FIBERS"
	says '^[0-9]+ fibers \[suspended: mutex "stats" held by [0-9]+, '
	says '^[0-9]+ fibers \[suspended: fd read, '
	says '^  #[0-9]+ +connection_main.* at .*httpd\.c:[0-9]+$'
	counts
}

# await PID FILE PATTERN: wait for the line that the program writes when it is ready
await() {
	until grep -E "$3" "$2"; do
		left >/dev/null || fail "not ready within $LIMIT s"
		kill -0 "$1" 2>/dev/null || {
			cat "$folder/errors" >&2
			fail "it ended"
		}
		sleep 0.1
	done
}

# waiting FIBERS: check that the server has that many fibers, and that each fiber with a request sleeps or waits for
# a mutex. The requests take a minute, so from then on nothing moves.
waiting() {
	asked=$(sed -n 's/^round 1: asked \([0-9]*\)$/\1/p' "$folder/first" "$folder/others" |
		awk '{ n += $1 } END { print n + 0 }')
	timeout -k 2 5 "$bin/fibertrace" "$httpd" >"$said" 2>/dev/null &&
		tail -n 1 "$said" | grep -q "^shown $1 of $1 " &&
		awk -v asked="$asked" '/^[0-9]+ fibers? \[suspended: (sleep|mutex)/ { n += $1 }
			END { exit !n || n != asked }' "$said"
}

# connect NAME CONNECTIONS OPTION...: start clients and wait until the server's fibers for them wait
connect() {
	output=$folder/$1
	shift
	title="load $port --connections $* &"
	printf '\n$ %s\n' "$title"
	"$bin/load" "$port" --connections "$@" >"$output" 2>"$folder/errors" &
	loads="$loads $!"
	await $! "$output" "^open $1\$"
	connections=$((connections + $1))
	until waiting $((connections + 2)); do
		left >/dev/null || fail "its connections did not all come to wait within $LIMIT s"
		sleep 0.1
	done
}

start() {
	unset FIBER_CONTROL FIBER_CONTROL_PATH
	XDG_RUNTIME_DIR=$folder/run
	export XDG_RUNTIME_DIR
	mkdir "$folder/run" "$folder/server" "$folder/bin"
	ln -s "$bin/httpd" "$folder/bin/$name"
	echo "# The programs are those of $bin, control sockets are in $XDG_RUNTIME_DIR."

	title="$name &"
	printf '\n$ %s\n' "$title"
	(cd "$folder/server" && ulimit -c "$(ulimit -H -c)" && exec "$folder/bin/$name") \
		>"$folder/httpd" 2>"$folder/errors" &
	httpd=$!
	await "$httpd" "$folder/httpd" '^listening on 127\.0\.0\.1:[0-9]+$'
	port=$(sed -n 's/.*://p' "$folder/httpd")

	# The first client's page holds a mutex that others will wait for.
	: >"$folder/others"
	connect first 1 --hold 60000
	connect others $((CONNECTIONS - 1)) --sleep 60000
}

ask_fiberctl() {
	step fiberctl
	show 5
	says "^ *$httpd +$FIBERS +[1-9][0-9]* +warn +[^ ]+ .*/$name"

	wanted=4 # something is slow
	step fiberctl why "$name"
	wanted=0
	show 12
	says "^$name \(pid $httpd\): [0-9]+ of $FIBERS fibers wait for locks behind one that sleeps\$"
	says '^  fiber [0-9]+ "conn-1" holds mutex "stats" for at least [0-9.]+m?s \(taken at httpd\.c:[0-9]+ in serve_hold\) and has slept .* at httpd\.c:[0-9]+ in serve_hold$'
	counts

	step fiberctl list "$name"
	show 12
	says '^ *[0-9]+ suspended .* mutex "stats"@0x[0-9a-f]+ held by [0-9]+ +conn-[0-9]+$'
	says '^ *[0-9]+ suspended .* fd [0-9]+ read +conn-[0-9]+$'
	says '^ *[0-9]+ suspended .* sleep [0-9.]+m?s left +conn-1$'
	counts
	waiter=$(awk '/mutex "stats"@/ { print $1; exit }' "$said")
	holder=$(sed -n 's/.* mutex "stats"@.* held by \([0-9]*\) .*/\1/p' "$said" | head -n 1)

	step fiberctl bt "$httpd" "$waiter"
	show 40
	says "^fiber $waiter \"conn-[0-9]+\" \[suspended: mutex \"stats\" held by $holder, [0-9.]+m?s\]\$"
	says '^  #[0-9]+ +fiber_mutex_lock.* at .*mutex\.c:[0-9]+$'
	says '^  #[0-9]+ +connection_main.* at .*httpd\.c:[0-9]+$'

	step fiberctl bt "$httpd" "$holder"
	show 40
	says "^fiber $holder \"conn-1\" \[suspended: sleep "
	says '^  #[0-9]+ +serve_hold.* at .*httpd\.c:[0-9]+$'
}

change_policy() {
	step fiberctl policy "$httpd"
	show 5
	says "^${POLICY}warn "
	step fiberctl policy "$httpd" error
	show 5
	says "^${POLICY}error, was warn "
	step fiberctl policy "$httpd"
	show 5
	says "^${POLICY}error "
}

# Make a core of the server. The kernel writes it into the server's folder; gdb writes it if this system sends
# cores elsewhere or does not allow them.
make_core() {
	core=$folder/server/core.$httpd
	allowed=$(ulimit -H -c)
	case $allowed:$(cat /proc/sys/kernel/core_pattern) in
	unlimited:*[/\|]* | [0-9]*:*)
		title="gcore -o core $httpd"
		printf '\n$ %s\n' "$title"
		seconds=$(left) || fail "$LIMIT s are over"
		timeout -k 2 "$seconds" gcore -o "${core%.*}" "$httpd" >"$said" 2>&1
		[ -f "$core" ] || {
			cat "$said"
			fail "it wrote no core"
		}
		tail -n 2 "$said"
		;;
	*)
		title="kill -ABRT $httpd"
		printf '\n$ %s\n' "$title"
		kill -ABRT "$httpd"
		while kill -0 "$httpd" 2>/dev/null; do
			left >/dev/null || fail "it did not end within $LIMIT s"
			sleep 0.1
		done
		wait "$httpd" 2>/dev/null
		httpd=
		for file in "$folder"/server/*; do
			core=$file
		done
		[ -f "$core" ] || fail "the kernel wrote no core"
		ls -s --block-size=1 "$core" | sed "s|^ *\([0-9]*\) .*/|core file: \1 bytes on disk: |"
		;;
	esac
}

start
ask_fiberctl
change_policy
step fibertrace "$httpd"
show 32
groups

make_core
cd "$(dirname "$core")" || exit 1
step fibertrace --core "$(basename "$core")"
show 16
says ' \(core, process [0-9]+\)$'
groups
cd / || exit 1

pids="$loads $httpd"
finish
trap - EXIT
title='the end'
for pid in $pids; do
	! kill -0 "$pid" 2>/dev/null || fail "process $pid is still there"
done
[ ! -e "$folder" ] || fail "$folder is still there"
printf '\ndemo: all steps did what they show\n'
