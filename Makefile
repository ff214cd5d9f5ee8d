# SPDX-License-Identifier: MIT
#
# make [V=1]             build libraries, tools, fixtures and examples into build/; V=1 prints the commands
# make help              print this
# make deps              install the Debian packages that the project needs
# make deps-ports        install the cross compilers and emulators for `make ARCH=` and `make check ARCH=` (scripts/ports.mk)
# make STATIC=1          link fiberctl and fibertrace statically, to copy into a container (scripts/static.mk)
# make ruby              build contrib/ruby, a Fiber::Scheduler for Ruby; make test-ruby, make bench-ruby
# make demo              run the tools on a real server
# make check             run every test; SAN=address|thread|undefined: with a sanitizer
# make check-quick       run unit tests of libfiber that take seconds, as the Debian package does
# make check-no-uring    run the tests that differ without liburing, built without it
# make check-kqueue      run the tests that wait for descriptors over kqueue(2), with tests/kqueue or LIBKQUEUE=
# make check-systems     compile libfiber/os for FREEBSD=DIR and MACOS=DIR, folders with their headers (scripts/systems.mk)
# make check-musl        inspect programs that are linked with musl (scripts/musl.mk)
# make check-kernels     run tests under other kernels, in virtual machines (scripts/kernels.mk)
# make check-compilers   run tests with other compilers, options and linkers (scripts/compilers.mk)
# make tidy              run the formatter and the linters
# make check-layers check-circles check-names    check the rules for includes, calls and names
# make stress            run every primitive at once for STRESS_SECONDS=600; SAN= as above
# make single            run the tests of libfiber linked with libfiber-test in its place (scripts/single.mk)
# make fuzz              fuzz each parser of foreign input for FUZZ_SECONDS=60 (clang)
# make test-conformance  cases of POSIX for threads, in a checkout of the Linux Test Project, LTP=../ltp, on fibers
# make test-leaks        look for lost fibers in healthy programs, LEAKS_LOOKS=1000 times in each
# make fuzz-serve        send arbitrary requests to fiberctl serve for SECONDS=600, with SEED=1; SAN= as above
# make soak              run a server whose clients leave at any moment for SOAK_SECONDS=3600; SAN= as above
# make why-healthy       ask `why` COUNT=1000 times about each of 30 programs without a fault, LANES=4 at a time
# make bench             compare libfiber with its peers; also bench-instructions, bench-http, ... (scripts/bench.mk)
# make deps-bench        install the packages of these peers
# make deps-packages     install what the tests of packages need
# make install           install below PREFIX=/usr/local, into DESTDIR=; make uninstall removes it. LIBDIR=PREFIX/lib: the folder
#                        of the libraries; the same value when it is built and when it is installed
# make install-lib       install only libfiber and libfiber-posix, which need nothing but the C library and liburing
# make dist              make the release tarball, build/libfiber-VERSION.tar.gz (scripts/dist.mk)
# make html              write the guides and the manual as one site, build/html
# make test-packages     build the packages of Debian and RPM, and install, test, upgrade and purge them in a new root
# make compile_commands.json    write the compilation database for clangd and clang-tidy
# make clean             remove build/
#
# Variables
#   BUILD=      build folder: build; build/SAN with a sanitizer; build/ARCH for another machine
#   SAN=        sanitizer: address (and undefined), thread, undefined
#   OPT=        optimization: -O2; -O1 with SAN=address
#   WERROR=     -Werror makes warnings errors, as .ci/run does
#   OBJCOPY=    objcopy of the compiler: it puts the code of libfiber into a section of its own
#   ARCH=       the machine: x86_64, aarch64, riscv64, ... (scripts/ports.mk), or generic: this one, with the generic port
#   PORT=       the folder of libfiber/arch to compile: that of the machine, or generic
#   URING=      uring|no_uring: the folder of libfiber/poll; default: uring if liburing is installed
#   LIBKQUEUE=  prefix of an installed libkqueue: adds the poller on kqueue(2) (docs/porting.md)
#   LIBC=       musl: build libfiber with musl-gcc (scripts/musl.mk)
#   PROBES=     sdt|none: the folder of libfiber/base/probe; default: sdt if <sys/sdt.h> is installed
#   CHECKER=    valgrind|none: the folder of libfiber/base/checker; default: valgrind if <valgrind/memcheck.h> is installed
#   HARDENING=  flags that keep a stack frame from stepping over a guard page; empty: none
#   VARIANTS=   libraries for programs with a sanitizer: asan tsan (scripts/variants.mk)

