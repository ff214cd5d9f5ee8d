/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recording.c - arbitrary recordings, in every report of fibertrace. The input is the file.
 *
 * Whatever the file contains, slices lie within the recording, the slices of one fiber do not
 * overlap, and the timeline is valid JSON.
 */
#include <fcntl.h>
#include <string.h>

#include "fuzz.h"
#include "inspect/render/render_account.h"
#include "inspect/render/render_page.h"
#include "inspect/render/render_trace_events.h"

static const char page[] = "<script>\n@DATA@\n</script>\n";
static FILE *nowhere;

struct seen {
	const struct ins_recording *recording;
	const struct ins_replay *replay;
	int64_t *until; /* for each fiber, the end of its last slice */
};

static void look_at_slice(void *context, const struct ins_slice *s)
{
	const struct seen *seen = context;

	fuzz_must(s->index < ins_replay_fibers(seen->replay)->count);
	fuzz_must(ins_replay_fibers(seen->replay)->at[s->index].id == s->fiber);
	fuzz_must(s->ring == INS_NO_RING || s->ring < seen->recording->rings);
	fuzz_must(s->from >= seen->recording->head.began && s->from <= s->to);
	fuzz_must(s->to <= seen->recording->head.ended);
	if (s->doing == INS_DOING_PINNED)
		return;
	fuzz_must(s->from >= seen->until[s->index]);
	seen->until[s->index] = s->to;
}

static void look_at_wakeup(void *context, const struct ins_wakeup *u)
{
	const struct seen *seen = context;

	fuzz_must(u->ring < seen->recording->rings);
	fuzz_must(u->ns >= seen->recording->head.began && u->ns <= seen->recording->head.ended);
}

static void look(const struct ins_recording *r, struct ins_replay *replay)
{
	static const struct ins_replay_ops ops = {look_at_slice, look_at_wakeup, NULL};
	struct seen seen = {r, replay,
			    calloc(ins_replay_fibers(replay)->count + 1, sizeof *seen.until)};

	fuzz_must(seen.until);
	ins_replay_play(replay, &ops, &seen);
	free(seen.until);
}

static void export(const struct ins_recording *r, struct ins_replay *replay)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *all;

	fuzz_must(out && ins_trace_events(out, r, replay) == 0 && fclose(out) == 0);
	all = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL);
	fuzz_must(all);
	json_decref(all);
	free(text);
}

static void report(const struct ins_recording *r, struct ins_replay *replay)
{
	struct ins_account *account;

	fuzz_must(ins_account_new(r, replay, &account) == 0);
	ins_account_text(nowhere, r, replay, account, SIZE_MAX);
	fuzz_must(ins_page(nowhere, page, sizeof page - 1, r, replay, account, SIZE_MAX) == 0);
	ins_account_free(account);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "we");
	fuzz_must(nowhere);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ins_recording *recording;
	struct ins_error error = {""};
	struct ins_replay *replay;

	if (ins_recording_read(data, size, "it", &error, &recording) < 0) {
		fuzz_must(error.text[0]);
		return 0;
	}
	fuzz_must(ins_replay_new(recording, &replay) == 0);
	look(recording, replay);
	export(recording, replay);
	report(recording, replay);
	ins_replay_free(replay);
	ins_recording_close(recording);
	return 0;
}
