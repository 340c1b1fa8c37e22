/* SPDX-License-Identifier: MIT */
/* test_render.c - constructed cells as answers: the order of the blocks, their budgets, both forms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer/cell_answer.h"
#include "answer/cell_json.h"
#include "answer/media.h"
#include "answer/render.h"
#include "answer/render_json.h"
#include "json/parse.h"
#include "mcp/server.h"
#include "session_fixture.h"
#include "text/base64.h"
#include "tools/service.h"

enum { BLOCKS_MAX = 64 };

static const unsigned char png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0,   0, 0,
				     13,   'I', 'H', 'D', 'R',  0,    0,    2,    128, 0, 0,
				     1,    224, 8,   6,   0,    0,    0,    1,    2,   3, 4 };

static struct session *session;
static struct service *service;
static struct mcp_server *server;
static struct cell *cell;
static struct exec_result result;
static struct buf out;
static json_t *answer; /* the result of the call */

static void on_write(void *context, const char *line, size_t len)
{
	(void)context;
	buf_put(&out, line, len);
}

static void on_call(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	(void)context;
	cell_answer_finish(call, service->settings->results, service->history, &result);
}

static const struct mcp_tool tool = {
	.name = "render",
	.title = "Render",
	.description = "Answers with the cell of the test.",
	.input_schema = "{\"type\":\"object\"}",
	.call = on_call,
};
static const struct mcp_features features = {
	.name = "t", .title = "t", .version = "1", .tools = &tool, .tool_count = 1
};
static const struct mcp_limits limits = { 1 << 20, 16, 4 };

static int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	fixture_open();
	session = session_new(&fixture.host, "sales", 3, NULL, NULL, &err);
	assert_non_null(session);
	service = service_new(fixture.loop, &fixture.settings, NULL);
	server = mcp_server_new(fixture.loop, &features, &limits, on_write);
	cell = cell_new(14, "python");
	cell->elapsed_us = 420000;
	cell->ran = true;
	result = (struct exec_result){ .session = session, .cell = cell };
	buf_init(&out, BUF_UNBOUNDED);
	answer = NULL;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	json_decref(answer);
	cell_free(cell);
	mcp_server_free(server);
	service_free(service);
	session_free(session, "the test ended");
	buf_release(&out);
	fixture_close();
	return 0;
}

/* The answer to the call as a client of this revision sees it. */
static void call_as(const char *revision)
{
	struct err err;
	char input[400];
	int len = snprintf(input, sizeof(input),
			   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
			   "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{"
			   "\"name\":\"t\",\"version\":\"1\"}}}\n",
			   revision);
	static const char call[] =
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
		"\"name\":\"render\",\"arguments\":{}}}\n";
	json_t *message;

	mcp_server_feed(server, input, (size_t)len);
	fixture_until(out.len > 0);
	buf_clear(&out);
	mcp_server_feed(server, call, sizeof(call) - 1);
	fixture_until(out.len > 0);
	message = json_parse(out.data, out.len, &err);
	assert_non_null(message);
	answer = json_incref(json_object_get(message, "result"));
	assert_non_null(answer);
	json_decref(message);
}

static const char *text_at(size_t index)
{
	json_t *block = json_array_get(json_object_get(answer, "content"), index);

	return json_string_value(json_object_get(block, "text"));
}

/* "text text image resource_link text": the kinds of the blocks. */
static const char *kinds(void)
{
	static char words[BLOCKS_MAX * 16];
	size_t index;
	json_t *block;

	words[0] = '\0';
	json_array_foreach (json_object_get(answer, "content"), index, block) {
		size_t len = strlen(words);

		(void)snprintf(words + len, sizeof(words) - len, "%s%s", len > 0 ? " " : "",
			       json_string_value(json_object_get(block, "type")));
	}
	return words;
}

static size_t count_of(const char *kind)
{
	size_t count = 0;

	for (const char *s = kinds(); (s = strstr(s, kind)) != NULL; s += strlen(kind))
		count++;
	return count;
}

static const char *status_line(void)
{
	return text_at(json_array_size(json_object_get(answer, "content")) - 1);
}

static bool is_error(void)
{
	return json_is_true(json_object_get(answer, "isError"));
}

static void set_text(const char *text)
{
	buf_puts(&cell->text, text);
	cell->text_shown = cell->text_total = strlen(text);
}

static void add_image(size_t len)
{
	char *data = xcalloc(1, len);

	memcpy(data, png, sizeof(png));
	cell_add_image(cell, data, len, xstrdup("plot.png"));
	free(data);
}

