/* SPDX-License-Identifier: MIT */
/*
 * tls_read.h - read the thread-local with two instructions
 *
 * A volatile asm is executed each time that control reaches it, so the compiler merges no two reads
 * and keeps no address. The linker replaces the offset's load by a constant in a program.
 */
#ifndef FIB_BASE_TLS_READ_H
#define FIB_BASE_TLS_READ_H

static inline void *fib_tls_carrier(void)
{
	void *carrier;

	__asm__ volatile("mov fib_tls_slot@gottpoff(%%rip), %0\n\t"
			 "mov %%fs:(%0), %0"
			 : "=r"(carrier));
	return carrier;
}

#endif
