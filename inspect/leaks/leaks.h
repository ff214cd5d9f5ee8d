/* SPDX-License-Identifier: MIT */
/*
 * leaks.h - the room leaks/: fibers that nothing alive can wake
 *
 * Takes: a source with memory: a live process or a core.
 * Gives: the fibers that wait for objects that only lost fibers can reach, and groups of them.
 * Used by: why/, render/, fibertrace/.
 *
 * The algorithm (mark.h) works on memory, roots and fibers as plain numbers. windows.h copies memory,
 * chunks.h finds the objects in it. lost.h reads all of this from a source. lost_before.h compares a core with
 * an earlier reading.
 */
#ifndef INS_LEAKS_H
#define INS_LEAKS_H

#endif
