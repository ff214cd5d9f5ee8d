/* SPDX-License-Identifier: MIT */
/*
 * frames.h - from the frames of an answer about fibers to fibers
 *
 * A process sends them over its control socket (source_control.c); a snapshot has them in a file
 * (source_snapshot.c). Both are strangers.
 */
#ifndef INS_FRAMES_H
#define INS_FRAMES_H

#include "inspect/model/event.h"
#include "inspect/text/timestamp.h"
#include "inspect/model/source.h"
#include "wire/wire.h"

struct ins_frames {
	struct ins_source *source; /* whose pid, name, layout and modules are filled in */
	const char *path;	   /* of the socket or file, for messages */
	bool file;		   /* it is a file's */
	bool mapped;		   /* modules are filled */
	bool has_layout;
	char *maps; /* text received so far */
	size_t maps_size;
	int64_t now; /* of the last PROCESS */
	struct ins_timestamp
		timestamp; /* the same; of a file's events whoever has it open says it */
	/* during an answer */
	bool done;     /* END was taken */
	uint64_t sent; /* fibers that came */
	uint64_t
		news; /* things that came and were not there before: what counts as progress (wire/budget.h) */
	uint64_t furthest;    /* record of a fiber that came */
	size_t mapping_bytes; /* that came */
	uint64_t torn;	      /* of those, the ones whose stack is not whole */
	uint64_t torn_shown;
	const struct ins_request *request;
	ins_fiber_fn *fn;
	ins_event_fn *event_fn; /* NULL: events are passed over */
	void *context;
	struct ins_summary *summary;
};

/* source and path are borrowed. */
void ins_frames_init(struct ins_frames *frames, struct ins_source *source, const char *path);
void ins_frames_free(struct ins_frames *frames);

/* An answer to request begins. All are borrowed until its end; summary is zero. */
void ins_frames_begin(struct ins_frames *frames, const struct ins_request *request,
		      ins_fiber_fn *fn, void *context, struct ins_summary *summary);

/* The same of a request for events. */
void ins_frames_begin_events(struct ins_frames *frames, ins_event_fn *fn, void *context,
			     struct ins_summary *summary);

/*
 * Take one frame, whose payload has header->length bytes and need not be aligned. Of an answer that has more than the
 * request asks for (other fibers, stacks) only what it asks for is handed on. 0, what the callback returned, or a
 * negative errno with error set; frames->done after the last one.
 */
int ins_frames_take(struct ins_frames *frames, const struct fib_wire_header *header,
		    const void *payload, struct ins_error *error);

/* Fill in the modules from what was taken so far. Done before the first fiber anyway; to be called earlier, where
 * somebody knows more about them. Idempotent. -ENOMEM with error set. */
int ins_frames_map(struct ins_frames *frames, struct ins_error *error);

#endif
