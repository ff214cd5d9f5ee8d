/* SPDX-License-Identifier: MIT */
/* number.h - format numbers of a program by the encoding of their type */
#ifndef INS_NUMBER_H
#define INS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/text/strbuf.h"

/*
 * Write an integer: true, 97 'a', -3, 4. encoding is one of DWARF's (DW_ATE_*). number is
 * sign-extended to 64 bits.
 */
void ins_number_put(struct ins_strbuf *line, unsigned long encoding, uint64_t number);

/*
 * Write a floating point number of that size with all its digits. False: there is no such size, and
 * a note that says so was written.
 */
bool ins_number_float(struct ins_strbuf *line, const void *bytes, size_t size);

#endif
