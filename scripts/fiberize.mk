# SPDX-License-Identifier: MIT
# fiberize.mk - fiberize: run a program with its threads as fibers

# Of inspect/ it needs the parser of times alone.
FIBERIZE_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard fiberize/*.c)) \
	$(addprefix $(BUILD)/obj/inspect/text/,duration.o strbuf.o escape.o)

$(BUILD)/obj/fiberize/%.o: CPPFLAGS += -I.
$(BUILD)/obj/fiberize/environment.o $(BUILD)/obj/libfiber-test/fibertest/main.o: CPPFLAGS += -DFIBER_LIBDIR='"$(TOOL_LIBDIR)"'

$(BUILD)/bin/fiberize: $(FIBERIZE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

# Cases of the Linux Test Project, in a checkout beside the tree. Takes half an hour.
LTP ?= ../ltp
.PHONY: test-conformance
test-conformance: $(BUILD)/bin/fiberize $(BUILD)/lib/libfiber-posix.so
	@FIBER_BUILD='$(abspath $(BUILD))' python3 -B scripts/test-conformance.py $(LTP)

# Completions for shells, under the names that the shells look for.
tests: $(addprefix $(BUILD)/completion/,fiberize.bash _fiberize fiberize.fish)
$(BUILD)/completion/_fiberize: fiberize/share/fiberize.zsh
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(BUILD)/completion/fiberize.%: fiberize/share/fiberize.%
	@mkdir -p $(@D)
	$(Q)cp $< $@
