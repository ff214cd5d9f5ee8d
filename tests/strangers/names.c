/* SPDX-License-Identifier: MIT */
/*
 * names.c - use every name of the public interface with its exact type, as an outside program does
 *
 * scripts/test-headers.sh compiles it as strict C11 and as C++17, links it and runs it. A function
 * whose type has changed does not compile here; one that is not exported does not link.
 */
#include <stdio.h>
#include <string.h>

#include <fiber.h>

#define FUNCTION(result, name, arguments)    \
	{                                    \
		result(*f) arguments = name; \
		count += f != NULL;          \
	}
#define FIELD(type, structure, name)                \
	{                                           \
		struct structure s;                 \
		type *field = &s.name;              \
		memset(&s, 0, sizeof s);            \
		count += sizeof s >= sizeof *field; \
	}
#define CONSTANT(what, value) count += (what) == (value)

static unsigned use_time(void)
{
	unsigned count = 0;

	CONSTANT(FIBER_FOREVER, INT64_MAX);
	FUNCTION(int64_t, fiber_now, (void))
	FUNCTION(int64_t, fiber_after, (int64_t))
	FUNCTION(int, fiber_sleep, (int64_t))
	FUNCTION(int, fiber_sleep_until, (int64_t))
	FUNCTION(int, fiber_timer_new, (struct fiber_timer **))
	FUNCTION(int, fiber_timer_arm, (struct fiber_timer *, int64_t, int64_t))
	FUNCTION(int, fiber_timer_wait, (struct fiber_timer *, uint64_t *, int64_t))
	FUNCTION(void, fiber_timer_free, (struct fiber_timer *))
	return count - 9;
}

static unsigned use_runtime(void)
{
	typedef int idle_fn(void *, int64_t);
	unsigned count = 0;

	FIELD(void *, fiber_result, value)
	FIELD(int, fiber_result, error)
	FIELD(size_t, fiber_runtime_options, size)
	FIELD(const char *, fiber_runtime_options, name)
	FIELD(unsigned, fiber_runtime_options, carriers)
	FIELD(size_t, fiber_runtime_options, stack_size)
	FIELD(enum fiber_pinned_policy, fiber_runtime_options, pinned_policy)
	FIELD(int64_t, fiber_runtime_options, long_run_ns)
	FIELD(const char *, fiber_runtime_options, control_path)
	FIELD(idle_fn *, fiber_runtime_options, idle)
	FIELD(void *, fiber_runtime_options, idle_arg)
	FIELD(size_t, fiber_runtime_options, guard_size)
	FIELD(enum fiber_relock_policy, fiber_runtime_options, relock_policy)
	FIELD(enum fiber_held_policy, fiber_runtime_options, held_policy)
	FIELD(bool, fiber_runtime_options, unwind)
	CONSTANT(FIBER_RELOCK_ABORT, 0);
	CONSTANT(FIBER_RELOCK_ERROR, 1);
	CONSTANT(FIBER_RELOCK_WAIT, 2);
	CONSTANT(FIBER_HELD_WARN, 0);
	CONSTANT(FIBER_HELD_ABORT, 1);
	CONSTANT(FIBER_HELD_SILENT, 2);
	CONSTANT(FIBER_PINNED_WARN, 0);
	CONSTANT(FIBER_PINNED_ERROR, 1);
	CONSTANT(FIBER_PINNED_SILENT, 2);
	FUNCTION(int, fiber_run,
		 (fiber_fn *, void *, const struct fiber_runtime_options *, struct fiber_result *))
	FUNCTION(int, fiber_run_many,
		 (fiber_fn *const[], void *const[], size_t, const struct fiber_runtime_options *,
		  struct fiber_result[]))
	FUNCTION(int, fiber_runtime_start,
		 (const struct fiber_runtime_options *, struct fiber_runtime **))
	FUNCTION(int, fiber_runtime_spawn,
		 (struct fiber_runtime *, const struct fiber_attr *, fiber_fn *, void *,
		  struct fiber **))
	FUNCTION(bool, fiber_runtime_done, (struct fiber_runtime *))
	FUNCTION(int, fiber_runtime_finish, (struct fiber_runtime *, int64_t))
	FUNCTION(int, fiber_runtime_bind, (void))
	FUNCTION(enum fiber_pinned_policy, fiber_pinned_policy, (struct fiber_runtime *))
	FUNCTION(int, fiber_set_pinned_policy, (struct fiber_runtime *, enum fiber_pinned_policy))
	FUNCTION(struct fiber_runtime *, fiber_runtime_self, (void))
	return count - 34;
}

