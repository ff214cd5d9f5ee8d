# SPDX-License-Identifier: MIT
#
# bench.mk - the same works on libfiber and on its peers, interleaved
#
# make bench [WORK=name[,name]] [REPEATS=n] [BASE=build/bench/earlier.json]
# make bench-instructions [WORK=...]    make bench-guard [RECORD=1]
# make bench-observer [LOOKS=name[,name]] [BUSY=1]    make bench-turns [LOOKS=name] [BUSY=1]
# make bench-tools [COLD=1]    make bench-serve    make bench-programs    make deps-bench
# make bench-pictures [RESULTS=last.json]    make bench-ports (scripts/bench-ports.mk)
#
# A peer whose package is missing is not built; the table says so.

WORK    ?=
REPEATS ?= 7
BASE    ?=

BENCH_LIBFIBER := $(wildcard bench/libfiber/*.c bench/libfiber/*/*.c)
# A peer is a file or a folder.
PEERS := $(basename $(notdir $(wildcard bench/peers/*)))
BENCHES := $(BUILD)/bench/switch_forms $(BUILD)/bench/control_words $(BUILD)/bench/guards $(BUILD)/bench/timers $(BUILD)/bench/libfiber \
	$(BUILD)/bench/table_client
PEER_BINS := $(PEERS:%=$(BUILD)/bench/peers/%)
LOOKING = --build $(BUILD) --repeats $(REPEATS) $(if $(LOOKS),--looks '$(LOOKS)') $(if $(BUSY),--busy)
BENCH_RUN = python3 -B bench/run.py --programs $(BUILD)/bench $(if $(WORK),--work $(WORK)) --repeats $(REPEATS)

.PHONY: bench bench-instructions bench-guard bench-observer bench-turns bench-tools bench-serve bench-programs bench-pictures
bench-programs: $(BENCHES) $(PEER_BINS)
bench: bench-programs
	@$(BENCH_RUN) $(if $(BASE),--base $(BASE))
bench-instructions: $(BENCHES)
	@$(BENCH_RUN) --instructions
# RECORD=1: write bench/instructions.json.
bench-guard: $(BUILD)/bench/libfiber
	@$(BENCH_RUN) --guard '$(CC)' $(if $(RECORD),--record)
bench-observer: $(BUILD)/bench/libfiber tools
	@python3 -B bench/observer.py $(LOOKING)
bench-turns: $(BUILD)/bench/libfiber tools
	@python3 -B bench/turns.py $(LOOKING)
bench-tools: tools fixtures
	@python3 -B bench/tools.py --build $(BUILD) --repeats $(REPEATS) $(if $(COLD),--cold)
bench-serve: $(BUILD)/bench/libfiber tools fixtures
	@python3 -B bench/serve.py --build $(BUILD) --repeats $(REPEATS)

# docs/pictures/*.svg, and the table on top of docs/performance.md, from the last run of make bench.
RESULTS ?= $(BUILD)/bench/last.json
bench-pictures:
	@python3 -B bench/pictures/draw.py $(RESULTS) docs/pictures docs/performance.md

# With the assembly for this machine, and with boost.context if it is installed.
FCONTEXT = $(shell echo 'int main(void){return 0;}' | \
	$(CC) -x c - -o /dev/null -l:libboost_context.a 2>/dev/null && echo -DHAVE_FCONTEXT -l:libboost_context.a)
$(BUILD)/bench/switch_forms: bench/switch_forms.c $(BUILD)/lib/libfiber.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(LIB_INC) $(CFLAGS) -o $@ $< \
		$(wildcard bench/switch_forms_$(shell uname -m).S) $(LDFLAGS) $(BUILD)/lib/libfiber.a $(LIB_LIBS) $(FCONTEXT)

# Its inline assembly saves and restores the frame pointer.
$(BUILD)/bench/control_words: bench/control_words.c $(wildcard bench/*.h)
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I. $(CFLAGS) -fno-omit-frame-pointer -o $@ $< $(LDFLAGS)

$(BUILD)/bench/guards $(BUILD)/bench/timers: $(BUILD)/bench/%: bench/%.c $(BUILD)/lib/libfiber.a $(wildcard bench/*.h)
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I. $(LIB_INC) $(CFLAGS) -o $@ $< $(LDFLAGS) $(BUILD)/lib/libfiber.a $(LIB_LIBS)

$(BUILD)/bench/table_client: bench/table_client.c $(wildcard bench/*.h)
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I. $(CFLAGS) -o $@ $< $(LDFLAGS)

$(BUILD)/obj/bench/%.o: CPPFLAGS += -I. $(LIB_INC)
$(BUILD)/bench/libfiber: $(BENCH_LIBFIBER:%.c=$(BUILD)/obj/%.o) $(BUILD)/lib/libfiber.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# For each peer: a header whose presence shows that it is installed, and libraries. boost is linked statically, as libfiber is.
PEER_HEADER_fcontext := stdlib.h
PEER_LIBS_fcontext := -l:libboost_context.a
PEER_HEADER_boost_fiber := boost/fiber/fiber.hpp
PEER_LIBS_boost_fiber := -l:libboost_fiber.a -l:libboost_context.a
PEER_HEADER_st := st.h
PEER_LIBS_st := -l:libst.a -Wl,-z,noexecstack
PEER_HEADER_pth := pth.h
PEER_LIBS_pth := -l:libpth.a
PEER_HEADER_uring := liburing.h
PEER_LIBS_uring := -luring
PEER_HEADER_uv := uv.h
PEER_LIBS_uv := -luv
# Asio without Boost: only headers.
PEER_HEADER_asio := asio.hpp
PEER_STD_asio := -std=c++20
PEER_HEADER_ucontext := ucontext.h
PEER_FLAGS = $(OPT) -g -pthread -D_GNU_SOURCE -I.
try = printf '\#include <%s>\nint main(void) { return 0; }\n' $(PEER_HEADER_$*) | \
	$(1) $(PEER_STD_$*) -pthread - -x none -o /dev/null $(PEER_LIBS_$*) 2>/dev/null

$(BUILD)/bench/peers/%: bench/peers/%.c $(wildcard bench/*.h)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)! $(call try,$(CC) -x c) || \
		$(CC) $(PEER_FLAGS) -std=gnu11 $(WARN) $(WERROR) -o $@ $< $(PEER_LIBS_$*)

$(BUILD)/bench/peers/boost_fiber: $(wildcard bench/peers/boost_fiber/*)
$(BUILD)/bench/peers/asio: bench/peers/asio.cpp
$(addprefix $(BUILD)/bench/peers/,boost_fiber asio): $(BUILD)/bench/peers/%: $(wildcard bench/*.h)
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)! $(call try,$(CXX) -x c++) || \
		$(CXX) $(PEER_FLAGS) $(or $(PEER_STD_$*),-std=c++17) -Wall -Wextra $(WERROR) -o $@ $(filter %.cpp,$^) $(PEER_LIBS_$*)

$(BUILD)/bench/peers/pthread: $(BUILD)/bench/peers/%: $(wildcard bench/peers/pthread/* bench/*.h fixtures/listen.h)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PEER_FLAGS) -std=gnu11 $(WARN) $(WERROR) -o $@ $(filter %.c,$^)

# go writes only below the build folder and downloads nothing.
$(BUILD)/bench/peers/go: $(wildcard bench/peers/go/*.go)
	$(call say,GO,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)! command -v go >/dev/null || \
		GOCACHE=$(abspath $(BUILD))/obj/go GO111MODULE=off GOPROXY=off GOFLAGS= go build -o $@ $^

# cargo takes tokio from Debian's packages, and works in the build folder, where it also writes Cargo.lock.
CRATES := /usr/share/cargo/registry
$(BUILD)/bench/peers/tokio: $(wildcard bench/peers/tokio/Cargo.toml bench/peers/tokio/src/*.rs)
	$(call say,CARGO,$@)
	@mkdir -p $(@D) $(BUILD)/obj/tokio
	@rm -rf $@ $(BUILD)/obj/tokio/src $(BUILD)/obj/tokio/Cargo.*
	@cp -r bench/peers/tokio/. $(BUILD)/obj/tokio
	$(Q)! { command -v cargo && ls -d $(CRATES)/tokio-1.*; } >/dev/null 2>&1 || { \
		CARGO_HOME=$(abspath $(BUILD))/obj/tokio/home cargo build --quiet --release --offline \
		--config 'source.crates-io.replace-with="debian"' --config 'source.debian.directory="$(CRATES)"' \
		--manifest-path $(BUILD)/obj/tokio/Cargo.toml --target-dir $(BUILD)/obj/tokio/target && \
		cp $(BUILD)/obj/tokio/target/release/tokio_peer $@; }

# The checker of histories of libfiber-test. LINEAR: a part of the name of a kind of history; default: all.
.PHONY: bench-linearizable
bench-linearizable: $(BUILD)/bench/linearizable
	@$< $(if $(LINEAR),'$(LINEAR)')
$(BUILD)/bench/linearizable: bench/linearizable.c $(BUILD)/lib/libfiber-test.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) -Ilibfiber-test/include $(CFLAGS) -o $@ $< $(LDFLAGS) $(BUILD)/lib/libfiber-test.a $(EXPLORE_LIBS)
