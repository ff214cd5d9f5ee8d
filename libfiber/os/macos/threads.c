/* SPDX-License-Identifier: MIT */
/* threads.c - threads by the name of their port, which fib_os_tid() is */
#include "os/threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include <mach/mach.h>

#include "base/compiler.h"

/*
 * No call joins without waiting, or says that a thread has exited. The answer is that it runs, also of one
 * that has exited: the caller then joins it in another thread.
 */
fib_noinline int fib_os_thread_try_join(pthread_t thread, void **ret)
{
	(void)ret;
	return pthread_equal(thread, pthread_self()) ? -EDEADLK : -EBUSY;
}

static int64_t ns_of(time_value_t time)
{
	return (int64_t)time.seconds * 1000000000 + (int64_t)time.microseconds * 1000;
}

fib_noinline int64_t fib_os_thread_cpu_of(uint32_t tid)
{
	thread_basic_info_data_t info = {0};
	mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;

	if (!tid || thread_info((thread_act_t)tid, THREAD_BASIC_INFO, (thread_info_t)&info,
				&count) != KERN_SUCCESS)
		return -ESRCH;
	return ns_of(info.user_time) + ns_of(info.system_time);
}

fib_noinline int fib_os_thread_stack(pthread_t thread, uint64_t *ret_low, uint64_t *ret_high)
{
	/* The address is that of the end. */
	*ret_high = (uint64_t)(uintptr_t)pthread_get_stackaddr_np(thread);
	*ret_low = *ret_high - pthread_get_stacksize_np(thread);
	return 0;
}

int fib_os_thread_signal(uint32_t tid, int number)
{
	const pthread_t thread = pthread_from_mach_thread_np((mach_port_t)tid);

	return thread ? -pthread_kill(thread, number) : -ESRCH;
}
