/* SPDX-License-Identifier: MIT */
/*
 * test_fault_sites.c - each public call fails in each of its ways
 *
 * Each call of the table is made once in a fiber, and the strategy each-fault lets each of its
 * places fail in each way. The errors that it then has returned are those of the table. A public
 * function that is in none of the two tables fails the last test.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <netdb.h>
#include <cmocka.h>
#include <gelf.h>

#include <fiber.h>
#include <fiber/backtrace.h>
#include <fiber/context.h>
#include <fiber/op.h>
#include <fiber/test.h>

#define ERRORS 32

/* The results of a call in all schedules, in memory that the processes share. */
static struct {
	unsigned n;
	int64_t at[ERRORS];
} * seen;

static void note_result(int64_t rc)
{
	unsigned i;

	for (i = 0; i < seen->n; i++)
		if (seen->at[i] == rc)
			return;
	fiber_test_assert(seen->n < ERRORS);
	seen->at[seen->n++] = rc;
}

static bool was_seen(int64_t rc)
{
	unsigned i;

	for (i = 0; i < seen->n; i++)
		if (seen->at[i] == rc)
			return true;
	return false;
}

static struct fiber_test_result result;

/* -- each call -- */

static struct {
	int pair[2], pipe[2], file, listener, client;
	struct fiber_mutex mutex;
	struct fiber_cond cond;
	struct fiber_sem sem;
	struct fiber_event event;
	struct fiber_rwlock rwlock;
	struct fiber_barrier barrier;
	struct fiber_once once;
	struct fiber_waitgroup waitgroup;
	struct fiber_group group;
	struct fiber_chan *chan;
	struct fiber_timer *timer;
	struct fiber *other;
	char bytes[64];
} t;

static int64_t soon(void)
{
	return fiber_now() + 1000000;
}

