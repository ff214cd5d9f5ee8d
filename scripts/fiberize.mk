# SPDX-License-Identifier: MIT
# fiberize.mk - fiberize: run a program with its threads as fibers

# Of inspect/ it needs the parser of times alone.
FIBERIZE_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard fiberize/*.c)) \
	$(addprefix $(BUILD)/obj/inspect/text/,duration.o strbuf.o escape.o)

$(BUILD)/obj/fiberize/%.o: CPPFLAGS += -I.

$(BUILD)/bin/fiberize: $(FIBERIZE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

# Completions for shells, under the names that the shells look for.
tests: $(addprefix $(BUILD)/completion/,fiberize.bash _fiberize fiberize.fish)
$(BUILD)/completion/_fiberize: fiberize/share/fiberize.zsh
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(BUILD)/completion/fiberize.%: fiberize/share/fiberize.%
	@mkdir -p $(@D)
	$(Q)cp $< $@
