# SPDX-License-Identifier: MIT
# win32.mk - libfiber-win32: the fibers of Windows

WIN32_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard libfiber-win32/*.c))
WIN32_INC := -Ilibfiber-win32/include

lib: $(BUILD)/lib/libfiber-win32.a $(BUILD)/lib/libfiber-win32.so

$(BUILD)/obj/libfiber-win32/%.o: CPPFLAGS += $(PUB_INC) $(WIN32_INC)
$(BUILD)/obj/libfiber-win32/%.o: CFLAGS += -fPIC -fvisibility=hidden
# A backtrace has the call that the program made.
$(BUILD)/obj/libfiber-win32/%.o: CFLAGS += -fno-optimize-sibling-calls

# These functions are in libfiber's section of code, so that the tools hide their frames too.
$(WIN32_OBJ): $(BUILD)/obj/libfiber-win32/%.o: libfiber-win32/%.c
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(CODE_SECTION) $@

$(BUILD)/lib/libfiber-win32.a: $(WIN32_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# nodelete: the end of a thread calls a function of this library.
$(BUILD)/lib/libfiber-win32.so.0: $(WIN32_OBJ) $(BUILD)/lib/libfiber.so libfiber-win32/libfiber-win32.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libfiber-win32.so.0 -Wl,-z,nodelete \
		-Wl,--version-script=libfiber-win32/libfiber-win32.map $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ $(WIN32_OBJ) \
		-L$(BUILD)/lib -lfiber $(PORT_LIBS)

$(BUILD)/lib/libfiber-win32.so: $(BUILD)/lib/libfiber-win32.so.0
	$(call say,LN,$@)
	$(Q)ln -sf libfiber-win32.so.0 $@

# Tests link the archives. libfiber.a is repeated after libfiber-win32.a, which needs it.
WIN32_TESTS := $(filter $(BUILD)/tests/unit/libfiber-win32/%,$(TEST_BIN))
$(WIN32_TESTS): $(BUILD)/lib/libfiber-win32.a
$(WIN32_TESTS:$(BUILD)/tests/%=$(BUILD)/obj/tests/%.o): CPPFLAGS += $(WIN32_INC) -Ilibfiber-win32
$(foreach t,$(WIN32_TESTS),$(eval TEST_LIBS_$(t:$(BUILD)/tests/%=%) = $(BUILD)/lib/libfiber-win32.a $(BUILD)/lib/libfiber.a -lm))

$(BUILD)/bin/win32: $(BUILD)/lib/libfiber-win32.a
$(BUILD)/bin/win32: FIXFLAGS += $(WIN32_INC)
$(BUILD)/bin/win32: FIX_LIBS = $(BUILD)/lib/libfiber-win32.a $(BUILD)/lib/libfiber.a

EXAMPLE_LIBS_25_win32_copy = $(BUILD)/lib/libfiber-win32.a
$(BUILD)/examples/25_win32_copy: $(BUILD)/lib/libfiber-win32.a
$(BUILD)/examples/25_win32_copy: PUB_INC += $(WIN32_INC)
