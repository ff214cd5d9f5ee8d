/* SPDX-License-Identifier: MIT */
/* same_process.h - whether two sources are of one run of one program */
#ifndef INS_SAME_PROCESS_H
#define INS_SAME_PROCESS_H

#include "inspect/model/source.h"

/*
 * Compare what both sources know of their process: its id, its name, where its modules and records are,
 * and the builds of the modules. NULL: nothing differs. Else what `b` is of, for a message: "another process",
 * "another program", "another run of the program", "another build of the program". Examines modules.
 */
const char *ins_same_process_differs(struct ins_source *a, struct ins_source *b);

#endif
