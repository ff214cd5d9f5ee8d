/* SPDX-License-Identifier: MIT */
/*
 * scene.h - a frame of a fiber: the registers, memory and debug information that its values are
 * read from
 *
 * Registers locate the variables of a frame (unwound.h finds the registers). DWARF expressions
 * (location.h) and the bytes of values (dwarf_pieces.h) are both read from such a frame.
 */
#ifndef INS_SCENE_H
#define INS_SCENE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/model/registers.h"
#include "inspect/model/source.h"

/* The registers in a frame. */
struct ins_unwound {
	struct ins_registers registers;
	uint64_t cfa;
	bool has_cfa;
	bool returned; /* its pc is a return address */
};

/* The frame in which expressions are evaluated. All pointers are borrowed. */
struct ins_scene {
	struct ins_source *source;
	const struct ins_fiber *fiber;
	const struct ins_unwound *frames; /* of the walk, innermost first */
	unsigned count;			  /* how many of them are known */
	unsigned at;			  /* index of the current frame */
	Dwarf_Addr bias;     /* address in the process - address in the debug information */
	Dwarf_Die *function; /* the frame's, for its frame base and callers; NULL: none */
	unsigned depth;	     /* nesting of expressions */
	/* Finds the function of the next outer frame; NULL: not supported. False: there is none. */
	bool (*outer)(const struct ins_scene *scene, struct ins_scene *ret,
		      Dwarf_Die *ret_function);
};

/* The value of that register in the scene's frame. False: unknown. */
bool ins_scene_register(const struct ins_scene *scene, uint64_t number, uint64_t *ret);

/*
 * Copy memory from the copied parts of the fiber, from a file's code and constants, or from the
 * source's memory. Bytes of a file for writable memory are never used. Returns 0 or a negative
 * errno.
 */
int ins_scene_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		     void *buf, size_t size);

#endif
