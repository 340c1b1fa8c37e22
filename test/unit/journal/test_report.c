/* SPDX-License-Identifier: MIT */
/*
 * The pages of test/data/report. `in` has what the journal would give: {"about", "cells", "late",
 * "left_out"}. The style sheet is left out of `out`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "journal/html.h"
#include "journal/report.h"
#include "json/make.h"
#include "json/parse.h"

enum { IMAGES_MAX = 4 };

static bool update;

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static size_t count_of(const json_t *object, const char *key)
{
	return (size_t)json_integer_value(json_object_get(object, key));
}

static void put_head(struct buf *out, const json_t *about)
{
	const struct report_about head = { .session_id = text_of(about, "session_id"),
					   .title = text_of(about, "title"),
					   .server = text_of(about, "server"),
					   .kept = text_of(about, "kept"),
					   .begun = text_of(about, "begun"),
					   .ended = text_of(about, "ended"),
					   .languages = json_object_get(about, "languages"),
					   .cells = count_of(about, "cells"),
					   .failed = count_of(about, "failed") };

	report_head(out, &head);
}

static void put_cell(struct buf *out, json_t *cell)
{
	const json_t *images = json_object_get(cell, "images");
	struct journal_image image[IMAGES_MAX] = { { 0 } };
	struct journal_entry entry = { .number = count_of(cell, "cell"),
				       .language = text_of(cell, "language"),
				       .state = text_of(cell, "state"),
				       .code = text_of(cell, "code"),
				       .title = text_of(cell, "title"),
				       .text = text_of(cell, "text"),
				       .value = text_of(cell, "value"),
				       .traceback = text_of(cell, "traceback"),
				       .error_name = text_of(cell, "error_name"),
				       .error_text = text_of(cell, "error_text"),
				       .note = text_of(cell, "note"),
				       .table = json_object_get(cell, "table"),
				       .left_out = text_of(cell, "left_out"),
				       .whole = text_of(cell, "whole"),
				       .images = image,
				       .image_count = json_array_size(images),
				       .figures_left_out = count_of(cell, "figures_left_out"),
				       .record = json_object_get(cell, "record") };

	entry.code_len = strlen(entry.code);
	entry.text_len = entry.text != NULL ? strlen(entry.text) : 0;
	for (size_t i = 0; i < entry.image_count; i++) {
		const char *data = json_string_value(json_array_get(images, i));

		image[i] = (struct journal_image){ .mime = "image/png",
						   .data = data,
						   .len = strlen(data) };
	}
	report_notes(out, json_object_get(cell, "notes"));
	report_cell(out, &entry, entry.text != NULL);
}

/* Appends the page without its style sheet, and without the digest of that. */
static void put_without_style(struct buf *out, const char *page)
{
	const char *digest = strstr(page, "'sha256-");
	const char *style = strstr(page, "<style>");
	const char *end = strstr(page, "</style>");

	assert_non_null(digest);
	assert_non_null(style);
	assert_non_null(end);
	buf_put(out, page, (size_t)(digest - page));
	digest = strchr(digest + 1, '\'');
	buf_put(out, digest, (size_t)(style - digest));
	buf_puts(out, end + strlen("</style>"));
}

static void render(const char *in, size_t len, struct buf *out)
{
	struct err err;
	cleanup_json json_t *value = json_parse(in, len, &err);
	cleanup_buf struct buf page = BUF_INIT(BUF_UNBOUNDED);
	const json_t *late;
	size_t n;
	json_t *cell;

	if (value == NULL)
		fail_msg("%s", err.msg);
	put_head(&page, json_object_get(value, "about"));
	json_array_foreach (json_object_get(value, "cells"), n, cell)
		put_cell(&page, cell);
	late = json_object_get(value, "late");
	if (late != NULL)
		report_late(&page, text_of(late, "language"), text_of(late, "text"),
			    strlen(text_of(late, "text")));
	report_tail(&page, count_of(value, "left_out"));
	put_without_style(out, buf_str(&page));
}

static void pages_are_as_expected(void **state)
{
	(void)state;
	golden_each("report", render, update);
}

static void figures_too_large_for_the_report_are_counted(void **state)
{
	static char data[(6 << 20) + 1];
	const struct journal_image images[] = {
		{ .mime = "image/png", .data = "a", .len = 1 },
		{ .mime = "image/png", .data = data, .len = sizeof(data) },
		{ .mime = "image/jpeg", .data = "b", .len = 1 },
	};
	const struct journal_entry entry = { .number = 1,
					     .language = "python",
					     .state = "done",
					     .code = "",
					     .images = images,
					     .image_count = ARRAY_SIZE(images) };
	cleanup_buf struct buf out = BUF_INIT(1 << 20);

	(void)state;
	report_cell(&out, &entry, true);
	assert_non_null(strstr(buf_str(&out), "src=\"data:image/png;base64,YQ==\""));
	assert_non_null(strstr(buf_str(&out), "src=\"data:image/jpeg;base64,Yg==\""));
	assert_non_null(strstr(buf_str(&out), "too large or too many for the report: 1;"));
}

/* ---- text ---- */

static void control_characters_of_code_are_seen(void **state)
{
	static const char code[] = "a\0b\x1b[1m\x7f\t\r\n\xc2\x9b\xc2\x85\xc2\xa0\xc2";
	cleanup_buf struct buf out = BUF_INIT(1000);

	(void)state;
	html_code(&out, code, sizeof(code) - 1);
	assert_string_equal(buf_str(&out),
			    "a&lt;U+0000&gt;b&lt;U+001B&gt;[1m&lt;U+007F&gt;\t\n&lt;U+009B&gt;\n"
			    "\xc2\xa0\xef\xbf\xbd");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_as_expected),
		cmocka_unit_test(figures_too_large_for_the_report_are_counted),
		cmocka_unit_test(control_characters_of_code_are_seen),
	};

	update = golden_wants_update(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
