/* SPDX-License-Identifier: MIT */
/* status_note.c - the notes of a core on a thread and on the process, of any machine */
#include "inspect/corefile/status_note.h"

#include <string.h>

/* Offsets in NT_PRSTATUS. Behind the registers is an int, and padding. */
#define SIGNAL	  12u
#define TID	  32u
#define REGISTERS 112u

/* NT_PRPSINFO up to the texts, and siginfo_t up to the members that are used. */
#define PROCESS_MEMBERS "1111    8444444"
#define SIGNAL_MEMBERS	"444    "

size_t ins_status_note_size(struct ins_machine machine)
{
	const unsigned words = ins_registers_words(machine.number);

	return words ? REGISTERS + words * sizeof(uint64_t) + sizeof(uint64_t) : 0;
}

bool ins_status_note_take(struct ins_machine machine, const void *note, size_t size,
			  struct ins_status_note *ret)
{
	const unsigned char *bytes = note;
	const unsigned words = ins_registers_words(machine.number);
	uint64_t word[INS_REGISTER_WORDS] = {0};
	int16_t signal;
	int32_t tid;

	if (!words || size < ins_status_note_size(machine))
		return false;
	memcpy(&signal, bytes + SIGNAL, sizeof signal);
	memcpy(&tid, bytes + TID, sizeof tid);
	memcpy(word, bytes + REGISTERS, words * sizeof word[0]);
	if (machine.swapped) {
		ins_swap(&signal, sizeof signal);
		ins_swap(&tid, sizeof tid);
		ins_swap_all(word, sizeof word[0], words);
	}
	ret->signal = signal;
	ret->tid = tid;
	ret->has_call = ins_registers_call(machine.number, word, &ret->call);
	return ins_registers_from_words(machine.number, word, &ret->registers);
}

size_t ins_status_note_make(struct ins_machine machine, const struct ins_registers *registers,
			    pid_t tid, unsigned char ret[INS_STATUS_NOTE_MOST])
{
	const size_t size = ins_status_note_size(machine);
	uint64_t word[INS_REGISTER_WORDS];
	int32_t number = tid;

	if (!size || !ins_registers_to_words(registers, word))
		return 0;
	if (machine.swapped) {
		ins_swap(&number, sizeof number);
		ins_swap_all(word, sizeof word[0], INS_REGISTER_WORDS);
	}
	memset(ret, 0, INS_STATUS_NOTE_MOST);
	memcpy(ret + TID, &number, sizeof number);
	memcpy(ret + REGISTERS, word, size - REGISTERS - sizeof(uint64_t));
	return size;
}

void ins_status_note_swap_process(struct ins_machine machine, struct elf_prpsinfo *info)
{
	if (machine.swapped)
		ins_swap_members(info, PROCESS_MEMBERS);
}

void ins_status_note_swap_signal(struct ins_machine machine, siginfo_t *info)
{
	if (!machine.swapped)
		return;
	ins_swap_members(info, SIGNAL_MEMBERS);
	if (info->si_code > 0) {
		ins_swap(&info->si_addr, sizeof info->si_addr);
	} else {
		ins_swap(&info->si_pid, sizeof info->si_pid);
		ins_swap(&info->si_uid, sizeof info->si_uid);
	}
}
