/* SPDX-License-Identifier: MIT */
/* probe.h - no probes: built without <sys/sdt.h> */
#ifndef FIB_BASE_PROBE_H
#define FIB_BASE_PROBE_H

#define fib_probe1(name, a)	  ((void)sizeof(a))
#define fib_probe2(name, a, b)	  ((void)sizeof(a), (void)sizeof(b))
#define fib_probe3(name, a, b, c) ((void)sizeof(a), (void)sizeof(b), (void)sizeof(c))

#define fib_probe_byte(p) (*(const unsigned char *)(p))

#endif
