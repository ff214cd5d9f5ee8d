# SPDX-License-Identifier: MIT
# tls.mk - libfiber-tls, apart from libfiber because it needs OpenSSL

TLS_OBJ  := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard libfiber-tls/*.c))
TLS_INC  := -Ilibfiber-tls/include
TLS_LIBS = $(shell pkg-config --libs libssl libcrypto)

tools: $(BUILD)/lib/libfiber-tls.a $(BUILD)/lib/libfiber-tls.so

$(BUILD)/obj/libfiber-tls/%.o: CPPFLAGS += $(PUB_INC) $(TLS_INC)
$(BUILD)/obj/libfiber-tls/%.o: CFLAGS += -fPIC -fvisibility=hidden

# In a static program these functions are in libfiber's section of code, so that the tools hide their frames too.
$(TLS_OBJ): $(BUILD)/obj/libfiber-tls/%.o: libfiber-tls/%.c | tool-libraries
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(CODE_SECTION) $@

$(BUILD)/lib/libfiber-tls.a: $(TLS_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/lib/libfiber-tls.so.0: $(TLS_OBJ) $(BUILD)/lib/libfiber.so
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libfiber-tls.so.0 $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ \
		$(TLS_OBJ) -L$(BUILD)/lib -lfiber $(TLS_LIBS)

$(BUILD)/lib/libfiber-tls.so: $(BUILD)/lib/libfiber-tls.so.0
	$(call say,LN,$@)
	$(Q)ln -sf libfiber-tls.so.0 $@

# Tests link the archives. libfiber.a is repeated after libfiber-tls.a, which needs it.
TLS_TESTS := $(filter $(BUILD)/tests/unit/libfiber-tls/% %/system/test_tls_peers,$(TEST_BIN))
$(TLS_TESTS): $(BUILD)/lib/libfiber-tls.a
$(TLS_TESTS:$(BUILD)/tests/%=$(BUILD)/obj/tests/%.o): CPPFLAGS += $(TLS_INC) -Ilibfiber-tls
$(foreach t,$(TLS_TESTS),$(eval TEST_LIBS_$(t:$(BUILD)/tests/%=%) = $(BUILD)/lib/libfiber-tls.a $(BUILD)/lib/libfiber.a $$(TLS_LIBS)))

$(BUILD)/bin/httpd: $(BUILD)/lib/libfiber-tls.a
$(BUILD)/bin/httpd: FIXFLAGS += $(TLS_INC)
$(BUILD)/bin/httpd: HTTP_LIBS = $(BUILD)/lib/libfiber-tls.a $(BUILD)/lib/libfiber.a $(TLS_LIBS)

EXAMPLE_LIBS_24_tls = $(BUILD)/lib/libfiber-tls.a $(BUILD)/lib/libfiber.a $(TLS_LIBS)
$(BUILD)/examples/24_tls: $(BUILD)/lib/libfiber-tls.a
$(BUILD)/examples/24_tls: PUB_INC += $(TLS_INC)
