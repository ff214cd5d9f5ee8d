# SPDX-License-Identifier: MIT
# plugins.mk - a plugin for dlopen(3), linked with libfiber.so and with libfiber_pic.a; and a clock to preload

PLUGINS := $(BUILD)/plugins/shared.so $(BUILD)/plugins/inside.so $(BUILD)/plugins/late.so
fixtures: $(PLUGINS)

$(BUILD)/plugins/shared.so: fixtures/plugins/plugin.c $(BUILD)/lib/libfiber.so
	$(call say,CC,$(call compiled,shared))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -fPIC -shared -o $@ $< $(LDFLAGS) \
		-L$(BUILD)/lib -lfiber -Wl,-rpath,'$$ORIGIN/../lib'

# It contains its own libfiber and exports none of its symbols.
$(BUILD)/plugins/inside.so: fixtures/plugins/plugin.c $(BUILD)/lib/libfiber_pic.a
	$(call say,CC,$(call compiled,inside))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -fPIC -shared -o $@ $< $(LDFLAGS) \
		$(BUILD)/lib/libfiber_pic.a $(LIB_LIBS) -Wl,--exclude-libs,ALL

# Without a sanitizer, so that it can be preloaded into the tools of any build.
$(BUILD)/plugins/late.so: fixtures/plugins/late.c
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -O2 -g -std=gnu11 $(WARN) $(WERROR) -fPIC -shared -o $@ $<
