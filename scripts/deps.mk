# SPDX-License-Identifier: MIT
# deps.mk - the packages the project needs, and a clear word where one is missing

DEBIAN_PACKAGES := gcc g++ libc6-dev pkg-config libunwind-dev libdw-dev libelf-dev libjansson-dev libiberty-dev \
	libcmocka-dev libhttp-parser-dev gdb elfutils binutils util-linux bash \
	clang-format clang-tidy cppcheck mandoc

# `make -j deps check` must not compile while it installs.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

.PHONY: deps tool-libraries
deps:
	@sh scripts/deps.sh $(DEBIAN_PACKAGES)

# Said once, before the first file that needs them fails to find a header.
tool-libraries:
	@for p in libunwind-generic libdw libelf jansson; do \
		pkg-config --exists $$p 2>/dev/null || { \
		echo "libfiber: the library '$$p' (pkg-config) is missing: run 'make deps'" >&2; exit 1; }; \
	done
