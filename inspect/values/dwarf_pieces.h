/* SPDX-License-Identifier: MIT */
/* dwarf_pieces.h - where a value is, part by part, and the bytes that are there. */
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
	size_t size; /* of this piece; of a value that is whole: 0; of INS_BYTES: how many there are */
};

struct ins_location {
	unsigned count; /* 0: optimized out */
	struct ins_piece piece[INS_PIECES];
};

/*
 * Copy the first `size` bytes of what is there; known[i] says whether buf[i] is. 0; -ENODATA: nothing of it is
 * known; -EFAULT: it is in memory that is not at hand, of *ret_address.
 */
int ins_location_fetch(const struct ins_scene *scene, const struct ins_location *location,
		       unsigned char *buf, bool *known, size_t size, uint64_t *ret_address);

#endif
