/* SPDX-License-Identifier: MIT */
/* test_call.c - calls and code are independent: each call is answered once, and no output twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runner/runner_internal.h"
#include "session/session_internal.h"
#include "session_fixture.h"

enum { ANSWERS_MAX = 16, TEXT_MAX = 300 };

struct answer {
	int count;
	enum cell_state state;
	uint64_t number;
	size_t earlier_count;
	uint64_t earlier[SESSION_UNREPORTED_MAX + 1];
	bool bare;
	char text[TEXT_MAX];
	char note[TEXT_MAX];
	char problem[TEXT_MAX];
};

static struct session *session;
static struct answer answers[ANSWERS_MAX];
static struct wait_name asked; /* the last wait that was asked about */
static int asked_count;
static int withdrawn_count;
static bool can_ask;

static void copy(char to[TEXT_MAX], const char *from)
{
	(void)snprintf(to, TEXT_MAX, "%s", from != NULL ? from : "");
}

static void on_done(struct call *call, const struct exec_result *result, void *data)
{
	struct answer *answer = data;

	assert_non_null(call);
	answer->count++;
	answer->state = result->cell->state;
	answer->number = result->cell->number;
	answer->bare = result->cell->bare;
	copy(answer->text, buf_str(&result->cell->text));
	copy(answer->note, result->note);
	copy(answer->problem, result->cell->problem);
	answer->earlier_count = result->earlier_count;
	assert_true(result->earlier_count <= ARRAY_SIZE(answer->earlier));
	for (size_t i = 0; i < result->earlier_count; i++)
		answer->earlier[i] = result->earlier[i].cell->number;
}

static bool on_ask(struct call *call, const struct runner_wait *wait, const struct wait_name *name,
		   void *data)
{
	(void)call;
	(void)data;
	if (wait == NULL) {
		withdrawn_count++;
		return true;
	}
	if (!can_ask)
		return false;
	asked = *name;
	asked_count++;
	return true;
}

static int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	fixture_open();
	memset(answers, 0, sizeof(answers));
	asked_count = 0;
	withdrawn_count = 0;
	can_ask = true;
	session = session_new(&fixture.host, "test", 1, NULL, NULL, &err);
	assert_non_null(session);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_free(session, "the test ended");
	for (size_t i = 0; i < ANSWERS_MAX; i++)
		assert_true(answers[i].count <= 1);
	fixture_close();
	return 0;
}

static struct call *start(const char *code, size_t index, uint64_t wait_ms)
{
	const struct exec_request request = { .language = &fixture_language,
					      .code = code,
					      .code_len = strlen(code),
					      .wait_ms = wait_ms };
	struct err err;
	struct call *call = session_exec(session, &request, on_done, &answers[index], &err);

	assert_non_null(call);
	session_call_on_wait(call, on_ask);
	return call;
}

static struct call *look(enum interact_action action, size_t index, uint64_t wait_ms)
{
	const struct interact_request request = { .action = action, .wait_ms = wait_ms };
	struct err err;
	struct call *call = session_interact(session, &request, on_done, &answers[index], &err);

	if (call == NULL)
		fail_msg("%s", err.msg);
	session_call_on_wait(call, on_ask);
	return call;
}

static bool has_written(void)
{
	cleanup_free char *line = session->language_count > 0
					  ? runner_last_line(session->languages[0].runner)
					  : xstrdup("");

	return line[0] != '\0';
}

/* Runs code that writes something and runs on; its call is answered as running. */
static void start_detached(const char *code, size_t index)
{
	(void)start(code, index, 2000);
	fixture_until(has_written());
	fixture_pass(2000);
	fixture_until(answers[index].count == 1);
	assert_int_equal(answers[index].state, CELL_RUNNING);
}

static void a_call_is_answered_at_its_wait_and_the_rest_is_told_to_who_looks(void **state)
{
	const struct interact_request typed = {
		.action = INTERACT_TYPE, .typing = TYPE_LINE, .text = "", .wait_ms = 60000
	};
	struct err err;

	(void)state;
	start_detached("print=one\\n\nread\nprint=two\\n\nresult=42\ndone", 0);
	assert_string_equal(answers[0].text, "one\n");
	assert_non_null(session_interact(session, &typed, on_done, &answers[1], &err));
	fixture_until(answers[1].count == 1);
	assert_int_equal(answers[1].state, CELL_DONE);
	assert_string_equal(answers[1].text, "two\n");
	assert_int_equal(answers[1].number, answers[0].number);
}