static void *nothing(void *arg)
{
	return arg;
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static void *wait_here(void *arg)
{
	fiber_event_wait(&t.event, FIBER_FOREVER);
	return arg;
}

#define CALL(name, expression)           \
	static int64_t call_##name(void) \
	{                                \
		return expression;       \
	}

CALL(read, fiber_read(t.pair[0], t.bytes, 8, soon()))
CALL(write, fiber_write(t.pair[0], t.bytes, 8, soon()))
CALL(write_pipe, fiber_write(t.pipe[1], t.bytes, 8, soon()))
CALL(read_pipe, fiber_read(t.pipe[0], t.bytes, 8, soon()))
CALL(read_file, fiber_read(t.file, t.bytes, 8, soon()))
CALL(write_file, fiber_write(t.file, t.bytes, 8, soon()))
CALL(read_full, fiber_read_full(t.pair[0], t.bytes, 8, soon()))
CALL(write_full, fiber_write_full(t.pair[0], t.bytes, 8, soon()))

static int64_t call_readv(void)
{
	const struct iovec v[] = {{t.bytes, 0}, {t.bytes, 4}, {t.bytes + 4, 4}};

	return fiber_readv(t.pair[0], v, 3, soon());
}

static int64_t call_writev(void)
{
	const struct iovec v[] = {{t.bytes, 4}, {t.bytes + 4, 4}};

	return fiber_writev(t.pair[0], v, 2, soon());
}

CALL(recv, fiber_recv(t.pair[0], t.bytes, 8, 0, soon()))
CALL(recv_all, fiber_recv(t.pair[0], t.bytes, 8, MSG_WAITALL, soon()))
CALL(recvfrom, fiber_recvfrom(t.pair[0], t.bytes, 8, 0, NULL, NULL, soon()))

static int64_t call_recvmsg(void)
{
	struct iovec v = {t.bytes, 8};
	struct msghdr msg = {.msg_iov = &v, .msg_iovlen = 1};

	return fiber_recvmsg(t.pair[0], &msg, 0, soon());
}

CALL(send, fiber_send(t.pair[0], t.bytes, 8, 0, soon()))
CALL(sendto, fiber_sendto(t.pair[0], t.bytes, 8, 0, NULL, 0, soon()))

static int64_t call_sendmsg(void)
{
	struct iovec v = {t.bytes, 8};
	const struct msghdr msg = {.msg_iov = &v, .msg_iovlen = 1};

	return fiber_sendmsg(t.pair[0], &msg, 0, soon());
}

/* A connection waits. */
static int64_t call_accept(void)
{
	struct sockaddr_storage addr;
	socklen_t size = sizeof addr;
	int fd;

	getsockname(t.listener, (struct sockaddr *)&addr, &size);
	fiber_test_assert(connect(t.client, (struct sockaddr *)&addr, size) == 0);
	fd = fiber_accept(t.listener, NULL, NULL, soon());
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int64_t call_connect(void)
{
	struct sockaddr_storage addr;
	socklen_t size = sizeof addr;

	getsockname(t.listener, (struct sockaddr *)&addr, &size);
	return fiber_connect(t.client, (struct sockaddr *)&addr, size, soon());
}

static int64_t call_open(void)
{
	const int fd = fiber_open("/dev/null", O_RDWR | O_CREAT | O_CLOEXEC, 0600, soon());

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

CALL(wait_fd, fiber_wait_fd(t.pair[1], POLLIN, soon()))

static int64_t call_poll(void)
{
	struct pollfd p = {t.pair[1], POLLIN, 0};

	return fiber_poll(&p, 1, soon());
}

static int64_t call_await_fds(void)
{
	const short events = POLLIN;

	return fiber_await_fds(&t.pair[1], &events, 1, soon());
}

static int64_t call_getaddrinfo(void)
{
	struct addrinfo *list = NULL;
	const int rc = fiber_getaddrinfo("localhost", NULL, NULL, &list, FIBER_FOREVER);

	if (list)
		freeaddrinfo(list);
	return rc;
}

CALL(block, fiber_block(nothing, NULL, NULL, FIBER_FOREVER))
CALL(spawn, fiber_spawn(nothing, NULL, NULL))
CALL(spawn_attr,
     fiber_spawn_attr(&(struct fiber_attr){.size = sizeof(struct fiber_attr)}, nothing, NULL, NULL))
CALL(create, fiber_create(NULL, nothing, NULL, NULL))
CALL(group_spawn, fiber_group_spawn(&t.group, nothing, NULL))
CALL(runtime_spawn, fiber_runtime_spawn(fiber_runtime_self(), NULL, nothing, NULL, NULL))

static int64_t call_chan_new(void)
{
	struct fiber_chan *chan = NULL;
	const int rc = fiber_chan_new(1, 1, &chan);

	if (rc == 0)
		fiber_chan_unref(chan);
	return rc;
}

static int64_t call_timer_new(void)
{
	struct fiber_timer *timer = NULL;
	const int rc = fiber_timer_new(&timer);

	if (rc == 0)
		fiber_timer_free(timer);
	return rc;
}

CALL(at_exit, fiber_at_exit(do_nothing, NULL))

static int64_t call_setspecific(void)
{
	static fiber_key_t key;
	static bool made;

	if (!made)
		fiber_test_assert(fiber_key_create(&key, NULL) == 0);
	made = true;
	return fiber_setspecific(key, &key);
}

CALL(label, fiber_label("a", "b"))

static int64_t call_snapshot(void)
{
	struct fiber_snapshot *snapshot;
	const int rc = fiber_snapshot(fiber_runtime_self(), &snapshot);

	if (rc == 0)
		fiber_snapshot_free(snapshot);
	return rc;
}

static int64_t call_stack_alloc(void)
{
	struct fiber_stack stack = {.base = NULL};
	const int rc = fiber_stack_alloc(16384, &stack);

	fiber_stack_free(&stack);
	return rc;
}

CALL(lock, fiber_mutex_lock(&t.mutex, soon()))

static int64_t call_cond_wait(void)
{
	struct fiber_mutex mutex = {0};
	int rc;

	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	rc = fiber_cond_wait(&t.cond, &mutex, soon());
	fiber_mutex_unlock(&mutex);
	return rc;
}

CALL(sem_wait, fiber_sem_wait(&t.sem, soon()))
CALL(event_wait, fiber_event_wait(&t.event, soon()))
CALL(rdlock, fiber_rwlock_rdlock(&t.rwlock, soon()))
CALL(wrlock, fiber_rwlock_wrlock(&t.rwlock, soon()))
CALL(barrier_wait, fiber_barrier_wait(&t.barrier, soon()))
CALL(waitgroup_wait, fiber_waitgroup_wait(&t.waitgroup, soon()))
CALL(chan_recv, fiber_chan_recv(t.chan, t.bytes, soon()))
CALL(chan_send, fiber_chan_send(t.chan, t.bytes, soon()))

static int64_t call_select(void)
{
	struct fiber_select_case c = {.op = FIBER_SELECT_RECV, .chan = t.chan, .elem = t.bytes};

	return fiber_select(&c, 1, soon());
}

CALL(timer_wait, fiber_timer_wait(t.timer, NULL, soon()))
CALL(sleep, fiber_sleep(1000))
CALL(park, fiber_park(soon()))
CALL(wait_until, fiber_wait_until(never, NULL, soon()))

static int64_t call_join(void)
{
	const int rc = fiber_join(t.other, NULL, soon());

	if (rc == 0)
		t.other = NULL;
	return rc;
}

CALL(sleep_until, fiber_sleep_until(soon()))

static int64_t call_group_wait(void)
{
	int rc = fiber_group_spawn(&t.group, wait_here, NULL);

	return rc < 0 ? rc : fiber_group_wait(&t.group, soon());
}

/* Where io_uring is forbidden there is nothing to fail. */
static int64_t call_op_prepare(void)
{
	struct io_uring_sqe *entry;
	struct fiber_op *op;
	const int rc = fiber_op_prepare(&op, &entry);

	if (rc == 0)
		fiber_op_detach(op, NULL, NULL);
	return rc == -EPERM || rc == -ENOSYS ? 0 : rc;
}

static int64_t call_context_init(void)
{
	static _Alignas(64) char stack[16384];
	struct fiber_context context;
	const int rc = fiber_context_init(&context, stack, sizeof stack, do_nothing, NULL);

	if (rc == 0)
		fiber_context_release(&context);
	return rc;
}

static int64_t call_runtime_start(void)
{
	const struct fiber_runtime_options options = {.size = sizeof options, .control_path = ""};
	struct fiber_runtime *rt;
	const int rc = fiber_runtime_start(&options, &rt);

	while (rc == 0 && fiber_runtime_finish(rt, FIBER_FOREVER) < 0)
		;
	return rc;
}

#define LESS  1 /* one byte */
#define WAIT  -ECANCELED, -ENOMEM
#define TIMED WAIT, -ETIMEDOUT

static const struct call {
	const char *name;
	int64_t (*fn)(void);
	int64_t results[8]; /* in some schedule, and no others; ends with 0 unless `zero` */
	bool zero;	    /* 0 too */
} calls[] = {
	{"fiber_read", call_read, {8, LESS, -ECONNRESET}, false},
	{"fiber_read", call_read_pipe, {8, LESS}, false},
	{"fiber_read", call_read_file, {8, LESS, -EIO}, false},
	{"fiber_write", call_write, {8, LESS, -ECONNRESET, -EPIPE}, false},
	{"fiber_write", call_write_pipe, {8, LESS, -EPIPE}, false},
	{"fiber_write", call_write_file, {8, LESS, -EIO, -ENOSPC}, false},
	{"fiber_read_full", call_read_full, {8, -ECONNRESET}, false},
	{"fiber_write_full", call_write_full, {8, -ECONNRESET, -EPIPE}, false},
	{"fiber_readv", call_readv, {8, LESS, -ECONNRESET}, false},
	{"fiber_writev", call_writev, {8, LESS, -ECONNRESET, -EPIPE}, false},
	{"fiber_recv", call_recv, {8, LESS, -ECONNRESET}, false},
	{"fiber_recv", call_recv_all, {8, -ECONNRESET}, false},
	{"fiber_recvfrom", call_recvfrom, {8, LESS, -ECONNRESET}, false},
	{"fiber_recvmsg", call_recvmsg, {8, LESS, -ECONNRESET}, false},
	{"fiber_send", call_send, {8, LESS, -ECONNRESET, -EPIPE}, false},
	{"fiber_sendto", call_sendto, {8, LESS, -ECONNRESET, -EPIPE}, false},
	{"fiber_sendmsg", call_sendmsg, {8, LESS, -ECONNRESET, -EPIPE}, false},
	{"fiber_accept", call_accept, {-EMFILE, -ENFILE, -ECONNABORTED}, true},
	{"fiber_connect", call_connect, {-ECONNREFUSED, -ETIMEDOUT}, true},
	{"fiber_open", call_open, {-EMFILE, -ENFILE, -EIO, -ENOSPC, -ENOMEM, -EAGAIN}, true},
	{"fiber_wait_fd", call_wait_fd, {TIMED}, false},
	{"fiber_poll", call_poll, {TIMED}, false},
	{"fiber_await_fds", call_await_fds, {TIMED}, false},
	{"fiber_getaddrinfo", call_getaddrinfo, {-ENOMEM, -EAGAIN}, true},
	{"fiber_block", call_block, {-ENOMEM, -EAGAIN}, true},
	{"fiber_spawn", call_spawn, {-ENOMEM, -EAGAIN}, true},
	{"fiber_spawn_attr", call_spawn_attr, {-ENOMEM, -EAGAIN}, true},
	{"fiber_create", call_create, {-ENOMEM, -EAGAIN}, true},
	{"fiber_group_spawn", call_group_spawn, {-ENOMEM, -EAGAIN}, true},
	{"fiber_runtime_spawn", call_runtime_spawn, {-ENOMEM, -EAGAIN}, true},
	{"fiber_chan_new", call_chan_new, {-ENOMEM}, true},
	{"fiber_timer_new", call_timer_new, {-ENOMEM}, true},
	{"fiber_at_exit", call_at_exit, {-ENOMEM}, true},
	{"fiber_setspecific", call_setspecific, {-ENOMEM}, true},
	{"fiber_label", call_label, {-ENOMEM}, true},
	{"fiber_snapshot", call_snapshot, {-ENOMEM}, true},
	{"fiber_stack_alloc", call_stack_alloc, {-ENOMEM}, true},
	{"fiber_mutex_lock", call_lock, {TIMED}, false},
	{"fiber_cond_wait", call_cond_wait, {TIMED}, true},
	{"fiber_sem_wait", call_sem_wait, {TIMED}, false},
	{"fiber_event_wait", call_event_wait, {TIMED}, false},
	{"fiber_rwlock_rdlock", call_rdlock, {TIMED}, false},
	{"fiber_rwlock_wrlock", call_wrlock, {TIMED}, false},
	{"fiber_barrier_wait", call_barrier_wait, {TIMED}, false},
	{"fiber_waitgroup_wait", call_waitgroup_wait, {TIMED}, false},
	{"fiber_chan_recv", call_chan_recv, {TIMED}, false},
	{"fiber_chan_send", call_chan_send, {TIMED}, false},
	{"fiber_select", call_select, {TIMED}, false},
	{"fiber_timer_wait", call_timer_wait, {TIMED}, false},
	{"fiber_sleep", call_sleep, {WAIT}, true},
	{"fiber_sleep_until", call_sleep_until, {WAIT}, true},
	{"fiber_group_wait", call_group_wait, {TIMED, -EAGAIN}, false},
	{"fiber_op_prepare", call_op_prepare, {-ENOMEM, -EMFILE, -ENFILE}, true},
	{"fiber_context_init", call_context_init, {-ENOMEM}, true},
	{"fiber_runtime_start", call_runtime_start, {-ENOMEM, -EAGAIN}, true},
	{"fiber_park", call_park, {TIMED}, false},
	{"fiber_wait_until", call_wait_until, {TIMED}, false},
	{"fiber_join", call_join, {TIMED}, true},
};

static void *make_call(void *arg)
{
	const struct call *call = arg;

	note_result(call->fn());
	return NULL;
}

/* Where the calls wait: everything is taken, nothing is there. */
static void set_up(void)
{
	fiber_test_assert(fiber_mutex_lock(&t.mutex, FIBER_FOREVER) == 0);
	fiber_test_assert(fiber_rwlock_wrlock(&t.rwlock, FIBER_FOREVER) == 0);
	fiber_barrier_init(&t.barrier, 2);
	fiber_waitgroup_add(&t.waitgroup, 1);
}

static void clean_up(void)
{
	fiber_mutex_unlock(&t.mutex);
	fiber_rwlock_unlock(&t.rwlock);
}

/* Outside fibers, where nothing fails. */
static void prepare(void *arg)
{
	struct sockaddr_un {
		sa_family_t family;
		char path[6];
	} addr = {AF_UNIX, ""};

	(void)arg;
	memset(&t, 0, sizeof t);
	fiber_test_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, t.pair) == 0);
	fiber_test_assert(pipe2(t.pipe, O_NONBLOCK) == 0);
	fiber_test_assert(write(t.pair[1], t.bytes, 8) == 8);
	fiber_test_assert(write(t.pipe[1], t.bytes, 8) == 8);
	t.file = memfd_create("file", MFD_CLOEXEC);
	fiber_test_assert(pwrite(t.file, t.bytes, 64, 0) == 64);
	t.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	fiber_test_assert(bind(t.listener, (struct sockaddr *)&addr, sizeof addr.family) == 0);
	fiber_test_assert(listen(t.listener, 5) == 0);
	t.client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	fiber_test_assert(fiber_chan_new(1, 0, &t.chan) == 0);
	fiber_test_assert(fiber_timer_new(&t.timer) == 0);
}

static void finish(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 2; i++) {
		close(t.pair[i]);
		close(t.pipe[i]);
	}
	close(t.file);
	close(t.listener);
	close(t.client);
	fiber_chan_unref(t.chan);
	fiber_timer_free(t.timer);
}

