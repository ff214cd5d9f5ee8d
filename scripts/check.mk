# SPDX-License-Identifier: MIT
# check.mk - every test, and the demonstration

.PHONY: check check-no-uring no-uring tests demo crowds stress soak why-healthy test-leaks

# The tools and the models have one thread, so ThreadSanitizer cannot find anything in them. In tests/cli, tools without it
# inspect programs with it.
# OF_TOOLS: tests in which only the tool's work on answers, cores or options differs; the inspected program does nothing new; and
# those of libfiber-test, which is not built with it.
OF_TOOLS := $(addprefix fiberctl_,completion completion_shells completion_words diff errors flames full_disk help layout \
	limit metrics_json numbers options processes serve serve_access serve_changes serve_hostile serve_load serve_page serve_page_looks \
	serve_page_use serve_profiles serve_requests serve_stopped serve_turns snapshot_commands snapshot_write top \
	top_live top_sizes topic_where tree \
	waits_dot watch where) $(addprefix fibertrace_,commands compressed core crash dead elsewhere errors export named \
	progress report rights rights_commands timeline to_core values yama) adapters agreement fixtures hostile_registry places probes \
	$(patsubst tests/cli/test_%.c,%,$(wildcard tests/cli/test_explore_*.c))
ONE_THREAD := $(if $(filter thread,$(SAN)),$(INS_TESTS) $(filter %_model,$(TEST_BIN)) $(filter-out %/replay_request,$(FUZZ_REPLAY)) \
	$(OF_TOOLS:%=$(BUILD)/tests/cli/test_%) $(BUILD)/tests/unit/core/test_sole $(addprefix $(BUILD)/tests/unit/,os/test_atomic8 runtime/test_gc_roots watch/test_halt))
# CHOICE=short with a sanitizer: the library, the parts of the tools, and most commands once. It leaves out the models, tests that
# take long with AddressSanitizer or talk to a real server or browser, and those of libfiber-test. test_nameless samples places that
# are sometimes inside ThreadSanitizer, whose frames cannot be walked.
BRIEF      := $(filter short,$(if $(SAN),$(CHOICE)))
BRIEF_CLI  := $(addprefix fiberctl_,bt cancel deadlock_kinds diff errors flames identity json limit list metrics_json numbers \
	serve_access serve_changes serve_requests show snapshot_write stop top_sizes tree waits wake watch) \
	$(addprefix fibertrace_,block compressed core crash dead errors export leaks live) \
	hostile_client hostile_program hostile_registry http_faults httpd nameless overflow
BRIEF_NOT  := %_model $(addprefix $(BUILD)/tests/,system/test_trim unit/elf/test_compressed unit/source/test_source_core \
	unit/source/test_source_core_spoilt unit/source/test_source_snapshot $(if $(filter thread,$(SAN)),cli/test_nameless))
BRIEF_BIN  := $(filter-out $(BRIEF_NOT),$(filter $(BUILD)/tests/unit/% $(BUILD)/tests/arch/% $(BUILD)/tests/system/% \
	$(BRIEF_CLI:%=$(BUILD)/tests/cli/test_%) $(addprefix $(BUILD)/tests/posix/test_,hiredis libcurl zlib),$(TEST_BIN)))
TEST_RUN   := $(filter-out $(ONE_THREAD),$(if $(BRIEF),$(BRIEF_BIN),$(TEST_BIN) $(EXPLORE_TESTS) $(SINGLE)))
FUZZ_RUN   := $(filter-out $(ONE_THREAD),$(FUZZ_REPLAY))
NOT_RUN    := \# not run with SAN=thread: the tests of inspect/, the models, fuzz of the tools, cli of $(OF_TOOLS); unit/core/test_sole, whose children start threads; unit/runtime/test_gc_roots and unit/watch/test_halt, which stop carriers that sleep: their handlers are called late; unit/os/test_atomic8, whose handlers would be called where signals are blocked

tests: $(if $(FOREIGN),$(PORT_TESTS) $(if $(PORT_WALK),$(BUILD)/tests/arch/suspended),$(if $(BRIEF),,bugs) $(TEST_RUN) $(STRESS_BIN) $(FUZZ_RUN))

# The walks of crowd must agree with gdb's at every optimization level.
CROWDS := $(if $(SAN),,$(BUILD)/O0/bin/crowd $(BUILD)/O2/bin/crowd)
crowds: $(CROWDS)
ifeq ($(SAN),)
$(BUILD)/O0/bin/crowd: crowd-opt := -O0
$(BUILD)/O2/bin/crowd: crowd-opt := -O2 -fomit-frame-pointer
$(CROWDS): always
	@$(MAKE) --no-print-directory BUILD=$(@:/bin/crowd=) OPT='$(crowd-opt)' $@
endif

# Linked without .eh_frame_hdr: libunwind finds no table of its frames, so libdw does the walks.
BARE := $(PLAIN_BUILD)/bare/bin/crowd
crowds: $(BARE)
ifneq ($(SAN),)
$(BARE): always
	@$(MAKE) --no-print-directory BUILD=$(PLAIN_BUILD) SAN= $@
