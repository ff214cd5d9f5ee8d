# SPDX-License-Identifier: MIT
# plugins.mk - the fixture that a program loads with dlopen: over libfiber.so, and with libfiber inside; and a clock to preload

PLUGINS := $(BUILD)/plugins/shared.so $(BUILD)/plugins/inside.so $(BUILD)/plugins/late.so
fixtures: $(PLUGINS)

$(BUILD)/plugins/shared.so: fixtures/plugins/plugin.c $(BUILD)/lib/libfiber.so
	$(call say,CC,$(call compiled,shared))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -fPIC -shared -o $@ $< $(LDFLAGS) \
		-L$(BUILD)/lib -lfiber -Wl,-rpath,'$$ORIGIN/../lib'

# Its libfiber is its own: no name of it is seen outside.
$(BUILD)/plugins/inside.so: fixtures/plugins/plugin.c $(BUILD)/lib/libfiber_pic.a
	$(call say,CC,$(call compiled,inside))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -fPIC -shared -o $@ $< $(LDFLAGS) \
		$(BUILD)/lib/libfiber_pic.a $(LIB_LIBS) -Wl,--exclude-libs,ALL

# For the tools of any build: without a sanitizer.
$(BUILD)/plugins/late.so: fixtures/plugins/late.c
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -O2 -g -std=gnu11 $(WARN) $(WERROR) -fPIC -shared -o $@ $<
