/* SPDX-License-Identifier: MIT */
/*
 * calls.c - recv and send as an inline system call instruction
 *
 * syscall(2) would move every argument to another register and store errors in the thread's errno,
 * from which the caller would make a negative number again. Here the kernel's result is returned as
 * it is.
 */
#include "os/calls.h"

#include <sys/syscall.h>

/* The address and its length are NULL and 0. */
static inline ssize_t call(long number, int fd, const void *buf, size_t size, int flags)
{
	register long flags_in __asm__("r10") = flags;
	register long addr __asm__("r8") = 0;
	register long length __asm__("r9") = 0;
	ssize_t n;

	__asm__ volatile("syscall"
			 : "=a"(n)
			 : "a"(number), "D"((long)fd), "S"(buf), "d"(size), "r"(flags_in),
			   "r"(addr), "r"(length)
			 : "rcx", "r11", "memory");
	return n;
}

ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	return call(SYS_recvfrom, fd, buf, size, flags);
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	return call(SYS_sendto, fd, buf, size, flags);
}