static unsigned use_fiber_types(void)
{
	unsigned count = 0;
	fiber_key_t key = 0u;
	struct fiber_local local = {0, NULL};
	fiber_key_t *local_key = &local.key;
	const void **local_value = &local.value;

	CONSTANT(FIBER_CREATED, 0);
	CONSTANT(FIBER_RUNNABLE, 1);
	CONSTANT(FIBER_RUNNING, 2);
	CONSTANT(FIBER_SUSPENDED, 3);
	CONSTANT(FIBER_DEAD, 4);
	CONSTANT(FIBER_DETACHED, 1);
	CONSTANT(FIBER_BOUND, 2);
	CONSTANT(FIBER_BACKGROUND, 4);
	CONSTANT(FIBER_IDLE, 8);
	CONSTANT(FIBER_UNWIND, 16);
	CONSTANT(FIBER_MIGRATES, 32);
	FIELD(size_t, fiber_attr, size)
	FIELD(const char *, fiber_attr, name)
	FIELD(size_t, fiber_attr, stack_size)
	FIELD(void *, fiber_attr, stack)
	FIELD(unsigned, fiber_attr, flags)
	FIELD(const struct fiber_local *, fiber_attr, locals)
	FIELD(size_t, fiber_attr, nlocals)
	FIELD(size_t, fiber_attr, guard_size)
	CONSTANT(*local_key, key);
	CONSTANT(*local_value, NULL);
	return count - 21;
}

static unsigned use_fiber(void)
{
	unsigned count = 0;

	FUNCTION(int, fiber_create,
		 (const struct fiber_attr *, fiber_fn *, void *, struct fiber **))
	FUNCTION(int, fiber_submit, (struct fiber_runtime *, struct fiber *))
	FUNCTION(int, fiber_spawn, (fiber_fn *, void *, struct fiber **))
	FUNCTION(int, fiber_spawn_attr,
		 (const struct fiber_attr *, fiber_fn *, void *, struct fiber **))
	FUNCTION(int, fiber_join, (struct fiber *, struct fiber_result *, int64_t))
	FUNCTION(int, fiber_detach, (struct fiber *))
	FUNCTION(struct fiber *, fiber_self, (void))
	FUNCTION(uint64_t, fiber_id, (const struct fiber *))
	FUNCTION(const char *, fiber_name, (const struct fiber *))
	FUNCTION(int, fiber_set_name, (struct fiber *, const char *))
	FUNCTION(enum fiber_state, fiber_state, (const struct fiber *))
	FUNCTION(int, fiber_yield, (void))
	FUNCTION(int, fiber_park, (int64_t))
	FUNCTION(int, fiber_unpark, (struct fiber *))
	FUNCTION(int, fiber_wait_until, (bool (*)(void *), void *, int64_t))
	FUNCTION(int, fiber_cancel, (struct fiber *))
	FUNCTION(bool, fiber_cancelled, (void))
	FUNCTION(void, fiber_cancel_mask, (void))
	FUNCTION(void, fiber_cancel_unmask, (void))
	FUNCTION(void, fiber_exit, (void *))
	FUNCTION(void, fiber_fail, (int, const char *, ...))
	FUNCTION(int, fiber_at_exit, (void (*)(void *), void *))
	FUNCTION(void, fiber_pin, (void))
	FUNCTION(void, fiber_unpin, (void))
	FUNCTION(bool, fiber_can_yield, (void))
	FUNCTION(int, fiber_key_create, (fiber_key_t *, void (*)(void *)))
	FUNCTION(int, fiber_key_delete, (fiber_key_t))
	FUNCTION(int, fiber_setspecific, (fiber_key_t, const void *))
	FUNCTION(void *, fiber_getspecific, (fiber_key_t))
	FUNCTION(int, fiber_label, (const char *, const char *))
	return count - 30;
}

