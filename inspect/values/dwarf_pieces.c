/* SPDX-License-Identifier: MIT */
/* dwarf_pieces.c - read the bytes of a value from its parts */
#include "inspect/values/dwarf_pieces.h"

#include <errno.h>
#include <string.h>

/* Read the bytes of a piece, as many of size as exist. */
static int fetch_piece(const struct ins_scene *scene, const struct ins_piece *p, unsigned char *buf,
		       size_t size, size_t *ret_size)
{
	uint64_t value = p->number;

	*ret_size = 0;
	switch (p->where) {
	case INS_AWAY:
		return -ENODATA;
	case INS_MEMORY:
		if (ins_scene_memory(scene->source, scene->fiber, p->number, buf, size) < 0)
			return -EFAULT;
		*ret_size = size;
		return 0;
	case INS_BYTES:
		*ret_size = p->size < size ? p->size : size;
		memcpy(buf, p->bytes, *ret_size);
		return 0;
	case INS_REGISTER:
		if (!ins_scene_register(scene, p->number, &value))
			return -ENODATA;
		break;
	case INS_NUMBER:
		break;
	}
	*ret_size = sizeof value < size ? sizeof value : size;
	memcpy(buf, &value, *ret_size);
	return 0;
}

int ins_location_fetch(const struct ins_scene *scene, const struct ins_location *location,
		       unsigned char *buf, bool *known, size_t size, uint64_t *ret_address)
{
	size_t at = 0, got;
	int rc = -ENODATA;
	unsigned i;

	memset(buf, 0, size);
	memset(known, 0, size * sizeof known[0]);
	for (i = 0; i < location->count && at < size; i++) {
		const struct ins_piece *p = &location->piece[i];
		size_t part = location->count > 1 || (p->size && p->where != INS_BYTES) ? p->size
											: size - at;
		int one;

		if (part > size - at)
			part = size - at;
		one = fetch_piece(scene, p, buf + at, part, &got);
		if (one == -EFAULT)
			*ret_address = p->number;
		if (got)
			memset(known + at, true, got);
		/* One available part is enough for success. */
		if (rc < 0)
			rc = one;
		at += part;
	}
	return rc;
}
