#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-static.sh [BUILD] - fiberctl and fibertrace of `make STATIC=1` in a root that has nothing but them and a program
#
# The root has no libraries, no /etc and no shell. The tools of the same build that are linked with libraries must give the same
# stacks from outside of it. `make test-static` builds what is needed.
[ -n "${IN_NAMESPACE-}" ] || IN_NAMESPACE=1 exec unshare -rm sh "$0" "$@"
. "$(dirname "$0")/tap.sh"

root=$tmp/root
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid"; umount -l "$root/proc"; rm -rf "$tmp"' EXIT
mkdir -p "$root/bin" "$root/run" "$root/proc" "$root/tmp"
cp "$build/static/bin/fiberctl" "$build/static/bin/fibertrace" "$build/bare/bin/crowd" "$root/bin"
# As in a container that has the /proc of the machine.
mount --rbind /proc "$root/proc" || exit 1

inside() {
	env -i PATH="$PATH" XDG_RUNTIME_DIR=/run chroot "$root" "$@"
}

inside /bin/crowd 8 >"$tmp/crowd" &
for _ in $(seq 300); do
	pid=$(sed -n 's/^ready //p' "$tmp/crowd")
	[ -z "$pid" ] || break
	sleep 0.1
done

is_static() {
	for tool in fiberctl fibertrace; do
		! readelf -l "$root/bin/$tool" | grep INTERP || return 1
	done
}

lists() {
	inside "/bin/$1" list "$pid" | tee "$tmp/list" && grep mutex "$tmp/list"
}

# The frames alone: the fibers that are walked are suspended, and stay so.
frames() {
	"$@" bt "$pid" --all --where state=suspended | grep '^ *#'
}

walks() {
	frames inside "/bin/$1" >"$tmp/inside"
	XDG_RUNTIME_DIR=$root/run frames "$build/bin/$1" >"$tmp/outside"
	grep "member_main.* at fixtures/crowd.c" "$tmp/inside" && diff "$tmp/inside" "$tmp/outside"
}

leaves_serve_out() {
	inside /bin/fiberctl serve 2>"$tmp/serve"
	[ $? -eq 2 ] && grep 'linked statically' "$tmp/serve"
}

prove "both are one file each" is_static
for tool in fiberctl fibertrace; do
	prove "$tool lists fibers" lists $tool
	prove "$tool has the stacks, names and lines that it has outside" walks $tool
done
prove "serve says that it is left out" leaves_serve_out
echo "1..$count"
exit "$failed"
