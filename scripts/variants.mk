# SPDX-License-Identifier: MIT
#
# variants.mk - libfiber for programs with a sanitizer: libfiber-asan (-fsanitize=address), libfiber-tsan (-fsanitize=thread)
#
# make variants    build both; `make` and `make install` do this too, unless VARIANTS is empty
#
# Each is the whole library, compiled with the sanitizer. The sanitizer's runtime is not linked into libfiber-asan.so or
# libfiber-tsan.so: a program has the runtime of the compiler that links it, which may be another compiler. For the same reason
# libfiber-asan is compiled without -fsanitize=undefined, which `make check SAN=address` uses. libfiber-tsan is the library of
# `make check SAN=thread`, in the same folder.

VARIANTS ?= $(if $(SAN),,asan tsan)
SAN_OF_asan   := address
SAN_OF_tsan   := thread
BUILD_OF_asan := $(BUILD)/asan
BUILD_OF_tsan := $(BUILD)/thread
libs_of = $(addprefix $(BUILD_OF_$(1))/lib/libfiber-$(1),.a .so)

# Check whether a program with the sanitizer can be linked.
has_sanitizer = printf '\#include <sanitizer/%s_interface.h>\nint main(void) { return 0; }\n' $(1) | \
	$(CC) -fsanitize=$(SAN_OF_$(1)) -x c - -o /dev/null 2>/dev/null

.PHONY: variants $(VARIANTS:%=variant-%)
variants: $(VARIANTS:%=variant-%)
$(VARIANTS:%=variant-%): variant-%:
	@if $(call has_sanitizer,$*); then \
		$(MAKE) --no-print-directory SAN=$(SAN_OF_$*) UNDEFINED= BUILD=$(BUILD_OF_$*) $(call libs_of,$*); \
	else \
		rm -f $(call libs_of,$*); \
		echo "libfiber: without libfiber-$*: '$(CC)' links no program with -fsanitize=$(SAN_OF_$*)"; \
	fi

# Rules for the make that builds one variant.
VARIANT := $(if $(filter address,$(SAN)),asan,$(if $(filter thread,$(SAN)),tsan))
ifneq ($(VARIANT),)
$(BUILD)/lib/libfiber-$(VARIANT).a: $(LIB_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/lib/libfiber-$(VARIANT).so.0: $(PIC_OBJ) libfiber/libfiber.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(SANFLAGS),$(LDFLAGS)) -shared -Wl,-soname,$(@F) -Wl,-z,nodelete \
		-Wl,--version-script=libfiber/libfiber.map -o $@ $(PIC_OBJ) $(LIB_LIBS)

$(BUILD)/lib/libfiber-$(VARIANT).so: $(BUILD)/lib/libfiber-$(VARIANT).so.0
	$(call say,LN,$@)
	$(Q)ln -sf $(<F) $@
endif

# -- for install.mk: the variants that were built --
VARIANTS_BUILT = $(foreach v,$(VARIANTS),$(if $(wildcard $(BUILD_OF_$(v))/lib/libfiber-$(v).a),$(v)))

# install_variant NAME: the shell commands; libfiber.pc must be installed.
install_variant = \
	$(INSTALL) -m 644 $(BUILD_OF_$(1))/lib/libfiber-$(1).a $(LIB_DEST) && \
	$(INSTALL) -m 755 $(BUILD_OF_$(1))/lib/libfiber-$(1).so.0 $(LIB_DEST) && \
	ln -sf libfiber-$(1).so.0 $(LIB_DEST)/libfiber-$(1).so && \
	sed -e 's|^Name: .*|&-$(1)|' -e 's|^Description: .*|& (for programs with -fsanitize=$(SAN_OF_$(1)))|' \
		-e 's|-lfiber\b|&-$(1)|' $(LIB_DEST)/pkgconfig/libfiber.pc >$(LIB_DEST)/pkgconfig/libfiber-$(1).pc
variant_files = $(foreach v,asan tsan,$(addprefix $(LIB_DEST)/,libfiber-$(v).a libfiber-$(v).so libfiber-$(v).so.0 \
	pkgconfig/libfiber-$(v).pc))
