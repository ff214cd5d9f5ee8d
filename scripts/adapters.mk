# SPDX-License-Identifier: MIT
# adapters.mk - programs of other libraries that publish their stacks with fiber_layout.h; they do not link libfiber

CXX      ?= c++
CXXFLAGS += $(OPT) -g -std=c++11 -Wall -Wextra -Wshadow -fasynchronous-unwind-tables -pthread $(WERROR)

# Not with a sanitizer: it must be notified of every stack, and Debian's builds of these libraries do not do that.
ADAPTERS := $(if $(SAN),,$(addprefix $(BUILD)/adapters/,ucontext boost-context ucontext-O0 boost-context-O0))
fixtures: $(ADAPTERS)

$(BUILD)/adapters/%-O0: OPT := -O0

$(BUILD)/adapters/ucontext $(BUILD)/adapters/ucontext-O0: fixtures/adapters/ucontext.c
	$(call say,CC,$(call compiled,$(filter O0,$(subst -, ,$@))))
	@mkdir -p $(@D) $(BUILD)/obj/fixtures
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(CFLAGS) -MMD -MP -MF $(BUILD)/obj/fixtures/$(@F).d -o $@ $< $(LDFLAGS)

$(BUILD)/adapters/boost-context $(BUILD)/adapters/boost-context-O0: fixtures/adapters/boost_context.cpp | boost-library
	$(call say,CXX,$(call compiled,$(filter O0,$(subst -, ,$@))))
	@mkdir -p $(@D) $(BUILD)/obj/fixtures
	$(Q)$(CXX) $(CPPFLAGS) $(PUB_INC) $(CXXFLAGS) -MMD -MP -MF $(BUILD)/obj/fixtures/$(@F).d -o $@ $< $(LDFLAGS) -lboost_context

.PHONY: boost-library
boost-library:
	@echo '#include <boost/context/detail/fcontext.hpp>' | $(CXX) -x c++ -fsyntax-only - 2>/dev/null || { \
		echo "libfiber: the header boost/context/detail/fcontext.hpp is missing: run 'make deps'" >&2; exit 1; }
