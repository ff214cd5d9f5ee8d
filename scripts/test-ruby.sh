#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-ruby.sh [BUILD] - the tests of contrib/ruby; each is one program of TAP, and one test here
. "$(dirname "$0")/tap.sh"

ruby_test() {
	FIBER_BUILD=$build timeout -k 5 100 ruby -I "$build/ruby" -I contrib/ruby/lib "contrib/ruby/test/$1.rb"
}

prove "a Ruby program runs on the scheduler" ruby_test test_scheduler
prove "fiberctl shows the fibers of a Ruby program" ruby_test test_fiberctl

echo "1..$count"
exit "$failed"