static void a_silent_cell_is_its_status_line(void **state)
{
	(void)state;
	call_as("2025-11-25");
	assert_string_equal(kinds(), "text");
	assert_string_equal(status_line(), "[sales#14 done 0.42 s | unconfined]");
	assert_false(is_error());
	assert_null(json_object_get(answer, "structuredContent"));
}

static void the_blocks_come_in_their_order(void **state)
{
	struct change changes[] = {
		{ .kind = CHANGE_NEW,
		  .file = { .path = (char[]){ "output/plot.png" }, .size = 18000 } },
		{ .kind = CHANGE_NEW, .file = { .path = (char[]){ "output/t10" }, .size = 1 } },
		{ .kind = CHANGE_NEW, .file = { .path = (char[]){ "output/t9" }, .size = 1 } },
	};

	(void)state;
	result.notice = "Session 'sales' is new.";
	set_text("printed");
	buf_puts(&cell->result, "42");
	add_image(sizeof(png));
	cell_set_changes(cell, changes, ARRAY_SIZE(changes));
	call_as("2025-11-25");
	/* The figure is here as an image, so that no link names it again. */
	assert_string_equal(kinds(), "text text image resource_link resource_link text");
	assert_non_null(strstr(buf_str(&out), "\"audience\":[\"user\"]"));
	assert_string_equal(text_at(0), "Session 'sales' is new.");
	assert_string_equal(text_at(1), "printed\n42\n");
	assert_string_equal(status_line(),
			    "[sales#14 done 0.42 s | files +output/plot.png 18 KB +output/t9 1 B "
			    "+output/t10 1 B | unconfined]");
}

static void older_clients_get_no_links(void **state)
{
	struct change change = { .kind = CHANGE_NEW,
				 .file = { .path = (char[]){ "output/a" }, .size = 1 } };

	(void)state;
	cell_set_changes(cell, &change, 1);
	call_as("2025-03-26");
	assert_string_equal(kinds(), "text");
}

static void links_lead_to_files_that_are_there_and_are_limited(void **state)
{
	struct change changes[RENDER_LINKS_MAX + 12];
	char paths[RENDER_LINKS_MAX + 12][16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		(void)snprintf(paths[i], sizeof(paths[i]), "output/%02zu", i);
		changes[i] = (struct change){ .kind = CHANGE_NEW, .file = { .path = paths[i] } };
	}
	changes[0].kind = CHANGE_DELETED;
	changes[1].file.is_link = true;
	cell_set_changes(cell, changes, ARRAY_SIZE(changes));
	call_as("2025-11-25");
	assert_int_equal(count_of("resource_link"), RENDER_LINKS_MAX);
	assert_null(strstr(buf_str(&out), "files/output/00"));
	assert_null(strstr(buf_str(&out), "files/output/01"));
	assert_non_null(strstr(buf_str(&out), "session://sales/files/output/02"));
}

static void images_are_limited_by_number(void **state)
{
	(void)state;
	for (int i = 0; i < MEDIA_IMAGES_MAX + 3; i++)
		add_image(sizeof(png));
	call_as("2025-11-25");
	assert_int_equal(count_of("image"), MEDIA_IMAGES_MAX);
	assert_non_null(
		strstr(buf_str(&out), "4 of 7 figures are shown; all are saved in output/."));
}

/* Of those that nobody holds, too. */
static void all_figures_that_are_not_shown_are_counted(void **state)
{
	(void)state;
	for (int i = 0; i < CELL_IMAGES_MAX + 10; i++)
		add_image(sizeof(png));
	cell_add_image(cell, png, sizeof(png), NULL);
	call_as("2025-11-25");
	assert_int_equal(count_of("image"), MEDIA_IMAGES_MAX);
	assert_non_null(
		strstr(buf_str(&out), "4 of 30 figures are shown; all are saved in output/."));
	assert_non_null(strstr(buf_str(&out), "Figures not shown (too large, too many, or not a "
					      "picture): 1."));
}

static void images_are_limited_by_bytes_and_a_small_one_still_fits(void **state)
{
	size_t most = MEDIA_BASE64_MAX / 4 * 3;

	(void)state;
	add_image(most + 3);
	add_image(most - 300);
	add_image(300);
	add_image(100);
	call_as("2025-11-25");
	assert_int_equal(count_of("image"), 2);
	assert_non_null(
		strstr(buf_str(&out), "2 of 4 figures are shown; all are saved in output/."));
	assert_true(out.len < 1000000);
}

