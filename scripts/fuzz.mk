# SPDX-License-Identifier: MIT
# fuzz.mk - fuzz the parsers of foreign input: requests to a program, its answers to fiberctl, cores, registries,
# snapshots and recordings; tokens and settings of libfiber-test
#
# `make fuzz` runs libFuzzer on each target for FUZZ_SECONDS, from the corpus in fixtures/fuzz. Findings are written
# to build/fuzz/findings, new inputs to build/fuzz/corpus. `make check` replays the corpus without libFuzzer.

FUZZ_SECONDS ?= 60
FUZZ_CLANG   ?= clang
# Those of libfiber-test are linked with it.
FUZZ_EXPLORED := $(if $(EXPLORED),token settings)
FUZZ_TARGETS := request answer core layout snapshot recording $(FUZZ_EXPLORED)
FUZZ_REPLAY  := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/replay_%)
FUZZ_BIN     := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/fuzz_%)
FUZZ_BUILD   := build/fuzz
FUZZ_FLAGS   := -max_total_time=$(FUZZ_SECONDS) -timeout=20 -max_len=16384 -print_final_stats=1 -verbosity=1

# fiberctl without its main.
FUZZ_CTL_OBJ := $(filter-out %/fiberctl/main.o,$(CTL_OBJ))

$(FUZZ_TARGETS:%=$(BUILD)/obj/fuzz/replay_%.o): $(BUILD)/obj/fuzz/replay_%.o: tests/fuzz/replay.c
	$(call say,CC,$(call compiled,$*))
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -Itests/fuzz $(LIB_INC) $(CPPFLAGS) -DFUZZ_CORPUS='"$(CURDIR)/fixtures/fuzz/$*"' $(CFLAGS) -MMD -MP -c -o $@ $<

$(FUZZ_REPLAY): $(BUILD)/tests/fuzz/replay_%: $(BUILD)/obj/fuzz/replay_%.o $(BUILD)/obj/tests/fuzz/fuzz_%.o $(HARNESS_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(TOOL_LIBS) $(CTL_LIBS) $(LIB_LIBS)

$(FUZZ_BIN): $(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(TOOL_LIBS) $(CTL_LIBS) $(LIB_LIBS)

$(BUILD)/tests/fuzz/replay_request $(BUILD)/tests/fuzz/fuzz_request: $(BUILD)/lib/libfiber.a
$(foreach t,answer snapshot,$(BUILD)/tests/fuzz/replay_$(t) $(BUILD)/tests/fuzz/fuzz_$(t)): $(FUZZ_CTL_OBJ) $(INS_OBJ)
$(foreach t,core layout recording,$(BUILD)/tests/fuzz/replay_$(t) $(BUILD)/tests/fuzz/fuzz_$(t)): $(INS_OBJ)
$(foreach t,$(FUZZ_EXPLORED),$(BUILD)/tests/fuzz/replay_$(t) $(BUILD)/tests/fuzz/fuzz_$(t)): $(BUILD)/lib/libfiber-test.a
$(FUZZ_EXPLORED:%=$(BUILD)/obj/tests/fuzz/fuzz_%.o): CPPFLAGS += -Ilibfiber-test/seams -Ilibfiber-test -Ilibfiber-test/include
$(BUILD)/tests/fuzz/replay_settings $(BUILD)/tests/fuzz/fuzz_settings: LDFLAGS += -Wl,--wrap=exit

.PHONY: fuzz fuzz-programs fuzz-clang
fuzz-programs: $(FUZZ_BIN)

fuzz-clang:
	@echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' | \
		$(FUZZ_CLANG) -x c -fsanitize=fuzzer,address -o /dev/null - 2>/dev/null || { \
		echo "make fuzz: $(FUZZ_CLANG) with libFuzzer is missing: install it" \
			"(Debian: clang libclang-rt-dev, or 'make deps') or set FUZZ_CLANG" >&2; exit 1; }

fuzz: fuzz-clang
	@CFLAGS=-fsanitize=fuzzer-no-link $(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) SAN=address CC='$(FUZZ_CLANG)' \
		WERROR= fuzz-programs
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p $(FUZZ_BUILD)/corpus/$$target $(FUZZ_BUILD)/findings && \
		echo "fuzz: $$target for $(FUZZ_SECONDS) s" && \
		$(FUZZ_BUILD)/tests/fuzz/fuzz_$$target $(FUZZ_FLAGS) -artifact_prefix=$(FUZZ_BUILD)/findings/$$target- \
			$(FUZZ_BUILD)/corpus/$$target fixtures/fuzz/$$target || { \
		echo "fuzz: $$target: found something, see $(FUZZ_BUILD)/findings" >&2; exit 1; }; \
	done

# Arbitrary requests to `fiberctl serve`, with or without a sanitizer. `check` runs this for a few seconds.
.PHONY: fuzz-serve
fuzz-serve: lib tools fixtures
	@scripts/fuzz-serve.py $(BUILD) $(or $(SECONDS),600) $(or $(SEED),1)
