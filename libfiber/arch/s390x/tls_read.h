/* SPDX-License-Identifier: MIT */
/*
 * tls_read.h - read the thread-local with a few instructions
 *
 * A volatile asm is executed each time that control reaches it, so the compiler merges no two reads
 * and keeps no address.
 */
#ifndef FIB_BASE_TLS_READ_H
#define FIB_BASE_TLS_READ_H

static inline void *fib_tls_carrier(void)
{
	void *carrier, *offset;

	__asm__ volatile("ear %0, %%a0\n\t"
			 "larl %1, fib_tls_slot@indntpoff\n\t"
			 "sllg %0, %0, 32\n\t"
			 "lg %1, 0(%1)\n\t"
			 "ear %0, %%a1\n\t"
			 "lg %0, 0(%0, %1)"
			 : "=&a"(carrier), "=&a"(offset));
	return carrier;
}

#endif
