/* SPDX-License-Identifier: MIT */
/* tls_read.h - all carriers run on one thread, so the thread-local is read by a call (machine.c) */
#include "libfiber/arch/generic/tls_read.h"