static void count_once(void *arg)
{
	++*(unsigned *)arg;
}

static unsigned use_sync(void)
{
	static struct fiber_once_flag flag;
	static struct fiber_once once;
	unsigned count = 0;

	fiber_once(&flag, count_once, &count);
	fiber_once(&flag, count_once, &count);
	fiber_once(&once, count_once, &count);
	fiber_object_name(&flag, "flag");

	FUNCTION(int, fiber_mutex_lock, (struct fiber_mutex *, int64_t))
	FUNCTION(int, fiber_mutex_trylock, (struct fiber_mutex *))
	FUNCTION(int, fiber_mutex_unlock, (struct fiber_mutex *))
	FUNCTION(int, fiber_rwlock_rdlock, (struct fiber_rwlock *, int64_t))
	FUNCTION(int, fiber_rwlock_wrlock, (struct fiber_rwlock *, int64_t))
	FUNCTION(int, fiber_rwlock_tryrdlock, (struct fiber_rwlock *))
	FUNCTION(int, fiber_rwlock_trywrlock, (struct fiber_rwlock *))
	FUNCTION(int, fiber_rwlock_unlock, (struct fiber_rwlock *))
	FUNCTION(int, fiber_cond_wait, (struct fiber_cond *, struct fiber_mutex *, int64_t))
	FUNCTION(int, fiber_cond_signal, (struct fiber_cond *))
	FUNCTION(int, fiber_cond_broadcast, (struct fiber_cond *))
	FUNCTION(int, fiber_sem_init, (struct fiber_sem *, uint64_t))
	FUNCTION(int, fiber_sem_wait, (struct fiber_sem *, int64_t))
	FUNCTION(int, fiber_sem_trywait, (struct fiber_sem *))
	FUNCTION(uint64_t, fiber_sem_value, (struct fiber_sem *))
	FUNCTION(int, fiber_sem_post, (struct fiber_sem *))
	FUNCTION(int, fiber_event_wait, (struct fiber_event *, int64_t))
	FUNCTION(int, fiber_event_set, (struct fiber_event *))
	FUNCTION(int, fiber_event_reset, (struct fiber_event *))
	FUNCTION(int, fiber_barrier_init, (struct fiber_barrier *, unsigned))
	FUNCTION(int, fiber_barrier_wait, (struct fiber_barrier *, int64_t))
	FUNCTION(int, fiber_once, (struct fiber_once *, void (*)(void *), void *))
	FUNCTION(int, fiber_waitgroup_add, (struct fiber_waitgroup *, int64_t))
	FUNCTION(int, fiber_waitgroup_done, (struct fiber_waitgroup *))
	FUNCTION(int, fiber_waitgroup_wait, (struct fiber_waitgroup *, int64_t))
	FUNCTION(int, fiber_object_name, (void *, const char *))
	return count - 28;
}

static unsigned use_groups_and_channels(void)
{
	unsigned count = 0;

	FUNCTION(int, fiber_group_init, (struct fiber_group *))
	FUNCTION(int, fiber_group_spawn, (struct fiber_group *, fiber_fn *, void *))
	FUNCTION(int, fiber_group_wait, (struct fiber_group *, int64_t))
	FUNCTION(int, fiber_group_cancel, (struct fiber_group *))
	FUNCTION(int, fiber_chan_new, (size_t, size_t, struct fiber_chan **))
	FUNCTION(int, fiber_chan_send, (struct fiber_chan *, const void *, int64_t))
	FUNCTION(int, fiber_chan_recv, (struct fiber_chan *, void *, int64_t))
	FUNCTION(size_t, fiber_chan_length, (struct fiber_chan *))
	FUNCTION(int, fiber_chan_close, (struct fiber_chan *))
	FUNCTION(struct fiber_chan *, fiber_chan_ref, (struct fiber_chan *))
	FUNCTION(void, fiber_chan_unref, (struct fiber_chan *))
	FUNCTION(int, fiber_select, (struct fiber_select_case *, size_t, int64_t))
	return count - 12;
}

