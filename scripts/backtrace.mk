# SPDX-License-Identifier: MIT
# backtrace.mk - libfiber-backtrace, apart from libfiber because it needs libunwind

BACKTRACE_OBJ  := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard libfiber-backtrace/*.c))
BACKTRACE_LIBS = $(shell pkg-config --libs libunwind-generic)

tools: $(BUILD)/lib/libfiber-backtrace.a $(BUILD)/lib/libfiber-backtrace.so

$(BUILD)/obj/libfiber-backtrace/%.o: CPPFLAGS += $(LIB_INC)
$(BUILD)/obj/libfiber-backtrace/%.o: CFLAGS += -fPIC -fvisibility=hidden

# The functions that decode records (libfiber/layout) are in libfiber.a but hidden in libfiber.so. So the shared library
# libfiber-backtrace contains its own copy.
$(BUILD)/lib/libfiber-backtrace.a: $(BACKTRACE_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

BACKTRACE_LAYOUT := $(filter $(addprefix %/,$(patsubst libfiber/%,%.o,$(wildcard libfiber/layout/*.c))),$(PIC_OBJ))
$(BUILD)/lib/libfiber-backtrace.so.0: $(BACKTRACE_OBJ) $(BACKTRACE_LAYOUT) $(BUILD)/lib/libfiber.so
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libfiber-backtrace.so.0 $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ \
		$(BACKTRACE_OBJ) $(BACKTRACE_LAYOUT) -L$(BUILD)/lib -lfiber $(BACKTRACE_LIBS)

$(BUILD)/lib/libfiber-backtrace.so: $(BUILD)/lib/libfiber-backtrace.so.0
	$(call say,LN,$@)
	$(Q)ln -sf libfiber-backtrace.so.0 $@

# The test links the archives. libfiber.a is repeated after libfiber-backtrace.a, which needs it.
TEST_LIBS_test_backtrace = $(BUILD)/lib/libfiber-backtrace.a $(BUILD)/lib/libfiber.a $(BACKTRACE_LIBS)
$(BUILD)/tests/unit/libfiber-backtrace/test_backtrace: $(BUILD)/lib/libfiber-backtrace.a

EXAMPLE_LIBS_15_backtrace = $(BUILD)/lib/libfiber-backtrace.a $(BUILD)/lib/libfiber.a $(BACKTRACE_LIBS)
$(BUILD)/examples/15_backtrace: $(BUILD)/lib/libfiber-backtrace.a
