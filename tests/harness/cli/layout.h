/* SPDX-License-Identifier: MIT */
/* layout.h - the layout that a program of this build describes, for listeners that send one */
#ifndef HARNESS_CLI_LAYOUT_H
#define HARNESS_CLI_LAYOUT_H

#include "layout/layout.h"

/* Start a program and ask it for its layout. Aborts the test on failure. */
void layout_of_program(struct fib_layout *ret);

#endif
