# SPDX-License-Identifier: MIT
# deps.mk - the packages that the project needs, and an error message for a missing library

DEBIAN_PACKAGES := gcc g++ libc6-dev pkg-config libunwind-dev libdw-dev libelf-dev libjansson-dev libncurses-dev \
	libiberty-dev libssl-dev libzstd-dev liblzma-dev zlib1g-dev libcmocka-dev libhttp-parser-dev liburing-dev \
	libboost-context-dev systemtap-sdt-dev gdb lldb elfutils debuginfod binutils lld util-linux bash zstd xz-utils gzip \
	systemd clang libclang-rt-dev clang-format clang-tidy cppcheck mandoc chromium tidy python3 python3-jsonschema prometheus \
	libmicrohttpd-dev node-d3 zsh fish graphviz valgrind musl-tools openssl curl libhiredis-dev redis-server libpq-dev postgresql libcurl4-openssl-dev nginx-light \
	golang-go pbzip2 tinyproxy-bin stunnel4 iperf nbdkit libnbd-bin \
	libgc-dev apache2-bin libsqlite3-dev libmariadb-dev mariadb-server-core mariadb-client-core libxml2-dev libssh-dev ruby ruby-dev \
	cmake meson cmark-gfm abigail-tools

# What `make test-packages` needs: it builds the Debian packages and installs them in a new root of its own.
PACKAGE_PACKAGES := debhelper lintian mmdebstrap autopkgtest rpm rpmlint

# The peers that `make bench` and `make bench-http` run beside libfiber, the load generator wrk, and strace, which counts
# system calls; Go is needed by the tests, too. `make bench` needs none of them; `make bench-http` needs wrk.
BENCH_PACKAGES := libboost-fiber-dev libst-dev libpth-dev libuv1-dev libasio-dev librust-tokio-dev cargo rustc \
	wrk strace

.PHONY: deps deps-bench deps-packages tool-libraries
deps:
	@sh scripts/deps.sh $(DEBIAN_PACKAGES)
deps-bench:
	@sh scripts/deps.sh $(DEBIAN_PACKAGES) $(BENCH_PACKAGES)
deps-packages:
	@sh scripts/deps.sh $(DEBIAN_PACKAGES) $(PACKAGE_PACKAGES)

# Checked once, before the first compilation that would miss a header.
tool-libraries:
	@for p in libunwind-generic libdw libelf jansson ncursesw libzstd liblzma zlib libssl libmicrohttpd; do \
		pkg-config --exists $$p 2>/dev/null || { \
		echo "libfiber: the library '$$p' (pkg-config) is missing: run 'make deps'" >&2; exit 1; }; \
	done