.DEFAULT_GOAL := all
include scripts/deps.mk
include scripts/ports.mk

ifneq ($(filter deps deps-bench deps-ports deps-packages,$(MAKECMDGOALS)),)
# make looks for compilers and libraries while it reads a makefile. So a second make, started after the packages are
# installed, builds the other goals.
AFTER_DEPS := $(filter-out deps deps-bench deps-ports deps-packages,$(MAKECMDGOALS))
.PHONY: $(AFTER_DEPS)
$(AFTER_DEPS): $(filter deps deps-bench deps-ports deps-packages,$(MAKECMDGOALS))
	@$(MAKE) --no-print-directory $@
else

SAN    ?=
include scripts/musl.mk
# A build for another machine or another C library: there are no packages of the libraries that tools and tests need.
FOREIGN := $(or $(CROSS),$(filter musl,$(LIBC)))
URING  ?= $(shell pkg-config --exists 'liburing >= 2.3' 2>/dev/null && echo uring || echo no_uring)
URING  := $(URING)
KQUEUE ?= $(if $(LIBKQUEUE),kqueue,no_kqueue)
KQUEUE_LIBS = $(if $(filter kqueue,$(KQUEUE)),$(or $(LIBKQUEUE:%=%/lib/libkqueue.a),$(BUILD)/obj/tests/kqueue/kqueue.o))
PROBES ?= $(shell echo '\#include <sys/sdt.h>' | $(CC) -E - >/dev/null 2>&1 && echo sdt || echo none)
PROBES := $(PROBES)
CHECKER ?= $(if $(SAN),none,$(shell echo '\#include <valgrind/memcheck.h>' | $(CC) -E - >/dev/null 2>&1 && echo valgrind || echo none))
CHECKER := $(CHECKER)
# The Boehm collector: for an example and a test. libfiber does not use it. A sanitizer looks at memory that the collector reads.
GC     ?= $(if $(SAN),,$(shell echo '\#include <gc/gc.h>' | $(CC) -E - >/dev/null 2>&1 && echo gc))
GC     := $(GC)
# AddressSanitizer adds checks to each access. Optimizing them with -O2 makes compilation take half as long again.
OPT    ?= $(if $(filter address,$(SAN)),-O1,-O2)
BUILD  ?= build$(if $(SAN),/$(SAN))
# PLAIN_BUILD: the build without a sanitizer that is needed beside one with it. PLAIN_TOOLS: tools that are taken from there; the
# tools have one thread, so ThreadSanitizer cannot find anything in them.
PLAIN_BUILD := $(if $(SAN),$(if $(filter build/$(SAN),$(BUILD)),build,$(BUILD).plain),$(BUILD))
PLAIN_TOOLS := $(if $(filter thread,$(SAN)),fiberctl fibertrace)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
# Where a tool in PREFIX/bin looks for a library that it preloads, unless that is in ../lib.
TOOL_LIBDIR := $(patsubst $(PREFIX)/%,../%,$(LIBDIR))
CC     ?= cc
VERSION := 0.2.0
comma := ,

# make prints one short line per file; with V=1 the commands; with -s nothing. A recipe starts with $(call say,CC,FILE) and has
# $(Q) before each command. compiled: the source, and in brackets the build and the variant of the object.
QUIET := $(if $(filter 1,$(V)),,yes)
Q     := $(if $(QUIET),@)
flags := $(firstword -$(MAKEFLAGS))
say    = $(if $(QUIET),$(if $(findstring s,$(flags))$(findstring n,$(flags)),,$(info $(1) $(2))))
build_name := $(patsubst build/%,%,$(filter-out build,$(BUILD)))
compiled    = $<$(if $(build_name)$(1), [$(strip $(build_name) $(1))])

