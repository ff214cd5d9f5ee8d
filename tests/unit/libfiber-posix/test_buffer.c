/* SPDX-License-Identifier: MIT */
/* test_buffer.c - random calls on a stream give in a fiber what they give in a plain thread */
#include "ends.h"

#define SEEDS 150
#define CALLS 150
#define INPUT 30000
#define WRITE 600 /* bytes that one call writes, at most: all of them fit into the pipe */
#define PIPE  (1 << 20)

struct run {
	uint64_t seed;
	struct ends in, out;
	char *said; /* each call, its result, its errno and its bytes */
	char *line;
	size_t size, room;
	char buffers[2][64];
};

static unsigned next(struct run *r)
{
	r->seed = r->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(r->seed >> 33);
}

static void choose_buffer(struct run *r, FILE *stream, char *small)
{
	static const int modes[] = {_IOFBF, _IOLBF, _IONBF};

	switch (next(r) % 3) {
	case 0:
		setvbuf(stream, NULL, modes[next(r) % 3], 0);
		break;
	case 1:
		setvbuf(stream, small, modes[next(r) % 2], 1 + next(r) % 63);
		break;
	default: /* as it is */
		break;
	}
}

/* Input of numbers, words and lines, whole and closed: no call parks. */
static void give_input(struct run *r)
{
	static const char letters[] = "\n\n  0123456789abcdefghijklmnopqrstuvwxyz";
	static char bytes[INPUT];
	const size_t n = next(r) % INPUT;

	for (size_t i = 0; i < n; i++)
		bytes[i] = letters[next(r) % (sizeof letters - 1)];
	assert_int_equal(write(r->in.fds[1], bytes, n), n);
	fclose(r->in.out);
}

static long read_somehow(struct run *r, FILE *in, char *to)
{
	const unsigned x = next(r);
	long n = 0;

	switch (next(r) % 11) {
	case 0:
		return getc(in);
	case 1:
		return fgets(to, 1 + (int)(x % 100), in) != NULL;
	case 2:
		return (long)fread(to, 1 + x % 7, x % 400, in);
	case 3:
		n = getline(&r->line, &r->room, in);
		if (n > 0)
			memcpy(to, r->line, (size_t)n < WRITE ? (size_t)n : WRITE);
		return n;
	case 4:
		return fscanf(in, "%d", (int *)(void *)to);
	case 5:
		return fscanf(in, " %20[a-z]%n", to, (int *)(void *)(to + 32));
	case 6:
		return ungetc('0' + (int)(x % 10), in);
	case 7:
		return 2 * !!feof(in) + !!ferror(in);
	case 8:
		return getc_unlocked(in);
	case 9:
		if (x % 5 == 0)
			clearerr(in);
		return putc('x', in);
	default:
		return fgets_unlocked(to, 1 + (int)(x % 300), in) != NULL;
	}
}

static long write_somehow(struct run *r, FILE *out)
{
	static const char words[WRITE] = "several words\nin lines\nand one that is open";
	const unsigned x = next(r);

	switch (next(r) % 6) {
	case 0:
		return putc('a' + (int)(x % 26), out);
	case 1:
		return fputs(x % 2 ? "some words" : "line\nand\n", out) >= 0;
	case 2:
		return (long)fwrite(words, 1 + x % 5, x % (WRITE / 5), out);
	case 3:
		return fprintf(out, "%u %*d\n", x, (int)(x % (WRITE / 2)), 7);
	case 4:
		return fflush(out);
	default:
		return putc_unlocked('\n', out);
	}
}

static void *run(void *arg)
{
	struct run *r = arg;
	FILE *const say = open_memstream(&r->said, &r->size);
	char bytes[3200];
	int error;
	long n;

	open_ends(&r->in);
	open_ends(&r->out);
	(void)fcntl(r->in.fds[1], F_SETPIPE_SZ, PIPE);
	(void)fcntl(r->out.fds[1], F_SETPIPE_SZ, PIPE);
	choose_buffer(r, r->in.in, r->buffers[0]);
	choose_buffer(r, r->out.out, r->buffers[1]);
	give_input(r);
	for (int i = 0; i < CALLS; i++) {
		memset(bytes, 0, sizeof bytes);
		errno = 0;
		n = read_somehow(r, r->in.in, bytes);
		error = errno;
		fprintf(say, "%d: %ld errno %d '%.600s'", i, n, error, bytes);
		fprintf(say, " wrote %ld\n", write_somehow(r, r->out.out));
	}
	fprintf(say, "closed %d\n", fclose(r->out.out));
	while (fgets(bytes, sizeof bytes, r->out.in))
		fputs(bytes, say);
	fclose(r->out.in);
	fclose(r->in.in);
	free(r->line);
	fclose(say);
	return NULL;
}

TEST(test_random_calls_give_what_they_give_in_a_thread)
{
	static struct run there, here;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		there = here = (struct run){.seed = seed};
		on_a_thread(run, &there);
		inside(run, &here);
		assert_string_equal(there.said, here.said);
		free(there.said);
		free(here.said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_calls_give_what_they_give_in_a_thread),
	};

	ENDS_MAIN(tests);
}