static void one_call(void *arg)
{
	struct fiber *caller;

	set_up();
	if (fiber_spawn(wait_here, NULL, &t.other) == 0 &&
	    fiber_spawn(make_call, arg, &caller) == 0)
		fiber_join(caller, NULL, FIBER_FOREVER);
	fiber_event_set(&t.event);
	if (t.other)
		fiber_join(t.other, NULL, FIBER_FOREVER);
	fiber_group_wait(&t.group, FIBER_FOREVER);
	clean_up();
}

static bool is_expected(const struct call *call, int64_t rc)
{
	unsigned i;

	if (rc == 0)
		return call->zero;
	for (i = 0; i < 8 && call->results[i]; i++)
		if (call->results[i] == rc)
			return true;
	return false;
}

static void check_results(const struct call *call)
{
	unsigned i;

	for (i = 0; i < seen->n; i++)
		if (!is_expected(call, seen->at[i]))
			fail_msg("%s returned %lld", call->name, (long long)seen->at[i]);
	for (i = 0; i < 8 && call->results[i]; i++)
		if (!was_seen(call->results[i]))
			fail_msg("%s never returned %lld", call->name, (long long)call->results[i]);
	if (call->zero && !was_seen(0))
		fail_msg("%s never returned 0", call->name);
}

static void test_each_call_fails_in_each_of_its_ways(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		const struct fiber_test_options options = {
			.size = sizeof options,
			.strategy = "each-fault",
			.faults = FIBER_TEST_FAULT_ALL,
			.slack = -1,
			.prepare = prepare,
			.finish = finish,
		};

		memset(seen, 0, sizeof *seen);
		result = (struct fiber_test_result){.size = sizeof result};
		if (fiber_test_explore(one_call, (void *)(uintptr_t)&calls[i], &options, &result))
			fail_msg("%s: %s", calls[i].name, result.message);
		assert_int_equal(result.verdict, FIBER_TEST_PASSED);
		check_results(&calls[i]);
	}
}