ANNOUNCE := $(if $(filter address,$(SAN)),address,$(if $(filter thread,$(SAN)),thread,none))
# TSan does not model fences. Where an ordering depends on a fence, an atomic access beside it shows the ordering to TSan.
# Checks for undefined behaviour cost little beside AddressSanitizer, so SAN=address includes them.
UNDEFINED := undefined
# Sanitizers do not know an exclusion without locked instructions.
SOLE     := $(if $(SAN),none,$(if $(wildcard libfiber/core/sole/$(PORT)),$(PORT),none))
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN)$(if $(filter address,$(SAN)),$(UNDEFINED:%=$(comma)%)) -fno-sanitize-recover=all $(if $(filter thread,$(SAN)),-Wno-unknown-warning-option -Wno-tsan))

# Touch each page of a frame, so that no frame steps over the guard below a stack. libfiber.pc offers these flags to users.
HARDENING := $(shell echo 'int x;' | $(CC) -Werror -fstack-clash-protection -x c -c -o /dev/null - 2>/dev/null && \
	echo -fstack-clash-protection)

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
CFLAGS   += $(OPT) -g -std=gnu11 $(WARN) -fasynchronous-unwind-tables $(HARDENING) -pthread $(SANFLAGS) $(WERROR)
# Distributions compile with -flto. Objects for it have no sections that objcopy could rename (CODE_SECTION). A program that uses
# libfiber may be compiled with it.
NO_LTO   := $(if $(filter -flto%,$(CFLAGS)),-fno-lto)
CFLAGS   += $(NO_LTO)
CPPFLAGS += -D_GNU_SOURCE -DFIBER_VERSION='"$(VERSION)"' $(if $(filter kqueue,$(KQUEUE)),-idirafter $(if $(LIBKQUEUE),$(LIBKQUEUE)/include/kqueue,tests/kqueue))
# Sanitizers know the plain functions of the C library better than the checking ones of a distribution's build.
CPPFLAGS += $(if $(SAN),-U_FORTIFY_SOURCE)
LDFLAGS  += -pthread $(SANFLAGS)

LIB_INC  := -Ilibfiber -Ilibfiber/include -Ilibfiber/arch/$(PORT) -Ilibfiber/context/announce/$(ANNOUNCE) \
	-Ilibfiber/base/probe/$(PROBES) -Ilibfiber/base/checker/$(CHECKER) -Ilibfiber/base/choice/none -Ilibfiber/base/order/none \
	-Ilibfiber/runtime/carriers/threads -Ilibfiber/stack/reserve/batch -Ilibfiber/core/sole/$(SOLE) -Ilibfiber/os/linux/libc/$(LIBC)
PUB_INC  := -Ilibfiber/include

# The code of libfiber is in a section of its own, so that the registry can publish its addresses (code in fiber_layout.h). The
# linker keeps input sections of one name together, and the name survives strip.
OBJCOPY  ?= objcopy
CODE_SECTION := $(foreach s,.text .text.unlikely .text.hot .text.startup .text.exit,--rename-section $(s)=fiber_text)

CALLS    := $(if $(SAN),watched,$(if $(wildcard libfiber/os/linux/calls/$(PORT)),$(PORT),plain))

