/* SPDX-License-Identifier: MIT */
/*
 * probe.h - probes for bpftrace, perf and gdb (docs/tracing.md)
 *
 * A probe is one nop, and a note in the file with the address of the probe and the location of its
 * arguments. A probe that is off computes and loads nothing. An argument is a field of a record
 * whose address is available, and the note names the field ("m": the compiler may not load it
 * into a register). So an argument must be an lvalue of a plain type.
 *
 * The build compiles one of the folders beside this one, with or without probes.
 */
#ifndef FIB_BASE_PROBE_H
#define FIB_BASE_PROBE_H

#define STAP_SDT_ARG_CONSTRAINT m
#include <sys/sdt.h>

#define fib_probe1(name, a)	  STAP_PROBE1(libfiber, name, a)
#define fib_probe2(name, a, b)	  STAP_PROBE2(libfiber, name, a, b)
#define fib_probe3(name, a, b, c) STAP_PROBE3(libfiber, name, a, b, c)

/* A byte that threads share, as an argument: the tracer reads it when the probe fires. */
#define fib_probe_byte(p) (*(const unsigned char *)(p))

#endif
