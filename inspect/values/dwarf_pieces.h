/* SPDX-License-Identifier: MIT */
/* dwarf_pieces.h - where each part of a value is, and its bytes */
#ifndef INS_DWARF_PIECES_H
#define INS_DWARF_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/values/scene.h"

#define INS_PIECES 16

enum ins_where {
	INS_AWAY,     /* optimized out */
	INS_MEMORY,   /* at address `number` */
	INS_REGISTER, /* in register `number` */
	INS_NUMBER,   /* it is `number` itself */
	INS_BYTES,    /* it is these bytes */
};

struct ins_piece {
	enum ins_where where;
	uint64_t number;
	const unsigned char *bytes;
	size_t size; /* of this piece; 0: the whole value; for INS_BYTES the number of bytes */
};

struct ins_location {
	unsigned count; /* 0: optimized out */
	struct ins_piece piece[INS_PIECES];
};

/*
 * Copy the first `size` bytes that are available; known[i] says whether buf[i] is valid. Returns 0;
 * -ENODATA: no byte is known; -EFAULT: the bytes are in memory at *ret_address that is not
 * available.
 */
int ins_location_fetch(const struct ins_scene *scene, const struct ins_location *location,
		       unsigned char *buf, bool *known, size_t size, uint64_t *ret_address);

#endif
