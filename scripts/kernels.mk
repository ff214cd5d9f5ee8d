# SPDX-License-Identifier: MIT
#
# kernels.mk - tests under other kernels, in virtual machines
#
# make check-kernels    run the tests of what depends on the kernel under each of KERNELS: Debian packages, or paths of images
# make deps-kernels     install the emulator

# The kernel of the Debian that the build runs on, for virtual machines.
KERNELS ?= $(shell apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: //p')
KERNEL_PACKAGES := qemu-system-x86 file

KERNEL_TESTS := $(addprefix $(BUILD)/tests/,$(shell sed -n '/^TESTS/,/split/p' scripts/test-kernels.py | grep -o '[a-z]*/[a-z_/]*'))

$(BUILD)/tests/kernels/init: tests/kernels/init.c
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(OPT) -std=gnu11 $(WARN) $(WERROR) -static -o $@ $<

.PHONY: check-kernels deps-kernels
check-kernels: $(KERNEL_TESTS) $(BUILD)/tests/kernels/init $(addprefix $(BUILD)/bin/,crowd fiberctl fibertrace)
	@FIBER_BUILD='$(abspath $(BUILD))' scripts/test-kernels.py $(KERNELS)
deps-kernels:
	@sh scripts/deps.sh $(KERNEL_PACKAGES)
