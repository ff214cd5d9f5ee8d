# SPDX-License-Identifier: MIT
#
# static.mk - fiberctl and fibertrace as one file each, to copy into a container
#
# make STATIC=1      link both statically: $(BUILD)/static/bin
# make test-static   run them in a root that has nothing else
#
# They are made of the same objects as the others, except `fiberctl serve`, which says that it is left out. glibc looks users up
# through libraries that it opens at run time, and libdw asks debuginfod servers in the same way. Without these libraries users
# are numbers, and no debug file is downloaded.

STATIC_BIN := $(BUILD)/static/bin/fiberctl $(BUILD)/static/bin/fibertrace
STATIC_CTL_OBJ := $(filter-out $(BUILD)/obj/fiberctl/cmd_serve.o $(BUILD)/obj/fiberctl/serve/%,$(CTL_OBJ)) \
	$(BUILD)/obj/fiberctl/static/cmd_serve.o
STATIC_LIBS = $(shell pkg-config --static --libs libunwind-generic libdw libelf jansson libzstd liblzma zlib ncursesw) -liberty

.PHONY: static test-static
static: $(STATIC_BIN)
	@echo "$(STATIC_BIN): without 'fiberctl serve': libmicrohttpd needs archives that Debian does not have"

$(BUILD)/static/bin/fiberctl: $(STATIC_CTL_OBJ) $(INS_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -static -o $@ $^ $(no_warnings) $(STATIC_LIBS)

$(BUILD)/static/bin/fibertrace: $(TRACE_OBJ) $(INS_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -static -o $@ $^ $(no_warnings) $(STATIC_LIBS)

test-static: static lib fixtures
	@FIBER_BUILD='$(abspath $(BUILD))' scripts/run-tests.sh $(abspath scripts/test-static.sh)
