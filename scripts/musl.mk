# SPDX-License-Identifier: MIT
#
# musl.mk - libfiber for programs that are linked with musl
#
# make LIBC=musl BUILD=build/musl lib    build libfiber with musl-gcc (package musl-tools)
# make check-musl                        inspect programs that are linked with it
#
# The tools stay programs of the machine's own C library: there are no packages of their libraries for musl. liburing is
# not used, and valgrind and the probes are not announced, because their headers are those of the machine's C library.
#
# The Makefile includes this file before it sets any flag.

LIBC ?= glibc
ifeq ($(LIBC),musl)
override CC := musl-gcc
URING := no_uring
PROBES := none
CHECKER := none
VARIANTS :=
# The kernel's headers are those of the machine, after musl's own.
CPPFLAGS += -include libfiber/os/linux/libc/musl/missing.h -idirafter /usr/include \
	-idirafter /usr/include/$(shell gcc -print-multiarch)
LDFLAGS += $(if $(filter static,$(MUSL_LINK)),-static)
endif

# The programs that are inspected are linked with musl, statically; the tools and the tests are those of $(BUILD).
MUSL_TESTS := cli/test_fiberctl_list cli/test_fibertrace_live
.PHONY: check-musl
check-musl: tools
	@$(MAKE) --no-print-directory $(MUSL_TESTS:%=$(BUILD)/tests/%)
	@$(MAKE) --no-print-directory LIBC=musl MUSL_LINK=static BUILD=$(BUILD)/musl $(addprefix $(BUILD)/musl/bin/,crowd spin)
	@ln -sf ../../bin/fiberctl ../../bin/fibertrace $(BUILD)/musl/bin/
	@rm -f $(BUILD)/musl/check.result
	@$(CC) --version | sed q >$(BUILD)/musl/check.compiler
	@echo tools >$(BUILD)/musl/check.choice
	@FIBER_BUILD='$(abspath $(BUILD)/musl)' RESULT='$(abspath $(BUILD)/musl)/check.result' scripts/run-tests.sh $(abspath $(MUSL_TESTS:%=$(BUILD)/tests/%))
