# SPDX-License-Identifier: MIT
# check.mk - every test, and the demonstration

.PHONY: check check-no-uring no-uring tests demo crowds stress soak

# The tools and the models have one thread, and ThreadSanitizer nothing to see in them: those without it look at the programs of
# tests/cli.
# What differs only in what a tool makes of the same answers, of a core or of its options shows a program nothing new.
OF_TOOLS := $(addprefix fiberctl_,completion completion_shells completion_words diff errors flames full_disk help layout \
	limit metrics_json numbers options processes snapshot_commands snapshot_write top top_live top_sizes topic_where tree \
	waits_dot watch where) $(addprefix fibertrace_,commands compressed core crash dead elsewhere errors export named \
	progress report rights rights_commands timeline to_core values yama) adapters agreement fixtures hostile_registry places probes
ONE_THREAD := $(if $(filter thread,$(SAN)),$(INS_TESTS) $(filter %_model,$(TEST_BIN)) $(filter-out %/replay_request,$(FUZZ_REPLAY)) \
	$(OF_TOOLS:%=$(BUILD)/tests/cli/test_%))
TEST_RUN   := $(filter-out $(ONE_THREAD),$(TEST_BIN))
FUZZ_RUN   := $(filter-out $(ONE_THREAD),$(FUZZ_REPLAY))
NOT_RUN    := \# not run with SAN=thread: the tests of inspect/, the models, fuzz of the tools, cli of $(OF_TOOLS)

tests: $(TEST_RUN) $(STRESS_BIN) $(FUZZ_RUN)

# The walks of crowd must agree with gdb's whatever the compiler did to its frames.
CROWDS := $(if $(SAN),,$(BUILD)/O0/bin/crowd $(BUILD)/O2/bin/crowd)
crowds: $(CROWDS)
ifeq ($(SAN),)
$(BUILD)/O0/bin/crowd: crowd-opt := -O0
$(BUILD)/O2/bin/crowd: crowd-opt := -O2 -fomit-frame-pointer
$(CROWDS): always
	@$(MAKE) --no-print-directory BUILD=$(@:/bin/crowd=) OPT='$(crowd-opt)' $@
endif

# Linked so that libunwind finds no table of its frames: the walks are libdw's.
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

# A crowd of the port for every other machine: its fibers are listed, its stacks cannot be walked yet.
GENERIC := $(BUILD)/generic/bin/crowd
# Without a sanitizer, whose shadow would make their cores files of terabytes, and which has malloc, the depth of stacks, and
# where values are, otherwise than the tests want to see them. The tests find them in $(BUILD)/plain.
PLAIN := $(addprefix $(PLAIN_BUILD)/bin/,crowd hog spin stuck turns values values-plain $(PLAIN_TOOLS))
crowds: $(GENERIC) $(if $(SAN),plain)
$(GENERIC): always
	@$(MAKE) --no-print-directory BUILD=$(@:/bin/crowd=) ARCH=generic $@
plain: $(BARE)
	@$(MAKE) --no-print-directory BUILD=$(PLAIN_BUILD) SAN= $(PLAIN)
	@mkdir -p $(BUILD)
	@rm -rf $(BUILD)/plain $(BUILD)/bare
	@ln -s $(abspath $(PLAIN_BUILD)) $(BUILD)/plain
	@ln -s $(abspath $(PLAIN_BUILD))/bare $(BUILD)/bare
.PHONY: always plain

# Those who use what is installed, read what is printed or build in ways of their own; strangers do not link sanitizers.
STRANGERS := scripts/test-headers.sh scripts/test-install.sh scripts/test-man.py scripts/check-schema.py \
	scripts/test-debuggers.py scripts/test-mi.py scripts/test-matrix.py scripts/test-adapters.py scripts/test-sanitizers.py

check: lib tools fixtures examples tests crowds variants
	@$(if $(ONE_THREAD),echo "$(NOT_RUN)")
	@FIBER_BUILD='$(abspath $(BUILD))' FIBER_SAN='$(SAN)' \
		scripts/run-tests.sh $(abspath $(sort $(TEST_RUN)) $(STRESS_BIN) $(FUZZ_RUN) $(if $(SAN),,$(STRANGERS)))

# What a machine without liburing compiles, and the tests of what is another there: which poller there is, and what
# becomes of operations. FIBER_POLLER=uring is run too, and must lead to the next poller.
NO_URING := $(BUILD)/no_uring
NO_URING_TESTS := $(addprefix $(NO_URING)/tests/,unit/poll/test_choose unit/io/test_op system/test_op system/test_tcp \
	cli/test_fiberctl_carriers)
NO_URING_BIN := $(addprefix $(NO_URING)/bin/,figures runtimes spin)
# fiberctl is the same with liburing and without it.
no-uring: $(BUILD)/bin/fiberctl
	@mkdir -p $(NO_URING)/bin
	@ln -sf ../../bin/fiberctl $(NO_URING)/bin/fiberctl
	@$(MAKE) --no-print-directory BUILD=$(NO_URING) URING=no_uring lib $(NO_URING_BIN) $(NO_URING_TESTS)

check-no-uring: no-uring
	@FIBER_BUILD='$(abspath $(NO_URING))' FIBER_SAN='$(SAN)' scripts/run-tests.sh $(abspath $(NO_URING_TESTS))

# A few seconds of it are part of `check`. STRESS='--seed 4711 mutex' and the like for a rerun.
STRESS_SECONDS ?= 600
stress: $(STRESS_BIN) $(BUILD)/tests/cli/test_random_traces lib tools fixtures
	$(if $(filter thread,$(SAN)),setarch -R) $(STRESS_BIN) --seconds $(STRESS_SECONDS) $(STRESS)
	FIBER_BUILD='$(abspath $(BUILD))' FIBER_SAN='$(SAN)' TRACE_SECONDS=$(STRESS_SECONDS) $(BUILD)/tests/cli/test_random_traces

# A server whose clients leave at any moment; a few seconds of it are part of `check`.
SOAK_SECONDS ?= 3600
soak: lib tools fixtures
	@FIBER_SAN='$(SAN)' $(if $(filter thread,$(SAN)),setarch -R) scripts/soak.py $(BUILD)/bin $(SOAK_SECONDS)

demo: lib tools fixtures
	@FIBER_BUILD='$(abspath $(BUILD))' sh scripts/demo.sh
