/* SPDX-License-Identifier: MIT */
/*
 * plt.c - find the function that a PLT stub calls
 *
 * No symbol names a stub. A stub either jumps through a word of the global offset table, into which
 * the loader writes the function named by this word's relocation, or pushes the number of its
 * relocation for the loader. So a stub is decoded until one of the two is found. All forms on
 * x86-64 are known: with and without endbr64, with a bnd prefix on the jump, 8 and 16 bytes long.
 * On other machines stubs have no names here.
 */
#include "inspect/elf/plt.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX "@plt"
#define LONG   16 /* bytes of a stub if the section does not say */

struct stub {
	Elf *elf;
	GElf_Addr at; /* where the stub starts, as a file address */
	const unsigned char *code;
	size_t size;
};

static const char *section_name(Elf *elf, const GElf_Shdr *sh)
{
	size_t strings;

	return elf_getshdrstrndx(elf, &strings) == 0 ? elf_strptr(elf, strings, sh->sh_name) : NULL;
}

/* Find the stub around address, in any section of stubs. */
static bool find_stub(Elf *elf, GElf_Addr address, struct stub *ret)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		const Elf_Data *data;
		const char *name;
		size_t step, from;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS || address < sh.sh_addr ||
		    address - sh.sh_addr >= sh.sh_size)
			continue;
		name = section_name(elf, &sh);
		data = name && strncmp(name, ".plt", 4) == 0 ? elf_getdata(scn, NULL) : NULL;
		step = sh.sh_entsize ? sh.sh_entsize : LONG;
		from = (address - sh.sh_addr) / step * step;
		if (!data || !data->d_buf || data->d_size < from + step)
			return false;
		*ret = (struct stub){elf, sh.sh_addr + from,
				     (const unsigned char *)data->d_buf + from, step};
		return true;
	}
	return false;
}

/* The symbol of the relocation. */
static const char *symbol_of(Elf *elf, const GElf_Shdr *relocations, const GElf_Rela *rela)
{
	Elf_Scn *scn = elf_getscn(elf, relocations->sh_link);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	if (!data || !gelf_getshdr(scn, &sh) ||
	    !gelf_getsym(data, (int)GELF_R_SYM(rela->r_info), &sym))
		return NULL;
	return elf_strptr(elf, sh.sh_link, sym.st_name);
}

/*
 * The symbol of the relocation for the word at slot; if slot is 0, of the stub relocation of that
 * number.
 */
static const char *relocated(Elf *elf, GElf_Addr slot, size_t number)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		const char *name;
		GElf_Rela rela;
		size_t i, count;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !sh.sh_entsize)
			continue;
		name = section_name(elf, &sh);
		if (!slot && (!name || strcmp(name, ".rela.plt") != 0))
			continue;
		data = elf_getdata(scn, NULL);
		count = data ? data->d_size / sh.sh_entsize : 0;
		for (i = slot ? 0 : number; i < count; i++) {
			if (!gelf_getrela(data, (int)i, &rela))
				break;
			if (!slot || rela.r_offset == slot)
				return symbol_of(elf, &sh, &rela);
		}
	}
	return NULL;
}

/* Read a 32-bit number from the code. */
static int32_t number_at(const unsigned char *code)
{
	int32_t number;

	memcpy(&number, code, sizeof number);
	return number;
}

bool ins_plt_jumps(const unsigned char *code, size_t size, size_t *ret)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t i = size > 4 && memcmp(code, endbr64, 4) == 0 ? 4 : 0;

	if (i < size && code[i] == 0xf2)
		i++; /* bnd */
	*ret = i;
	if (i + 2 > size || code[i] != 0xff || code[i + 1] != 0x25)
		return false;
	*ret += 2;
	return true;
}

static const char *called_x86_64(const struct stub *s)
{
	size_t i;

	if (ins_plt_jumps(s->code, s->size, &i))
		return i + 4 > s->size
			       ? NULL
			       : relocated(s->elf,
					   s->at + i + 4 + (GElf_Addr)number_at(s->code + i), 0);
	if (i + 5 <= s->size && s->code[i] == 0x68 && number_at(s->code + i + 1) >= 0)
		return relocated(s->elf, 0, (size_t)number_at(s->code + i + 1));
	return NULL;
}

char *ins_plt_name(Dwfl_Module *module, Dwarf_Addr address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	const char *called = NULL;
	GElf_Ehdr eh;
	struct stub stub;
	char *name;

	if (elf && gelf_getehdr(elf, &eh) && eh.e_machine == EM_X86_64 &&
	    find_stub(elf, address - bias, &stub))
		called = called_x86_64(&stub);
	return called && called[0] && asprintf(&name, "%s" SUFFIX, called) > 0 ? name : NULL;
}

bool ins_plt_is(const char *function)
{
	const size_t n = function ? strlen(function) : 0, suffix = strlen(SUFFIX);

	return n > suffix && strcmp(function + n - suffix, SUFFIX) == 0;
}
