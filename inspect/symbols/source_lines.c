/* SPDX-License-Identifier: MIT */
/*
 * source_lines.c - print the source lines around a place
 *
 * The debug information names a file of the build machine and the folder in which the program was
 * built. The file may have changed since: a file newer than the program is reported. The names come
 * from the program, which may be hostile: only regular files are opened, and only a limited part is
 * read.
 */
#include "inspect/symbols/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/elf/debug.h"
#include "inspect/text/escape.h"

#define FILE_MAX   ((off_t)32 << 20)
#define FILES_MAX  1024
#define PLACES_MAX 65536
#define TEXT_MAX   400

struct file {
	char *name;  /* as the frame has it */
	char *bytes; /* NULL: the file cannot be read */
	size_t size;
	int error; /* why not */
	bool newer;
	bool reported; /* its problem was reported */
	unsigned *places;
	size_t place_count;
};

struct ins_source_lines {
	struct ins_modules *modules;
	unsigned around;
	struct file *files;
	size_t count;
};

int ins_source_lines_new(struct ins_modules *modules, unsigned around,
			 struct ins_source_lines **ret)
{
	*ret = calloc(1, sizeof **ret);
	if (!*ret)
		return -ENOMEM;
	(*ret)->modules = modules;
	(*ret)->around = around;
	return 0;
}

void ins_source_lines_free(struct ins_source_lines *lines)
{
	size_t i;

	for (i = 0; lines && i < lines->count; i++) {
		free(lines->files[i].name);
		free(lines->files[i].bytes);
		free(lines->files[i].places);
	}
	if (lines)
		free(lines->files);
	free(lines);
}

static int read_whole(int fd, const struct stat *st, struct file *f)
{
	ssize_t n = 1;

	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	if (st->st_size > FILE_MAX)
		return -EFBIG;
	f->bytes = malloc((size_t)st->st_size + 1);
	if (!f->bytes)
		return -ENOMEM;
	while (f->size < (size_t)st->st_size && n > 0) {
		n = read(fd, f->bytes + f->size, (size_t)st->st_size - f->size);
		if (n > 0)
			f->size += (size_t)n;
	}
	return n < 0 ? -errno : 0;
}

/* A relative name belongs to the folder in which its unit was compiled. */
static int open_source(struct ins_source_lines *l, const struct ins_frame *frame,
		       const struct ins_module *m)
{
	Dwfl_Module *debug = m ? m->debug : NULL;
	char path[PATH_MAX];
	Dwarf_Attribute attr;
	Dwarf_Addr bias;
	Dwarf_Die *cu = NULL;
	const char *folder = NULL;

	(void)l;
	if (frame->file[0] != '/' && debug)
		cu = dwfl_module_addrdie(debug, frame->pc - 1, &bias);
	if (cu && dwarf_attr(cu, DW_AT_comp_dir, &attr))
		folder = dwarf_formstring(&attr);
	if (!folder)
		return open(frame->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (snprintf(path, sizeof path, "%s/%s", folder, frame->file) >= (int)sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static void read_source(struct ins_source_lines *l, const struct ins_frame *frame, struct file *f)
{
	const struct ins_module *m = ins_modules_find(l->modules, frame->pc - 1);
	int fd = open_source(l, frame, m);
	struct stat st = {0}, program;

	if (fd < 0 || fstat(fd, &st) < 0)
		f->error = -errno;
	else
		f->error = read_whole(fd, &st, f);
	if (fd >= 0)
		close(fd);
	if (f->error)
		return;
	f->newer = m && m->file && stat(m->file, &program) == 0 &&
		   (st.st_mtim.tv_sec > program.st_mtim.tv_sec ||
		    (st.st_mtim.tv_sec == program.st_mtim.tv_sec &&
		     st.st_mtim.tv_nsec > program.st_mtim.tv_nsec));
}

static struct file *file_of(struct ins_source_lines *l, const struct ins_frame *frame)
{
	struct file *more;
	size_t i;

	for (i = 0; i < l->count; i++)
		if (strcmp(l->files[i].name, frame->file) == 0)
			return &l->files[i];
	if (l->count == FILES_MAX)
		return NULL;
	more = realloc(l->files, (l->count + 1) * sizeof *more);
	if (!more)
		return NULL;
	l->files = more;
	more[l->count] = (struct file){.name = strdup(frame->file)};
	if (!more[l->count].name)
		return NULL;
	read_source(l, frame, &more[l->count]);
	return &more[l->count++];
}

/* Mark the line as shown. Whether it was not shown before. */
static bool first_time(struct file *f, unsigned line)
{
	unsigned *more;
	size_t i;

	for (i = 0; i < f->place_count; i++)
		if (f->places[i] == line)
			return false;
	if (f->place_count == PLACES_MAX)
		return false;
	if ((f->place_count & (f->place_count - 1)) == 0) {
		more = realloc(f->places, (f->place_count ? f->place_count * 2 : 1) * sizeof *more);
		if (!more)
			return false;
		f->places = more;
	}
	f->places[f->place_count++] = line;
	return true;
}

static void put_line(FILE *out, unsigned number, bool marked, const char *text, size_t n)
{
	char raw[TEXT_MAX + 1], plain[4 * sizeof raw];
	size_t i, to = 0;

	/* A tab is shown as blanks, not as a control character. */
	for (i = 0; i < n && to < TEXT_MAX; i++) {
		if (text[i] != '\t')
			raw[to++] = text[i] ? text[i] : ' ';
		else
			do
				raw[to++] = ' ';
			while (to % 8 && to < TEXT_MAX);
	}
	while (to && (raw[to - 1] == ' ' || raw[to - 1] == '\r'))
		to--;
	raw[to] = 0;
	fprintf(out, "     %s %5u%s%s\n", marked ? "->" : "  ", number, to ? "  " : "",
		ins_escape(raw, plain, sizeof plain));
}

static bool put_around(const struct ins_source_lines *l, const struct file *f, FILE *out,
		       unsigned line)
{
	unsigned first = line > l->around / 2 ? line - l->around / 2 : 1, number;
	const char *at = f->bytes, *end = f->bytes + f->size;
	bool found = false;

	/* Show l->around lines; if that is even, one more before the place than behind it. */
	for (number = 1; at < end && number < first + l->around; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);

		if (number >= first)
			put_line(out, number, number == line, at, n);
		found |= number == line;
		at += n + 1;
	}
	return found;
}

void ins_source_lines_put(struct ins_source_lines *lines, FILE *out, const struct ins_frame *frame)
{
	char name[1024];
	struct file *f;

	if (!frame->file || frame->line <= 0)
		return;
	f = file_of(lines, frame);
	if (!f || !first_time(f, (unsigned)frame->line))
		return;
	ins_escape(f->name, name, sizeof name);
	if (f->error || f->newer) {
		if (!f->reported && f->error)
			fprintf(out, "     source: %s: %s\n", name, strerror(-f->error));
		else if (!f->reported)
			fprintf(out,
				"     source: %s is newer than the program: lines may differ\n",
				name);
		f->reported = true;
	}
	if (!f->error && !put_around(lines, f, out, (unsigned)frame->line))
		fprintf(out, "     source: %s has no line %d\n", name, frame->line);
}
