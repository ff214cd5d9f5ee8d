# SPDX-License-Identifier: MIT
# install.mk - install and uninstall, and the scripts that check the tree

INSTALL     ?= install
DEST        := $(DESTDIR)$(PREFIX)
LIB_DEST    := $(DESTDIR)$(LIBDIR)
CMAKE_DEST  := $(LIB_DEST)/cmake/libfiber
PUB_HEADERS := $(wildcard libfiber/include/fiber/*.h)
# fiber_layout.h is for other libraries and does not need libfiber.
TOP_HEADERS := libfiber/include/fiber.h libfiber/include/fiber_layout.h
MAN_PAGES   := $(wildcard man/*.[137])
DASHBOARDS  := $(wildcard fiberctl/share/*.json)
ALERTS      := $(wildcard fiberctl/share/*.yml)
# Of the system, and of each user: none is enabled.
UNITS       := $(wildcard fiberctl/share/libfiber-*.service fiberctl/share/*.timer)
USER_UNITS  := fiberctl/share/fiberctl-serve.service

# gdb loads a script that is named after a library. It always does so from its own data folder, which includes
# /usr/share/gdb/auto-load; from the library's folder it does so if its safe-path allows that. It loads the first script that it
# finds, so only one is installed.
GDB_DEST  := $(if $(filter /usr,$(PREFIX)),$(DEST)/share/gdb/auto-load$(LIBDIR),$(LIB_DEST))
gdb_loads = $(1:%=$(GDB_DEST)/%.so.0-gdb.py)

# Fill in a template. A pkg-config file names LIBDIR relative to its prefix, so that PKG_CONFIG can define another prefix; the
# files of CMake find the headers relative to their own folder.
PC_LIBDIR     := $(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))
CMAKE_INCLUDE := $(shell realpath -ms --relative-to=$(LIBDIR)/cmake/libfiber $(PREFIX)/include)
fill = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(PC_LIBDIR)|' -e 's|@VERSION@|$(VERSION)|g' -e 's|@LIBS@|$(strip $(LIB_LIBS))|' \
	-e 's|@HARDENING@|$(HARDENING)|' -e 's|@ALLOC@|$(EXPLORE_WRAP)|' -e 's|@INCLUDE@|$(CMAKE_INCLUDE)|'
CMAKE_FILES   := $(wildcard packaging/cmake/*.in)

# The folders in which shells look for completions.
BASH_COMPLETIONS := $(DEST)/share/bash-completion/completions
ZSH_COMPLETIONS  := $(DEST)/share/zsh/site-functions
FISH_COMPLETIONS := $(DEST)/share/fish/vendor_completions.d

# Links for the other names of a page, so that `man fiber_join` finds it.
names_of = sed -n '/^\.Sh SYNOPSIS/q; s/^\.Nm \([A-Za-z0-9_-]*\).*/\1/p' $$page
MAN_LINKS = for name in $$($(names_of)); do \
	[ "$$name" = $$(basename $${page%.*}) ] || echo $$dir/$$name.$${page\#\#*.}; done

# -- libraries: archive, shared library and link; a pkg-config file for each --
# $(1): names without lib
install_libraries = $(INSTALL) -d $(LIB_DEST)/pkgconfig $(DEST)/include/fiber && for name in $(1); do \
	$(INSTALL) -m 644 $(BUILD)/lib/lib$$name.a $(LIB_DEST) && \
	$(INSTALL) -m 755 $(BUILD)/lib/lib$$name.so.0 $(LIB_DEST) && \
	ln -sf lib$$name.so.0 $(LIB_DEST)/lib$$name.so || exit 1; \
done
# $(1): templates
install_pc = for file in $(1); do \
	name=$${file\#\#*/}; $(fill) $$file >$(LIB_DEST)/pkgconfig/$${name%.in} || exit 1; \
done

.PHONY: install install-lib uninstall

# What needs nothing but the C library and liburing.
install-lib: lib
	$(call say,INSTALL,$(LIB_DEST))
	$(Q)$(call install_libraries,fiber fiber-posix)
	$(Q)$(INSTALL) -m 644 $(BUILD)/lib/libfiber_pic.a $(LIB_DEST)
	$(Q)$(INSTALL) -m 644 $(TOP_HEADERS) $(DEST)/include
	$(Q)$(INSTALL) -m 644 $(PUB_HEADERS) libfiber-posix/include/fiber/posix.h $(DEST)/include/fiber
	$(Q)$(call install_pc,libfiber/libfiber.pc.in libfiber-posix/libfiber-posix.pc.in)
	$(Q)$(INSTALL) -d $(CMAKE_DEST)
	$(Q)for file in $(CMAKE_FILES); do \
		name=$${file##*/}; $(fill) $$file >$(CMAKE_DEST)/$${name%.in} || exit 1; \
	done

install: install-lib test-library tools variants
	$(call say,INSTALL,$(DEST))
	$(Q)$(INSTALL) -d $(DEST)/bin
	$(Q)$(INSTALL) -m 755 $(BUILD)/bin/fiberctl $(BUILD)/bin/fibertrace $(BUILD)/bin/fiberize $(PRELOADED:yes=$(BUILD)/bin/fibertest) $(DEST)/bin
	$(Q)$(call install_libraries,fiber-backtrace fiber-tls fiber-win32)
	$(Q)$(INSTALL) -m 644 $(BUILD)/lib/libfiber-test.a $(BUILD)/lib/libfiber-test-memory.a $(LIB_DEST)
	$(Q)$(if $(PRELOADED),$(INSTALL) -m 755 $(BUILD)/lib/libfiber-test.so $(LIB_DEST))
	$(Q)$(INSTALL) -m 644 libfiber-tls/include/fiber/tls.h libfiber-win32/include/fiber/win32.h libfiber-test/include/fiber/test.h $(DEST)/include/fiber
	$(Q)$(call install_pc,$(wildcard libfiber-backtrace/*.pc.in libfiber-tls/*.pc.in libfiber-win32/*.pc.in libfiber-test/*.pc.in))
	$(Q)$(foreach v,$(VARIANTS_BUILT),$(call install_variant,$(v)) &&) true
	$(Q)$(INSTALL) -d $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)
	$(Q)for tool in fiberctl fibertrace; do \
		$(BUILD)/bin/$$tool completion bash >$(BASH_COMPLETIONS)/$$tool && \
		$(BUILD)/bin/$$tool completion zsh >$(ZSH_COMPLETIONS)/_$$tool && \
		$(BUILD)/bin/$$tool completion fish >$(FISH_COMPLETIONS)/$$tool.fish || exit 1; \
	done
	$(Q)$(INSTALL) -m 644 fiberize/share/fiberize.bash $(BASH_COMPLETIONS)/fiberize
	$(Q)$(INSTALL) -m 644 fiberize/share/fiberize.zsh $(ZSH_COMPLETIONS)/_fiberize
	$(Q)$(INSTALL) -m 644 fiberize/share/fiberize.fish $(FISH_COMPLETIONS)/fiberize.fish
	$(Q)$(if $(PRELOADED),$(INSTALL) -m 644 libfiber-test/share/fibertest.bash $(BASH_COMPLETIONS)/fibertest)
	$(Q)$(if $(PRELOADED),$(INSTALL) -m 644 libfiber-test/share/fibertest.zsh $(ZSH_COMPLETIONS)/_fibertest)
	$(Q)$(if $(PRELOADED),$(INSTALL) -m 644 libfiber-test/share/fibertest.fish $(FISH_COMPLETIONS)/fibertest.fish)
	$(Q)$(INSTALL) -d $(DEST)/share/libfiber $(DEST)/lib/systemd/system $(DEST)/lib/systemd/user
	$(Q)$(INSTALL) -m 644 $(DASHBOARDS) $(ALERTS) $(GDB_SCRIPT) libfiber/share/libfiber.supp $(DEST)/share/libfiber
	$(Q)$(INSTALL) -d $(GDB_DEST)
	$(Q)for link in $(call gdb_loads,libfiber $(VARIANTS_BUILT:%=libfiber-%)); do \
		ln -sfr $(DEST)/share/libfiber/libfiber-gdb.py $$link || exit 1; \
	done
	$(Q)for unit in $(UNITS); do \
		sed -e 's|@PREFIX@|$(PREFIX)|' $$unit >$(DEST)/lib/systemd/system/$${unit##*/} || exit 1; \
	done
	$(Q)for unit in $(USER_UNITS); do \
		sed -e 's|@PREFIX@|$(PREFIX)|' $$unit >$(DEST)/lib/systemd/user/$${unit##*/} || exit 1; \
	done
	$(Q)for page in $(MAN_PAGES); do \
		dir=$(DEST)/share/man/man$${page##*.}; \
		$(INSTALL) -d $$dir && $(INSTALL) -m 644 $$page $$dir || exit 1; \
		for link in $$($(MAN_LINKS)); do ln -sf $${page##*/} $$link || exit 1; done; \
	done

# Remove each installed file. Folders that others may use stay; include/fiber is removed.
uninstall:
	$(call say,UNINSTALL,$(DEST))
	$(Q)rm -f $(DEST)/bin/fiberctl $(DEST)/bin/fibertrace $(DEST)/bin/fiberize $(DEST)/bin/fibertest
	$(Q)rm -f $(LIB_DEST)/libfiber.a $(LIB_DEST)/libfiber_pic.a $(LIB_DEST)/libfiber.so $(LIB_DEST)/libfiber.so.0
	$(Q)rm -f $(LIB_DEST)/libfiber-backtrace.a $(LIB_DEST)/libfiber-backtrace.so $(LIB_DEST)/libfiber-backtrace.so.0
	$(Q)rm -f $(LIB_DEST)/libfiber-posix.a $(LIB_DEST)/libfiber-posix.so $(LIB_DEST)/libfiber-posix.so.0
	$(Q)rm -f $(LIB_DEST)/pkgconfig/libfiber-posix.pc $(DEST)/include/fiber/posix.h
	$(Q)rm -f $(LIB_DEST)/libfiber-tls.a $(LIB_DEST)/libfiber-tls.so $(LIB_DEST)/libfiber-tls.so.0
	$(Q)rm -f $(LIB_DEST)/pkgconfig/libfiber-tls.pc $(DEST)/include/fiber/tls.h
	$(Q)rm -f $(LIB_DEST)/libfiber-win32.a $(LIB_DEST)/libfiber-win32.so $(LIB_DEST)/libfiber-win32.so.0
	$(Q)rm -f $(LIB_DEST)/pkgconfig/libfiber-win32.pc $(DEST)/include/fiber/win32.h
	$(Q)rm -f $(LIB_DEST)/libfiber-test.a $(LIB_DEST)/libfiber-test.so $(LIB_DEST)/pkgconfig/libfiber-test.pc $(DEST)/include/fiber/test.h
	$(Q)rm -f $(LIB_DEST)/libfiber-test-memory.a $(LIB_DEST)/pkgconfig/libfiber-test-memory.pc
	$(Q)rm -f $(patsubst libfiber/include/%,$(DEST)/include/%,$(TOP_HEADERS) $(PUB_HEADERS))
	$(Q)[ ! -d $(DEST)/include/fiber ] || rmdir $(DEST)/include/fiber
	$(Q)rm -f $(patsubst fiberctl/share/%,$(DEST)/share/libfiber/%,$(DASHBOARDS) $(ALERTS))
	$(Q)rm -f $(UNITS:fiberctl/share/%=$(DEST)/lib/systemd/system/%) $(USER_UNITS:fiberctl/share/%=$(DEST)/lib/systemd/user/%)
	$(Q)rm -f $(DEST)/share/libfiber/libfiber-gdb.py $(DEST)/share/libfiber/libfiber.supp $(call gdb_loads,libfiber libfiber-asan libfiber-tsan)
	$(Q)rm -f $(variant_files)
	$(Q)rm -f $(patsubst packaging/cmake/%.in,$(CMAKE_DEST)/%,$(CMAKE_FILES))
	$(Q)[ ! -d $(CMAKE_DEST) ] || rmdir $(CMAKE_DEST)
	$(Q)[ ! -d $(DEST)/share/libfiber ] || rmdir --ignore-fail-on-non-empty $(DEST)/share/libfiber
	$(Q)rm -f $(LIB_DEST)/pkgconfig/libfiber.pc $(LIB_DEST)/pkgconfig/libfiber-backtrace.pc
	$(Q)rm -f $(BASH_COMPLETIONS)/fiberctl $(ZSH_COMPLETIONS)/_fiberctl $(FISH_COMPLETIONS)/fiberctl.fish
	$(Q)rm -f $(BASH_COMPLETIONS)/fibertrace $(ZSH_COMPLETIONS)/_fibertrace $(FISH_COMPLETIONS)/fibertrace.fish
	$(Q)rm -f $(BASH_COMPLETIONS)/fiberize $(ZSH_COMPLETIONS)/_fiberize $(FISH_COMPLETIONS)/fiberize.fish
	$(Q)rm -f $(BASH_COMPLETIONS)/fibertest $(ZSH_COMPLETIONS)/_fibertest $(FISH_COMPLETIONS)/fibertest.fish
	$(Q)for page in $(MAN_PAGES); do \
		dir=$(DEST)/share/man/man$${page##*.}; \
		rm -f $$dir/$${page##*/} $$($(MAN_LINKS)); \
	done

# -- design rules that a script can check --
.PHONY: check-layers check-circles check-names tidy
check-layers:
	@sh scripts/check-layers.sh --self-test
	@sh scripts/check-layers.sh

check-circles: lib test-library tools
	@python3 scripts/check-circles.py $(BUILD) libfiber libfiber-posix inspect tool fiberctl fibertrace fiberize
	@python3 scripts/check-circles.py $(BUILD) libfiber-test
	@python3 scripts/check-circles.py $(BUILD) libfiber-tls
	@python3 scripts/check-circles.py $(BUILD) libfiber-win32

check-names: lib
	@sh scripts/check-names.sh --self-test
	@sh scripts/check-names.sh $(BUILD)

tidy: $(BUILD)/obj/fixtures/sandbox_calls.h
	@sh scripts/tidy.sh $(CPPFLAGS) -DFIBER_LIBDIR='"../lib"' -I. $(LIB_INC) -I$(<D)
