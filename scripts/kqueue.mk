# SPDX-License-Identifier: MIT
#
# kqueue.mk - the poller on kqueue(2), tested on Linux
#
# make check-kqueue    the tests of libfiber that wait for descriptors, with FIBER_POLLER=kqueue. LIBKQUEUE=: the prefix of an
#                      installed libkqueue; without it, tests/kqueue implements kqueue(2) as the manual of FreeBSD describes it

.PHONY: check-kqueue kqueue-tests

# test_kqueue runs in every build. Where the library has no poller on kqueue, the test brings it along.
ifeq ($(KQUEUE),no_kqueue)
KQUEUE_OBJ := $(BUILD)/obj/kqueue/kqueue.o $(BUILD)/obj/tests/kqueue/kqueue.o
$(BUILD)/tests/unit/poll/test_kqueue $(BUILD)/tests/unit/poll/test_kqueue_queue: $(KQUEUE_OBJ)
$(BUILD)/obj/kqueue/kqueue.o: libfiber/poll/kqueue/kqueue.c
	$(call say,CC,$(call compiled,kqueue))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -idirafter tests/kqueue $(LIB_INC) $(CFLAGS) -MMD -MP -c -o $@ $<
else
$(BUILD)/lib/libfiber.so.0 $(BUILD)/lib/libfiber.a: | $(KQUEUE_LIBS)
endif
$(BUILD)/obj/tests/kqueue/kqueue.o: CPPFLAGS += -idirafter tests/kqueue
$(BUILD)/obj/tests/kqueue/kqueue.o: CFLAGS += -fPIC

KQUEUE_BUILD := $(BUILD)/$(if $(LIBKQUEUE),libkqueue,kqueue)
# Not test_rare: no urgent data; test_empty, which counts calls of epoll_ctl(2). Not with libkqueue: test_kqueue_queue and test_idle,
# because its descriptor cannot be polled; test_accept, test_await_ends and test_select_fd, which count descriptors; test_io and test_tcp,
# with 400 ready descriptors at once; test_drained, because an end that comes with data is reported without EV_EOF.
NOT_LIBKQUEUE := unit/poll/test_kqueue_queue unit/sched/test_idle unit/io/test_drained \
	$(addprefix system/test_,accept await_ends select_fd io tcp)
KQUEUE_TESTS := $(filter-out unit/io/test_rare unit/io/test_empty %_model $(if $(LIBKQUEUE),$(NOT_LIBKQUEUE)), \
	$(patsubst tests/%.c,%,$(wildcard tests/unit/poll/test_kqueue*.c tests/unit/io/test_*.c tests/system/test_io*.c)) unit/sched/test_idle \
	$(addprefix system/test_,accept await_ends block cancel many race_deadline select_fd tcp))
kqueue-tests:
	@$(MAKE) --no-print-directory BUILD=$(KQUEUE_BUILD) KQUEUE=kqueue lib $(KQUEUE_TESTS:%=$(KQUEUE_BUILD)/tests/%)

check-kqueue: kqueue-tests
	@$(if $(LIBKQUEUE),echo "# not run with libkqueue: $(NOT_LIBKQUEUE)")
	@FIBER_BUILD='$(abspath $(KQUEUE_BUILD))' FIBER_SAN='$(SAN)' POLLERS=kqueue LANES=1 \
		scripts/run-tests.sh $(abspath $(KQUEUE_TESTS:%=$(KQUEUE_BUILD)/tests/%))
