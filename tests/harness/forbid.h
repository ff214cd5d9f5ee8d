/* SPDX-License-Identifier: MIT */
/* forbid.h - make a system call fail in this process, as on another kernel or in a container */
#ifndef HARNESS_FORBID_H
#define HARNESS_FORBID_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>

/*
 * Make a system call fail with this errno in the calling thread and in all that it starts. It
 * cannot be undone: call it in a child. Only makes system calls. False if no filter can be set.
 */
static inline bool harness_forbid(unsigned call, unsigned error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0 /* offset of nr in struct seccomp_data */),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#endif
