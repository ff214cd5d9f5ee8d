/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_page_looks.c - how the page of `fiberctl serve` looks, in a real browser
 *
 * On a narrow window, in the dark, and about programs with hostile names.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/harness/cli/one_page.h"
#include "tests/harness/watchdog.h"

enum { CROWD, NAMES, LIAR };

static int start(void **state)
{
	(void)state;
	page_programs[CROWD] = cli_start(NULL, "ready ", "crowd", "66", NULL);
	page_programs[NAMES] = cli_start(NULL, "ready ", "names", NULL);
	page_programs[LIAR] = cli_start(NULL, "ready ", "liar", "scattered", NULL);
	return page_open();
}

static int home(void **state)
{
	(void)state;
	page_at("#/");
	return 0;
}

static const char *const views[] = {
	"", "fibers", "fibers?group-by=wait", "stacks", "waits", "recordings", "fiber/5"};

static void assert_no_scroll_to_the_side(const char *view)
{
	const json_int_t width = browser_number(page, "document.documentElement.scrollWidth");

	if (width > 390)
		fail_msg("view '%s' is %d pixels wide", view, (int)width);
}

static void test_html_of_the_page_is_valid(void **state)
{
	char file[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	p = cli_run("/usr/bin/curl", "-sS", "-o", harness_file(file, "page.html"), page_address,
		    NULL);
	cli_ended(p, 0);
	p = cli_run("/usr/bin/tidy", "-e", "-q", file, NULL);
	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
}

static void test_page_is_390_pixels_wide_without_scrolling_to_the_side(void **state)
{
	size_t i;

	(void)state;
	browser_size(page, 390, 844);
	assert_no_scroll_to_the_side("programs");
	for (i = 0; i < sizeof views / sizeof views[0]; i++) {
		page_view(i == 4 ? NAMES : CROWD, views[i]);
		assert_no_scroll_to_the_side(views[i]);
	}
	browser_size(page, 1280, 900);
}

/* The perceived lightness of a colour of the page, 0 to 255. */
static json_int_t lightness(const char *of)
{
	char expression[256];

	snprintf(expression, sizeof expression,
		 "(([r, g, b]) => Math.round(0.3 * r + 0.59 * g + 0.11 * b))"
		 "(getComputedStyle(document.body).%s.match(/\\d+/g).map(Number))",
		 of);
	return browser_number(page, expression);
}

static void test_theme_is_that_of_the_system_or_the_chosen_one(void **state)
{
	(void)state;
	browser_scheme(page, "light");
	assert_true(lightness("backgroundColor") > 200 && lightness("color") < 60);
	browser_scheme(page, "dark");
	assert_true(lightness("backgroundColor") < 60 && lightness("color") > 200);
	/* From "as the system" to dark, then to light. */
	browser_key(page, "t");
	browser_key(page, "t");
	assert_true(lightness("backgroundColor") > 200);
	/* The choice outlives the page. */
	browser_reload(page, "document.querySelector('.view[data-ready]') !== null");
	assert_true(lightness("backgroundColor") > 200 && lightness("color") < 60);
	browser_key(page, "t");
	assert_true(lightness("backgroundColor") < 60);
	browser_scheme(page, "light");
}

/* Text of one class against its ground, as in the Web Content Accessibility Guidelines. */
#define CONTRAST                                                                                   \
	"(() => { const rgb = (c) => c.match(/[\\d.]+/g).map(Number);"                             \
	"const l = (c) => rgb(c).slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 :"       \
	"((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], "  \
	"0);"                                                                                      \
	"const ground = (e) => { for (; e; e = e.parentElement) { const c = "                      \
	"getComputedStyle(e).backgroundColor; if (rgb(c).length < 4 || rgb(c)[3] > 0) return c; }" \
	"return 'rgb(255, 255, 255)'; };"                                                          \
	"let least = 21; for (const e of document.querySelectorAll('body *')) {"                   \
	"if (!e.offsetParent || ![...e.childNodes].some((n) => n.nodeType === 3 && "               \
	"n.data.trim())) continue;"                                                                \
	"const a = l(getComputedStyle(e).color), b = l(ground(e));"                                \
	"least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)); }"            \
	"return least; })()"

static void test_text_has_a_contrast_of_4_5_to_1(void **state)
{
	static const char *const schemes[] = {"light", "dark"};
	size_t i, k;

	(void)state;
	json_decref(browser_value(
		page, "localStorage.clear(); delete document.documentElement.dataset.theme"));
	for (i = 0; i < 2; i++) {
		browser_scheme(page, schemes[i]);
		for (k = 0; k < sizeof views / sizeof views[0]; k++) {
			json_t *least;

			page_view(CROWD, views[k]);
			least = browser_value(page, CONTRAST);
			if (json_number_value(least) < 4.5)
				fail_msg("view '%s', %s: %f", views[k], schemes[i],
					 json_number_value(least));
			json_decref(least);
		}
	}
	browser_scheme(page, "light");
}

static void test_hostile_names_are_text(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof views / sizeof views[0]; i++) {
		page_view(NAMES, views[i]);
		assert_int_equal(page_count("main b:not(.legend b)"), 0);
		assert_int_equal(page_count("main script, main img, main iframe"), 0);
		/* No control, invisible or direction character in the page. */
		assert_true(browser_number(
			page, "+!/[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f"
			      "\\u2028-\\u202e\\u2066-\\u2069\\ufeff]/"
			      ".test(document.body.textContent + document.title)"));
	}
	page_view(NAMES, "fibers?sort=id");
	page_says("a<b>");
	page_says("<script>");
	page_says("\\\\u{202e}");
}

static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long all, pages;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &all, &pages), 2);
	fclose(file);
	return pages;
}

/*
 * Whether this kernel allocates a page that is only read. Most have one page of zeros for all of them:
 * the liar's registry has 64 GiB of such pages, more than a machine may have.
 */
static bool allocates_what_is_read(void)
{
	const size_t pages = 1024, size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at = mmap(NULL, pages * size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before = resident();

	assert_true(at != MAP_FAILED);
	for (size_t i = 0; i < pages; i++)
		(void)at[i * size];
	before = resident() - before;
	munmap((void *)at, pages * size);
	return before > (long)pages / 2;
}

static void test_lying_registry_does_no_harm(void **state)
{
	(void)state;
	if (allocates_what_is_read())
		cli_skip("this kernel allocates pages that are only read: 64 GiB for the liar");
	browser_wait(page, "document.querySelector('.view').innerText.includes('liar')");
	page_view(LIAR, "fibers");
	page_view(LIAR, "stacks");
	page_view(LIAR, "waits");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html_of_the_page_is_valid),
		cmocka_unit_test_setup(test_page_is_390_pixels_wide_without_scrolling_to_the_side,
				       home),
		cmocka_unit_test_setup(test_theme_is_that_of_the_system_or_the_chosen_one, home),
		cmocka_unit_test_setup(test_text_has_a_contrast_of_4_5_to_1, home),
		cmocka_unit_test_setup(test_hostile_names_are_text, home),
		cmocka_unit_test_setup(test_lying_registry_does_no_harm, home),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, page_close);
}
