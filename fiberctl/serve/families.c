/* SPDX-License-Identifier: MIT */
/* families.c - join texts for Prometheus */
#include "fiberctl/serve/families.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct serve_family {
	char *name;
	char *head;    /* its HELP and TYPE */
	char *samples; /* a stream of lines ... */
	size_t size;
	FILE *out; /* ... that is written here */
};

static struct serve_family *find(struct serve_families *f, const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (strncmp(f->at[i].name, name, length) == 0 && !f->at[i].name[length])
			return &f->at[i];
	return NULL;
}

static struct serve_family *add(struct serve_families *f, const char *name, size_t length,
				char *head)
{
	struct serve_family *family = find(f, name, length);

	if (family || !head) {
		free(head);
		return family;
	}
	if (f->count == f->room) {
		struct serve_family *more = realloc(f->at, (f->room + 64) * sizeof *more);

		if (!more) {
			free(head);
			return NULL;
		}
		f->at = more;
		f->room += 64;
	}
	family = &f->at[f->count];
	*family = (struct serve_family){.name = strndup(name, length), .head = head};
	family->out = open_memstream(&family->samples, &family->size);
	if (family->name && family->out) {
		f->count++;
		return family;
	}
	free(family->name);
	free(head);
	return NULL;
}

void serve_families_add(struct serve_families *f, const char *text)
{
	static const char help[] = "# HELP ", type[] = "# TYPE ";
	struct serve_family *family = NULL;
	const char *end, *name, *head;
	size_t length;

	for (; *text; text = end) {
		end = strchr(text, '\n');
		end = end ? end + 1 : text + strlen(text);
		if (strncmp(text, help, sizeof help - 1) == 0) {
			head = text;
			name = text + sizeof help - 1;
			length = strcspn(name, " \n");
			/* TYPE follows. */
			if (strncmp(end, type, sizeof type - 1) == 0 && strchr(end, '\n'))
				end = strchr(end, '\n') + 1;
			family = add(f, name, length, strndup(head, (size_t)(end - head)));
		} else if (family && *text != '#') {
			fwrite(text, 1, (size_t)(end - text), family->out);
		}
	}
}

char *serve_families_text(const struct serve_families *f, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);
	size_t i;

	if (!out)
		return NULL;
	for (i = 0; i < f->count; i++) {
		fflush(f->at[i].out);
		fputs(f->at[i].head, out);
		fwrite(f->at[i].samples, 1, f->at[i].size, out);
	}
	return fclose(out) == 0 ? text : NULL;
}

void serve_families_drop(struct serve_families *f)
{
	size_t i;

	for (i = 0; i < f->count; i++) {
		fclose(f->at[i].out);
		free(f->at[i].samples);
		free(f->at[i].name);
		free(f->at[i].head);
	}
	free(f->at);
	*f = (struct serve_families){.count = 0};
}
