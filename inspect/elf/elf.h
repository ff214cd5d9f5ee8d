/* SPDX-License-Identifier: MIT */
/*
 * elf.h - the room elf/: which ELF files a process has mapped, and what is in them
 *
 * Takes: the text of /proc/PID/maps or a core's list of files, and a function that reads memory.
 * Gives: modules (modules.h): address ranges with their files, build-ids and libdw's view of them.
 * Used by: model/ and every room above it; tool/ and fibertrace/ pass it the folders to search.
 *
 * Headers of an image: image.h, plt.h. The list: modules.h, mappings.h, vdso.h, sigbus_guard.h. Debug
 * information: debug.h, debug_search.h. Compressed core files: compressed.h.
 */
#ifndef INS_ELF_H
#define INS_ELF_H

#endif
