/* SPDX-License-Identifier: MIT */
/*
 * scene.h - a frame of a fiber, as what its values are read from: registers, memory, debug information
 *
 * The variables of a frame are where its registers say (unwound.h finds those). Expressions of DWARF (location.h) and
 * the bytes of values (dwarf_pieces.h) are both read from such a frame.
 */
#ifndef INS_SCENE_H
#define INS_SCENE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/model/registers.h"
#include "inspect/model/source.h"

/* What the registers held in a frame. */
struct ins_unwound {
	struct ins_registers registers;
	uint64_t cfa;
	bool has_cfa;
	bool returned; /* its pc is behind a call */
};

/* What expressions are about: a frame of a fiber. All is borrowed. */
struct ins_scene {
	struct ins_source *source;
	const struct ins_fiber *fiber;
	const struct ins_unwound *frames; /* of the walk, innermost first */
	unsigned count;			  /* how many of them are known */
	unsigned at;			  /* which one is meant */
	Dwarf_Addr bias;     /* address in the process - address in the debug information */
	Dwarf_Die *function; /* the frame's, for its frame base and callers; NULL: none */
	unsigned depth;	     /* expressions within expressions */
	/* How an outer frame's function is found; NULL: it is not. False: there is none. */
	bool (*outer)(const struct ins_scene *scene, struct ins_scene *ret,
		      Dwarf_Die *ret_function);
};

/* What that register held in the scene's frame. False: nobody knows. */
bool ins_scene_register(const struct ins_scene *scene, uint64_t number, uint64_t *ret);

/* Copy what was copied of the fiber, a file's code and constants, or the source's memory hold there: never what a file says of
 * memory that the program writes to. 0 or a negative errno. */
int ins_scene_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		     void *buf, size_t size);

#endif