# -- sources: every file in these folders is compiled --
# A port that cannot move the thread pointer.
FIXED_TP := $(if $(wildcard libfiber/arch/$(PORT)/thread_pointer.c),,arch/fixed_tp)
LIB_DIRS := base wire layout os/posix os/linux os/linux/calls/$(CALLS) $(PORT_ATOMIC8) context stack poll core sched wait life watch sync io service runtime arch/$(PORT) $(FIXED_TP) poll/$(URING) poll/$(KQUEUE)
LIB_SRC  := $(foreach d,$(LIB_DIRS),$(wildcard libfiber/$(d)/*.c libfiber/$(d)/*.S))
PIC_OBJ  := $(patsubst libfiber/%,$(BUILD)/obj/pic/%.o,$(LIB_SRC))
# Rooms that no hot path depends on are compiled once: their PIC objects are in the archive too. With a sanitizer this holds for all
# rooms. note.S differs in the archive.
LIB_ONCE := $(if $(SAN),%,wire/% layout/% os/% stack/% poll/% service/% runtime/%)
LIB_OBJ  := $(foreach f,$(LIB_SRC:libfiber/%=%),$(BUILD)/obj/$(if $(filter-out core/note.S,$(filter $(LIB_ONCE),$(f))),pic,lib)/$(f).o)
WALK_SRC := $(wildcard libfiber/wire/*.c libfiber/layout/*.c)
INS_ROOMS := $(patsubst inspect/%/,%,$(sort $(wildcard inspect/*/)))
INS_SRC  := $(wildcard inspect/*/*.c)
INS_OBJ  := $(INS_SRC:%.c=$(BUILD)/obj/%.o) $(filter $(addprefix %/,$(WALK_SRC:libfiber/%=%.o)),$(LIB_OBJ))
TOOL_SRC := $(wildcard tool/*.c tool/*/*.c)
CTL_OBJ  := $(patsubst %.c,$(BUILD)/obj/%.o,$(TOOL_SRC) $(wildcard fiberctl/*.c fiberctl/serve/*.c)) $(BUILD)/obj/fiberctl/serve/files.o
TRACE_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(TOOL_SRC) $(wildcard fibertrace/*.c)) $(BUILD)/obj/fibertrace/page.o
FIX_SRC  := $(wildcard fixtures/*.c)
FIX_BIN  := $(FIX_SRC:fixtures/%.c=$(BUILD)/bin/%)
UNIT_SRC := $(wildcard tests/unit/*/*.c)
SYS_SRC  := $(filter-out $(if $(GC),,tests/system/test_gc_boehm.c),$(wildcard tests/system/*.c))
CLI_SRC  := $(wildcard tests/cli/*.c)
# A port has a folder in tests/arch with what the tests there need.
ARCH_TEST_SRC := $(if $(wildcard tests/arch/$(PORT)/registers.S),tests/arch/test_registers.c) \
	$(if $(wildcard tests/arch/$(PORT)/calls.c),tests/arch/test_after_call.c) $(wildcard tests/arch/$(PORT)/test_*.c)
POSIX_TEST_SRC := $(wildcard tests/posix/*.c)
TEST_BIN := $(if $(FOREIGN),$(PORT_TESTS),$(patsubst tests/%.c,$(BUILD)/tests/%,$(UNIT_SRC) $(ARCH_TEST_SRC) $(SYS_SRC) $(CLI_SRC) $(POSIX_TEST_SRC)))
STRESS_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/stress/*.c))
STRESS_BIN := $(BUILD)/tests/stress/stress
# Another machine has no cmocka.
HARNESS_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/harness/*.c $(if $(FOREIGN),tests/harness/plain/*.c)))
CMOCKA := $(if $(FOREIGN),,-lcmocka)
HARNESS_CLI_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/harness/cli/*.c))
# Examples of tests are linked with libfiber-test (scripts/explore.mk).
TEST_EXAMPLE_SRC := $(wildcard examples/2?_test.c examples/2?_test_*.c)
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(filter-out $(TEST_EXAMPLE_SRC) $(if $(GC),,examples/26_gc.c),$(wildcard examples/*.c))) $(BUILD)/examples/raii

# Libraries that a program linked with an archive of libfiber needs too.
LIB_LIBS := $(if $(filter uring,$(URING)),$(shell pkg-config --libs liburing)) $(KQUEUE_LIBS)
TOOL_LIBS = $(shell pkg-config --libs libunwind-generic libdw libelf jansson libzstd liblzma zlib) -liberty
CTL_LIBS = $(shell pkg-config --libs ncursesw libmicrohttpd)

.DELETE_ON_ERROR:

.PHONY: all lib tools fixtures examples
all: $(if $(STATIC),static,$(if $(FOREIGN),lib,lib test-library tools fixtures examples variants))
lib: $(BUILD)/lib/libfiber.a $(BUILD)/lib/libfiber.so $(BUILD)/lib/libfiber_pic.a $(BUILD)/gdb/libfiber-gdb.py
tools: $(BUILD)/bin/fiberctl $(BUILD)/bin/fibertrace $(BUILD)/bin/fiberize
fixtures: $(FIX_BIN)
examples: $(EXAMPLES)
	@$(if $(SAN)$(GC),,echo "libfiber: without the example and the test of a garbage collector: <gc/gc.h> is missing or not wanted ('make deps' installs it)")

# -- libraries --
$(BUILD)/lib/libfiber.a: $(LIB_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@$(if $(filter generic,$(PORT)),$(if $(filter generic,$(ARCH)),,echo "libfiber: no port for $(ARCH): fibers switch with ucontext(3), and their stacks cannot be unwound"))
	@$(if $(FOREIGN),,$(if $(filter none,$(PROBES)),echo "libfiber: without probes: <sys/sdt.h> is missing or not wanted ('make deps' installs it)"))
	@$(if $(SAN)$(FOREIGN),,$(if $(filter none,$(CHECKER)),echo "libfiber: valgrind will not know its stacks: <valgrind/memcheck.h> is missing or not wanted ('make deps' installs it)"))
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# For shared libraries that contain libfiber.
$(BUILD)/lib/libfiber_pic.a: $(PIC_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# Never unloaded: see libfiber/os/linux/loaded.c.
$(BUILD)/lib/libfiber.so.0: $(PIC_OBJ) libfiber/libfiber.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libfiber.so.0 -Wl,-z,nodelete -Wl,--version-script=libfiber/libfiber.map \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ $(PIC_OBJ) $(LIB_LIBS)

$(BUILD)/lib/libfiber.so: $(BUILD)/lib/libfiber.so.0
	$(call say,LN,$@)
	$(Q)ln -sf libfiber.so.0 $@

$(BUILD)/obj/lib/%.o: libfiber/%
	$(call say,$(if $(filter %.S,$<),AS,CC),$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(LIB_INC) $(CFLAGS) -fvisibility=hidden -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(CODE_SECTION) $(OWN_ATOMICS) $@

$(BUILD)/obj/pic/%.o: libfiber/%
	$(call say,$(if $(filter %.S,$<),AS,CC),$(call compiled,pic))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(LIB_INC) $(CFLAGS) -fvisibility=hidden -fPIC -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(CODE_SECTION) $(OWN_ATOMICS) $@

# libfiber-posix tells libfiber's system calls by their return address (libfiber-posix/entry/entry.h), so these are no jumps.
$(BUILD)/obj/lib/os/%.o $(BUILD)/obj/pic/os/%.o $(BUILD)/obj/lib/service/%.o $(BUILD)/obj/pic/service/%.o: CFLAGS += -fno-optimize-sibling-calls

# gdb's commands for fibers: one script, because gdb loads one. note.S includes it in the archive. -MMD does not report files
# that assembly includes, so that dependency is written here.
GDB_SCRIPT := $(BUILD)/gdb/libfiber-gdb.py
$(GDB_SCRIPT): $(addprefix libfiber/gdb/,registry.py fibers.py frames.py commands.py)
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)cat $^ >$@
$(BUILD)/obj/lib/core/note.S.o: CPPFLAGS += -I$(BUILD)/gdb
$(BUILD)/obj/lib/core/note.S.o: $(GDB_SCRIPT)

# -- tools: inspect/ and the two libraries it shares with libfiber, not libfiber itself --
$(BUILD)/obj/inspect/%.o $(BUILD)/obj/tool/%.o $(BUILD)/obj/fiberctl/%.o $(BUILD)/obj/fibertrace/%.o: CPPFLAGS += -I. $(LIB_INC)

ifneq ($(PLAIN_TOOLS),)
$(PLAIN_TOOLS:%=$(BUILD)/bin/%): plain
	$(call say,LN,$@)
	@mkdir -p $(@D)
	$(Q)ln -sf ../plain/bin/$(@F) $@
else
$(BUILD)/bin/fiberctl: $(CTL_OBJ) $(INS_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(CTL_LIBS)

$(BUILD)/bin/fibertrace: $(TRACE_OBJ) $(INS_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)
endif

# page.S includes the page of 'fibertrace report --html'.
$(BUILD)/obj/fibertrace/page.o: fibertrace/page.S fibertrace/share/report.html
	$(call say,AS,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $<

# The files of the page of 'fiberctl serve'. Drawings need d3, version 5 or later; the page is served without it too.
D3 := $(firstword $(wildcard /usr/share/nodejs/d3/dist/d3.min.js))
# openapi.json refers to schemas beside it, and these to parts.json.
SERVED := $(sort $(wildcard fiberctl/serve/share/*)) fibertrace/share/report.html docs/schema/openapi.json docs/schema/parts.json \
	$(sort $(patsubst "%",docs/schema/%,$(shell grep -o '"[a-z-]*\.json"' docs/schema/openapi.json)))
$(BUILD)/obj/fiberctl/serve/files.S: $(SERVED) scripts/embed.sh $(D3)
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	@$(if $(D3),,echo "fiberctl serve: its page has no drawings: d3 is missing ('make deps' installs it)")
	$(Q)sh scripts/embed.sh serve_files $(SERVED) $(D3:%=d3.js=%) >$@
$(BUILD)/obj/fiberctl/serve/files.o: $(BUILD)/obj/fiberctl/serve/files.S
	$(call say,AS,$@)
	$(Q)$(CC) -c -o $@ $<

$(BUILD)/obj/%.o: %.c | $(if $(FOREIGN),,tool-libraries)
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# -- fixtures and examples: users of the public interface only --
HTTP_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard fixtures/http/*.c))
HTTP_BIN := $(BUILD)/bin/httpd $(BUILD)/bin/httpd-threads $(BUILD)/bin/httpd-epoll
$(HTTP_BIN): FIX_LIBS = -lhttp_parser $(HTTP_LIBS)
$(HTTP_BIN): $(HTTP_OBJ)
$(BUILD)/bin/httpd-epoll: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard fixtures/epoll/*.c))
$(BUILD)/bin/values-plain: FIXFLAGS += -O0
# The names of all system calls of this machine.
$(BUILD)/obj/fixtures/sandbox_calls.h:
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)echo '#include <sys/syscall.h>' | $(CC) $(CPPFLAGS) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{"\1", __NR_\1},/p' | sort >$@.new && mv $@.new $@
$(BUILD)/bin/sandbox: FIXFLAGS += -I$(BUILD)/obj/fixtures
$(BUILD)/bin/sandbox: | $(BUILD)/obj/fixtures/sandbox_calls.h
# Set in both, because compilers have different defaults: overflow may step over guards, overflow-hardened must not.
$(BUILD)/bin/overflow: FIXFLAGS += $(if $(HARDENING),-fno-stack-clash-protection)
$(BUILD)/bin/overflow-hardened: FIXFLAGS += $(HARDENING)
$(BUILD)/bin/%: fixtures/%.c $(BUILD)/lib/libfiber.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D) $(BUILD)/obj/fixtures
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) $(FIXFLAGS) -MMD -MP -MF $(BUILD)/obj/fixtures/$*.d -o $@ $< \
		$(filter %.o,$^) $(LDFLAGS) $(BUILD)/lib/libfiber.a $(LIB_LIBS) $(FIX_LIBS)

$(BUILD)/examples/%: examples/%.c $(BUILD)/lib/libfiber.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D) $(BUILD)/obj/examples
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -MMD -MP -MF $(BUILD)/obj/examples/$*.d -o $@ $< \
		$(LDFLAGS) $(EXAMPLE_LIBS_$*) $(BUILD)/lib/libfiber.a $(LIB_LIBS)

# A collector for 26_gc.
EXAMPLE_LIBS_26_gc := -lgc

# In C++, functions of C hide constructors of the same name.
$(BUILD)/examples/raii: examples/raii.cpp $(BUILD)/lib/libfiber.a
	$(call say,CXX,$(call compiled))
	@mkdir -p $(@D) $(BUILD)/obj/examples
	$(Q)$(CXX) $(CPPFLAGS) $(PUB_INC) $(CXXFLAGS) -Wno-shadow $(HARDENING) $(SANFLAGS) -MMD -MP \
		-MF $(BUILD)/obj/examples/raii.d -o $@ $< \
		$(LDFLAGS) $(BUILD)/lib/libfiber.a $(LIB_LIBS)

include scripts/plugins.mk
include scripts/static.mk
include scripts/adapters.mk
include scripts/bench.mk
include scripts/bench-http.mk
include scripts/bench-ports.mk

# -- tests --
ifneq ($(OWN_ATOMICS),)
# Tests use libfiber's own data.
$(BUILD)/obj/tests/%.o: tests/%.c
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(OWN_ATOMICS) $@
endif
$(BUILD)/obj/tests/%.o: CPPFLAGS += $(if $(FOREIGN),-Itests/harness/plain) -I. $(LIB_INC)
# A compiler for another machine inlines other functions, and then warns of other variables in tests.
$(BUILD)/obj/tests/%.o: CFLAGS += $(if $(CROSS),-Wno-maybe-uninitialized)
INS_TESTS := $(filter $(foreach r,$(INS_ROOMS),$(BUILD)/tests/unit/$(r)/%),$(TEST_BIN))
$(INS_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(HARNESS_OBJ) $(INS_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(TOOL_LIBS)
# Without this mention make would use the last of these pattern rules whenever one of these objects is new.
$(HARNESS_CLI_OBJ) $(INS_OBJ):
$(BUILD)/tests/cli/%: $(BUILD)/obj/tests/cli/%.o $(HARNESS_OBJ) $(HARNESS_CLI_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -ljansson $(TEST_LIBS_$(notdir $*))
# It knows the verdicts from the table of the rules.
TEST_LIBS_test_fiberctl_top_sizes = $(TOOL_LIBS)
$(BUILD)/tests/cli/test_fiberctl_top_sizes: $(INS_OBJ)
$(STRESS_BIN): $(STRESS_OBJ) $(HARNESS_OBJ) $(BUILD)/lib/libfiber.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
# test_fault has a frame that steps over a guard.
$(BUILD)/obj/tests/unit/runtime/test_fault.o: CFLAGS += $(if $(HARDENING),-fno-stack-clash-protection)
# The port's routine that loads every register.
ARCH_TEST_OBJ := $(patsubst %,$(BUILD)/obj/%.o,$(basename $(wildcard tests/arch/$(PORT)/*.[cS])))
$(BUILD)/obj/tests/arch/%.o: tests/arch/%.S
	$(call say,AS,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/tests/arch/test_registers: $(filter-out %/calls.o $(BUILD)/obj/tests/arch/$(PORT)/test_%,$(ARCH_TEST_OBJ))
$(BUILD)/tests/arch/test_after_call: $(filter %/calls.o,$(ARCH_TEST_OBJ))
$(BUILD)/tests/arch/suspended: $(BUILD)/obj/tests/arch/walk/suspended.o $(BUILD)/lib/libfiber.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
# Also for a CPU that has instructions for 8 bytes.
$(BUILD)/tests/unit/os/test_atomic8: $(BUILD)/obj/pic/os/linux/atomic8/atomic8.c.o
# The same tests, which then see another getauxval().
$(BUILD)/tests/system/test_own_tls_by_call: $(BUILD)/obj/tests/system/test_own_tls.o
TEST_LIBS_test_control_words := -lm
TEST_LIBS_test_gc_boehm := -lgc
TEST_LIBS_test_runtime := -lm
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(HARNESS_OBJ) $(BUILD)/lib/libfiber.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(BUILD)/lib/libfiber.a $(CMOCKA) $(TEST_LIBS_$(notdir $*)) $(TEST_LIBS_$*) $(LIB_LIBS)

include scripts/backtrace.mk
include scripts/posix.mk
include scripts/fiberize.mk
include scripts/tls.mk
include scripts/win32.mk
include scripts/explore.mk
include scripts/model.mk
include scripts/single.mk
include scripts/fuzz.mk
include scripts/variants.mk
include scripts/ruby.mk
include scripts/kqueue.mk
include scripts/systems.mk
include scripts/check.mk
include scripts/kernels.mk
include scripts/compilers.mk
include scripts/install.mk
include scripts/dist.mk

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
.SECONDARY:
.PHONY: clean help compile_commands.json
clean:
	$(call say,RM,build)
	$(Q)rm -rf build

# Without the variants and the crowds, which compile the same sources again.
compile_commands.json:
	$(call say,GEN,$@)
	@mkdir -p $(BUILD)/obj
	$(Q)$(MAKE) --no-print-directory -nB V=1 lib tools fixtures examples tests \
		$(BENCHES) $(BUILD)/bench/http/client $(BUILD)/bench/http/pairs >$(BUILD)/obj/commands
	$(Q)python3 scripts/compile-commands.py '$(CC)' '$(CXX)' <$(BUILD)/obj/commands >$(BUILD)/obj/$@
	$(Q)mv $(BUILD)/obj/$@ $@

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

endif
