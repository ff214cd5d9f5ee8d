# SPDX-License-Identifier: MIT
# posix.mk - libfiber-posix: blocking calls of POSIX park the fiber
#
# make bench-posix                what its calls cost in a thread and in a fiber
# make bench-redis [REPEATS=7]    1,000 clients of redis on fibers and on threads: CPU of a request
# make bench-tunnels [PROGRAM=stunnel4] [TUNNELS=n]   connections to servers, on threads and run by fiberize: CPU and memory

POSIX_SRC  := $(wildcard libfiber-posix/*/*.c)
POSIX_OBJ  := $(POSIX_SRC:%.c=$(BUILD)/obj/%.o)
# These names are not taken in a static program.
POSIX_OWN   := $(patsubst %,$(BUILD)/obj/libfiber-posix/entry/%.o,names pthreads c11 stdio print)
# Those that concern threads and signals are tested in the shared library (test-threaded.sh): ThreadSanitizer needs its own.
POSIX_NAMES := $(POSIX_OWN) $(patsubst %,$(BUILD)/obj/libfiber-posix/entry/%.o,threads values locale start signals slow exec futex)
POSIX_INC  := -Ilibfiber-posix/include -Ilibfiber-posix

lib: $(if $(NARROW)$(filter musl,$(LIBC)),,$(BUILD)/lib/libfiber-posix.a $(BUILD)/lib/libfiber-posix.so)

# -U_FORTIFY_SOURCE: it defines the functions of the C library that a distribution's build would have as inline ones.
$(BUILD)/obj/libfiber-posix/%.o: CPPFLAGS += $(POSIX_INC) $(LIB_INC) -U_FORTIFY_SOURCE
# -fno-plt: a plain thread's call asks libfiber.so whether it is in a fiber, and nothing else.
$(BUILD)/obj/libfiber-posix/%.o: CFLAGS += -fPIC -fvisibility=hidden -fno-plt

# A backtrace has the call that waits.
$(BUILD)/obj/libfiber-posix/threads/calls.o: CFLAGS += -fno-optimize-sibling-calls

# A function that pthread_once() calls may be left by an exception or a cancellation.
$(BUILD)/obj/libfiber-posix/threads/once.o: CFLAGS += -fexceptions

# Its code is in the section that libfiber's is in: the tools hide the frames of both.
$(BUILD)/obj/libfiber-posix/%.o: libfiber-posix/%.c
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(CODE_SECTION) $@

# One object: a program that needs one of its names gets all.
$(BUILD)/obj/posix.o: $(filter-out $(POSIX_NAMES),$(POSIX_OBJ))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LD) -r -o $@ $^

$(BUILD)/lib/libfiber-posix.a: $(BUILD)/obj/posix.o
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# Never unloaded: other libraries keep the addresses of its functions.
$(BUILD)/lib/libfiber-posix.so.0: $(POSIX_OBJ) $(BUILD)/lib/libfiber.so
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libfiber-posix.so.0 -Wl,-z,nodelete $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ \
		$(POSIX_OBJ) -L$(BUILD)/lib -lfiber

$(BUILD)/lib/libfiber-posix.so: $(BUILD)/lib/libfiber-posix.so.0
	$(call say,LN,$@)
	$(Q)ln -sf libfiber-posix.so.0 $@

# -- tests: linked with the archive, and with the names that the shared library takes too --
# ThreadSanitizer's own read() must come after ours.
$(BUILD)/obj/tests/unit/libfiber-posix/%.o $(BUILD)/obj/tests/posix/%.o: CPPFLAGS += $(POSIX_INC)
POSIX_TESTS := $(filter $(BUILD)/tests/unit/libfiber-posix/% $(BUILD)/tests/posix/%,$(TEST_BIN))
POSIX_LINK  := $(POSIX_OWN) $(BUILD)/lib/libfiber-posix.a $(BUILD)/lib/libfiber.a

# The judges: libraries and servers that others wrote. A test is replaced by a script that skips it if one is missing.
# $(1): the name of the test, $(2): libraries as pkg-config knows them, $(3): programs
judge = $(eval POSIX_LIBS_$(1) := $(2))$(eval POSIX_LACKS_$(1) := \
	$(foreach l,$(2),$(if $(shell pkg-config --exists $(l) && echo yes),,$(l))) \
	$(foreach s,$(3),$(if $(shell command -v $(s)),,$(s))))
$(call judge,test_hiredis,hiredis,redis-server)
# Debian keeps the programs of each version of PostgreSQL in a folder of their own.
POSTGRES := $(patsubst %/postgres,%,$(lastword $(sort $(wildcard /usr/lib/postgresql/*/bin/postgres) $(shell command -v postgres))))
$(call judge,test_libpq,libpq,$(if $(POSTGRES),,postgres))
$(BUILD)/obj/tests/posix/test_libpq.o: CPPFLAGS += -DPOSTGRES='"$(POSTGRES)"' $(shell pkg-config --cflags libpq 2>/dev/null)
NGINX := $(firstword $(wildcard /usr/sbin/nginx) $(shell command -v nginx))
$(call judge,test_libcurl,libcurl,$(if $(NGINX),,nginx))
$(BUILD)/obj/tests/posix/test_libcurl.o: CPPFLAGS += -DNGINX='"$(NGINX)"'
$(call judge,test_sqlite,sqlite3)
# Debian's package mariadb-server-core has the server alone: no service is started when it is installed.
MARIADB := $(firstword $(wildcard /usr/sbin/mariadbd) $(shell command -v mariadbd))
$(call judge,test_mariadb,libmariadb,openssl $(if $(MARIADB),,mariadbd))
$(BUILD)/obj/tests/posix/test_mariadb.o: CPPFLAGS += -DMARIADB='"$(MARIADB)"' $(shell pkg-config --cflags libmariadb 2>/dev/null)
$(call judge,test_zlib,zlib)
$(call judge,test_libxml2,libxml-2.0)
$(BUILD)/obj/tests/posix/test_libxml2.o: CPPFLAGS += $(shell pkg-config --cflags libxml-2.0 2>/dev/null)
$(call judge,test_libssh,libssh)
$(call judge,test_openssl,openssl)
POSIX_LACKING := $(foreach t,$(POSIX_TESTS),$(if $(strip $(POSIX_LACKS_$(notdir $(t)))),$(t)))

