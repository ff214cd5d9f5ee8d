# SPDX-License-Identifier: MIT
#
# compilers.mk - libfiber with other compilers, options and linkers
#
# make check-compilers [COMPILERS="clang-19 gcc-12+O3"]   for each row: build libfiber, run a choice of its tests, and walk the
#                                                         stacks of a program
# make deps-compilers                                     install the compilers and linkers of the rows
#
# A row is a compiler and perhaps, after a plus sign, an option of the list below. It is built in build/compilers/ROW. The tests are
# those of `make check ARCH=... CHOICE=short`. The tool that walks is that of $(BUILD). `make platforms` writes the results into
# docs/platforms.md.

# Those of Debian 12 that compile C11 with what libfiber uses of GNU C.
COMPILERS ?= gcc-11 gcc-12 clang-13 clang-14 clang-15 clang-16 clang-19 \
	$(addprefix gcc-12+,O0 O3 lto cf-protection fortify frame-pointer mold lld gold) $(addprefix clang-19+,O3 lto mold lld)
COMPILER_PACKAGES = $(sort $(foreach r,$(COMPILERS),$(firstword $(subst +, ,$(r)))) mold lld llvm-19 lld-19)

compiler_option = $(word 2,$(subst +, ,$(1)))
compiler_O0            := OPT=-O0
compiler_O3            := OPT=-O3
compiler_lto           := CFLAGS=-flto LDFLAGS=-flto
compiler_cf-protection := CFLAGS=-fcf-protection=full
compiler_fortify       := CPPFLAGS='-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3'
compiler_frame-pointer := CFLAGS=-fno-omit-frame-pointer
compiler_mold          := LDFLAGS=-fuse-ld=mold
compiler_lld           := LDFLAGS=-fuse-ld=lld
compiler_gold          := LDFLAGS=-fuse-ld=gold

ROW_TESTS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(PORT_SHORT))

.PHONY: check-compilers check-compiler deps-compilers $(COMPILERS:%=check-compiler-%)
check-compilers: $(COMPILERS:%=check-compiler-%)
$(COMPILERS:%=check-compiler-%): check-compiler-%: tools
	@echo "# $*"
	@$(compiler_$(call compiler_option,$*)) $(MAKE) --no-print-directory CC=$(firstword $(subst +, ,$*)) BUILD=build/compilers/$* \
		FIBERTRACE='$(abspath $(BUILD))/bin/fibertrace' check-compiler
check-compiler: lib $(BUILD)/bin/crowd $(ROW_TESTS)
	@rm -f $(BUILD)/check.result
	@$(CC) --version | sed q >$(BUILD)/check.compiler
	@echo short >$(BUILD)/check.choice
	@FIBER_BUILD='$(abspath $(BUILD))' FIBERTRACE='$(FIBERTRACE)' RESULT='$(abspath $(BUILD))/check.result' CARRIERS=4 POLLERS=epoll \
		scripts/run-tests.sh $(abspath $(sort $(ROW_TESTS)) scripts/test-crowd-walk.sh)
deps-compilers:
	@sh scripts/deps.sh $(COMPILER_PACKAGES)
