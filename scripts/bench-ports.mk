# SPDX-License-Identifier: MIT
#
# bench-ports.mk - executed instructions of each port, under an emulator
#
# make bench-ports [BENCH_PORTS="aarch64 riscv64"] [BOOST_CONTEXT=../context]
#
# One row for each port: a switch of libfiber, one of boost.context, their ratio, a yield, and the lines of the port. Instructions are
# no times: no machine of the port is needed, and none is measured. BOOST_CONTEXT is a checkout of boost.context
# (https://github.com/boostorg/context), whose assembly is compiled for the port. Without it the column is empty.

BOOST_CONTEXT ?=
BENCH_PORTS ?= $(filter-out generic $(HOST),$(patsubst libfiber/arch/%/frame.h,%,$(wildcard libfiber/arch/*/frame.h)))
BENCH_PORT := $(BUILD)/bench/ports
BOOST_KIND_aarch64 := arm64_aapcs
BOOST_KIND_arm := arm_aapcs
BOOST_KIND_ppc64le := ppc64_sysv
BOOST_KIND_ppc := ppc32_sysv
BOOST_KIND := $(or $(BOOST_KIND_$(ARCH)),$(ARCH)_sysv)
BOOST_SRC := $(if $(BOOST_CONTEXT),$(patsubst %,$(BOOST_CONTEXT)/src/asm/%_$(BOOST_KIND)_elf_gas.S,jump make))

.PHONY: bench-ports bench-port
bench-ports:
	@echo "port         switch    boost  ratio    yield  lines"
	@for port in $(BENCH_PORTS); do $(MAKE) --no-print-directory -s ARCH=$$port bench-port || exit; done

bench-port: $(BENCH_PORT)/ours $(BENCH_PORT)/yield $(if $(BOOST_SRC),$(BENCH_PORT)/boost)
	@$(if $(BOOST_SRC),,rm -f $(BENCH_PORT)/boost)
	@python3 -B bench/ports/run.py $(BENCH_PORT) $(ARCH) $(or $(EMULATOR),qemu-$(ARCH)-static)

$(BENCH_PORT)/ours $(BENCH_PORT)/yield: $(BENCH_PORT)/%: bench/ports/%.c $(BUILD)/lib/libfiber.a
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(LIB_INC) $(CFLAGS) $(LDFLAGS) -static $(no_warnings) -o $@ $< $(BUILD)/lib/libfiber.a $(LIB_LIBS)
$(BENCH_PORT)/boost: bench/ports/boost.c $(BOOST_SRC)
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -static -o $@ $^
