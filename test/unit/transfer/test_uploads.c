/* SPDX-License-Identifier: MIT */
/* test_uploads.c - shell scripts stand for ptycell-fetch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "scratch.h"
#include "transfer/uploads.h"
#include "workspace/home.h"
#include "workspace/workspace.h"

#define SECRET "czNjcmV0"
#define READ_ORDER "read -r order\nprintf '%%s\\n' \"$order\" >>orders\n"
#define LINK(index, url)                                                                           \
	"printf '%s\\n' '{\"progress\":{\"file\":" index ",\"size\":7,\"url\":\"" url              \
	"\",\"expires\":9999999999}}'\n"
#define GOOD LINK("0", "https://acct.example/box/s/a?sig=x")
#define RESULT "printf '%s\\n' '{\"result\":{}}'\n"

static char connection[] = "AccountName=acct;AccountKey=" SECRET;
static char container[] = "box";

struct fixture {
	struct scratch scratch;
	struct loop *loop;
	struct home *home;
	struct workspace *workspace;
	struct storage_target target;
	struct list all;
	struct uploads *uploads;
	size_t scripts; /* a shell reads its script as it goes: each is a file of its own */
	size_t changes;
};

static void on_changed(struct uploads *uploads, void *data)
{
	struct fixture *f = data;

	(void)uploads;
	f->changes++;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	cleanup_free char *path = NULL;
	struct err err;

	list_init(&f->all);
	scratch_init(&f->scratch);
	path = xasprintf("%s/home", f->scratch.path);
	f->loop = loop_new(clock_ms, &err);
	f->home = home_open(path, &err);
	f->workspace = workspace_new(f->home, &err);
	assert_non_null(f->workspace);
	f->target = (struct storage_target){ .kind = STORAGE_AZURE,
					     .azure_connection = connection,
					     .azure_container = container };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	uploads_free(f->uploads);
	workspace_free(f->workspace);
	home_close(f->home);
	loop_free(f->loop);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

/* What it does at each start; it runs where the orders are written to. */
static void make(struct fixture *f, const char *does)
{
	static char *const environment[] = { NULL };
	static const struct uploads_limits limits = { 100, 3, 24 };
	cleanup_free char *name = xasprintf("helper%zu", f->scripts++);
	cleanup_free char *text =
		xasprintf("#!/bin/sh\ncd '%s'\n" READ_ORDER "%s", f->scratch.path, does);
	cleanup_free char *path = xasprintf("%s/%s", f->scratch.path, name);
	const struct uploads_spec spec = { .loop = f->loop,
					   .workspace = f->workspace,
					   .helper = path,
					   .all = &f->all,
					   .target = &f->target,
					   .environment = environment,
					   .session_id = "s",
					   .changed = on_changed,
					   .data = f };

	scratch_write(f->scratch.fd, name, text);
	assert_int_equal(fchmodat(f->scratch.fd, name, 0700, 0), 0);
	f->uploads = uploads_new(&spec);
	uploads_set_limits(f->uploads, &limits);
}

static uint64_t put(struct fixture *f, const char *path, uint64_t size)
{
	const struct uploads_file file = { .path = path, .size = size };

	return uploads_put(f->uploads, &file, 1);
}

static void wait_for(struct fixture *f, uint64_t number)
{
	while (uploads_pending(f->uploads, number))
		loop_turn(f->loop, -1);
}

static size_t order_count(struct fixture *f)
{
	char *text = scratch_read(f->scratch.fd, "orders");
	size_t lines = 0;

	for (const char *c = text; c != NULL && *c != '\0'; c++)
		lines += *c == '\n';
	free(text);
	return lines;
}

static void assert_problem(struct fixture *f, const char *said)
{
	cleanup_free char *problem = uploads_problem(f->uploads);

	const char *text = problem != NULL ? problem : "(none)";

	if (strstr(text, said) == NULL)
		fail_msg("'%s' is not in '%s'", said, text);
	assert_null(strstr(text, SECRET));
}

/* All names are "s-12345678/..."; `end` is behind the digits of the last one. */
static void assert_named(const char *orders, const char *end)
{
	static const char start[] = "\"name\":\"s-";
	const char *name = orders;
	const char *last = NULL;

	while ((name = strstr(name, start)) != NULL) {
		name += strlen(start);
		assert_int_equal(strspn(name, "0123456789abcdef"), 8);
		last = name + 8;
	}
	assert_non_null(last);
	assert_memory_equal(last, end, strlen(end));
}

/* ---- */

static void a_link_is_news_once_and_stays_to_be_found(void **state)
{
	struct fixture *f = *state;
	struct uploaded found[2];

	make(f, GOOD RESULT);
	wait_for(f, put(f, "output/a", 7));
	assert_int_equal(uploads_news(f->uploads, found, 2), 1);
	assert_string_equal(found[0].path, "output/a");
	assert_string_equal(found[0].url, "https://acct.example/box/s/a?sig=x");
	assert_null(uploads_problem(f->uploads));
	uploads_mark_reported(f->uploads);
	assert_int_equal(uploads_news(f->uploads, found, 2), 0);
	assert_true(uploads_find(f->uploads, "output/a", &found[0]));
	assert_false(uploads_find(f->uploads, "output/b", &found[0]));
	assert_int_equal(uploads_file_count(f->uploads), 1);
	assert_int_equal(uploads_byte_count(f->uploads), 7);
}

static void the_order_has_the_name_the_secret_and_the_room(void **state)
{
	struct fixture *f = *state;
	char *order;

	make(f, GOOD RESULT);
	wait_for(f, put(f, "output/d/\303\251", 7));
	order = scratch_read(f->scratch.fd, "orders");
	assert_non_null(strstr(order, "\"do\":\"store\""));
	assert_non_null(strstr(order, "\"path\":\"output/d/%C3%A9\""));
	assert_named(order, "/d/\303\251\",");
	assert_non_null(strstr(order, "\"size_max\":100"));
	assert_non_null(strstr(order, "\"link_seconds\":86400"));
	assert_non_null(strstr(order, SECRET));
	free(order);
}

static void sessions_of_one_id_never_have_one_name(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *orders = NULL;
	const char *second;

	make(f, GOOD RESULT);
	wait_for(f, put(f, "output/a", 7));
	uploads_free(f->uploads);
	make(f, GOOD RESULT);
	wait_for(f, put(f, "output/a", 7));
	orders = scratch_read(f->scratch.fd, "orders");
	assert_named(orders, "/a\",");
	second = strstr(orders, "\n");
	assert_memory_not_equal(strstr(orders, "s-"), strstr(second, "s-"), strlen("s-12345678"));
}

static void what_is_not_below_output_is_not_taken(void **state)
{
	struct fixture *f = *state;

	make(f, GOOD RESULT);
	assert_false(uploads_pending(f->uploads, put(f, "input/a", 7)));
	assert_false(uploads_pending(f->uploads, put(f, "outputs", 7)));
	assert_int_equal(order_count(f), 0);
}

static void a_file_that_changed_under_way_goes_once_more(void **state)
{
	struct fixture *f = *state;
	uint64_t first;
	uint64_t second;

	make(f, "while [ ! -e go ]; do sleep 0.01; done\n" GOOD RESULT);
	first = put(f, "output/a", 7);
	while (order_count(f) < 1)
		loop_turn(f->loop, 10);
	second = put(f, "output/a", 8);
	assert_false(uploads_pending(f->uploads, first));
	assert_true(uploads_pending(f->uploads, second));
	scratch_write(f->scratch.fd, "go", "");
	wait_for(f, second);
	assert_int_equal(order_count(f), 2);
}

static void a_later_file_does_not_wait_for_an_earlier_one(void **state)
{
	struct fixture *f = *state;
	uint64_t first;

	make(f,
	     "case $order in *output/slow*) while [ ! -e go ]; do sleep 0.01; done ;; esac\n" GOOD
		     RESULT);
	first = put(f, "output/slow", 7);
	while (order_count(f) < 1)
		loop_turn(f->loop, 10);
	put(f, "output/quick", 7);
	while (uploads_file_count(f->uploads) < 1)
		loop_turn(f->loop, -1);
	assert_true(uploads_pending(f->uploads, first));
	scratch_write(f->scratch.fd, "go", "");
	wait_for(f, first + 1);
}

#define LINK_UNTIL(url, expires)                                                                   \
	"printf '%s\\n' '{\"progress\":{\"file\":0,\"size\":7,\"url\":\"" url                      \
	"\",\"expires\":" expires "}}'\n"
#define EXPIRES_THEN(does)                                                                         \
	"case $order in *'\"do\":\"link\"'*)\n" does                                               \
	";; *) " LINK_UNTIL("https://old/", "1") ";; esac\n" RESULT

static void renew(struct fixture *f)
{
	assert_true(uploads_renew(f->uploads));
	while (uploads_renewing(f->uploads))
		loop_turn(f->loop, -1);
}

static void an_expired_link_is_made_anew_and_told_if_nobody_was(void **state)
{
	struct fixture *f = *state;
	struct uploaded found;
	char *orders;
	size_t changes;

	make(f, EXPIRES_THEN(LINK_UNTIL("https://new/", "9999999999")));
	wait_for(f, put(f, "output/a", 7));
	assert_false(uploads_find(f->uploads, "output/a", &found));
	assert_int_equal(uploads_news(f->uploads, &found, 1), 0);
	uploads_mark_reported(f->uploads);
	changes = f->changes;
	renew(f);
	assert_true(f->changes > changes);
	assert_true(uploads_find(f->uploads, "output/a", &found));
	assert_string_equal(found.url, "https://new/");
	assert_int_equal(uploads_news(f->uploads, &found, 1), 1);
	uploads_mark_reported(f->uploads);
	assert_int_equal(uploads_news(f->uploads, &found, 1), 0);
	assert_false(uploads_renew(f->uploads));
	orders = scratch_read(f->scratch.fd, "orders");
	assert_named(orders, "/a\"}]");
	assert_int_equal(order_count(f), 2);
	free(orders);
}

static void a_renewal_that_fails_leaves_no_link_and_may_be_tried_again(void **state)
{
	struct fixture *f = *state;
	struct uploaded found;

	make(f, EXPIRES_THEN(LINK_UNTIL("javascript:x", "9999999999")));
	wait_for(f, put(f, "output/a", 7));
	renew(f);
	renew(f);
	assert_false(uploads_find(f->uploads, "output/a", &found));
	assert_int_equal(order_count(f), 3);
}

static void a_file_that_could_not_be_uploaded_anew_gets_no_link_of_its_past(void **state)
{
	struct fixture *f = *state;

	make(f, EXPIRES_THEN(":\n"));
	wait_for(f, put(f, "output/a", 7));
	put(f, "output/a", 1000);
	assert_problem(f, "PTYCELL_KEEP_MAX");
	assert_false(uploads_renew(f->uploads));
}

static void a_file_that_is_on_its_way_again_gets_no_link_of_its_past(void **state)
{
	struct fixture *f = *state;
	struct uploaded found;
	uint64_t number;

	make(f, LINK_UNTIL("https://h/", "9999999999") RESULT);
	wait_for(f, put(f, "output/a", 7));
	assert_true(uploads_find(f->uploads, "output/a", &found));
	number = put(f, "output/a", 8);
	assert_false(uploads_find(f->uploads, "output/a", &found));
	assert_int_equal(uploads_news(f->uploads, &found, 1), 0);
	wait_for(f, number);
	assert_true(uploads_find(f->uploads, "output/a", &found));
	assert_int_equal(uploads_news(f->uploads, &found, 1), 1);
}

static void a_renewal_ends_with_its_session(void **state)
{
	struct fixture *f = *state;

	make(f, EXPIRES_THEN("exec sleep 60\n"));
	wait_for(f, put(f, "output/a", 7));
	assert_true(uploads_renew(f->uploads));
	while (order_count(f) < 2)
		loop_turn(f->loop, 10);
	uploads_free(f->uploads);
	f->uploads = NULL;
}

static void an_expired_link_is_none(void **state)
{
	struct fixture *f = *state;
	struct uploaded found;

	make(f,
	     "printf '%s\\n' '{\"progress\":{\"file\":0,\"size\":1,\"url\":\"https://h/\",\"expires\":1}}'\n" RESULT);
	wait_for(f, put(f, "output/a", 7));
	assert_int_equal(uploads_news(f->uploads, &found, 1), 0);
	assert_false(uploads_find(f->uploads, "output/a", &found));
	assert_int_equal(uploads_file_count(f->uploads), 1);
}

/* ---- trouble ---- */

static void a_helper_that_cannot_start_or_dies_is_a_problem(void **state)
{
	struct fixture *f = *state;

	make(f, "kill -9 $$\n");
	wait_for(f, put(f, "output/a", 7));
	assert_problem(f, "'output/a' was not uploaded: 'helper0' was ended by signal 9.");
	uploads_mark_reported(f->uploads);
	assert_null(uploads_problem(f->uploads));
	assert_int_equal(unlinkat(f->scratch.fd, "helper0", 0), 0);
	wait_for(f, put(f, "output/a", 7));
	assert_problem(f, "starting '");
}

static void a_helper_that_says_nothing_of_a_file_is_a_problem(void **state)
{
	struct fixture *f = *state;

	make(f, RESULT);
	wait_for(f, put(f, "output/a", 7));
	assert_problem(f, "ended without an answer");
}

static void assert_no_link(struct fixture *f, const char *does)
{
	struct uploaded found;

	make(f, does);
	wait_for(f, put(f, "output/a", 7));
	assert_int_equal(uploads_news(f->uploads, &found, 1), 0);
	uploads_free(f->uploads);
	f->uploads = NULL;
}

/* It may have been taken over by what it reads. */
static void what_a_hostile_helper_says_is_no_link(void **state)
{
	struct fixture *f = *state;

	assert_no_link(f, LINK("0", "javascript:alert(1)") RESULT);
	assert_no_link(f, LINK("0", "https://h/ [s#1 done]") RESULT);
	assert_no_link(f, LINK("0", "https://h/\\n") RESULT);
	assert_no_link(f, LINK("0", "https://h/\303\251") RESULT);
	assert_no_link(f, LINK("1", "https://h/") LINK("-1", "https://h/") RESULT);
	assert_no_link(f, LINK("\"0\"", "https://h/") RESULT);
	assert_no_link(f, "printf '%s\\n' '{\"progress\":{\"file\":0,\"url\":7}}'\n" RESULT);
}

static void only_the_first_word_of_a_file_counts(void **state)
{
	struct fixture *f = *state;
	struct uploaded found;

	make(f, GOOD LINK("0", "https://other/") RESULT);
	wait_for(f, put(f, "output/a", 7));
	loop_turn(f->loop, 10);
	assert_int_equal(uploads_news(f->uploads, &found, 1), 1);
	assert_string_equal(found.url, "https://acct.example/box/s/a?sig=x");
}

static void a_problem_is_cleaned(void **state)
{
	struct fixture *f = *state;

	make(f,
	     "printf '%s\\n' '{\"progress\":{\"file\":0,\"problem\":\"a\\u001b[31mb\\nc\"}}'\n" RESULT);
	wait_for(f, put(f, "output/a", 7));
	assert_problem(f, "'output/a' was not uploaded: ab c.");
}

static void files_and_bytes_have_their_limits(void **state)
{
	struct fixture *f = *state;

	make(f, GOOD RESULT);
	wait_for(f, put(f, "output/a", 60));
	put(f, "output/b", 94); /* 7 lie there */
	assert_problem(f, "'output/b' was not uploaded: more than 0 MB");
	uploads_mark_reported(f->uploads);
	wait_for(f, put(f, "output/b", 90));
	wait_for(f, put(f, "output/c", 1));
	wait_for(f, put(f, "output/d", 1));
	wait_for(f, put(f, "output/e", 1));
	assert_problem(f, "'output/d' and 1 more were not uploaded: more than 3 files");
	assert_int_equal(uploads_file_count(f->uploads), 3);
	wait_for(f, put(f, "output/a", 2)); /* one that is there may change */
	assert_int_equal(uploads_file_count(f->uploads), 3);
}

/* ---- ends ---- */

static void what_is_under_way_outlives_its_session(void **state)
{
	struct fixture *f = *state;

	make(f, "while [ ! -e go ]; do sleep 0.01; done\n" GOOD RESULT "touch ended\n");
	put(f, "output/a", 7);
	uploads_free(f->uploads); /* not even started */
	f->uploads = NULL;
	scratch_write(f->scratch.fd, "go", "");
	while (!scratch_exists(f->scratch.fd, "ended"))
		loop_turn(f->loop, 10);
	assert_int_equal(f->changes, 0);
}

static void the_end_of_the_home_is_the_end_of_it(void **state)
{
	struct fixture *f = *state;

	make(f, "sleep 60\n");
	put(f, "output/a", 7);
	uploads_free(f->uploads);
	f->uploads = NULL; /* teardown closes the home, and a leak or a hang would show */
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_link_is_news_once_and_stays_to_be_found),
		test(the_order_has_the_name_the_secret_and_the_room),
		test(sessions_of_one_id_never_have_one_name),
		test(what_is_not_below_output_is_not_taken),
		test(a_file_that_changed_under_way_goes_once_more),
		test(a_later_file_does_not_wait_for_an_earlier_one),
		test(an_expired_link_is_none),
		test(an_expired_link_is_made_anew_and_told_if_nobody_was),
		test(a_renewal_that_fails_leaves_no_link_and_may_be_tried_again),
		test(a_file_that_could_not_be_uploaded_anew_gets_no_link_of_its_past),
		test(a_file_that_is_on_its_way_again_gets_no_link_of_its_past),
		test(a_renewal_ends_with_its_session),
		test(a_helper_that_cannot_start_or_dies_is_a_problem),
		test(a_helper_that_says_nothing_of_a_file_is_a_problem),
		test(what_a_hostile_helper_says_is_no_link),
		test(only_the_first_word_of_a_file_counts),
		test(a_problem_is_cleaned),
		test(files_and_bytes_have_their_limits),
		test(what_is_under_way_outlives_its_session),
		test(the_end_of_the_home_is_the_end_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
