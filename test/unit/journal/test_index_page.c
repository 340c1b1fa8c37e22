/* SPDX-License-Identifier: MIT */
/* The page that lists sessions. */
#include "journal/index_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "json/make.h"

static void assert_has(const char *page, const char *text)
{
	if (strstr(page, text) == NULL)
		fail_msg("%s is missing in %s", text, page);
}

/* Returns the page without its style sheet. The caller frees it. */
static char *draw(json_t *rows_own)
{
	cleanup_buf struct buf page = BUF_INIT(BUF_UNBOUNDED);

	index_page_draw(&page, rows_own);
	json_decref(rows_own);
	assert_has(buf_str(&page), "default-src 'none'; img-src file:; style-src 'sha256-");
	return xstrdup(strstr(buf_str(&page), "</style>"));
}

static void a_row_has_link_picture_times_and_counts(void **state)
{
	cleanup_free char *page =
		draw(json_pack("[{s:s,s:s,s:s,s:s,s:s,s:{s:{}},s:i,s:i}]", "link", "a/report.html",
			       "picture", "a/b%20c.png", "session_id", "<script>", "begun",
			       "2026-11-27T15:11:49.622Z", "ended", "2026-11-27T15:12:50.000Z",
			       "languages", "python", "cells", 2, "failed", 1));

	(void)state;
	assert_has(page, "<a href=\"a/report.html\"><img class=\"thumb\" loading=\"lazy\" alt=\"\" "
			 "src=\"a/b%20c.png\">&lt;script&gt;</a>");
	assert_has(page,
		   "2026-11-27 15:11 to 2026-11-27 15:12 (UTC)<br>\n2 cells, 1 failed, python");
}

static void what_is_missing_or_of_another_type_is_left_out(void **state)
{
	cleanup_free char *page =
		draw(json_pack("[{s:i,s:[]},i]", "session_id", 7, "languages", 3));

	(void)state;
	assert_null(strstr(page, "<img"));
	assert_has(page, "<a href=\"\"></a>\n<p class=\"note\"> (UTC)<br>\n0 cells</p>");
}

static void rows_past_the_limit_are_counted(void **state)
{
	json_t *rows = json_array();
	cleanup_free char *whole = NULL;
	cleanup_free char *cut = NULL;

	(void)state;
	for (int i = 0; i < INDEX_PAGE_ROWS_MAX; i++)
		json_append(rows, json_pack("{s:s}", "session_id", "row"));
	whole = draw(json_incref(rows));
	assert_null(strstr(whole, "older"));
	json_append(rows, json_pack("{s:s}", "session_id", "the last"));
	cut = draw(rows);
	assert_has(cut, "1 older sessions are in this folder, too.");
	assert_null(strstr(cut, "the last"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_link_picture_times_and_counts),
		cmocka_unit_test(what_is_missing_or_of_another_type_is_left_out),
		cmocka_unit_test(rows_past_the_limit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
