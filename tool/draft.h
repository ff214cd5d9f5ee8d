/* SPDX-License-Identifier: MIT */
/* draft.h - what becomes of a file that is being written when a tool is ended. */
#ifndef TOOL_DRAFT_H
#define TOOL_DRAFT_H

/* From here on a signal that ends the tool removes the draft, and a limit on the size of files is an error like a full disk. */
void tool_draft_guard(void);

#endif
