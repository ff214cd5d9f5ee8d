/* SPDX-License-Identifier: MIT */
/*
 * plt.h - the stubs through which a module calls functions of other modules: the procedure linkage
 * table
 */
#ifndef INS_PLT_H
#define INS_PLT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * "clock_gettime@plt", the name that gdb and objdump use for the stub at address, allocated; NULL:
 * no stub, or unknown.
 */
char *ins_plt_name(Dwfl_Module *module, Dwarf_Addr address);

/*
 * Whether x86-64 code starts like a stub: optional endbr64 and bnd, then a jump through a word of
 * memory. *ret is the position of the jump's displacement, which counts from the next instruction;
 * if there is no jump, the position where it would start.
 */
bool ins_plt_jumps(const unsigned char *code, size_t size, size_t *ret);

/* Whether a name is that of a stub. */
bool ins_plt_is(const char *function);

#endif
