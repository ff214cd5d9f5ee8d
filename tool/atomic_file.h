/* SPDX-License-Identifier: MIT */
/* atomic_file.h - what becomes of a file that is being written when a tool is ended. */
#ifndef TOOL_ATOMIC_FILE_H
#define TOOL_ATOMIC_FILE_H

/* From here on a signal that ends the tool removes the draft, and a limit on the size of files is an error like a full disk. */
void tool_atomic_file_guard(void);

#endif
