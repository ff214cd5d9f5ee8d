# SPDX-License-Identifier: MIT
#
# make            build libraries, tools, fixtures and examples into build/
# make deps       install the Debian packages that the project needs
# make demo       the tools at work on a real server
# make check      every test            make check SAN=address|undefined|thread
# make check-no-uring    the tests of what is another without liburing, which is not compiled in then
# make stress     every primitive at once for STRESS_SECONDS=600; SAN= as above
# make fuzz       inputs of strangers, for FUZZ_SECONDS=60 each (clang)
# make soak       a server whose clients leave at any moment, for SOAK_SECONDS=3600; SAN= as above
# make tidy       formatters and linters make check-layers check-circles check-names: the house rules
# make bench      libfiber beside its peers (make deps-bench)    make bench-instructions    make bench-http
# make install    PREFIX=/usr/local DESTDIR=    make uninstall
#
# Choices: ARCH=x86_64|generic (the folder of libfiber/arch to compile), URING=uring|no_uring (of
# libfiber/poll; by default whether liburing is there), PROBES=sdt|none (of libfiber/base/probe; by default whether
# <sys/sdt.h> is there), HARDENING= (flags by which no frame steps over a guard; empty: none),
# CHECKER=valgrind|none (of libfiber/base/checker; by default whether <valgrind/memcheck.h> is there), SAN=, OPT=, BUILD=,
# VARIANTS= (scripts/variants.mk).

.DEFAULT_GOAL := all
include scripts/deps.mk

ifneq ($(filter deps deps-bench,$(MAKECMDGOALS)),)
# What there is to compile with is looked at when a makefile is read: so whatever is to be made after the packages are
# installed is made by another make.
AFTER_DEPS := $(filter-out deps deps-bench,$(MAKECMDGOALS))
.PHONY: $(AFTER_DEPS)
$(AFTER_DEPS): $(filter deps deps-bench,$(MAKECMDGOALS))
	@$(MAKE) --no-print-directory $@
else

SAN    ?=
ARCH   ?= $(if $(filter x86_64,$(shell uname -m)),x86_64,generic)
URING  ?= $(shell pkg-config --exists 'liburing >= 2.3' 2>/dev/null && echo uring || echo no_uring)
URING  := $(URING)
PROBES ?= $(shell echo '\#include <sys/sdt.h>' | $(CC) -E - >/dev/null 2>&1 && echo sdt || echo none)
PROBES := $(PROBES)
CHECKER ?= $(if $(SAN),none,$(shell echo '\#include <valgrind/memcheck.h>' | $(CC) -E - >/dev/null 2>&1 && echo valgrind || echo none))
CHECKER := $(CHECKER)
# What AddressSanitizer adds to each access takes the compiler half as long again to optimize well.
OPT    ?= $(if $(filter address,$(SAN)),-O1,-O2)
BUILD  ?= build$(if $(SAN),/$(SAN))
# What is wanted without a sanitizer beside what has one; ThreadSanitizer has nothing to see in the tools, which have one thread.
PLAIN_BUILD := $(if $(SAN),$(if $(filter build/$(SAN),$(BUILD)),build,$(BUILD).plain),$(BUILD))
PLAIN_TOOLS := $(if $(filter thread,$(SAN)),fiberctl fibertrace)
PREFIX ?= /usr/local
CC     ?= cc
VERSION := 0.1.0
comma := ,

ANNOUNCE := $(if $(filter address,$(SAN)),address,$(if $(filter thread,$(SAN)),thread,none))
# TSan does not model fences; where one carries an argument, an atomic beside it carries TSan.
# Undefined behaviour costs little beside addresses, and is looked for with them.
UNDEFINED := undefined
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN)$(if $(filter address,$(SAN)),$(UNDEFINED:%=$(comma)%)) -fno-sanitize-recover=all $(if $(filter thread,$(SAN)),-Wno-unknown-warning-option -Wno-tsan))

# Touch each page of a frame, so that no frame steps over the guard below a stack; users are offered the same.
HARDENING := $(shell echo 'int x;' | $(CC) -Werror -fstack-clash-protection -x c -c -o /dev/null - 2>/dev/null && \
	echo -fstack-clash-protection)

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
CFLAGS   += $(OPT) -g -std=gnu11 $(WARN) -fasynchronous-unwind-tables $(HARDENING) -pthread $(SANFLAGS) $(WERROR)
CPPFLAGS += -D_GNU_SOURCE -DFIBER_VERSION='"$(VERSION)"'
LDFLAGS  += -pthread $(SANFLAGS)

LIB_INC  := -Ilibfiber -Ilibfiber/include -Ilibfiber/arch/$(ARCH) -Ilibfiber/context/announce/$(ANNOUNCE) \
	-Ilibfiber/base/probe/$(PROBES) -Ilibfiber/base/checker/$(CHECKER)
PUB_INC  := -Ilibfiber/include

CALLS    := $(if $(SAN),watched,$(if $(filter x86_64,$(ARCH)),x86_64,plain))