static unsigned use_bytes(void)
{
	unsigned count = 0;

	FUNCTION(ssize_t, fiber_read, (int, void *, size_t, int64_t))
	FUNCTION(ssize_t, fiber_write, (int, const void *, size_t, int64_t))
	FUNCTION(ssize_t, fiber_readv, (int, const struct iovec *, int, int64_t))
	FUNCTION(ssize_t, fiber_writev, (int, const struct iovec *, int, int64_t))
	FUNCTION(ssize_t, fiber_read_full, (int, void *, size_t, int64_t))
	FUNCTION(ssize_t, fiber_write_full, (int, const void *, size_t, int64_t))
	FUNCTION(ssize_t, fiber_recv, (int, void *, size_t, int, int64_t))
	FUNCTION(ssize_t, fiber_send, (int, const void *, size_t, int, int64_t))
	FUNCTION(ssize_t, fiber_recvfrom,
		 (int, void *, size_t, int, struct sockaddr *, socklen_t *, int64_t))
	FUNCTION(ssize_t, fiber_sendto,
		 (int, const void *, size_t, int, const struct sockaddr *, socklen_t, int64_t))
	FUNCTION(ssize_t, fiber_recvmsg, (int, struct msghdr *, int, int64_t))
	FUNCTION(ssize_t, fiber_sendmsg, (int, const struct msghdr *, int, int64_t))
	return count - 12;
}

static unsigned use_descriptors(void)
{
	unsigned count = 0;

	FUNCTION(int, fiber_accept, (int, struct sockaddr *, socklen_t *, int64_t))
	FUNCTION(int, fiber_connect, (int, const struct sockaddr *, socklen_t, int64_t))
	FUNCTION(int, fiber_wait_fd, (int, short, int64_t))
	FUNCTION(int, fiber_poll, (struct pollfd *, nfds_t, int64_t))
	FUNCTION(int, fiber_await_fds, (const int *, const short *, size_t, int64_t))
	FUNCTION(int, fiber_open, (const char *, int, mode_t, int64_t))
	FUNCTION(int, fiber_close, (int))
	FUNCTION(int, fiber_forget_fd, (int))
	FUNCTION(int, fiber_new_fd, (int))
	FUNCTION(int, fiber_block, (void *(*)(void *), void *, void **, int64_t))
	return count - 10;
}

static unsigned use_operations(void)
{
	unsigned count = 0;

	FUNCTION(int, fiber_op_prepare, (struct fiber_op **, struct io_uring_sqe **))
	FUNCTION(int, fiber_op_await, (struct fiber_op *, int64_t))
	FUNCTION(int, fiber_op_detach, (struct fiber_op *, void (*)(void *, int), void *))
	return count - 3;
}

static unsigned use_context(void)
{
	unsigned count = 0;

	FUNCTION(int, fiber_context_init,
		 (struct fiber_context *, void *, size_t, void (*)(void *), void *))
	FUNCTION(void, fiber_context_switch, (struct fiber_context *, struct fiber_context *))
	FUNCTION(int, fiber_thread_to_context, (struct fiber_context *))
	FUNCTION(int, fiber_context_frame,
		 (const struct fiber_context *, struct fiber_saved_frame *))
	FUNCTION(int, fiber_stack_alloc, (size_t, struct fiber_stack *))
	FUNCTION(void, fiber_stack_free, (struct fiber_stack *))
	FIELD(uint64_t, fiber_saved_frame, sp)
	FIELD(uint64_t, fiber_saved_frame, pc)
	FIELD(uint64_t, fiber_saved_frame, code_low)
	FIELD(uint64_t, fiber_saved_frame, code_high)
	return count - 10;
}

