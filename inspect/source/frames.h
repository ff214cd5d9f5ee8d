/* SPDX-License-Identifier: MIT */
/*
 * frames.h - decode the frames of an answer about fibers
 *
 * A process sends the frames over its control socket (source_control.c); a snapshot holds them in a
 * file (source_snapshot.c). Neither is trusted.
 */
#ifndef INS_FRAMES_H
#define INS_FRAMES_H

#include "inspect/model/event.h"
#include "inspect/text/timestamp.h"
#include "inspect/model/source.h"
#include "wire/wire.h"

struct ins_frames {
	struct ins_source *source; /* its pid, name, layout and modules are filled in */
	const char *path;	   /* of the socket or file, for messages */
	bool file;		   /* the frames come from a file */
	bool swapped;		   /* stacks are in another byte order than this machine's */
	bool threads;		   /* the rows are of threads, which have no records */
	bool mapped;		   /* modules are filled */
	bool has_layout;
	char *maps; /* text received so far */
	size_t maps_size;
	int64_t now;			/* of the last PROCESS frame */
	struct ins_timestamp timestamp; /* of now; for a file the owner sets it */
	/* during one answer */
	bool done;	      /* END was taken */
	uint64_t sent;	      /* fibers received */
	uint64_t news;	      /* new things received: these count as progress (wire/budget.h) */
	uint64_t furthest;    /* highest record address of a fiber received */
	size_t mapping_bytes; /* received */
	uint64_t torn;	      /* fibers received whose stack is not whole */
	uint64_t torn_shown;
	const struct ins_request *request;
	ins_fiber_fn *fn;
	ins_event_fn *event_fn; /* NULL: events are skipped */
	void *context;
	struct ins_summary *summary;
};

/* source and path are borrowed. */
void ins_frames_init(struct ins_frames *frames, struct ins_source *source, const char *path);
void ins_frames_free(struct ins_frames *frames);

/* Start the answer to a request. All arguments are borrowed until its end; summary is zero. */
void ins_frames_begin(struct ins_frames *frames, const struct ins_request *request,
		      ins_fiber_fn *fn, void *context, struct ins_summary *summary);

/* Start the answer to a request for events. */
void ins_frames_begin_events(struct ins_frames *frames, ins_event_fn *fn, void *context,
			     struct ins_summary *summary);

/*
 * Take one frame. Its payload has header->length bytes and need not be aligned. If the answer has
 * more than was requested (other fibers, stacks), only the requested part is passed on. Returns 0,
 * the callback's result, or a negative errno with error set. frames->done is set after the last
 * frame.
 */
int ins_frames_take(struct ins_frames *frames, const struct fib_wire_header *header,
		    const void *payload, struct ins_error *error);

/*
 * Fill in the modules from the frames taken so far. This happens before the first fiber anyway;
 * call it earlier to add to the modules. Idempotent. -ENOMEM with error set.
 */
int ins_frames_map(struct ins_frames *frames, struct ins_error *error);

#endif
