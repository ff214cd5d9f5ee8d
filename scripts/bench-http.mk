# SPDX-License-Identifier: MIT
#
# bench-http.mk - HTTP servers side by side: fibers, threads, an event loop, nginx, Go
#
# make bench-http [REPEATS=3] [SECONDS=8] [CONNECTIONS=100,1000,10000] [IDLE=19900]
#
# Servers that are not installed (make deps-bench) are left out; the table says so. wrk is required.

SECONDS     ?= 8
CONNECTIONS ?= 100,1000,10000
IDLE        ?= 19900

HTTP_BENCH := $(BUILD)/bench/http/client $(BUILD)/bench/http/net_http

.PHONY: bench-http bench-http-programs
bench-http-programs: $(HTTP_BENCH) $(HTTP_BIN) $(BUILD)/bin/idle $(BUILD)/bin/fiberctl
# The default is three repeats; `make bench` has seven.
bench-http: bench-http-programs
	@python3 -B bench/http/run.py --build $(abspath $(BUILD)) --seconds $(SECONDS) --connections $(CONNECTIONS) \
		--idle $(IDLE) --repeats $(if $(filter file,$(origin REPEATS)),3,$(REPEATS))

$(BUILD)/bench/http/client: bench/http/client.c
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