static void code_that_finds_one_running_on_is_refused_in_the_next_turn(void **state)
{
	(void)state;
	start_detached("print=go\nwait\ndone", 0);
	(void)start("done", 1, 60000);
	assert_int_equal(answers[1].count, 0); /* never before session_interact has returned */
	fixture_pass(0);
	assert_int_equal(answers[1].count, 1);
	assert_int_equal(answers[1].state, CELL_NOT_STARTED);
	assert_non_null(strstr(answers[1].problem, "cell 1 has been running for "));
}

static void a_queued_call_is_withdrawn_when_its_wait_is_over(void **state)
{
	(void)state;
	(void)start("print=go\nwait\ndone", 0, 3600000);
	fixture_until(str_eq(session_state(session), "running"));
	(void)start("print=never\ndone", 1, 500);
	fixture_pass(499);
	assert_int_equal(answers[1].count, 0);
	fixture_pass(1);
	assert_int_equal(answers[1].state, CELL_NOT_STARTED);
	(void)look(INTERACT_INTERRUPT, 2, 60000);
	fixture_until(answers[0].count == 1 && answers[2].count == 1);
	assert_int_equal(answers[0].state, CELL_INTERRUPTED);
	assert_true(answers[2].bare); /* its output was in the answer to its own call */
}

static void what_was_told_to_nobody_opens_the_next_answer_the_newest_of_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < SESSION_UNREPORTED_MAX + 2; i++) {
		struct call *call = start("print=go\nwait\ndone", ANSWERS_MAX - 1, 3600000);

		fixture_until(str_eq(session_state(session), "running"));
		session_call_cancel(call);
		fixture_until(!session_busy(session));
	}
	(void)start("done", 0, 60000);
	fixture_until(answers[0].count == 1);
	assert_int_equal(answers[0].earlier_count, SESSION_UNREPORTED_MAX);
	for (size_t i = 0; i < SESSION_UNREPORTED_MAX; i++)
		assert_int_equal(answers[0].earlier[i], 3 + i);
	(void)start("done", 1, 60000);
	fixture_until(answers[1].count == 1);
	assert_int_equal(answers[1].earlier_count, 0);
}

static uint64_t written;

static uint64_t count_written(void *owner)
{
	(void)owner;
	return written;
}

/* Runs a cell whose answer takes 10 bytes. */
static void answer_one(size_t at)
{
	written += 10;
	(void)start("done", at, 60000);
	fixture_until(answers[at].count == 1);
}

/* Answers more cells than are kept. */
static void answer_many(void)
{
	fixture.host.written = count_written;
	written = 0;
	for (size_t i = 0; i < SESSION_ANSWERED_MAX + 2; i++) {
		answer_one(0);
		answers[0].count = 0;
	}
}

static void answers_that_the_last_client_may_not_have_read_come_again(void **state)
{
	(void)state;
	answer_many();
	session_report_again(session, 40); /* cells 1 to 4 were read */
	answer_one(1);
	assert_int_equal(answers[1].earlier_count, 2);
	assert_int_equal(answers[1].earlier[0], 5);
	assert_int_equal(answers[1].earlier[1], 6);
	session_report_again(session, 0); /* the answer with 5, 6 and 7 has not been read either */
	answer_one(2);
	assert_int_equal(answers[2].earlier_count, 3);
	session_report_again(session, written);
	answer_one(3);
	assert_int_equal(answers[3].earlier_count, 0);
	session_report_again(session, 0);
	fixture.host.written = NULL;
}

static void of_answers_that_come_again_only_the_last_are_kept(void **state)
{
	struct call *call;

	(void)state;
	answer_many();
	call = start("print=go\nwait\ndone", ANSWERS_MAX - 1, 3600000);
	fixture_until(str_eq(session_state(session), "running"));
	session_call_cancel(call);
	fixture_until(!session_busy(session));
	session_report_again(session, 0);
	answer_one(1);
	assert_int_equal(answers[1].earlier_count, SESSION_UNREPORTED_MAX);
	for (size_t i = 0; i < SESSION_UNREPORTED_MAX; i++)
		assert_int_equal(answers[1].earlier[i], 4 + i);
	fixture.host.written = NULL;
}

