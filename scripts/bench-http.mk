# SPDX-License-Identifier: MIT
#
# bench-http.mk - HTTP servers side by side: fibers, threads, an event loop, nginx, Go; the first, nginx and Go with TLS too
#
# make bench-http [REPEATS=3] [SECONDS=8] [CONNECTIONS=100,1000,10000] [IDLE=19900]
#
# make bench-request [REPEATS=7] [CONNECTIONS=100,1000,5000]
#
# Servers that are not installed (make deps-bench) are left out; the table says so. wrk is required.
# bench-request needs valgrind and strace instead, and leaves out what is counted by one that is missing.

SECONDS     ?= 8
CONNECTIONS ?= 100,1000,10000
IDLE        ?= 19900

HTTP_BENCH := $(BUILD)/bench/http/client $(BUILD)/bench/http/net_http

.PHONY: bench-http bench-http-programs bench-request
bench-http-programs: $(HTTP_BENCH) $(HTTP_BIN) $(BUILD)/bin/idle $(BUILD)/bin/fiberctl
# The default is three repeats; `make bench` has seven.
bench-http: bench-http-programs
	@python3 -B bench/http/run.py --build $(abspath $(BUILD)) --seconds $(SECONDS) --connections $(CONNECTIONS) \
		--idle $(IDLE) --repeats $(if $(filter file,$(origin REPEATS)),3,$(REPEATS))

# What a request costs, by function and by system call.
bench-request: $(BUILD)/bench/http/pairs $(BUILD)/bench/http/sleeper.so $(HTTP_BIN)
	@python3 -B bench/http/request.py --build $(abspath $(BUILD)) --repeats $(REPEATS) \
		$(if $(filter file,$(origin CONNECTIONS)),,--cpu $(CONNECTIONS))

$(BUILD)/bench/http/sleeper.so: bench/http/sleeper.c
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $< $(LDFLAGS)

$(BUILD)/bench/http/client $(BUILD)/bench/http/pairs: $(BUILD)/bench/http/%: bench/http/%.c
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< $(LDFLAGS)

# go writes only below the build folder and downloads nothing.
$(BUILD)/bench/http/net_http: bench/http/net_http.go
	$(call say,GO,$<)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)! command -v go >/dev/null || \
		GOCACHE=$(abspath $(BUILD))/obj/go GO111MODULE=off GOPROXY=off GOFLAGS= go build -o $@ $<
