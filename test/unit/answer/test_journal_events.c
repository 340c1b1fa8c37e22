/* SPDX-License-Identifier: MIT */
/* test_journal_events.c - events between cells, as a made-up session gives them to the journal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "answer/audit_events.h"
#include "answer/journal_events.h"
#include "base/mem.h"
#include "config/settings.h"
#include "install/broker.h"
#include "journal/journal.h"
#include "json/make.h"
#include "runtime/language.h"
#include "scratch.h"
#include "session/session.h"

static struct scratch scratch;
static struct journal *journal;
static struct session *const session = (struct session *)&scratch; /* nobody looks into it */
static int kept;

struct journal *session_journal(const struct session *s)
{
	(void)s;
	return journal;
}

const char *session_id(const struct session *s)
{
	(void)s;
	return "s";
}

const struct runner *session_runner(const struct session *s, size_t index)
{
	(void)s;
	(void)index;
	return NULL;
}

void session_keep_inputs(struct session *s)
{
	(void)s;
	kept++;
}

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	journal = journal_new(scratch.fd, "s", 1 << 20, 1 << 20, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	journal_free(journal);
	scratch_release(&scratch);
	kept = 0;
	return 0;
}

/* The journal's file has these words. */
static void assert_event(const char *words)
{
	cleanup_free char *text = scratch_read(scratch.fd, "events");

	if (strstr(text, words) == NULL)
		fail_msg("%s", text);
}

static void an_upload_is_noted_with_its_digest_and_kept(void **state)
{
	struct audit_import upload = {
		.from = "content", .path = "input/a", .size = 3, .content = "abc"
	};

	(void)state;
	json_decref(journal_events_import(session, &upload));
	assert_event("\"from\":\"content\",\"path\":\"input/a\",\"size_bytes\":3,\"sha256\":\"ba78"
		     "16bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}");
	assert_int_equal(kept, 1);
	upload = (struct audit_import){
		.from = "url", .source = "http://h/b", .path = "input/b", .size = 4, .sha256 = "00"
	};
	kept = 0;
	json_decref(journal_events_import(session, &upload));
	assert_event(
		"\"from\":\"url\",\"source\":\"http://h/b\",\"path\":\"input/b\",\"size_bytes\":4,"
		"\"sha256\":\"00\"}");
	kept = 0;
	upload.problem = "it is gone";
	json_decref(journal_events_import(session, &upload));
	assert_int_equal(kept, 0);
	assert_event("\"event\":\"upload\"");
	assert_event("\"sha256\":\"00\",\"problem\":\"it is gone\"}");
}

static void record(const struct broker_event *event)
{
	cleanup_json json_t *fields = journal_events_installation(event);

	journal_events_packages(session, fields);
}

static void installed_packages_are_pairs(void **state)
{
	cleanup_json json_t *result =
		json_pack("{s:[{s:s, s:s}]}", "packages", "name", "alpha", "version", "1.0");
	cleanup_json json_t *nothing = json_pack("{s:[]}", "packages");
	struct broker_event event = { .language = language_find("python"), .result = result };

	(void)state;
	event.result = nothing;
	record(&event);
	assert_event("\"language\":\"python\",\"packages\":[]}");
	event.result = result;
	record(&event);
	assert_event("\"language\":\"python\",\"packages\":[[\"alpha\",\"1.0\"]]");
	event = (struct broker_event){ .language = event.language, .problem = "no such package" };
	record(&event);
	assert_event("\"language\":\"python\",\"problem\":\"no such package\"}");
}

static void a_removal_names_what_was_removed(void **state)
{
	cleanup_json json_t *result = json_pack("{s:[], s:[{s:s, s:s}]}", "packages", "removed",
						"name", "alpha", "version", "1.0");

	(void)state;
	record(&(struct broker_event){ .language = language_find("python"), .result = result });
	assert_event("\"packages\":[],\"removed\":[\"alpha 1.0\"]}");
}

static void a_session_names_its_secrets_and_its_losses(void **state)
{
	char key[] = "KEY";
	char lang[] = "LANG";
	struct user_env_variable variables[] = { { .name = key, .secret = true },
						 { .name = lang } };
	struct settings settings = { .user_env = { .items = variables, .count = 2 } };
	const struct session_event made = { .kind = SESSION_MADE };
	const struct session_event reset = { .kind = SESSION_RESET,
					     .language = language_find("python"),
					     .why = "it was\x1b[2J killed" };

	(void)state;
	journal_events_session(session, &made, &settings, "1.2");
	assert_int_equal(journal_bytes(journal), 0);
	journal_events_session(session, &reset, &settings, "1.2");
	assert_event("\"server\":\"1.2\",\"secrets\":[\"KEY\"]}");
	assert_event("\"event\":\"lost\"");
	assert_event("\"language\":\"python\",\"why\":\"it was");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_upload_is_noted_with_its_digest_and_kept, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(installed_packages_are_pairs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_removal_names_what_was_removed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_session_names_its_secrets_and_its_losses, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
