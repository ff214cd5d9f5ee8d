/* SPDX-License-Identifier: MIT */
/* compiler.h - that of libfiber, except that a turn of a spin loop takes virtual time */
#include_next "base/compiler.h"

#ifndef BENCH_MODEL_RELAX
#define BENCH_MODEL_RELAX

void fib_model_relax(void);
#define fib_relax() fib_model_relax()

#endif