static void a_sound_is_a_block_of_its_own_where_there_is_room(void **state)
{
	char *data = xcalloc(1, CELL_SOUND_BYTES_MAX);

	(void)state;
	memcpy(data, "OggS", 4);
	add_image(sizeof(png));
	cell_add_sound(cell, data, CELL_SOUND_BYTES_MAX);
	cell_add_sound(cell, data, CELL_SOUND_BYTES_MAX);
	cell_add_sound(cell, data, 100);
	free(data);
	call_as("2025-11-25");
	assert_int_equal(count_of("image"), 1);
	assert_int_equal(count_of("audio"), 2);
	assert_non_null(strstr(buf_str(&out), "\"mimeType\":\"audio/ogg\""));
	assert_true(out.len < 1000000);
}

static void what_went_wrong_is_an_error_with_the_traceback(void **state)
{
	(void)state;
	set_text("before\n");
	cell->state = CELL_RAISED;
	buf_puts(&cell->result, "Traceback\nZeroDivisionError: division by zero");
	cell->missing_module = xstrdup("pand\nas");
	call_as("2025-11-25");
	assert_true(is_error());
	assert_memory_equal(text_at(0), "before\nTraceback\nZeroDivisionError", 34);
	assert_non_null(strstr(text_at(0), "The module 'pand"));
	assert_null(strstr(text_at(0), "pand\nas"));
	assert_non_null(strstr(status_line(), "#14 raised "));
}

static void every_other_end_explains_itself(void **state)
{
	static const struct {
		enum cell_state state;
		bool lost;
		const char *says;
	} rows[] = {
		{ CELL_TIMED_OUT, false, "deadline of 300 s and was interrupted; variables" },
		{ CELL_TIMED_OUT, true, "its interpreter was killed" },
		{ CELL_DIED, true, "why. Variables and imports are gone, files are not" },
		{ CELL_NOT_STARTED, false, "The cell was not run: why." },
		{ CELL_INTERRUPTED, false, "The cell was interrupted after 0.42 s; variables" },
		{ CELL_RUNNING, false, "The cell goes on: it was so." },
	};

	(void)state;
	cell->timeout_ms = 300000;
	cell->elapsed_us = 420000;
	result.note = "it was so";
	cell->problem = xstrdup("why");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cell->state = rows[i].state;
		cell->interpreter_lost = rows[i].lost;
		json_decref(answer);
		call_as("2025-11-25");
		/* Somebody wished for an interrupt, and what runs on is no failure. */
		assert_int_equal(is_error(), rows[i].state != CELL_INTERRUPTED &&
						     rows[i].state != CELL_RUNNING);
		if (strstr(text_at(0), rows[i].says) == NULL)
			fail_msg("'%s' does not say '%s'", text_at(0), rows[i].says);
		buf_clear(&out);
		mcp_server_free(server);
		server = mcp_server_new(fixture.loop, &features, &limits, on_write);
	}
}

static void an_ended_session_says_what_is_left_of_it(void **state)
{
	(void)state;
	cell->problem = xstrdup("the session ended because of it");
	cell->state = CELL_DIED;
	cell->session_ended = true;
	fixture.settings.resume = 3600;
	session_record(session);
	call_as("2025-11-25");
	assert_true(is_error());
	assert_non_null(strstr(text_at(0), "The cell died: the session ended because of it. Its "
					   "variables are gone; exec_code or upload_file with this "
					   "id resumes the session with its files.\n"));
}

static void an_ended_session_that_does_not_last_is_gone(void **state)
{
	(void)state;
	cell->problem = xstrdup("why");
	cell->state = CELL_DIED;
	cell->session_ended = true;
	call_as("2025-11-25");
	assert_non_null(strstr(text_at(0), "Its variables and files are gone.\n"));
}

static void the_record_travels_beside_the_text_and_stays_small(void **state)
{
	struct change *changes = xcalloc(3000, sizeof(*changes));
	struct buf names = BUF_INIT(BUF_UNBOUNDED);
	json_t *record;
	char *text;

	(void)state;
	for (size_t i = 0; i < 3000; i++) {
		changes[i].file.path = xasprintf("output/a-rather-long-name-%zu", i);
		buf_putf(&names, "name%zu int\n", i);
	}
	cell_set_changes(cell, changes, 3000);
	cell->names = buf_steal(&names);
	call_as("2025-11-25");
	record = json_object_get(json_object_get(answer, "_meta"), "ptycell/cell");
	assert_string_equal(json_string_value(json_object_get(record, "session_id")), "sales");
	assert_int_equal(json_integer_value(json_object_get(record, "generation")), 3);
	assert_int_equal(json_integer_value(json_object_get(record, "cell")), 14);
	text = json_dumps(record, JSON_COMPACT);
	assert_true(strlen(text) <= CELL_JSON_BYTES_MAX);
	free(text);
	for (size_t i = 0; i < 3000; i++)
		free(changes[i].file.path);
	free(changes);
}

