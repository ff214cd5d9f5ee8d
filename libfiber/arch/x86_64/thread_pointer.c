/* SPDX-License-Identifier: MIT */
/*
 * thread_pointer.c - x86-64: the base of the segment fs
 *
 * The head of a thread's block is fixed by the ABI: compilers read the stack protector's word at 40, and
 * the C library's inline functions read others. Newer CPUs and kernels let a program write the base
 * itself, which takes some 10 ns (thread_pointer.h). Elsewhere it is a system call.
 */
#include "arch/arch.h"

#include <asm/prctl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HWCAP2_FSGSBASE 2u

struct head {
	void *self;
	void *modules;
	void *self_again;
	int many_threads;
	int scope;
	uint64_t sysinfo;
	uint64_t stack_guard;
	uint64_t pointer_guard;
	uint64_t unused[2];
	uint32_t features;
};

_Static_assert(__builtin_offsetof(struct head, stack_guard) == 40, "the ABI");
_Static_assert(__builtin_offsetof(struct head, features) == 72, "the ABI");

bool fib_arch_tp_writable;

__attribute__((constructor)) static void look_at_kernel(void)
{
	fib_arch_tp_writable = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

bool fib_arch_tp_can_move(void)
{
	return true;
}

void fib_arch_tp_move_by_call(void *tp)
{
	long rc;

	/* Not syscall(), which may set errno. */
	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "0"((long)SYS_arch_prctl), "D"((long)ARCH_SET_FS), "S"(tp)
			 : "rcx", "r11", "memory");
}

void fib_arch_tp_head(void *tp)
{
	struct head *head = tp;
	const struct head *own = fib_arch_tp();

	head->self = head->self_again = tp;
	head->many_threads = own->many_threads;
	head->stack_guard = own->stack_guard;
	head->pointer_guard = own->pointer_guard;
	head->features = own->features;
}

void *fib_arch_tp_modules(void *tp)
{
	return ((struct head *)tp)->modules;
}
