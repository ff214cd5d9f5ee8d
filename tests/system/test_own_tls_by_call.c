/* SPDX-License-Identifier: MIT */
/*
 * test_own_tls_by_call.c - the tests of test_own_tls.c where only arch_prctl(2) moves the thread pointer
 *
 * It is linked with them (Makefile).
 */
#include "tests/harness/no_fsgsbase.h"
