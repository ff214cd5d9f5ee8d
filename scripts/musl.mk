# SPDX-License-Identifier: MIT
#
# musl.mk - libfiber for programs that are linked with musl
#
# make LIBC=musl [MUSL_LINK=static]         build libfiber with musl-gcc (package musl-tools) into build/musl or build/musl-static
# make check LIBC=musl [MUSL_LINK=static]   its unit and system tests with musl; CHOICE=short: those of .ci/run ports
# make check-musl                           inspect programs that are linked with it
#
# The tests have a harness of their own in the place of cmocka. scripts/left-out-musl.txt names those that cannot run. Some tests
# define functions of the C library, which a static program cannot: MUSL_LINK=static is for CHOICE=short.
# The tools stay programs of the machine's own C library: there are no packages of their libraries for musl. liburing is
# not used, and valgrind and the probes are not announced, because their headers are those of the machine's C library.
#
# The Makefile includes this file before it sets any flag.

LIBC ?= glibc
ifeq ($(LIBC),musl)
BUILD ?= build/musl$(if $(filter static,$(MUSL_LINK)),-static)
override CC := musl-gcc
URING := no_uring
PROBES := none
CHECKER := none
GC :=
VARIANTS :=
# The kernel's headers are those of the machine, after musl's own.
CPPFLAGS += -include libfiber/os/linux/libc/musl/missing.h -idirafter /usr/include \
	-idirafter /usr/include/$(shell gcc -print-multiarch)
# musl-gcc leaves out the table of functions that compilers of systems with musl have made.
LDFLAGS += -Wl,--eh-frame-hdr $(if $(filter static,$(MUSL_LINK)),-static)
endif

# The programs that are inspected are linked with musl, statically; the tools and the tests are those of $(BUILD).
MUSL_TESTS := cli/test_fiberctl_list cli/test_fibertrace_live
.PHONY: check-musl
check-musl: tools
	@$(MAKE) --no-print-directory $(MUSL_TESTS:%=$(BUILD)/tests/%)
	@$(MAKE) --no-print-directory LIBC=musl MUSL_LINK=static BUILD=$(BUILD)/musl-static $(addprefix $(BUILD)/musl-static/bin/,crowd spin)
	@ln -sf ../../bin/fiberctl ../../bin/fibertrace $(BUILD)/musl-static/bin/
	@mkdir -p $(BUILD)/musl-tools
	@rm -f $(BUILD)/musl-tools/check.result
	@musl-gcc --version | sed q >$(BUILD)/musl-tools/check.compiler
	@echo tools >$(BUILD)/musl-tools/check.choice
	@FIBER_BUILD='$(abspath $(BUILD)/musl-static)' RESULT='$(abspath $(BUILD)/musl-tools)/check.result' \
		scripts/run-tests.sh $(abspath $(MUSL_TESTS:%=$(BUILD)/tests/%))