# -- sources: a file in its folder is all it takes --
LIB_DIRS := base wire layout os/linux os/linux/calls/$(CALLS) context stack poll core sched wait life watch sync io service runtime arch/$(ARCH) poll/$(URING)
LIB_SRC  := $(foreach d,$(LIB_DIRS),$(wildcard libfiber/$(d)/*.c libfiber/$(d)/*.S))
PIC_OBJ  := $(patsubst libfiber/%,$(BUILD)/obj/pic/%.o,$(LIB_SRC))
# With a sanitizer all is compiled once, fit for a shared library, but for the note, which differs in an archive.
LIB_OBJ  := $(if $(SAN),$(PIC_OBJ:%/pic/core/note.S.o=%/lib/core/note.S.o),$(patsubst libfiber/%,$(BUILD)/obj/lib/%.o,$(LIB_SRC)))
WALK_SRC := $(wildcard libfiber/wire/*.c libfiber/layout/*.c)
INS_ROOMS := $(patsubst inspect/%/,%,$(sort $(wildcard inspect/*/)))
INS_SRC  := $(wildcard inspect/*/*.c)
INS_OBJ  := $(INS_SRC:%.c=$(BUILD)/obj/%.o) $(filter $(addprefix %/,$(WALK_SRC:libfiber/%=%.o)),$(LIB_OBJ))
TOOL_SRC := $(wildcard tool/*.c tool/*/*.c)
CTL_OBJ  := $(patsubst %.c,$(BUILD)/obj/%.o,$(TOOL_SRC) $(wildcard fiberctl/*.c))
TRACE_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(TOOL_SRC) $(wildcard fibertrace/*.c)) $(BUILD)/obj/fibertrace/page.o
FIX_SRC  := $(wildcard fixtures/*.c)
FIX_BIN  := $(FIX_SRC:fixtures/%.c=$(BUILD)/bin/%)
UNIT_SRC := $(wildcard tests/unit/*/*.c)
SYS_SRC  := $(wildcard tests/system/*.c)
CLI_SRC  := $(wildcard tests/cli/*.c)
TEST_BIN := $(patsubst tests/%.c,$(BUILD)/tests/%,$(UNIT_SRC) $(SYS_SRC) $(CLI_SRC))
STRESS_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/stress/*.c))
STRESS_BIN := $(BUILD)/tests/stress/stress
HARNESS_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/harness/*.c))
HARNESS_CLI_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/harness/cli/*.c))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

# What a program that is linked with an archive of libfiber needs too.
LIB_LIBS := $(if $(filter uring,$(URING)),$(shell pkg-config --libs liburing))
TOOL_LIBS = $(shell pkg-config --libs libunwind-generic libdw libelf jansson libzstd liblzma zlib) -liberty
CTL_LIBS = $(shell pkg-config --libs ncursesw)

.PHONY: all lib tools fixtures examples
all: lib tools fixtures examples variants
lib: $(BUILD)/lib/libfiber.a $(BUILD)/lib/libfiber.so $(BUILD)/lib/libfiber_pic.a $(BUILD)/gdb/libfiber-gdb.py
tools: $(BUILD)/bin/fiberctl $(BUILD)/bin/fibertrace
fixtures: $(FIX_BIN)
examples: $(EXAMPLES)

# -- libraries --
$(BUILD)/lib/libfiber.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	@$(if $(filter none,$(PROBES)),echo "libfiber: without probes: <sys/sdt.h> is missing or not wanted ('make deps' installs it)")
	@$(if $(SAN),,$(if $(filter none,$(CHECKER)),echo "libfiber: valgrind will not know its stacks: <valgrind/memcheck.h> is missing or not wanted ('make deps' installs it)"))
	@rm -f $@
	$(AR) rcs $@ $^

# For whoever has libfiber inside a shared library of his own.
$(BUILD)/lib/libfiber_pic.a: $(PIC_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

# Never unloaded: see libfiber/os/linux/loaded.c.
$(BUILD)/lib/libfiber.so.0: $(PIC_OBJ) libfiber/libfiber.map
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libfiber.so.0 -Wl,-z,nodelete -Wl,--version-script=libfiber/libfiber.map \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ $(PIC_OBJ) $(LIB_LIBS)

$(BUILD)/lib/libfiber.so: $(BUILD)/lib/libfiber.so.0
	ln -sf libfiber.so.0 $@

$(BUILD)/obj/lib/%.o: libfiber/%
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(LIB_INC) $(CFLAGS) -fvisibility=hidden -MMD -MP -c -o $@ $<

$(BUILD)/obj/pic/%.o: libfiber/%
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(LIB_INC) $(CFLAGS) -fvisibility=hidden -fPIC -MMD -MP -c -o $@ $<

# gdb's commands for fibers: one script, since gdb loads one. The archive has it inside (note.S); what is included in assembly is
# seen by no compiler's -MMD.
GDB_SCRIPT := $(BUILD)/gdb/libfiber-gdb.py
$(GDB_SCRIPT): $(addprefix libfiber/gdb/,registry.py fibers.py frames.py commands.py)
	@mkdir -p $(@D)
	cat $^ >$@
$(BUILD)/obj/lib/core/note.S.o: CPPFLAGS += -I$(BUILD)/gdb
$(BUILD)/obj/lib/core/note.S.o: $(GDB_SCRIPT)

# -- tools: inspect/ and the two libraries it shares with libfiber, not libfiber itself --
$(BUILD)/obj/inspect/%.o $(BUILD)/obj/tool/%.o $(BUILD)/obj/fiberctl/%.o $(BUILD)/obj/fibertrace/%.o: CPPFLAGS += -I. $(LIB_INC)

ifneq ($(PLAIN_TOOLS),)
$(PLAIN_TOOLS:%=$(BUILD)/bin/%): plain
	@mkdir -p $(@D)
	ln -sf ../plain/bin/$(@F) $@
else
$(BUILD)/bin/fiberctl: $(CTL_OBJ) $(INS_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(CTL_LIBS)

$(BUILD)/bin/fibertrace: $(TRACE_OBJ) $(INS_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)
endif

# The page of 'fibertrace report --html', as it stands.
$(BUILD)/obj/fibertrace/page.o: fibertrace/page.S fibertrace/share/report.html
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

$(BUILD)/obj/%.o: %.c | tool-libraries
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# -- fixtures and examples: users of the public interface only --
HTTP_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard fixtures/http/*.c))
HTTP_BIN := $(BUILD)/bin/httpd $(BUILD)/bin/httpd-threads $(BUILD)/bin/httpd-epoll
$(HTTP_BIN): FIX_LIBS := -lhttp_parser
$(HTTP_BIN): $(HTTP_OBJ)
$(BUILD)/bin/httpd-epoll: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard fixtures/epoll/*.c))
$(BUILD)/bin/values-plain: FIXFLAGS += -O0
# The names of all system calls of this machine.
$(BUILD)/obj/fixtures/sandbox_calls.h:
	@mkdir -p $(@D)
	@echo '#include <sys/syscall.h>' | $(CC) $(CPPFLAGS) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{"\1", __NR_\1},/p' | sort >$@.new && mv $@.new $@
$(BUILD)/bin/sandbox: FIXFLAGS += -I$(BUILD)/obj/fixtures
$(BUILD)/bin/sandbox: | $(BUILD)/obj/fixtures/sandbox_calls.h
# Whatever the compiler does by default: the first steps over guards, the second must not.
$(BUILD)/bin/overflow: FIXFLAGS += $(if $(HARDENING),-fno-stack-clash-protection)
$(BUILD)/bin/overflow-hardened: FIXFLAGS += $(HARDENING)
$(BUILD)/bin/%: fixtures/%.c $(BUILD)/lib/libfiber.a
	@mkdir -p $(@D) $(BUILD)/obj/fixtures
	$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) $(FIXFLAGS) -MMD -MP -MF $(BUILD)/obj/fixtures/$*.d -o $@ $< \
		$(filter %.o,$^) $(LDFLAGS) $(BUILD)/lib/libfiber.a $(LIB_LIBS) $(FIX_LIBS)

$(BUILD)/examples/%: examples/%.c $(BUILD)/lib/libfiber.a
	@mkdir -p $(@D) $(BUILD)/obj/examples
	$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -MMD -MP -MF $(BUILD)/obj/examples/$*.d -o $@ $< \
		$(LDFLAGS) $(EXAMPLE_LIBS_$*) $(BUILD)/lib/libfiber.a $(LIB_LIBS)

include scripts/plugins.mk
include scripts/adapters.mk
include scripts/bench.mk
include scripts/bench-http.mk

# -- tests --
$(BUILD)/obj/tests/%.o: CPPFLAGS += -I. $(LIB_INC)
INS_TESTS := $(filter $(foreach r,$(INS_ROOMS),$(BUILD)/tests/unit/$(r)/%),$(TEST_BIN))
$(INS_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(HARNESS_OBJ) $(INS_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(TOOL_LIBS)
# Named, or make would take the last of these rules whenever one of them is new.
$(HARNESS_CLI_OBJ) $(INS_OBJ):
$(BUILD)/tests/cli/%: $(BUILD)/obj/tests/cli/%.o $(HARNESS_OBJ) $(HARNESS_CLI_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -ljansson
$(STRESS_BIN): $(STRESS_OBJ) $(HARNESS_OBJ) $(BUILD)/lib/libfiber.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
# It has a frame that steps over a guard.
$(BUILD)/obj/tests/unit/runtime/test_fault.o: CFLAGS += $(if $(HARDENING),-fno-stack-clash-protection)
TEST_LIBS_test_control_words := -lm
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(HARNESS_OBJ) $(BUILD)/lib/libfiber.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $< $(HARNESS_OBJ) $(BUILD)/lib/libfiber.a -lcmocka $(TEST_LIBS_$(notdir $*)) $(LIB_LIBS)

include scripts/backtrace.mk
include scripts/fuzz.mk
include scripts/variants.mk
include scripts/check.mk
include scripts/install.mk

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
.SECONDARY:
.PHONY: clean
clean:
	rm -rf build

endif
