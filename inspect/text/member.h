/* SPDX-License-Identifier: MIT */
/* member.h - the thread by which the kernel shows what the threads of a process share */
#ifndef INS_MEMBER_H
#define INS_MEMBER_H

#include <sys/types.h>

/*
 * A process outlives its first thread if that one calls pthread_exit(). Its number then leads to a
 * zombie without memory, descriptors and program file: /proc/PID/maps is empty, process_vm_readv(2)
 * fails. The number of any other thread leads to all of them.
 */

/*
 * Return pid, or another thread of the process if its first thread has given up its memory and that
 * one has not.
 */
pid_t ins_member(pid_t pid);

/*
 * Read whether a thread, or a process by its first thread, has its memory: 1, 0, or a negative errno.
 * A thread that ends gives up its memory before its files, and is a zombie only after both.
 */
int ins_member_has_memory(pid_t tid);

#endif
