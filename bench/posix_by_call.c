/* SPDX-License-Identifier: MIT */
/* posix_by_call.c - linked with posix.c: its yields where only arch_prctl(2) moves the thread pointer */
#include "../tests/harness/no_fsgsbase.h"
