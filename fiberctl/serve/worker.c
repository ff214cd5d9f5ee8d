/* SPDX-License-Identifier: MIT */
/*
 * worker.c - the process that asks one program
 *
 * It alone contacts the program, and only in the turns that the server gives it. `top` is answered
 * here, because it compares with the previous look (looks.c). Every other question is a command in
 * a child process of its own. A program that stops answering therefore delays nothing but the
 * answers about itself.
 */
#include "fiberctl/serve/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fiberctl/process_row.h"
#include "fiberctl/serve/capture.h"
#include "fiberctl/serve/link.h"
#include "fiberctl/serve/looks.h"
#include "fiberctl/serve/question.h"
#include "inspect/text/json_put.h"
#include "tool/process.h"
#include "tool/report.h"
#include "tool/tool.h"

#define LINK 3 /* the worker's descriptor of the link */

struct worker {
	struct tool_socket socket;
	char program[TOOL_PATH]; /* as a word of a command line */
	struct serve_looks *looks;
	bool looked; /* in this turn */
};

/* -- the link -- */

static bool receive(void *to, size_t size)
{
	char *at = to;

	while (size) {
		const ssize_t n = read(LINK, at, size);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void send_bytes(const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		const ssize_t n = send(LINK, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			_exit(0); /* the server has ended */
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
}

/* Send a file in memory without a copy of it in this process. */
static void send_file(int fd, size_t size)
{
	off_t at = 0;

	while (size) {
		const ssize_t n = sendfile(LINK, fd, &at, size);

		if (n == 0 || (n < 0 && errno != EINTR))
			_exit(0); /* the server has ended */
		size -= n > 0 ? (size_t)n : 0;
	}
}

static size_t size_of(int fd)
{
	struct stat file;

	return fstat(fd, &file) == 0 ? (size_t)file.st_size : 0;
}

static void send_answer(uint32_t index, int code, int out, int err)
{
	size_t size = size_of(out), errors = size_of(err);
	struct serve_frame frame = {.kind = SERVE_FRAME_ANSWER, .index = index, .code = code};

	if (size > SERVE_OUTPUT_MOST) {
		frame.code = -EFBIG;
		size = errors = 0;
	}
	if (errors > 4096)
		errors = 4096;
	frame.size = (uint32_t)size;
	frame.errors = (uint32_t)errors;
	send_bytes(&frame, sizeof frame);
	send_file(out, size);
	send_file(err, errors);
}

static void send_totals(const struct worker *w)
{
	char *text = serve_looks_totals(w->looks);
	struct serve_frame frame = {.kind = SERVE_FRAME_TOTALS};

	if (!text)
		return;
	frame.size = (uint32_t)strlen(text);
	send_bytes(&frame, sizeof frame);
	send_bytes(text, frame.size);
	free(text);
}

/* -- answers -- */

/* Let standard output and standard error be empty files in memory, which are this process's own. */
static void begin_output(void)
{
	int fd;

	for (fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
			_exit(1);
}

/* The row of this program in the list of all. */
static int put_row(struct worker *w)
{
	struct fib_wire_process process;
	json_t *row;
	int rc = tool_hello(&w->socket, TOOL_HELLO_TIMEOUT, &process);

	if (rc < 0)
		return tool_cannot("process %d: %s", (int)w->socket.pid,
				   rc == -ETIMEDOUT ? "no answer: it is stopped, or its service "
						      "thread hangs"
						    : strerror(-rc));
	if (!tool_socket_says(&w->socket, &process))
		return TOOL_CANNOT;
	row = ctl_process_row(&process, &w->socket, serve_looks_verdict(w->looks));
	ins_json_put(stdout, row);
	json_decref(row);
	return tool_written(TOOL_WELL);
}

static void answer_here(struct worker *w, uint32_t index, const char *question)
{
	int code;

	begin_output();
	if (serve_question_is(question, "top")) {
		code = serve_looks_put(w->looks, question);
		w->looked = w->looked || code <= TOOL_PARTIAL;
	} else {
		code = put_row(w);
	}
	fflush(stdout);
	send_answer(index, code, STDOUT_FILENO, STDERR_FILENO);
}

static void answer_in_child(struct worker *w, uint32_t index, const char *question)
{
	char words[SERVE_QUESTION_MOST], *argv[SERVE_WORDS];
	struct serve_capture capture;
	struct serve_frame frame = {.kind = SERVE_FRAME_ANSWER, .index = index};

	snprintf(words, sizeof words, "%s", question);
	serve_question_split(words, w->program, argv);
	frame.code = serve_capture_start(&capture, argv, SERVE_OUTPUT_MOST);
	if (frame.code == 0) {
		frame.code = serve_capture_wait(&capture, SERVE_ANSWER_TIME);
		send_answer(index, frame.code, capture.out, capture.err);
		serve_capture_drop(&capture);
	} else {
		send_bytes(&frame, sizeof frame);
	}
}

/* The CPU time of this process, or of its children; ns. */
static int64_t cpu_time(int whose)
{
	struct rusage usage = {0};

	getrusage(whose, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

/* The questions of a turn; `top` first, because one look serves all of them. */
static void take_turn(struct worker *w, const struct serve_turn *turn, const char *questions)
{
	const char *question[SERVE_TURN_MOST];
	struct serve_frame over = {.kind = SERVE_FRAME_OVER};
	const int64_t before = cpu_time(RUSAGE_SELF);
	enum serve_share share;
	int64_t children;
	uint32_t i;

	for (i = 0; i < turn->count; i++) {
		question[i] = questions;
		questions += strlen(questions) + 1;
	}
	w->looked = false;
	serve_looks_begin(w->looks);
	for (i = 0; i < turn->count; i++)
		if (serve_question_is(question[i], "top"))
			serve_looks_want(w->looks, question[i]);
	for (share = 0; share < SERVE_SHARES; share++) {
		children = cpu_time(RUSAGE_CHILDREN);
		for (i = 0; i < turn->count; i++)
			if (serve_question_share(question[i]) == share)
				(share == SERVE_LIVE ? answer_here : answer_in_child)(w, i,
										      question[i]);
		over.cpu[share] = cpu_time(RUSAGE_CHILDREN) - children;
	}
	if (w->looked)
		send_totals(w);
	/* A verdict has its own share of time. */
	over.cpu[SERVE_LIVE] = cpu_time(RUSAGE_SELF) - before - serve_looks_judged(w->looks);
	send_bytes(&over, sizeof over);
}

static void work(struct worker *w)
{
	struct serve_turn turn;
	char *questions;

	while (receive(&turn, sizeof turn)) {
		if (turn.count > SERVE_TURN_MOST ||
		    turn.bytes > SERVE_TURN_MOST * SERVE_QUESTION_MOST)
			break;
		questions = calloc(1, turn.bytes + 1u);
		if (!questions || !receive(questions, turn.bytes))
			break;
		take_turn(w, &turn, questions);
		free(questions);
	}
}

static void run(const struct tool_socket *socket, int fd)
{
	static struct worker w;

	w.socket = *socket;
	if (socket->pid)
		snprintf(w.program, sizeof w.program, "%d", (int)socket->pid);
	else
		snprintf(w.program, sizeof w.program, "%s", socket->path);
	dup2(fd, LINK);
	serve_capture_close_from(LINK + 1, -1);
	dup2(serve_capture_file("answer"), STDOUT_FILENO);
	dup2(serve_capture_file("errors"), STDERR_FILENO);
	serve_capture_close_from(LINK + 1, -1);
	serve_capture_settle();
	w.looks = serve_looks_new(socket);
	if (w.looks)
		work(&w);
}

pid_t serve_worker_start(const struct tool_socket *socket, int *ret_fd)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		run(socket, pair[1]);
		_exit(0);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return -EAGAIN;
	}
	*ret_fd = pair[0];
	return pid;
}