/* The answer that is due in the next turn also reports the earlier cells. */
static void a_session_that_ends_answers_a_refusal_beside_what_is_unreported(void **state)
{
	struct call *cancelled = start("print=go\nwait\ndone", ANSWERS_MAX - 1, 3600000);
	struct err err = { 0 };

	(void)state;
	fixture_until(str_eq(session_state(session), "running"));
	session_call_cancel(cancelled);
	fixture_until(!session_busy(session));
	(void)start("print=go\nwait\ndone", 0, 0);
	fixture_until(answers[0].count == 1);
	(void)start("done", 1, 60000);
	(void)start("done", 2, 60000);
	(void)look(INTERACT_WAIT, 3, 60000);
	session_free(session, "it was destroyed on request");
	for (size_t i = 1; i <= 3; i++)
		assert_int_equal(answers[i].count, 1);
	session = session_new(&fixture.host, "test", 2, NULL, NULL, &err);
}

static void what_did_not_begin_is_stopped_before_it_does(void **state)
{
	static const enum interact_action stops[] = { INTERACT_INTERRUPT, INTERACT_TERMINATE,
						      INTERACT_KILL };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		size_t first = 2 * i;

		(void)start("print=go\nwait\ndone", first, 60000);
		assert_string_not_equal(session_state(session), "running");
		(void)look(stops[i], first + 1, 60000);
		fixture_until(answers[first].count == 1 && answers[first + 1].count == 1);
		assert_int_equal(answers[first].state, CELL_NOT_STARTED);
		assert_non_null(strstr(answers[first].problem, "stopped before it began"));
	}
	(void)start("done", 6, 60000); /* the interpreter starts all the same */
	fixture_until(answers[6].count == 1);
	assert_int_equal(answers[6].state, CELL_DONE);
}

static void who_stops_what_was_answered_and_did_not_begin_is_told(void **state)
{
	(void)state;
	(void)start("print=go\nwait\ndone", 0, 0);
	fixture_pass(0);
	assert_int_equal(answers[0].state, CELL_RUNNING);
	(void)look(INTERACT_INTERRUPT, 1, 60000);
	fixture_until(answers[1].count == 1);
	assert_int_equal(answers[1].state, CELL_NOT_STARTED);
	assert_non_null(strstr(answers[1].problem, "stopped before it began"));
}

static void why_answered_code_could_not_start_is_told(void **state)
{
	static const char *const broken[] = { "exit=3", NULL };

	(void)state;
	fixture_start_with(broken);
	(void)start("done", 0, 0);
	fixture_until(answers[0].count == 1);
	assert_int_equal(answers[0].state, CELL_RUNNING);
	(void)look(INTERACT_WAIT, 1, 60000);
	fixture_until(answers[1].count == 1);
	assert_int_equal(answers[1].state, CELL_NOT_STARTED);
	assert_non_null(strstr(answers[1].problem, "exited with code 3"));
}

