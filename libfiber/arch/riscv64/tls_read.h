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
	void *carrier;

	__asm__ volatile("la.tls.ie %0, fib_tls_slot\n\t"
			 "add %0, %0, tp\n\t"
			 "ld %0, 0(%0)"
			 : "=&r"(carrier));
	return carrier;
}

#endif
