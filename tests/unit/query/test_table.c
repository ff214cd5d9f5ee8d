/* SPDX-License-Identifier: MIT */
/* test_table.c - a table has every fiber of its source, ordered by id */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/query/table.h"
#include "tests/harness/inspect/rows.h"

#define FIBERS 5000

/* Fiber i. Every value in it depends on i; every third fiber has labels. */
static struct ins_fiber made(uint64_t id)
{
	struct ins_fiber f = rows_fiber(id, "");

	snprintf(f.row.name, sizeof f.row.name, "f-%llu", (unsigned long long)id);
	f.row.holder = id * 3;
	f.row.pins = (uint16_t)(id % 7);
	f.row.labels = id;
	f.flags = id % 5 ? 0 : INS_FIBER_MOVING;
	f.now = 77;
	if (id % 3 == 0) {
		memset(f.row.label, 'a' + (int)(id % 26), sizeof f.row.label);
		fib_row_end_labels(&f.row);
	}
	return f;
}

static void agree(const struct ins_fiber *got, uint64_t id)
{
	const struct ins_fiber wanted = made(id);

	assert_memory_equal(&got->row, &wanted.row, sizeof got->row);
	assert_int_equal(got->flags, wanted.flags);
	assert_int_equal(got->now, 77);
	assert_null(got->stack);
	assert_int_equal(got->stack_size, 0);
}

static void test_table_that_is_empty(void **state)
{
	struct ins_table *t;

	(void)state;
	assert_int_equal(ins_table_new(&t), 0);
	assert_int_equal(ins_table_count(t), 0);
	assert_int_equal(ins_table_find(t, 1), -1);
	assert_int_equal(ins_table_summary(t)->total, 0);
	ins_table_free(t);
	ins_table_free(NULL);
}

/* A source of fibers 1 to FIBERS, in an order that factor determines. */
struct answer {
	struct ins_source source;
	uint64_t factor; /* step between two ids, modulo FIBERS */
	int rc;		 /* result of the read */
	bool closed;
};

static int answer_read(struct ins_source *source, const struct ins_request *request,
		       ins_fiber_fn *fn, void *context, struct ins_summary *ret,
		       struct ins_error *error)
{
	struct answer *a = (struct answer *)source;
	int rc;

	(void)request;
	memset(ret, 0, sizeof *ret);
	ret->sampled_ns = 4711;
	ret->total = FIBERS + 1;
	for (uint64_t i = 0; i < FIBERS; i++) {
		struct ins_fiber *passing = malloc(sizeof *passing);

		assert_non_null(passing);
		*passing = made(1 + i * a->factor % FIBERS);
		passing->stack = (const unsigned char *)passing;
		passing->stack_size = sizeof *passing;
		rc = fn(context, passing);
		memset(passing, 0xee, sizeof *passing);
		free(passing);
		if (rc)
			return rc;
		ret->shown++;
	}
	return a->rc < 0 ? ins_error_set(error, a->rc, "gone: it ended") : a->rc;
}

static const struct ins_source_ops ops = {.read = answer_read};

static void test_table_read_has_every_fiber_by_id(void **state)
{
	/* In order, backwards, and scattered: each factor is coprime to FIBERS. */
	static const uint64_t factors[] = {1, FIBERS - 1, 2999};

	(void)state;
	for (size_t n = 0; n < 3; n++) {
		struct answer a = {.source.ops = &ops, .factor = factors[n]};
		const struct ins_request request = {0};
		struct ins_error error = {""};
		struct ins_fiber f;
		struct ins_table *t;

		assert_int_equal(ins_table_read(&a.source, &request, &error, &t), 0);
		assert_int_equal(ins_table_count(t), FIBERS);
		for (uint64_t id = 1; id <= FIBERS; id++) {
			ins_table_get(t, id - 1, &f);
			agree(&f, id);
			assert_int_equal(ins_table_find(t, id), id - 1);
		}
		assert_int_equal(ins_table_find(t, 0), -1);
		assert_int_equal(ins_table_find(t, FIBERS + 1), -1);
		assert_int_equal(ins_table_find(t, UINT64_MAX), -1);
		assert_int_equal(ins_table_summary(t)->total, FIBERS + 1);
		assert_int_equal(ins_table_summary(t)->shown, FIBERS);
		assert_int_equal(ins_table_summary(t)->sampled_ns, 4711);
		ins_table_free(t);
	}
}

static void test_table_read_that_fails_leaves_none(void **state)
{
	struct answer a = {.source.ops = &ops, .factor = 1, .rc = -ESRCH};
	const struct ins_request request = {0};
	struct ins_error error = {""};
	struct ins_table *t = (struct ins_table *)&a;

	(void)state;
	assert_int_equal(ins_table_read(&a.source, &request, &error, &t), -ESRCH);
	assert_null(t);
	assert_string_equal(error.text, "gone: it ended");
}

static void test_table_finds_ids_that_have_gaps(void **state)
{
	struct ins_fiber f;
	struct ins_table *t;

	(void)state;
	assert_int_equal(ins_table_new(&t), 0);
	for (uint64_t i = 0; i < 100; i++) {
		f = made((i * 37 % 100 + 1) * 10);
		assert_int_equal(ins_table_add(t, &f), 0);
	}
	for (uint64_t id = 0; id < 1020; id++)
		assert_int_equal(ins_table_find(t, id),
				 id && id <= 1000 && id % 10 == 0 ? (ssize_t)(id / 10) - 1 : -1);
	/* Add a fiber after a lookup. */
	f = made(5);
	assert_int_equal(ins_table_add(t, &f), 0);
	assert_int_equal(ins_table_find(t, 5), 0);
	assert_int_equal(ins_table_find(t, 1000), 100);
	ins_table_free(t);
}

static void test_table_keeps_fibers_that_claim_the_same_id(void **state)
{
	struct ins_fiber f = made(7);
	struct ins_table *t;

	(void)state;
	assert_int_equal(ins_table_new(&t), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(ins_table_add(t, &f), 0);
	assert_int_equal(ins_table_count(t), 10);
	assert_in_range(ins_table_find(t, 7), 0, 9);
	ins_table_get(t, 9, &f);
	agree(&f, 7);
	ins_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_that_is_empty),
		cmocka_unit_test(test_table_read_has_every_fiber_by_id),
		cmocka_unit_test(test_table_read_that_fails_leaves_none),
		cmocka_unit_test(test_table_finds_ids_that_have_gaps),
		cmocka_unit_test(test_table_keeps_fibers_that_claim_the_same_id),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