static void a_look_when_nothing_ran_is_an_error(void **state)
{
	const struct interact_request request = { .action = INTERACT_WAIT };
	struct err err = { 0 };

	(void)state;
	assert_null(session_interact(session, &request, on_done, &answers[0], &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void typing_when_nothing_runs_is_an_error(void **state)
{
	const struct interact_request request = { .action = INTERACT_TYPE,
						  .text = "x",
						  .text_len = 1 };
	struct err err = { 0 };

	(void)state;
	(void)start("done", 0, 60000);
	fixture_until(answers[0].count == 1);
	assert_null(session_interact(session, &request, on_done, &answers[1], &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.msg, "no fake cell runs"));
}

static void a_cancelled_look_leaves_the_cell_alone(void **state)
{
	(void)state;
	start_detached("print=go\nwait\ndone", 0);
	session_call_cancel(look(INTERACT_WAIT, 1, 60000));
	for (int i = 0; i < 5; i++)
		fixture_pass(1000);
	rest(fixture.loop);
	assert_int_equal(answers[1].count, 0);
	assert_string_equal(session_state(session), "running");
}

/* ---- input that the user may give ---- */

static enum input_wait looked;
static bool has_looked;

static void on_looked(struct interpreter *interpreter, const struct input_state *look)
{
	(void)interpreter;
	looked = look->wait;
	has_looked = true;
}

static bool is_reading(void)
{
	has_looked = false;
	interpreter_check_input(session->languages[0].runner->interpreter, on_looked);
	fixture_until(has_looked);
	return looked == INPUT_AWAITED;
}

/* The clock stands until the code waits, then runs until that is noticed. */
#define until_noticed(condition)                                                                   \
	do {                                                                                       \
		fixture_until(has_written());                                                      \
		fixture_until(is_reading());                                                       \
		patience_do_until((fixture_pass(50), rest(fixture.loop)), condition);              \
	} while (0)

static void until_asked(int count)
{
	until_noticed(asked_count >= count);
	assert_int_equal(asked_count, count);
}

static void an_answer_is_typed_to_the_wait_that_it_is_for(void **state)
{
	struct call *call = start("print=name? \nread\nprint=!\\n\ndone", 0, 3600000);

	(void)state;
	until_asked(1);
	assert_int_equal(asked.cell, 1);
	assert_int_equal(asked.number, 1);
	assert_int_equal(asked.generation, 1);
	assert_ptr_equal(asked.language, &fixture_language);
	session_call_answer(call, &asked, "Eve", 3);
	fixture_until(answers[0].count == 1);
	assert_int_equal(answers[0].state, CELL_DONE);
	assert_string_equal(answers[0].text, "name? Eve\n!\n");
	assert_int_equal(withdrawn_count, 0);
}

static void an_answer_for_another_wait_types_nothing(void **state)
{
	struct call *call = start("print=name? \nread\ndone", 0, 3600000);
	struct wait_name other;

	(void)state;
	until_asked(1);
	other = asked;
	other.number++;
	session_call_answer(call, &other, "Eve", 3);
	fixture_pass(0);
	assert_int_equal(answers[0].count, 1);
	assert_int_equal(answers[0].state, CELL_WAITING);
	assert_non_null(strstr(answers[0].note, "too late"));
}

static void who_gives_no_answer_leaves_the_cell_to_the_model(void **state)
{
	struct call *call = start("print=name? \nread\ndone", 0, 3600000);

	(void)state;
	until_asked(1);
	session_call_unanswered(call, "nobody was there");
	fixture_pass(0);
	assert_int_equal(answers[0].state, CELL_WAITING);
	assert_string_equal(answers[0].note, "nobody was there");
}

static void the_wait_of_a_call_holds_while_somebody_is_asked(void **state)
{
	(void)start("print=name? \nread\ndone", 0, 20000);

	(void)state;
	until_asked(1);
	fixture_pass(20000);
	assert_int_equal(answers[0].count, 1);
	assert_int_equal(answers[0].state, CELL_WAITING);
}

static void a_question_is_withdrawn_when_its_wait_is_over(void **state)
{
	const struct interact_request request = { .action = INTERACT_TYPE,
						  .typing = TYPE_LINE,
						  .text = "me",
						  .text_len = 2,
						  .wait_ms = 9000 };
	struct err err;

	(void)state;
	(void)start("print=name? \nread\ndone", 0, 3600000);
	until_asked(1);
	assert_non_null(session_interact(session, &request, on_done, &answers[1], &err));
	assert_int_equal(withdrawn_count, 1);
	fixture_until(answers[0].count == 1);
	assert_int_equal(answers[0].state, CELL_DONE);
}

static void who_cannot_ask_is_answered(void **state)
{
	(void)state;
	can_ask = false;
	(void)start("print=name? \nread\ndone", 0, 3600000);
	until_noticed(answers[0].count > 0);
	assert_int_equal(answers[0].state, CELL_WAITING);
}

#define CALL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CALL_TEST(a_call_is_answered_at_its_wait_and_the_rest_is_told_to_who_looks),
		CALL_TEST(code_that_finds_one_running_on_is_refused_in_the_next_turn),
		CALL_TEST(a_queued_call_is_withdrawn_when_its_wait_is_over),
		CALL_TEST(what_was_told_to_nobody_opens_the_next_answer_the_newest_of_it),
		CALL_TEST(answers_that_the_last_client_may_not_have_read_come_again),
		CALL_TEST(of_answers_that_come_again_only_the_last_are_kept),
		CALL_TEST(a_session_that_ends_answers_a_refusal_beside_what_is_unreported),
		CALL_TEST(what_did_not_begin_is_stopped_before_it_does),
		CALL_TEST(who_stops_what_was_answered_and_did_not_begin_is_told),
		CALL_TEST(why_answered_code_could_not_start_is_told),
		CALL_TEST(a_look_when_nothing_ran_is_an_error),
		CALL_TEST(typing_when_nothing_runs_is_an_error),
		CALL_TEST(a_cancelled_look_leaves_the_cell_alone),
		CALL_TEST(an_answer_is_typed_to_the_wait_that_it_is_for),
		CALL_TEST(an_answer_for_another_wait_types_nothing),
		CALL_TEST(who_gives_no_answer_leaves_the_cell_to_the_model),
		CALL_TEST(the_wait_of_a_call_holds_while_somebody_is_asked),
		CALL_TEST(a_question_is_withdrawn_when_its_wait_is_over),
		CALL_TEST(who_cannot_ask_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
