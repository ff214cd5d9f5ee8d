# SPDX-License-Identifier: MIT
#
# explore.mk - libfiber-test: libfiber's sources with other files where a choice is made or a clock is read
#
# make test-library    build/lib/libfiber-test.a, the preloaded build/lib/libfiber-test.so and build/bin/fibertest
# make bugs            the programs of fixtures/bugs, which are linked with it, and of fixtures/reports
# make explore          the tests of libfiber's own primitives, longer; SCHEDULES=20000 SEED=1 TIME=none
# make explore-valgrind tokens replay under valgrind and gdb; valgrind finds nothing in libfiber-test
# make explore-model   every outcome of 500 random programs, against a model of its own, and with fewer schedules
# make test-hashes     every build and any number of processes makes the same choices; HASH_SEEDS=3
# make bench-test      how many schedules each strategy needs to find their bugs
# make bench-test-echo how many schedules a second of an echo over in-process sockets
# make bench-explore   every figure beside its target; REPEATS=7
# make bench-processes how many schedules a second run in a process each, with FIBER_TEST_ISOLATE and under fibertest
#
# Not with SAN=thread: one thread runs all fibers in turn, so ThreadSanitizer has nothing to find.

# Files of libfiber that libfiber-test replaces by files of its own. A snapshot of the own fibers needs two of service/.
EXPLORE_NOT := libfiber/os/posix/clock.c libfiber/os/linux/futex.c libfiber/sched/ready.c libfiber/sched/carrier.c \
	libfiber/sched/idle.c libfiber/life/offload.c libfiber/io/call_on_thread.c libfiber/os/linux/accept.c \
	libfiber/poll/choose.c libfiber/io/name.c libfiber/io/empty.c libfiber/os/linux/own_tls.c libfiber/os/linux/calls/$(CALLS)/calls.c \
	$(filter-out %/sample.c %/objects.c,$(wildcard libfiber/service/*.c))
# recv and send go through the C library, whose functions libfiber-test defines.
EXPLORE_LIB := $(filter-out $(EXPLORE_NOT),$(LIB_SRC)) libfiber/os/linux/calls/watched/calls.c
# preload/ is in the shared library alone: it takes a program over. fibertest/ is the tool.
EXPLORE_OWN := $(filter-out libfiber-test/preload/% libfiber-test/fibertest/% libfiber-test/memory/%,$(wildcard libfiber-test/*/*.c))
# libfiber-test sees no accesses to memory.
EXPLORE_BLIND := $(wildcard libfiber-test/memory/none/*.c)
# libfiber-test-memory does.
EXPLORE_SEES  := $(wildcard libfiber-test/memory/*.c libfiber-test/memory/heap/$(if $(SAN),sanitizer,glibc)/*.c)
# It defines memcpy() and the like for the program; libfiber's own calls of them are renamed.
EXPLORE_PLAIN := $(foreach f,memcpy memmove memset memcmp,--redefine-sym $(f)=fib_plain_$(f))
# What production has at the seams is replaced by libfiber-test/seams.
EXPLORE_INC := -Ilibfiber-test/seams -Ilibfiber-test -Ilibfiber-test/include \
	$(filter-out -Ilibfiber/base/choice/none -Ilibfiber/base/order/none -Ilibfiber/runtime/carriers/threads \
	-Ilibfiber/stack/reserve/batch -Ilibfiber/core/sole/%,$(LIB_INC)) -Ilibfiber/core/sole/none
# The library's own memory is not that of the program (libfiber-test/libc/own.h).
ALLOCATIONS := malloc calloc realloc aligned_alloc strdup
EXPLORE_INC += $(foreach a,$(ALLOCATIONS),-D$(a)=fib_own_$(a))
EXPLORE_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,$(ALLOCATIONS) free)
EXPLORE_OBJ := $(EXPLORE_LIB:libfiber/%=$(BUILD)/obj/explore/lib/%.o) $(EXPLORE_OWN:%.c=$(BUILD)/obj/%.o)
# One set of objects, position-independent, for the archives and for the shared library.
# A preloaded library wraps no allocations (libfiber-test/libc/memory.c).
EXPLORE_SO   := $(filter-out %/libc/memory.o,$(EXPLORE_OBJ)) \
	$(patsubst %.c,$(BUILD)/obj/%.o,$(EXPLORE_BLIND) $(wildcard libfiber-test/preload/*.c))
EXPLORE_LIBS = $(LIB_LIBS) $(shell pkg-config --libs libdw)
WHOLE_EXAMPLES := 01_hello 02_shared_table 03_pipeline 04_fan_out 05_cancellation
EXPLORED     := $(if $(filter thread,$(SAN)),,yes)
# A sanitizer's runtime must be loaded first, so a program with one cannot be given another library before it.
PRELOADED    := $(if $(SAN),,yes)

.PHONY: test-library bugs
test-library: $(if $(EXPLORED),$(BUILD)/lib/libfiber-test.a $(BUILD)/lib/libfiber-test-memory.a) $(if $(PRELOADED),$(BUILD)/lib/libfiber-test.so $(BUILD)/bin/fibertest)

$(BUILD)/lib/libfiber-test.a: $(EXPLORE_OBJ) $(EXPLORE_BLIND:%.c=$(BUILD)/obj/%.o)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

EXPLORE_COPIES := $(BUILD)/obj/libfiber-test/memory/copies.o
$(BUILD)/lib/libfiber-test-memory.a: scripts/explore.mk $(EXPLORE_OBJ) $(EXPLORE_SEES:%.c=$(BUILD)/obj/%.o)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@ $@.tmp
	$(Q)$(AR) rcs $@.tmp $(filter-out %.mk $(EXPLORE_COPIES),$^)
	$(Q)$(OBJCOPY) $(EXPLORE_PLAIN) $@.tmp
	$(Q)$(AR) rs $@.tmp $(EXPLORE_COPIES) 2>/dev/null
	@mv $@.tmp $@

$(BUILD)/obj/explore/lib/%.o: libfiber/%
	$(call say,$(if $(filter %.S,$<),AS,CC),$(call compiled,test))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(EXPLORE_INC) $(CFLAGS) -fvisibility=hidden -fPIC -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(CODE_SECTION) $@

# libfiber's own system calls do not fail as those of the program do (libfiber-test/net/own.h).
OWN_CALLS := $(foreach f,accept accept4 connect creat eventfd open open64 openat openat64 pipe pipe2 pthread_tryjoin_np send sendmmsg sendmsg \
	sendto socket socketpair timerfd_create waitpid __open_2 __open64_2,--redefine-sym $(f)=fib_own_$(f))
$(BUILD)/obj/explore/lib/os/%.o: libfiber/os/% scripts/explore.mk
	$(call say,CC,$(call compiled,test))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(EXPLORE_INC) $(CFLAGS) -fvisibility=hidden -fPIC -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(OWN_CALLS) $(CODE_SECTION) $@

# A distribution's build sets _FORTIFY_SOURCE, which defines functions of the C library as inline ones: the library defines them,
# too, and would not see the calls of their checking forms.
$(BUILD)/obj/libfiber-test/%.o $(BUILD)/obj/explore/lib/%.o: CPPFLAGS += -U_FORTIFY_SOURCE
$(BUILD)/obj/libfiber-test/%.o: CPPFLAGS += $(EXPLORE_INC)
$(BUILD)/obj/libfiber-test/%.o: CFLAGS += -fPIC

# Names are bound at start: else each process of a schedule binds them again.
$(BUILD)/lib/libfiber-test.so: $(EXPLORE_SO) libfiber-test/preload/libfiber-test.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libfiber-test.so -Wl,-z,nodelete,-z,now,-z,defs \
		-Wl,--version-script=libfiber-test/preload/libfiber-test.map -o $@ $(EXPLORE_SO) $(EXPLORE_LIBS)

$(BUILD)/bin/fibertest: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard libfiber-test/fibertest/*.c)) $(BUILD)/lib/libfiber-test.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(EXPLORE_LIBS) $(shell pkg-config --libs libelf)

# Completions for shells, under the names that the shells look for.
FIBERTEST_COMPLETIONS := $(addprefix $(BUILD)/completion/,fibertest.bash _fibertest fibertest.fish)
tests: $(FIBERTEST_COMPLETIONS)
$(BUILD)/completion/_fibertest: libfiber-test/share/fibertest.zsh
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(BUILD)/completion/fibertest.%: libfiber-test/share/fibertest.%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(BUILD)/obj/explore/lib/core/note.S.o: CPPFLAGS += -I$(BUILD)/gdb
$(BUILD)/obj/explore/lib/core/note.S.o: $(GDB_SCRIPT)

# -- programs with a bug each --
BUGS := $(if $(EXPLORED),$(patsubst fixtures/bugs/%.c,$(BUILD)/bin/bugs/%,$(wildcard fixtures/bugs/*.c)))
REPORTED := $(if $(EXPLORED),$(patsubst fixtures/reports/%.c,$(BUILD)/bin/reports/%,$(wildcard fixtures/reports/*.c)) \
	$(BUILD)/bin/reports/in_cmocka-fortified $(BUILD)/bin/reports/in_cmocka-seen)
bugs: $(BUGS) $(REPORTED)
# Those whose bug is in accesses to memory are compiled as tests/memory is, below.
BUGS_SEEN := $(if $(EXPLORED),$(BUILD)/bin/bugs/relaxed_publish)
$(filter-out $(BUGS_SEEN),$(BUGS)): $(BUILD)/bin/bugs/%: fixtures/bugs/%.c $(BUILD)/lib/libfiber-test.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D) $(BUILD)/obj/fixtures/bugs
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) -Ilibfiber-test/include $(CFLAGS) -MMD -MP -MF $(BUILD)/obj/fixtures/bugs/$*.d -o $@ $< \
		$(LDFLAGS) $(BUILD)/lib/libfiber-test.a $(EXPLORE_LIBS)

# -- programs whose reports are tested --
$(BUILD)/bin/reports/%: fixtures/reports/%.c $(BUILD)/lib/libfiber-test.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D) $(BUILD)/obj/fixtures/reports
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) -Ilibfiber-test/include $(CFLAGS) -MMD -MP -MF $(BUILD)/obj/fixtures/reports/$*.d -o $@ $< \
		$(LDFLAGS) $(BUILD)/lib/libfiber-test.a $(if $(filter in_%,$*),-lcmocka) $(EXPLORE_LIBS)

# The same program as it could be compiled otherwise: a jump out of a fiber aborts with _FORTIFY_SOURCE.
$(BUILD)/bin/reports/in_cmocka-fortified: fixtures/reports/in_cmocka.c $(BUILD)/lib/libfiber-test.a
	$(call say,CC,$(call compiled,fortified))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) -Ilibfiber-test/include $(CFLAGS) -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -o $@ $< \
		$(LDFLAGS) $(BUILD)/lib/libfiber-test.a -lcmocka $(EXPLORE_LIBS)
$(BUILD)/bin/reports/in_cmocka-seen: $(BUILD)/obj/seen/fixtures/reports/in_cmocka.o $(BUILD)/lib/libfiber-test-memory.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(EXPLORE_LIBS)

.PHONY: bench-test-echo
bench-test-echo: $(BUILD)/bench/test_echo
	@$<
$(BUILD)/bench/test_echo: bench/test_echo.c $(BUILD)/lib/libfiber-test.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) -Ilibfiber-test/include $(CFLAGS) -o $@ $< \
		$(LDFLAGS) $(BUILD)/lib/libfiber-test.a $(EXPLORE_LIBS)

.PHONY: bench-test
bench-test: bugs
	@python3 -B bench/bugs.py --programs $(BUILD)/bin/bugs

# Programs whose own allocations may fail.
$(BUILD)/bin/bugs/enomem_leaks_fd $(BUILD)/tests/explore/test_memory: LDFLAGS += $(EXPLORE_WRAP)

# -- whole programs: linked with libfiber.so, as those that fibertest explores --
WHOLE := $(if $(PRELOADED),$(patsubst fixtures/explored/%.c,$(BUILD)/explored/%,$(wildcard fixtures/explored/*.c)) \
	$(addprefix $(BUILD)/explored/,$(WHOLE_EXAMPLES)))
bugs: $(WHOLE)
$(BUILD)/explored/%: fixtures/explored/%.c $(BUILD)/lib/libfiber.so
	$(link_whole)
$(BUILD)/explored/%: examples/%.c $(BUILD)/lib/libfiber.so
	$(link_whole)
define link_whole
	$(call say,CC,$(call compiled,shared))
	@mkdir -p $(@D) $(BUILD)/obj/explored
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -MMD -MP -MF $(BUILD)/obj/explored/$*.d -o $@ $< $(LDFLAGS) \
		-L$(BUILD)/lib -lfiber -Wl,-rpath,'$$ORIGIN/../lib'
endef

.PHONY: bench-processes
bench-processes: $(BUILD)/bin/fibertest $(BUILD)/lib/libfiber-test.so $(BUILD)/bench/isolated $(BUILD)/bench/whole
	@python3 -B bench/explored.py --build $(BUILD) --repeats $(REPEATS)
$(BUILD)/bench/isolated: bench/explored/isolated.c bench/explored/three.h $(BUILD)/lib/libfiber-test.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I. $(PUB_INC) -Ilibfiber-test/include $(CFLAGS) -o $@ $< $(LDFLAGS) $(BUILD)/lib/libfiber-test.a $(EXPLORE_LIBS)
$(BUILD)/bench/whole: bench/explored/whole.c bench/explored/three.h $(BUILD)/lib/libfiber.so
	$(call say,CC,$(call compiled,shared))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I. $(PUB_INC) $(CFLAGS) -o $@ $< $(LDFLAGS) -L$(BUILD)/lib -lfiber -Wl,-rpath,'$$ORIGIN/../lib'

.PHONY: bench-explore
bench-explore: bugs $(BUILD)/bin/fibertest $(BUILD)/lib/libfiber-test.so $(addprefix $(BUILD)/bench/,three seen isolated whole test_echo)
	@python3 -B bench/explore.py --build $(BUILD) --repeats $(REPEATS)
$(BUILD)/bench/three: bench/explored/three.c bench/explored/three.h $(BUILD)/lib/libfiber-test.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I. $(PUB_INC) -Ilibfiber-test/include $(CFLAGS) -o $@ $< $(LDFLAGS) $(BUILD)/lib/libfiber-test.a $(EXPLORE_LIBS)
$(BUILD)/bench/seen: $(BUILD)/obj/seen/bench/explored/seen.o $(BUILD)/lib/libfiber-test-memory.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(EXPLORE_LIBS)

# -- examples of tests: NN_test.c and NN_test_*.c --
TEST_EXAMPLES := $(if $(EXPLORED),$(patsubst %.c,$(BUILD)/%,$(filter-out %_test_memory.c,$(TEST_EXAMPLE_SRC))))
examples: $(TEST_EXAMPLES)
$(TEST_EXAMPLES): $(BUILD)/examples/%: examples/%.c $(BUILD)/lib/libfiber-test.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D) $(BUILD)/obj/examples
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) -Ilibfiber-test/include $(CFLAGS) -MMD -MP -MF $(BUILD)/obj/examples/$*.d -o $@ $< \
		$(LDFLAGS) $(BUILD)/lib/libfiber-test.a $(EXPLORE_LIBS) $(TEST_EXAMPLE_LIBS_$*)
TEST_EXAMPLE_LIBS_26_test_cmocka := -lcmocka

# -- tests: tests/explore are linked with libfiber-test --
# test_net_httpd copies the variables of two programs, which AddressSanitizer takes for an error.
EXPLORE_TESTS := $(if $(EXPLORED),$(filter-out $(if $(SAN),%/test_net_httpd), \
	$(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/explore/*.c))))
$(BUILD)/obj/tests/explore/%.o: CPPFLAGS += -Ilibfiber-test/seams -Ilibfiber-test -Ilibfiber-test/include
$(BUILD)/tests/explore/%: $(BUILD)/obj/tests/explore/%.o $(BUILD)/lib/libfiber-test.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(EXPLORE_LIBS) $(EXPLORE_TEST_LIBS)

# httpd and its client in one program. Their variables are in sections of their own, so that a test can set them back.
EXPLORE_HTTPD := $(BUILD)/tests/explore/test_net_httpd
$(EXPLORE_HTTPD): EXPLORE_TEST_LIBS = -lhttp_parser $(BUILD)/lib/libfiber-test.a $(TLS_LIBS)
$(EXPLORE_HTTPD): $(BUILD)/lib/libfiber-tls.a
$(EXPLORE_HTTPD): $(patsubst %,$(BUILD)/obj/explore/fixtures/%.o,httpd load) $(HTTP_OBJ)
$(BUILD)/obj/fixtures/httpd.o $(BUILD)/obj/fixtures/load.o: CPPFLAGS += $(PUB_INC) $(TLS_INC)
$(BUILD)/obj/explore/fixtures/%.o: $(BUILD)/obj/fixtures/%.o
	$(call say,OBJCOPY,$@)
	@mkdir -p $(@D)
	$(Q)objcopy --redefine-sym main=$*_main --rename-section .bss=fixture_zeroes \
		--rename-section .data=fixture_values $< $@

# `make check` runs the same with fewer schedules. TIME, too, is for each exploration; an exhaustive one ends by itself.
SCHEDULES ?= 20000
SEED ?= 1
TIME ?= none
OWN_TESTS := $(filter $(BUILD)/tests/explore/test_own_%,$(EXPLORE_TESTS))
.PHONY: explore
explore: $(OWN_TESTS)
	@status=0; for test in $(OWN_TESTS); do \
		FIBER_TEST_SCHEDULES=$(SCHEDULES) FIBER_TEST_SEED=$(SEED) FIBER_TEST_TIME=$(TIME) FIBER_BUILD=$(BUILD) $$test || status=1; \
	done; exit $$status

.PHONY: explore-valgrind
explore-valgrind: bugs $(filter $(BUILD)/tests/explore/%,$(EXPLORE_TESTS))
	@python3 -B scripts/test-valgrind.py $(abspath $(BUILD))

.PHONY: explore-model
explore-model: $(BUILD)/tests/explore/test_outcomes $(BUILD)/tests/explore/test_reduced
	@for test in $^; do EXPLORE_PROGRAMS=500 $$test || exit 1; done

# -- every build makes the same choices: each line is a build and the variables that it differs in --
HASHES_OF_O0        := OPT=-O0
HASHES_OF_clang     := CC=clang
HASHES_OF_address   := SAN=address
HASHES_OF_undefined := SAN=undefined
HASHES_OF_generic   := ARCH=generic
HASHES_OF_no_uring  := URING=no_uring
HASHES := O0 clang address undefined generic no_uring
HASH_SEEDS ?= 3

.PHONY: test-hashes $(HASHES:%=hashes-%)
$(HASHES:%=hashes-%): hashes-%:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/hashes/$* $(HASHES_OF_$*) bugs
test-hashes: bugs $(HASHES:%=hashes-%)
	@python3 -B scripts/test-hashes.py --seeds $(HASH_SEEDS) $(BUILD)/bin/bugs $(HASHES:%=$(BUILD)/hashes/%/bin/bugs)

# -- tests/memory: compiled with -fsanitize=thread, by each compiler there is, and linked with libfiber-test-memory --
SEEN_CC    := $(if $(EXPLORED),gcc $(if $(shell command -v clang),clang))
SEEN_OPT   := O0 O2
# clang leaves out reads before writes unless told otherwise, and gcc takes an option of clang for an error.
SEEN_gcc   := -fsanitize=thread
SEEN_clang := -fsanitize=thread -mllvm -tsan-instrument-read-before-write=1
SEEN_SRC   := $(filter-out tests/memory/test_%,$(wildcard tests/memory/*.c))
SEEN_MAIN  := $(wildcard tests/memory/test_*.c)
SEEN_TESTS := $(foreach c,$(SEEN_CC),$(foreach o,$(SEEN_OPT),$(SEEN_MAIN:%.c=$(BUILD)/%_$(c)_$(o))))
EXPLORE_TESTS += $(SEEN_TESTS)

# $(1): compiler, $(2): optimization
define seen_rules
$(BUILD)/obj/tests/memory/$(1)_$(2)/%.o: tests/memory/%.c
	$$(call say,CC,$$(call compiled,$(1) $(2)))
	@mkdir -p $$(@D)
	$(Q)$(1) $$(CPPFLAGS) $$(PUB_INC) -Ilibfiber-test/include -$(2) -g -std=gnu11 -Wall -Wextra $$(SEEN_$(1)) -pthread -MMD -MP -c -o $$@ $$<
$(BUILD)/tests/memory/%_$(1)_$(2): $(BUILD)/obj/tests/memory/$(1)_$(2)/%.o $(SEEN_SRC:tests/memory/%.c=$(BUILD)/obj/tests/memory/$(1)_$(2)/%.o) $(BUILD)/lib/libfiber-test-memory.a
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$(Q)$$(CC) $$(LDFLAGS) -o $$@ $$^ -lcmocka $$(EXPLORE_LIBS)
endef
$(foreach c,$(SEEN_CC),$(foreach o,$(SEEN_OPT),$(eval $(call seen_rules,$(c),$(o)))))

# -- the library's own memcpy() and the like, by each compiler and renamed as in the archive --
PLAIN_TESTS := $(foreach c,$(SEEN_CC),$(BUILD)/tests/memory/test_plain_$(c))
EXPLORE_TESTS += $(PLAIN_TESTS)
$(BUILD)/obj/plain/%.o: libfiber-test/memory/plain.c
	$(call say,CC,$(call compiled,$*))
	@mkdir -p $(@D)
	$(Q)$* $(CPPFLAGS) -Ilibfiber-test -Ilibfiber -O2 -g -std=gnu11 -c -o $@ $<
	$(Q)$(OBJCOPY) $(EXPLORE_PLAIN) $@
$(PLAIN_TESTS): $(BUILD)/tests/memory/test_plain_%: $(BUILD)/obj/plain/%.o tests/memory/own/test_plain.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Ilibfiber-test -Ilibfiber $(CFLAGS) -fno-builtin -o $@ tests/memory/own/test_plain.c $< $(LDFLAGS) -lcmocka

# -- programs compiled so: fixtures/bugs whose bug is in accesses to memory, and an example --
EXAMPLE_SEEN := $(if $(EXPLORED),$(BUILD)/examples/27_test_memory)
examples: $(EXAMPLE_SEEN)
$(BUILD)/obj/seen/%.o: %.c
	$(call say,CC,$(call compiled,seen))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) -Ilibfiber-test/include $(filter-out -fsanitize=% -fno-sanitize%,$(CFLAGS)) -fsanitize=thread -MMD -MP -c -o $@ $<
$(BUGS_SEEN): $(BUILD)/bin/bugs/%: $(BUILD)/obj/seen/fixtures/bugs/%.o $(BUILD)/lib/libfiber-test-memory.a
$(EXAMPLE_SEEN): $(BUILD)/examples/%: $(BUILD)/obj/seen/examples/%.o $(BUILD)/lib/libfiber-test-memory.a
$(BUGS_SEEN) $(EXAMPLE_SEEN):
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(EXPLORE_LIBS)