else
# The linker warns that dlopen and getaddrinfo want the same libc at run time.
no_warnings = $(shell echo 'int main(void) { return 0; }' | \
	$(CC) -x c -o /dev/null - -Wl,--no-warnings 2>/dev/null && echo -Wl,--no-warnings)
$(BARE): fixtures/crowd.c $(BUILD)/lib/libfiber.a
	$(call say,CC,$(call compiled,bare))
	@mkdir -p $(@D) $(BUILD)/obj/fixtures
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -MMD -MP -MF $(BUILD)/obj/fixtures/crowd-bare.d -o $@ $< \
		-pthread -static -no-pie -Wl,--no-eh-frame-hdr $(no_warnings) $(BUILD)/lib/libfiber.a $(LIB_LIBS)
endif

# crowd with the generic port: its fibers can be listed, but its stacks cannot be walked yet.
GENERIC := $(BUILD)/generic/bin/crowd
# Programs that the tests need without a sanitizer. With its shadow memory their cores would be terabytes. It also changes
# malloc, the depth of stacks and the location of values. The tests find these programs in $(BUILD)/plain.
PLAIN := $(addprefix $(PLAIN_BUILD)/bin/,crowd hog spin stuck turns values values-plain $(PLAIN_TOOLS))
# crowd for each other machine that has a port and whose compiler is installed: the tools read its cores. An emulator's core has
# no list of files, so the program is linked statically.
MACHINE_CROWDS := $(if $(SAN)$(CROSS),,$(foreach m,aarch64 riscv64 s390x,$(if $(and $(wildcard libfiber/arch/$(m)/frame.h), \
	$(shell command -v $(m)-linux-gnu-gcc)),$(BUILD)/$(m)/bin/crowd)))
$(MACHINE_CROWDS): $(BUILD)/%/bin/crowd: always
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/$* ARCH=$* SAN= CC=$*-linux-gnu-gcc AR=$*-linux-gnu-ar LD=$*-linux-gnu-ld \
		OBJCOPY=$*-linux-gnu-objcopy LDFLAGS="-pthread -static -Wl,--no-warnings" $@
# One with shared libraries, in a folder that stands for the root of another machine.
MACHINE_ROOT := $(if $(filter %/aarch64/bin/crowd,$(MACHINE_CROWDS)),$(BUILD)/aarch64/sysroot/app/crowd)
$(MACHINE_ROOT): $(BUILD)/aarch64/bin/crowd
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/aarch64 ARCH=aarch64 SAN= CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar \
		LD=aarch64-linux-gnu-ld OBJCOPY=aarch64-linux-gnu-objcopy $(BUILD)/aarch64/lib/libfiber.so
	$(call say,CC,fixtures/crowd.c [aarch64 shared])
	@mkdir -p $(@D)
	@cp $(BUILD)/aarch64/lib/libfiber.so.0 $(@D)
	$(Q)aarch64-linux-gnu-gcc $(filter-out -f%,$(CFLAGS)) $(CPPFLAGS) $(PUB_INC) -o $@ fixtures/crowd.c -L$(BUILD)/aarch64/lib -lfiber \
		-Wl,-rpath,'$$ORIGIN'
crowds: $(GENERIC) $(MACHINE_CROWDS) $(MACHINE_ROOT) $(if $(SAN),plain)
$(GENERIC): always
	@$(MAKE) --no-print-directory BUILD=$(@:/bin/crowd=) ARCH=generic $@
plain: $(BARE)
	@$(MAKE) --no-print-directory BUILD=$(PLAIN_BUILD) SAN= $(PLAIN)
	@mkdir -p $(BUILD)
	@rm -rf $(BUILD)/plain $(BUILD)/bare
	@ln -s $(abspath $(PLAIN_BUILD)) $(BUILD)/plain
	@ln -s $(abspath $(PLAIN_BUILD))/bare $(BUILD)/bare
.PHONY: always plain

# Tests that use the installed files, read printed text or build programs in their own way. They do not run with a sanitizer.
STRANGERS := scripts/test-headers.sh scripts/test-install.sh scripts/test-dist.sh scripts/test-buildsystems.sh scripts/test-meson.sh scripts/test-html.py scripts/test-abi.sh scripts/test-static.sh scripts/test-posix.sh scripts/test-posix-threads.sh scripts/test-posix-keys.sh scripts/test-posix-self.sh scripts/test-posix-streams.sh scripts/test-shared-tls.sh scripts/test-threaded.sh scripts/test-fiberize.py scripts/test-fiberize-servers.py scripts/test-man.py scripts/check-schema.py \
	scripts/check-openapi.py scripts/test-serve-proxy.py scripts/test-debuggers.py scripts/test-mi.py scripts/test-matrix.py scripts/test-adapters.py scripts/test-sanitizers.py \
	scripts/test-bench-pictures.py scripts/test-prometheus.py scripts/test-prometheus-server.py scripts/test-model.py scripts/why-healthy.py \
	scripts/test-ruby.sh

