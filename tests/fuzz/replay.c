/* SPDX-License-Identifier: MIT */
/*
 * replay.c - run every file of a corpus through a target, as TAP, so that old findings do not come
 * back
 *
 * Replaces libFuzzer's main() for `make check`. FUZZ_CORPUS is the folder. Files given as arguments
 * are used instead, to debug a new finding.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "tests/harness/watchdog.h"

#ifndef FUZZ_CORPUS
#define FUZZ_CORPUS "fixtures/fuzz"
#endif
#define MOST (1u << 20) /* bytes of an input */

static unsigned count;

static void replay(const char *path)
{
	/* A separate block, so that a sanitizer sees an access beyond its end. */
	static unsigned char room[MOST];
	FILE *file = fopen(path, "re");
	unsigned char *input;
	size_t size;

	if (!file) {
		dprintf(1, "Bail out! %s: %s\n", path, strerror(errno));
		exit(1);
	}
	size = fread(room, 1, sizeof room, file);
	fclose(file);
	input = malloc(size ? size : 1);
	fuzz_must(input);
	memcpy(input, room, size);
	LLVMFuzzerTestOneInput(input, size);
	free(input);
	dprintf(1, "ok %u - %s\n", ++count, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_folder(const char *folder)
{
	struct dirent **entries;
	char path[4096];
	int i, n = scandir(folder, &entries, visible, alphasort);

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		replay(path);
		free(entries[i]);
	}
	if (n > 0)
		free(entries);
}

int main(int argc, char **argv)
{
	int i;

	harness_watchdog(110);
	LLVMFuzzerInitialize(&argc, &argv);
	for (i = 1; i < argc; i++)
		replay(argv[i]);
	if (argc == 1)
		replay_folder(FUZZ_CORPUS);
	dprintf(1, "1..%u\n", count);
	return count ? 0 : 1;
}