static unsigned use_introspection(void)
{
	unsigned count = 0;

	FIELD(uint64_t, fiber_info, id)
	FIELD(uint64_t, fiber_info, parent_id)
	FIELD(enum fiber_state, fiber_info, state)
	FIELD(const char *, fiber_info, wait_kind)
	FIELD(const void *, fiber_info, wait_object)
	FIELD(uint64_t, fiber_info, holder_id)
	FIELD(int64_t, fiber_info, since)
	FIELD(int64_t, fiber_info, deadline)
	FIELD(unsigned, fiber_info, pins)
	FIELD(uint64_t, fiber_info, switches)
	FIELD(uint64_t, fiber_info, cpu_ns)
	FIELD(size_t, fiber_info, stack_size)
	FIELD(size_t, fiber_info, stack_high_water)
	FIELD(int, fiber_info, carrier)
	FIELD(const void *, fiber_info, spawn_pc)
	FUNCTION(int, fiber_snapshot, (struct fiber_runtime *, struct fiber_snapshot **))
	FUNCTION(bool, fiber_snapshot_next, (struct fiber_snapshot *, struct fiber_info *))
	FUNCTION(void, fiber_snapshot_free, (struct fiber_snapshot *))
	FUNCTION(int, fiber_foreach,
		 (struct fiber_runtime *, int (*)(const struct fiber_info *, void *), void *))
	FUNCTION(int, fiber_dump, (int))
	FUNCTION(int64_t, fiber_trim, (unsigned, int64_t))
	CONSTANT(FIBER_TRIM_UNUSED, 1);
	CONSTANT(FIBER_TRIM_COLD, 2);
	CONSTANT(FIBER_TRIM_PAGEOUT, 4);
	return count - 24;
}

static unsigned use_gc(void)
{
	unsigned count = 0;

	FIELD(const void *, fiber_gc_range, low)
	FIELD(const void *, fiber_gc_range, high)
	FIELD(enum fiber_gc_kind, fiber_gc_range, kind)
	FIELD(unsigned, fiber_gc_range, flags)
	FIELD(uint64_t, fiber_gc_range, fiber)
	FIELD(uint64_t, fiber_gc_range, seq)
	FIELD(void *, fiber_gc_carrier, thread)
	FIELD(const void *, fiber_gc_carrier, bottom)
	FIELD(size_t, fiber_gc_hooks, size)
	FIELD(void *, fiber_gc_hooks, arg)
	FUNCTION(int, fiber_gc_each_root_range,
		 (int (*)(const struct fiber_gc_range *, void *), void *))
	FUNCTION(int, fiber_gc_copy_range, (const struct fiber_gc_range *, void *))
	FUNCTION(int, fiber_gc_stop, (int64_t))
	FUNCTION(int, fiber_gc_go, (void))
	FUNCTION(int, fiber_gc_each_carrier,
		 (int (*)(const struct fiber_gc_carrier *, void *), void *))
	FUNCTION(int, fiber_gc_set_hooks, (const struct fiber_gc_hooks *))
	CONSTANT(FIBER_GC_STACK, 1);
	CONSTANT(FIBER_GC_CARRIER_REGISTERS, 13);
	CONSTANT(FIBER_GC_RUNNING, 1);
	CONSTANT(FIBER_GC_ELSEWHERE, 2);
	return count - 20;
}

static unsigned use_waiting(void)
{
	unsigned count = 0;

	FUNCTION(int, fiber_waitpid, (pid_t, int *, int, int64_t))
	FUNCTION(int, fiber_thread_join, (pthread_t, void **, int64_t))
	FUNCTION(int, fiber_getaddrinfo,
		 (const char *, const char *, const struct addrinfo *, struct addrinfo **, int64_t))
	return count - 3;
}

static void *pin_in_a_block(void *arg)
{
	int wrong = !fiber_can_yield();

	{
		FIBER_PINNED_SCOPE;
		FIBER_PINNED_SCOPE; /* two scopes in one block are two pins, unless on one line */
		wrong += fiber_can_yield();
	}
	wrong += !fiber_can_yield();
	*(int *)arg += wrong;
	return arg;
}

int main(void)
{
	const unsigned missing = use_time() + use_runtime() + use_fiber_types() + use_fiber() +
				 use_sync() + use_groups_and_channels() + use_bytes() +
				 use_descriptors() + use_context() + use_introspection() +
				 use_waiting() + use_operations() + use_gc();
	struct fiber_result result = {NULL, 1};
	int wrong = 0;

	if (fiber_run(pin_in_a_block, &wrong, NULL, &result) < 0 || result.value != &wrong)
		wrong++;
	if (missing || wrong || result.error)
		printf("%u names, %d pins\n", missing, wrong);
	return missing || wrong || result.error;
}
