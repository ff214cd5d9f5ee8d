# SPDX-License-Identifier: MIT
#
# ruby.mk - contrib/ruby: a Fiber::Scheduler for Ruby
#
# make ruby          build/ruby/libfiber_waits.so; ruby -I build/ruby -I contrib/ruby/lib
# make test-ruby     its tests
# make bench-ruby    an echo server beside a scheduler in Ruby that uses IO.select; REPEATS=5

.PHONY: ruby test-ruby bench-ruby
RUBY      ?= ruby
RUBY_OBJ  := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard contrib/ruby/*.c))
# Expanded only where an object of contrib/ruby is compiled.
RUBY_INC  = $(shell $(RUBY) -rrbconfig -e 'puts RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").map { |d| "-isystem " + d }')
RUBY_PATH = -I $(BUILD)/ruby -I contrib/ruby/lib

ruby: $(BUILD)/ruby/libfiber_waits.so
$(RUBY_OBJ): CPPFLAGS += $(PUB_INC) $(RUBY_INC)
$(RUBY_OBJ): CFLAGS += -fPIC -fvisibility=hidden
$(BUILD)/ruby/libfiber_waits.so: $(RUBY_OBJ) $(BUILD)/lib/libfiber.so
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $(RUBY_OBJ) -L$(BUILD)/lib -lfiber -Wl,-rpath,'$$ORIGIN/../lib'

test-ruby: ruby tools
	@FIBER_BUILD='$(abspath $(BUILD))' scripts/run-tests.sh $(abspath scripts/test-ruby.sh)

$(BUILD)/ruby/load: contrib/ruby/bench/load.c $(BUILD)/lib/libfiber.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -o $@ $< $(LDFLAGS) $(BUILD)/lib/libfiber.a $(LIB_LIBS)

bench-ruby: ruby $(BUILD)/ruby/load
	@$(RUBY) $(RUBY_PATH) contrib/ruby/bench/echo.rb $(BUILD)/ruby/load $(REPEATS)
