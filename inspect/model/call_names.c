/* SPDX-License-Identifier: MIT */
/* call_names.c - the names of the system calls that programs sleep in */
#include "inspect/model/call_names.h"

#include <stddef.h>
#include <sys/syscall.h>

/* Of the machine that the tool runs on, which is also the process' machine. */
static const struct {
	long number;
	const char *name;
} calls[] = {
#define CALL(name)                \
	{                         \
		SYS_##name, #name \
	}
	CALL(read),
	CALL(write),
	CALL(readv),
	CALL(writev),
	CALL(pread64),
	CALL(pwrite64),
	CALL(openat),
	CALL(close),
	CALL(fsync),
	CALL(fdatasync),
	CALL(sync),
	CALL(ftruncate),
	CALL(ppoll),
	CALL(pselect6),
	CALL(epoll_pwait),
	CALL(epoll_pwait2),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(futex),
	CALL(wait4),
	CALL(waitid),
	CALL(accept),
	CALL(accept4),
	CALL(connect),
	CALL(recvfrom),
	CALL(recvmsg),
	CALL(sendto),
	CALL(sendmsg),
	CALL(recvmmsg),
	CALL(sendmmsg),
	CALL(splice),
	CALL(sendfile),
	CALL(flock),
	CALL(fcntl),
	CALL(ioctl),
	CALL(mmap),
	CALL(munmap),
	CALL(madvise),
	CALL(rt_sigtimedwait),
	CALL(semtimedop),
	CALL(msgrcv),
	CALL(io_uring_enter),
	CALL(fallocate),
	CALL(renameat2),
	CALL(unlinkat),
	CALL(getdents64),
	CALL(newfstatat),
	CALL(statx),
	CALL(mprotect),
	CALL(restart_syscall),
	CALL(rt_sigsuspend),
#ifdef SYS_poll
	CALL(poll),
	CALL(select),
	CALL(epoll_wait),
	CALL(open),
	CALL(stat),
	CALL(pause),
	CALL(unlink),
	CALL(rename),
#endif
#undef CALL
};

const char *ins_call_name(int64_t number)
{
	size_t i;

	for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (calls[i].number == number)
			return calls[i].name;
	return NULL;
}
