# SPDX-License-Identifier: MIT
#
# systems.mk - compile libfiber/os for systems that this machine is not
#
# make check-systems FREEBSD=DIR MACOS=DIR    compile os/posix and os/bsd with os/freebsd and os/macos, and check that they define what the
#                                             headers of libfiber/os declare. DIR has the headers of that system in usr/include;
#                                             without DIR a system is skipped

# LIB_DIRS in the Makefile names the folders of the Linux build.
SYSTEMS_FLAGS := $(OPT) -std=gnu11 $(WARN) -Werror -fasynchronous-unwind-tables -fvisibility=hidden -Ilibfiber -Ilibfiber/include \
	-Ilibfiber/base/checker/none

.PHONY: check-systems
check-systems:
	@scripts/check-systems.py --self-test
	@scripts/check-systems.py '$(BUILD)' 'freebsd=$(FREEBSD)' 'macos=$(MACOS)' -- $(SYSTEMS_FLAGS)