static void names_are_read_line_by_line(void **state)
{
	json_t *names = cell_json_names("df DataFrame 150x5\nx int\nodd\n-old\n");
	char *text = json_dumps(names, JSON_COMPACT);

	(void)state;
	assert_string_equal(
		text,
		"[{\"name\":\"df\",\"type\":\"DataFrame\",\"shape\":\"150x5\"},"
		"{\"name\":\"x\",\"type\":\"int\"},{\"name\":\"odd\"},{\"name\":\"old\",\"gone\":true}]");
	free(text);
	json_decref(names);
	names = cell_json_names(
		"my\\svar int 3\n-a\\sb\n\\-z int\n-\\-z\na\\\\sb int\nn\\nl int\n int");
	text = json_dumps(names, JSON_COMPACT);
	assert_string_equal(
		text, "[{\"name\":\"my var\",\"type\":\"int\",\"shape\":\"3\"},"
		      "{\"name\":\"a b\",\"gone\":true},{\"name\":\"-z\",\"type\":\"int\"},"
		      "{\"name\":\"-z\",\"gone\":true},{\"name\":\"a\\\\sb\",\"type\":\"int\"},"
		      "{\"name\":\"\\\"n\\\\u000al\\\"\",\"type\":\"int\"},"
		      "{\"name\":\"\\\"\\\"\",\"type\":\"int\"}]");
	free(text);
	json_decref(names);
	names = cell_json_names(NULL);
	assert_int_equal(json_array_size(names), 0);
	json_decref(names);
}

/* ---- PTYCELL_RESULTS=json ---- */

static void json_results_are_one_object_then_images(void **state)
{
	struct err err;
	struct change change = { .kind = CHANGE_NEW,
				 .file = { .path = (char[]){ "output/a.csv" }, .size = 4 } };
	json_t *object;

	(void)state;
	fixture.settings.results = RESULTS_JSON;
	scratch_write(workspace_data_fd(session_workspace(session)), "output/a.csv", "1,2\n");
	scratch_write(workspace_data_fd(session_workspace(session)), "input/b.csv", "1\n");
	set_text("printed\n");
	buf_puts(&cell->result, "42");
	cell->state = CELL_RAISED;
	cell->error_name = xstrdup("ValueError");
	cell_set_changes(cell, &change, 1);
	add_image(sizeof(png));
	call_as("2025-11-25");
	assert_string_equal(kinds(), "text image");
	assert_false(is_error());
	object = json_parse(text_at(0), strlen(text_at(0)), &err);
	assert_string_equal(json_string_value(json_object_get(object, "status")), "error");
	assert_string_equal(json_string_value(json_object_get(object, "output")), "printed\n42\n");
	assert_string_equal(json_string_value(json_object_get(object, "session_id")), "sales");
	assert_non_null(strstr(json_string_value(json_object_get(object, "error")), "ValueError"));
	assert_int_equal(json_array_size(json_object_get(object, "new_artifacts")), 1);
	assert_int_equal(json_array_size(json_object_get(object, "all_artifacts")), 2);
	assert_memory_equal(json_string_value(json_object_get(object, "status_line")), "[sales#14 ",
			    10);
	json_decref(object);
}

#define RENDER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RENDER_TEST(a_silent_cell_is_its_status_line),
		RENDER_TEST(the_blocks_come_in_their_order),
		RENDER_TEST(older_clients_get_no_links),
		RENDER_TEST(links_lead_to_files_that_are_there_and_are_limited),
		RENDER_TEST(images_are_limited_by_number),
		RENDER_TEST(all_figures_that_are_not_shown_are_counted),
		RENDER_TEST(images_are_limited_by_bytes_and_a_small_one_still_fits),
		RENDER_TEST(a_sound_is_a_block_of_its_own_where_there_is_room),
		RENDER_TEST(what_went_wrong_is_an_error_with_the_traceback),
		RENDER_TEST(every_other_end_explains_itself),
		RENDER_TEST(an_ended_session_says_what_is_left_of_it),
		RENDER_TEST(an_ended_session_that_does_not_last_is_gone),
		RENDER_TEST(the_record_travels_beside_the_text_and_stays_small),
		RENDER_TEST(names_are_read_line_by_line),
		RENDER_TEST(json_results_are_one_object_then_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
