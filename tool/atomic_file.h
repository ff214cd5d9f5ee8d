/* SPDX-License-Identifier: MIT */
/* atomic_file.h - remove drafts of files when a tool is terminated */
#ifndef TOOL_ATOMIC_FILE_H
#define TOOL_ATOMIC_FILE_H

/*
 * From now on a terminating signal removes the draft, and exceeding the limit on file sizes is an
 * error like a full disk.
 */
void tool_atomic_file_guard(void);

#endif
