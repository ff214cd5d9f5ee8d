/* SPDX-License-Identifier: MIT */
/*
 * tls_read.h - read the thread-local with a few instructions
 *
 * A volatile asm is executed each time that control reaches it, so the compiler merges no two reads
 * and keeps no address. The linker replaces the offset's load by a constant in a program.
 */
#ifndef FIB_BASE_TLS_READ_H
#define FIB_BASE_TLS_READ_H

static inline void *fib_tls_carrier(void)
{
	void *carrier, *offset;

	__asm__ volatile("mrs %0, tpidr_el0\n\t"
			 "adrp %1, :gottprel:fib_tls_slot\n\t"
			 "ldr %1, [%1, #:gottprel_lo12:fib_tls_slot]\n\t"
			 "ldr %0, [%0, %1]"
			 : "=&r"(carrier), "=&r"(offset));
	return carrier;
}

#endif
