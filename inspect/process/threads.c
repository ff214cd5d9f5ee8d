/* SPDX-License-Identifier: MIT */
/* threads.c - list the threads of a process, and where those are that wait in the kernel */
#include "inspect/process/threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static void add(struct ins_threads *threads, pid_t pid, pid_t tid)
{
	struct ins_threads_one *one;

	if (threads->count == threads->room) {
		const size_t room = threads->room ? 2 * threads->room : 32;
		struct ins_threads_one *more = realloc(threads->at, room * sizeof *more);

		if (!more)
			return;
		threads->at = more;
		threads->room = room;
	}
	one = &threads->at[threads->count++];
	*one = (struct ins_threads_one){.tid = tid};
	ins_thread_name(pid, (uint64_t)tid, one->name);
}

void ins_threads_list(pid_t pid, struct ins_threads *threads)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	threads->count = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		const long tid = strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			add(threads, pid, (pid_t)tid);
	}
	if (dir)
		closedir(dir);
}

uint32_t ins_threads_count(pid_t pid)
{
	struct ins_threads threads = {0};
	uint32_t n = 0;
	size_t i;

	if (pid > 0)
		ins_threads_list(pid, &threads);
	for (i = 0; i < threads.count; i++)
		n += strncmp(threads.at[i].name, "iou-wrk-", 8) != 0 &&
		     strncmp(threads.at[i].name, "iou-sqp-", 8) != 0;
	ins_threads_free(&threads);
	return n;
}

void ins_threads_free(struct ins_threads *threads)
{
	free(threads->at);
	*threads = (struct ins_threads){0};
}

/* System calls that fail with EINTR after any stop and are not restarted (signal(7)). */
static bool fragile(int64_t number)
{
	switch (number) {
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semtimedop:
	case SYS_semop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_read: /* of inotify */
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_recvfrom: /* with a timeout */
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
		return true;
	default:
		return false;
	}
}

enum ins_sight ins_threads_look(pid_t pid, pid_t tid, uint64_t *ret_sp, uint64_t *ret_pc)
{
	struct fib_sleeper_place sleeper;

	*ret_sp = *ret_pc = 0;
	if (ins_thread_place(pid, (uint64_t)tid, &sleeper) != 1)
		return INS_SIGHT_RUNS;
	*ret_sp = sleeper.sp;
	*ret_pc = sleeper.pc;
	return fragile(sleeper.call) ? INS_SIGHT_FRAGILE : INS_SIGHT_WAITS;
}
