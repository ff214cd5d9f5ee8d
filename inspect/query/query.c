/* SPDX-License-Identifier: MIT */
/* query.c - turn the words of a command line into rows */
#include "inspect/query/query.h"

#include <errno.h>
#include <string.h>

#include "inspect/query/order.h"

/* -- words -- */

static int find_field(const char *option, const char *name, struct ins_field *ret,
		      struct ins_error *error)
{
	if (ins_field_find(name, strlen(name), ret))
		return 0;
	return ins_error_set(error, -EINVAL, "--%s: '%s': no such field; there are: %s", option,
			     name, ins_field_names());
}

int ins_query_parse(const struct ins_query_words *words, struct ins_query *ret,
		    struct ins_error *error)
{
	int rc;

	memset(ret, 0, sizeof *ret);
	ret->limit = words->limit;
	ret->group_by = words->group_by;
	ret->backwards = words->sort && words->sort[0] == '-';
	rc = ins_columns_parse(words->columns, &ret->columns, error);
	if (rc == 0 && words->where)
		rc = ins_select_parse(words->where, &ret->select, error);
	if (rc == 0 && words->sort)
		rc = find_field("sort", words->sort + ret->backwards, &ret->sort, error);
	if (rc == 0 && words->group_by)
		rc = find_field("group-by", words->group_by, &ret->group, error);
	if (rc < 0)
		ins_query_drop(ret);
	return rc;
}

void ins_query_drop(struct ins_query *query)
{
	ins_select_free(query->select);
	query->select = NULL;
}

void ins_query_wants(const struct ins_query *query, struct ins_request *request)
{
	ins_columns_want(&query->columns, request);
	if (query->select)
		ins_select_wants(query->select, request);
	if (query->sort.info)
		ins_field_wants(&query->sort, request);
	if (query->group.info)
		ins_field_wants(&query->group, request);
}

/* -- the condition -- */

static bool matches(struct ins_query *query, struct ins_source *source, struct ins_sight *sight)
{
	if (query->select && !query->checked)
		ins_select_check(query->select, &source->layout, &source->problems);
	query->checked = true;
	if (!query->select || ins_select_test(query->select, sight)) {
		query->matched++;
		return true;
	}
	query->others++;
	source->passed += (sight->fiber->flags & ~INS_FIBER_NAMED) != 0;
	return false;
}

/* The buffer is not initialised, because this runs for each of a million fibers. */
static struct ins_sight sight_of(const struct ins_source *source, struct ins_symbols *symbols,
				 const struct ins_fiber *fiber)
{
	struct ins_sight sight;

	sight.layout = &source->layout;
	sight.symbols = symbols;
	sight.fiber = fiber;
	return sight;
}

bool ins_query_match(struct ins_query *query, struct ins_source *source,
		     struct ins_symbols *symbols, const struct ins_fiber *fiber)
{
	struct ins_sight sight = sight_of(source, symbols, fiber);

	return matches(query, source, &sight);
}

/* -- rows -- */

struct run {
	struct ins_query *query;
	struct ins_source *source;
	const struct ins_query_sink *sink;
	void *context;
	struct ins_request request;
	struct ins_symbols *symbols;
	struct ins_order *order; /* NULL: input order */
	struct ins_tally *tally; /* NULL: no groups */
	uint64_t shown;		 /* fibers */
	bool seen;		 /* the first fiber was read */
	bool begun;
};

/* Called before the first row, so that an earlier error leaves the output empty. */
static void begin(struct run *r)
{
	const struct ins_query *q = r->query;
	const struct ins_query_rows rows = {
		.source = r->source,
		.columns = &q->columns,
		.group_by = q->group_by,
		.narrowed = q->select || q->limit != INS_QUERY_ALL,
	};

	if (!r->begun)
		r->sink->begin(r->context, &rows);
	r->begun = true;
}

static int order_by(struct run *r, const struct ins_field *field)
{
	const struct ins_query *q = r->query;
	size_t most = 0; /* all */

	if (q->limit != INS_QUERY_ALL)
		most = q->limit ? (size_t)q->limit : 1;
	return ins_order_new(field, q->backwards, most, &r->order);
}

/* Called for the first fiber, when the size of the registry is known. */
static int order_by_id(struct run *r)
{
	struct ins_field id;

	r->seen = true;
	if (!r->query->by_id || r->order || r->tally ||
	    r->source->layout.committed > INS_QUERY_SORTED || !ins_field_find("id", 2, &id))
		return 0;
	/* Nothing is drawn into JSON. */
	if (!r->sink->lines)
		ins_progress_give_way(&r->source->progress, false);
	return order_by(r, &id);
}

/* Symbols are created here because the first fiber brings the modules. */
static int take(void *context, const struct ins_fiber *fiber)
{
	struct run *r = context;
	struct ins_sight sight;

	if (!r->seen && order_by_id(r) < 0)
		return -ENOMEM;
	if (!r->symbols && r->request.modules &&
	    ins_symbols_new(r->source->modules, &r->symbols) < 0)
		return -ENOMEM;
	sight = sight_of(r->source, r->symbols, fiber);
	if (!matches(r->query, r->source, &sight))
		return 0;
	if (r->tally)
		return ins_tally_add(r->tally, &sight);
	if (r->order)
		return ins_order_add(r->order, &sight);
	if (r->shown == r->query->limit)
		return 0;
	r->shown++;
	ins_progress_give_way(&r->source->progress, r->sink->lines);
	begin(r);
	r->sink->fiber(r->context, &sight);
	return 0;
}

static int put_ordered(void *context, const struct ins_fiber *fiber)
{
	struct run *r = context;
	struct ins_sight sight = sight_of(r->source, r->symbols, fiber);

	r->shown++;
	r->sink->fiber(r->context, &sight);
	return 0;
}

static void put_groups(struct run *r, struct ins_query_result *result)
{
	size_t i, count = ins_tally_count(r->tally);

	ins_tally_sort(r->tally);
	for (i = 0; i < count && i < r->query->limit; i++) {
		r->sink->group(r->context, ins_tally_at(r->tally, i));
		r->shown += ins_tally_at(r->tally, i)->count;
	}
	result->groups = count;
	result->groups_shown = i;
}

static void finish(struct run *r, const struct ins_summary *summary)
{
	struct ins_query_result result = {.summary = *summary, .matched = r->query->matched};

	begin(r);
	if (r->order && r->query->limit)
		ins_order_each(r->order, put_ordered, r);
	if (r->tally)
		put_groups(r, &result);
	result.summary.shown = r->shown;
	r->sink->end(r->context, &result);
}

static int prepare(struct run *r)
{
	const struct ins_query *q = r->query;

	ins_query_wants(q, &r->request);
	if (q->group.info)
		return ins_tally_new(&q->group, &r->tally);
	return q->sort.info ? order_by(r, &q->sort) : 0;
}

int ins_query_run(struct ins_query *query, struct ins_source *source,
		  const struct ins_request *more, const struct ins_query_sink *sink, void *context,
		  struct ins_error *error)
{
	struct run r = {
		.query = query,
		.source = source,
		.sink = sink,
		.context = context,
		.request = *more,
	};
	struct ins_summary summary;
	int rc = prepare(&r);

	if (rc < 0)
		ins_error_set(error, rc, "out of memory");
	else
		rc = ins_source_read(source, &r.request, take, &r, &summary, error);
	if (rc == 0)
		finish(&r, &summary);
	ins_symbols_free(r.symbols);
	ins_tally_free(r.tally);
	ins_order_free(r.order);
	return rc;
}