ifneq ($(FOREIGN),)
# libfiber's own tests. Another machine: under an emulator, which has no io_uring. `make platforms` reads the three files.
check: tests
	@rm -f $(BUILD)/check.result
	@$(CC) --version | sed q >$(BUILD)/check.compiler
	@echo '$(CHOICE)' >$(BUILD)/check.choice
	@FIBER_BUILD='$(abspath $(BUILD))' EMULATOR='$(EMULATOR)' FIBER_LEFT_OUT='$(abspath scripts/left-out$(if $(CROSS),,-$(LIBC)).txt)' FIBER_LEFT_OUT_PORT='$(if $(CROSS),$(ARCH),$(LIBC))' \
		RESULT='$(abspath $(BUILD))/check.result' FIBER_TEST_PATIENCE=10 POLLERS="$${POLLERS:-epoll poll}" \
		scripts/run-tests.sh $(abspath $(sort $(PORT_TESTS)) $(PORT_WALK))
else
# What the tests run beside themselves.
NEEDED := lib tools fixtures $(if $(BRIEF),plain,test-library examples crowds variants bugs $(if $(SAN),,ruby static) $(if $(MODELLED),$(BUILD)/bench/model))
check: tests $(NEEDED)
	@$(if $(BRIEF),echo "# CHOICE=short: a choice of the tests of SAN=$(SAN); make check SAN=$(SAN) runs all")
	@$(if $(ONE_THREAD),echo "$(NOT_RUN)")
	@FIBER_BUILD='$(abspath $(BUILD))' FIBER_SAN='$(SAN)' \
		scripts/run-tests.sh $(abspath $(sort $(TEST_RUN)) $(STRESS_BIN) $(FUZZ_RUN) $(if $(SAN),,$(STRANGERS)))
endif

# Unit tests of libfiber that take seconds and need no tool: for a build of packages (debian/rules).
QUICK := $(filter $(foreach r,core layout sync wait wire,$(BUILD)/tests/unit/$(r)/%),$(TEST_BIN))
.PHONY: check-quick
check-quick: lib $(QUICK)
	@FIBER_BUILD='$(abspath $(BUILD))' FIBER_SAN='$(SAN)' scripts/run-tests.sh $(abspath $(sort $(QUICK)))

# The build of a machine without liburing, and the tests of what differs there: the choice of the poller, and operations.
# They also run with FIBER_POLLER=uring, which must fall back to the next poller.
NO_URING := $(BUILD)/no_uring
NO_URING_TESTS := $(addprefix $(NO_URING)/tests/,unit/poll/test_choose unit/io/test_op system/test_op system/test_tcp \
	cli/test_fiberctl_carriers)
NO_URING_BIN := $(addprefix $(NO_URING)/bin/,crowd figures runtimes spin substitutes)
# fiberctl is the same with liburing and without it.
no-uring: $(BUILD)/bin/fiberctl
	@mkdir -p $(NO_URING)/bin
	@ln -sf ../../bin/fiberctl $(NO_URING)/bin/fiberctl
	@$(MAKE) --no-print-directory BUILD=$(NO_URING) URING=no_uring lib $(NO_URING_BIN) $(NO_URING_TESTS)

check-no-uring: no-uring
	@FIBER_BUILD='$(abspath $(NO_URING))' FIBER_SAN='$(SAN)' scripts/run-tests.sh $(abspath $(NO_URING_TESTS))

# `check` runs this for a few seconds. STRESS: options for a rerun, such as STRESS='--seed 4711 mutex'.
STRESS_SECONDS ?= 600
stress: $(STRESS_BIN) $(BUILD)/tests/cli/test_random_traces lib tools fixtures
	$(if $(filter thread,$(SAN)),setarch -R) $(STRESS_BIN) --seconds $(STRESS_SECONDS) $(STRESS)
	FIBER_BUILD='$(abspath $(BUILD))' FIBER_SAN='$(SAN)' TRACE_SECONDS=$(STRESS_SECONDS) $(BUILD)/tests/cli/test_random_traces

# A server whose clients disconnect at any moment. `check` runs this for a few seconds.
SOAK_SECONDS ?= 3600
soak: lib tools fixtures
	@FIBER_SAN='$(SAN)' $(if $(filter thread,$(SAN)),setarch -R) scripts/soak.py $(BUILD)/bin $(SOAK_SECONDS)

# Programs without a fault, about which `fiberctl why` and `fibertrace why` must report nothing. `check` asks twice.
# LANES=4: about four programs at the same time.
COUNT ?= 1000
why-healthy: lib tools fixtures examples
	@LANES='$(LANES)' FIBER_BUILD='$(abspath $(BUILD))' scripts/why-healthy.py $(COUNT)

# `fibertrace leaks` finds nothing in healthy programs, in LEAKS_LOOKS looks at each, and finds planted leaks.
LEAKS_LOOKS ?= 1000
test-leaks: lib tools fixtures examples
	@scripts/test-leaks.py $(BUILD)/bin $(BUILD)/examples $(LEAKS_LOOKS)

demo: lib tools fixtures
	@FIBER_BUILD='$(abspath $(BUILD))' sh scripts/demo.sh
