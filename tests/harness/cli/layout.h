/* SPDX-License-Identifier: MIT */
/* layout.h - the layout that a program of this build has, for listeners that tell of one. */
#ifndef HARNESS_CLI_LAYOUT_H
#define HARNESS_CLI_LAYOUT_H

#include "layout/layout.h"

/* Start a program and ask it. Aborts the test where that fails. */
void layout_of_program(struct fib_layout *ret);

#endif
