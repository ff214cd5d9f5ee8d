/* SPDX-License-Identifier: MIT */
/* plt.h - the stubs through which a module calls functions of others: the procedure linkage table. */
#ifndef INS_PLT_H
#define INS_PLT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

/* "clock_gettime@plt", as gdb and objdump call the stub at address, allocated; NULL: there is none, or nobody knows whose. */
char *ins_plt_name(Dwfl_Module *module, Dwarf_Addr address);

/*
 * Whether x86-64 code begins as a stub does: after endbr64 and bnd, each of which may be there, with a jump through a word of
 * memory. *ret is where that is said: the distance of the word from what comes behind it, or where the jump would begin.
 */
bool ins_plt_jumps(const unsigned char *code, size_t size, size_t *ret);

/* Whether a name is one of a stub. */
bool ins_plt_is(const char *function);

#endif
