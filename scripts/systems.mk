# SPDX-License-Identifier: MIT
#
# systems.mk - compile libfiber/os for systems that this machine is not
#
# make check-systems FREEBSD=DIR MACOS=DIR    compile os/bsd with os/freebsd and os/macos, and check that they define what the
#                                             headers of libfiber/os declare. DIR has the headers of that system in usr/include;
#                                             without DIR a system is skipped

# The Linux build has none of these folders: LIB_DIRS names those that it has.
SYSTEMS_FLAGS := $(OPT) -std=gnu11 $(WARN) -Werror -fasynchronous-unwind-tables -fvisibility=hidden -Ilibfiber -Ilibfiber/include \
	-Ilibfiber/base/checker/none

.PHONY: check-systems
check-systems:
	@scripts/check-systems.py --self-test
	@scripts/check-systems.py '$(BUILD)' 'freebsd=$(FREEBSD)' 'macos=$(MACOS)' -- $(SYSTEMS_FLAGS)
