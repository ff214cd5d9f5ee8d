# SPDX-License-Identifier: MIT
#
# ports.mk - other machines: their compilers, and their tests under an emulator
#
# make deps-ports           install the cross compilers, the C libraries and qemu's user-mode emulators
# make ARCH=aarch64         build libfiber for that machine into build/aarch64
# make check ARCH=aarch64   run the unit and system tests of libfiber under qemu-aarch64-static; CHOICE=short: those of .ci/run ports
# make platforms            write the results of these tests, and of others, into the table of docs/platforms.md
#
# A machine has a line in MACHINES: the name of its folder in libfiber/arch, the triplet of Debian's cross compiler, the name
# that qemu gives it, and Debian's name for it in packages. The machine that the build runs on needs none of these: there
# `make` compiles for it without a prefix.
#
# The Makefile includes this file before it sets any flag.

MACHINES := aarch64:aarch64-linux-gnu:aarch64:arm64 riscv64:riscv64-linux-gnu:riscv64:riscv64 \
	arm:arm-linux-gnueabihf:arm:armhf i386:i686-linux-gnu:i386:i386 \
	ppc64le:powerpc64le-linux-gnu:ppc64le:ppc64el ppc:powerpc-linux-gnu:ppc:powerpc s390x:s390x-linux-gnu:s390x:s390x
# Debian 12 has no compiler for it.
MACHINES_WITHOUT_PACKAGES := loongarch64

port_fields = $(subst :, ,$(filter $(1):%,$(MACHINES)))

# The machine that runs make, under the name of its port.
HOST_MACHINE := $(shell uname -m)
HOST := $(or $(patsubst armv%,arm,$(filter armv%,$(HOST_MACHINE))),$(if $(filter i486 i586 i686,$(HOST_MACHINE)),i386),$(HOST_MACHINE))
ARCH ?= $(HOST)
# The folder of libfiber/arch. A machine without one has the generic port.
PORT ?= $(if $(wildcard libfiber/arch/$(ARCH)/frame.h),$(ARCH),generic)

# CROSS: the triplet, if the build is for another machine than the one that it runs on.
CROSS := $(if $(filter $(HOST) generic,$(ARCH)),,$(word 2,$(call port_fields,$(ARCH))))
ifeq ($(CROSS)$(filter $(HOST) generic,$(ARCH)),)
$(error libfiber: ARCH=$(ARCH): no such machine; scripts/ports.mk lists $(foreach p,$(MACHINES),$(firstword $(subst :, ,$(p)))))
endif

ifneq ($(CROSS),)
ifneq ($(filter default undefined,$(origin CC)),)
CC := $(CROSS)-gcc
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := $(CROSS)-ar
endif
ifneq ($(filter default undefined,$(origin LD)),)
LD := $(CROSS)-ld
endif
OBJCOPY ?= $(CROSS)-objcopy
ifeq ($(filter deps-ports,$(MAKECMDGOALS))$(shell command -v $(firstword $(CC))),)
$(error libfiber: the compiler for $(ARCH), $(firstword $(CC)), is missing: run 'make deps-ports')
endif
ifneq ($(SAN),)
$(error libfiber: ARCH=$(ARCH): sanitizers do not run under the emulator)
endif
URING := no_uring
PROBES := none
CHECKER := none
BUILD ?= build/$(ARCH)
EMULATOR ?= qemu-$(word 3,$(call port_fields,$(ARCH)))-static -L /usr/$(CROSS)
endif

# x32 is x86-64 with addresses of 32 bits: its registers are not those of the port for i386, and its addresses not those of x86_64.
ifeq ($(ARCH),x86_64)
ifeq ($(shell echo '__x86_64__ __ILP32__' | $(CC) $(CFLAGS) -E -P - 2>/dev/null),1 1)
$(error libfiber: x32 is not supported: compile with -m64, or for ARCH=i386)
endif
endif

# GCC reports each struct with an atomic of 8 bytes, whose alignment GCC 10 did not know. libfiber.a is compiled by one compiler.
ifeq ($(ARCH),i386)
CFLAGS += -Wno-psabi
endif

# The tests of libfiber itself. Those of the tools and of the other libraries need libraries of the other machine.
PORT_ROOMS := base context core io layout life os poll runtime sched service stack sync wait watch wire
PORT_ALL = $(foreach r,$(PORT_ROOMS),$(wildcard tests/unit/$(r)/*.c)) $(ARCH_TEST_SRC) \
	$(filter-out %/test_tls_peers.c %/test_gc_boehm.c,$(wildcard tests/system/*.c))
# What depends most on the machine: the port, what is lock-free and its models, the layout that readers see, switches and waits.
PORT_SHORT_ROOMS := base context core layout os sched wait wire
PORT_SHORT_SYSTEM := cancel chan context errno fork life locals park signals sleep stealing sync tcp timer
# These take minutes under an emulator: models with many states, and an exclusion that no port but x86_64 has.
PORT_SHORT_NOT := tests/unit/core/test_sole.c tests/unit/sync/test_rwlock_model.c tests/unit/sync/test_lot_model.c \
	tests/unit/life/test_live_count_model.c tests/unit/io/test_descriptor_model.c
PORT_SHORT = $(filter-out $(PORT_SHORT_NOT),$(filter $(foreach r,$(PORT_SHORT_ROOMS),tests/unit/$(r)/%) tests/arch/% %_model.c \
	$(PORT_SHORT_SYSTEM:%=tests/system/test_%.c),$(PORT_ALL)))
CHOICE ?= all
PORT_TESTS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(if $(filter short,$(CHOICE)),$(PORT_SHORT),$(PORT_ALL)))

# A debugger of this machine walks stacks of the other one.
PORT_WALK := $(if $(CROSS),$(if $(filter-out generic,$(PORT)),scripts/test-port-walk.sh))

# Machines with addresses of 32 bits have libfiber alone: libfiber-posix takes the place of the C library's objects of 64 bits.
NARROW := $(filter arm i386 ppc,$(ARCH))

# A CPU without instructions for 8 bytes has them in a library of the compiler, whose locks a signal handler must not meet. The calls
# of libfiber, and of tests that use its data, are those of libfiber/os/linux/atomic8. Other programs and libraries have the library.
PORT_ATOMIC8 := $(if $(filter ppc,$(ARCH)),os/linux/atomic8)
PORT_LIBS := $(if $(PORT_ATOMIC8),-latomic)
OWN_ATOMICS := $(if $(PORT_ATOMIC8),$(foreach f,load:load store:store exchange:swap compare_exchange:cas $(foreach o,add sub and or xor,fetch_$o:$o), \
	--redefine-sym __atomic_$(firstword $(subst :, ,$f))_8=fib_os_atomic8_$(lastword $(subst :, ,$f))))

PORT_PACKAGES := qemu-user-static gdb-multiarch $(foreach p,$(MACHINES),gcc-$(word 2,$(subst :, ,$(p))) \
	libc6-dev-$(word 4,$(subst :, ,$(p)))-cross)

# The table of docs/platforms.md, from the results in build/ of `make check ARCH=`, check-compilers, check-musl and check-kernels.
.PHONY: platforms
platforms:
	@python3 -B scripts/platforms.py docs/platforms.md $(MACHINES)

.PHONY: deps-ports
deps-ports:
	@sh scripts/deps.sh $(PORT_PACKAGES)
	@echo "make deps-ports: not installed, because Debian 12 has no cross compiler: $(MACHINES_WITHOUT_PACKAGES)"