$(filter-out $(POSIX_LACKING),$(POSIX_TESTS)): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(HARNESS_OBJ) $(POSIX_LINK)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(TEST_LIBS_$(notdir $*)) \
		$(if $(POSIX_LIBS_$(notdir $*)),$(shell pkg-config --libs $(POSIX_LIBS_$(notdir $*)))) $(LIB_LIBS)

# The libraries keep values of threads; so does a sanitizer, whose values must stay those of threads.
ifeq ($(SAN),)
$(filter-out $(POSIX_LACKING),$(filter $(BUILD)/tests/posix/%,$(POSIX_TESTS))): $(BUILD)/obj/libfiber-posix/entry/values.o
endif

$(POSIX_LACKING): $(BUILD)/tests/%: scripts/posix.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)printf '%s\n' '#!/bin/sh' 'echo "1..0 # SKIP missing: $(strip $(POSIX_LACKS_$(notdir $*))) (make deps)"' >$@
	@chmod +x $@

# The object, as in the tests: from the archive it would come after ThreadSanitizer's own read().
EXAMPLE_LIBS_23_posix = $(BUILD)/obj/posix.o
$(BUILD)/examples/23_posix: $(BUILD)/obj/posix.o

.PHONY: bench-posix
bench-posix: $(BUILD)/bench/posix $(BUILD)/bench/posix_by_call
	@$<
	@$(BUILD)/bench/posix_by_call yields
$(BUILD)/bench/posix_by_call: bench/posix.c tests/harness/no_fsgsbase.h
$(BUILD)/bench/posix $(BUILD)/bench/posix_by_call: $(BUILD)/bench/%: bench/%.c $(BUILD)/lib/libfiber-posix.so
	$(call say,CC,$(call compiled))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PUB_INC) $(POSIX_INC) $(CFLAGS) -o $@ $(filter %.c,$^) $(LDFLAGS) -L$(BUILD)/lib -lfiber-posix -lfiber \
		-Wl,-rpath,'$$ORIGIN/../lib'

# Not built where libhiredis is missing: run.py says so.
.PHONY: bench-redis
bench-redis: $(BUILD)/bench/redis/threads $(BUILD)/bench/redis/fibers $(BUILD)/bin/fiberize
	@python3 -B bench/redis/run.py --build $(abspath $(BUILD)) --repeats $(REPEATS)
$(BUILD)/bench/redis/threads: POSIX_BESIDE =
$(BUILD)/bench/redis/fibers: POSIX_BESIDE = -Wl,--no-as-needed -lfiber-posix -lfiber
$(BUILD)/bench/redis/%: bench/redis/%.c bench/redis/client.c $(BUILD)/lib/libfiber-posix.so $(wildcard bench/*.h bench/redis/*.h)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)! pkg-config --exists hiredis || $(CC) $(CPPFLAGS) -I. $(PUB_INC) $(CFLAGS) -o $@ $(filter %.c,$^) $(LDFLAGS) \
		-L$(BUILD)/lib $(POSIX_BESIDE) -Wl,-rpath,'$$ORIGIN/../../lib' $$(pkg-config --libs hiredis) -pthread

# TUNNELS=10000 takes minutes, and two descriptors for each.
TUNNELS ?= 2000
.PHONY: bench-tunnels
bench-tunnels: $(BUILD)/bin/fiberize $(BUILD)/lib/libfiber-posix.so
	@python3 -B bench/tunnels/run.py --build $(abspath $(BUILD)) --tunnels $(TUNNELS) --program "$(PROGRAM)" \
		--repeats $(if $(filter file,$(origin REPEATS)),3,$(REPEATS))
