/* SPDX-License-Identifier: MIT */
/*
 * probe.h - places where bpftrace, perf and gdb may look on (docs/tracing.md)
 *
 * A probe is one nop, and a note in the file that says where it is and where its arguments lie there. Nothing is computed for
 * one that is off, and nothing loaded either: an argument is a field of a record whose address is at hand, and the note says
 * which ("m": the compiler may not bring it into a register for us). So it has to be an lvalue of a plain type.
 *
 * Which of the folders beside this one is compiled decides whether there are any.
 */
#ifndef FIB_BASE_PROBE_H
#define FIB_BASE_PROBE_H

#define STAP_SDT_ARG_CONSTRAINT m
#include <sys/sdt.h>

#define fib_probe1(name, a)	  STAP_PROBE1(libfiber, name, a)
#define fib_probe2(name, a, b)	  STAP_PROBE2(libfiber, name, a, b)
#define fib_probe3(name, a, b, c) STAP_PROBE3(libfiber, name, a, b, c)

/* A byte that threads share, as an argument: the tracer reads it when it does. */
#define fib_probe_byte(p) (*(const unsigned char *)(p))

#endif
