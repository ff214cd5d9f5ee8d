/* SPDX-License-Identifier: MIT */
/* plt.h - the stubs through which a module calls functions of others: the procedure linkage table. */
#ifndef INS_PLT_H
#define INS_PLT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* "clock_gettime@plt", as gdb and objdump call the stub at address, allocated; NULL: there is none, or nobody knows whose. */
char *ins_plt_name(Dwfl_Module *module, Dwarf_Addr address);

/* Whether a name is one of a stub. */
bool ins_plt_is(const char *function);

#endif