/*
 * Public functions that need nothing that can be missing, that are not for fibers (run, run_many),
 * or that wait for the world outside (op_await, thread_join, waitpid).
 */
static const char never_fail[] =
	" fiber_after fiber_backtrace fiber_barrier_init fiber_can_yield fiber_cancel"
	" fiber_cancel_mask fiber_cancel_masked_scope_end fiber_cancel_unmask fiber_cancelled"
	" fiber_chan_close fiber_chan_length fiber_chan_ref fiber_chan_unref fiber_close"
	" fiber_cond_broadcast fiber_cond_signal fiber_context_end fiber_context_frame"
	" fiber_context_release fiber_context_share_fpu fiber_context_switch fiber_detach "
	"fiber_dump fiber_event_reset "
	"fiber_event_set fiber_exit"
	" fiber_fail fiber_foreach fiber_forget_fd fiber_gc_copy_range fiber_gc_each_carrier "
	"fiber_gc_each_root_range fiber_gc_go fiber_gc_set_hooks fiber_gc_stop fiber_getspecific "
	"fiber_group_cancel "
	"fiber_group_init"
	" fiber_group_live fiber_group_set_flags fiber_id fiber_info_label fiber_key_create"
	" fiber_key_delete fiber_locale_keep fiber_lot_hand fiber_lot_wait fiber_lot_wake "
	"fiber_mutex_trylock "
	"fiber_mutex_unlock "
	"fiber_name fiber_new_fd fiber_now"
	" fiber_object_name fiber_once fiber_op_await fiber_op_detach fiber_pin fiber_pinned_policy"
	" fiber_carrier_word fiber_own_tls fiber_own_tls_check fiber_own_tls_finish "
	"fiber_own_tls_give"
	" fiber_own_tls_interrupt fiber_own_tls_is fiber_own_tls_number fiber_own_tls_set_main"
	" fiber_own_tls_word"
	" fiber_pinned_scope_end fiber_print_backtrace fiber_run fiber_run_many fiber_runtime_bind"
	" fiber_runtime_done"
	" fiber_runtime_fd fiber_runtime_finish fiber_runtime_self fiber_rwlock_trydowngrade"
	" fiber_rwlock_tryrdlock fiber_rwlock_trywrlock fiber_rwlock_unlock fiber_self "
	"fiber_sem_init"
	" fiber_sem_post fiber_sem_trywait fiber_sem_value fiber_set_name fiber_set_pinned_policy"
	" fiber_snapshot_count fiber_snapshot_free fiber_snapshot_next fiber_stack_free fiber_state"
	" fiber_submit fiber_thread_join fiber_thread_to_context fiber_timer_arm fiber_timer_disarm"
	" fiber_timer_free fiber_trim fiber_unpark fiber_unpin fiber_waitgroup_add "
	"fiber_waitgroup_done"
	" fiber_waitpid fiber_yield"
	" ";

static bool is_known(const char *name)
{
	char word[130];
	unsigned i;

	for (i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			return true;
	snprintf(word, sizeof word, " %s ", name);
	return strstr(never_fail, word);
}

static unsigned unknown_names(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, unsigned *count)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const size_t n = header->sh_size / header->sh_entsize;
	unsigned unknown = 0;
	GElf_Sym symbol;
	size_t i;

	for (i = 0; i < n; i++) {
		const char *name;

		assert_non_null(gelf_getsym(data, (int)i, &symbol));
		if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		++*count;
		if (is_known(name))
			continue;
		print_error("%s is in no table\n", name);
		unknown++;
	}
	return unknown;
}

static void test_each_public_function_is_known_here(void **state)
{
	unsigned count = 0, unknown = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	char path[512];
	Elf *elf;
	int fd;

	(void)state;
	snprintf(path, sizeof path, "%s/lib/libfiber.so", getenv("FIBER_BUILD"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			unknown += unknown_names(elf, section, &header, &count);
	elf_end(elf);
	close(fd);
	assert_true(count > 100);
	assert_int_equal(unknown, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_call_fails_in_each_of_its_ways),
		cmocka_unit_test(test_each_public_function_is_known_here),
	};

	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
