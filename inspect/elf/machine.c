/* SPDX-License-Identifier: MIT */
/* machine.c - machines, their names, and conversion between byte orders */
#include "inspect/elf/machine.h"

#include <stdio.h>
#include <string.h>

void ins_swap(void *number, size_t size)
{
	unsigned char *at = number, kept;
	size_t i;

	for (i = 0; i < size / 2; i++) {
		kept = at[i];
		at[i] = at[size - 1 - i];
		at[size - 1 - i] = kept;
	}
}

void ins_swap_all(void *numbers, size_t size, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		ins_swap((unsigned char *)numbers + i * size, size);
}

void ins_swap_members(void *bytes, const char *members)
{
	unsigned char *at = bytes;

	for (; *members; members++) {
		const size_t size = *members == ' ' ? 1 : (size_t)(*members - '0');

		ins_swap(at, size);
		at += size;
	}
}

void ins_swap_runs(void *bytes, size_t size, const struct ins_run *run)
{
	unsigned char *at = bytes;

	for (; run->count; run++) {
		const size_t whole = size / run->size,
			     count = whole < run->count ? whole : run->count;

		ins_swap_all(at, run->size, count);
		if (count < run->count)
			return;
		at += count * run->size;
		size -= count * run->size;
	}
}

bool ins_machine_equal(struct ins_machine a, struct ins_machine b)
{
	return a.number == b.number && a.swapped == b.swapped;
}

bool ins_machine_is_self(struct ins_machine machine)
{
	return machine.number == ins_machine_self() && !machine.swapped;
}

const char *ins_machine_name(unsigned machine, char *buf, size_t size)
{
	static const struct {
		unsigned machine;
		const char *name;
	} known[] = {
		{EM_X86_64, "x86-64"}, {EM_AARCH64, "arm64"}, {EM_386, "i386"},	 {EM_ARM, "arm"},
		{EM_RISCV, "riscv"},   {EM_PPC64, "ppc64"},   {EM_S390, "s390"}, {EM_MIPS, "mips"},
	};
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (known[i].machine == machine) {
			snprintf(buf, size, "%s", known[i].name);
			return buf;
		}
	}
	snprintf(buf, size, "machine %u", machine);
	return buf;
}

unsigned ins_machine_self(void)
{
	static unsigned machine;
	Elf64_Ehdr eh;
	FILE *f;

	if (machine)
		return machine;
	f = fopen("/proc/self/exe", "re");
	if (f) {
		if (fread(&eh, sizeof eh, 1, f) == 1 && memcmp(eh.e_ident, ELFMAG, SELFMAG) == 0)
			machine = eh.e_machine;
		fclose(f);
	}
	return machine;
}
