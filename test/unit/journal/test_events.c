/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/crc.h"
#include "base/fd.h"
#include "base/mem.h"
#include "journal/events.h"
#include "scratch.h"

static struct scratch scratch;
static struct err err;

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_release(&scratch);
	return 0;
}

static struct event_place add(struct events *events, const char *fields, const char *data)
{
	struct event_place place;

	if (events_add(events, fields, data, strlen(data), &place, &err) < 0)
		fail_msg("%s", err.msg);
	return place;
}

/* The events of the file in the scratch folder. */
static size_t count(void)
{
	struct events *events = events_open(scratch.fd, &err);
	cleanup_event struct event event = EVENT_INIT;
	struct event_place place = { .len = 0 };
	size_t n = 0;

	if (events == NULL)
		fail_msg("%s", err.msg);
	while (events_next(events, &place, &event))
		n++;
	events_free(events);
	return n;
}

/* RFC 3720, section B.4. */
static void the_checksum_is_that_of_the_standard(void **state)
{
	unsigned char bytes[32];

	(void)state;
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(crc_32c(0, bytes, sizeof(bytes)), 0x8a9136aaU);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(crc_32c(0, bytes, sizeof(bytes)), 0x62a8ab43U);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(crc_32c(0, bytes, sizeof(bytes)), 0x46dd794eU);
	for (size_t cut = 0; cut <= sizeof(bytes); cut++)
		assert_int_equal(crc_32c(crc_32c(0, bytes, cut), bytes + cut, sizeof(bytes) - cut),
				 0x46dd794eU);
	for (size_t start = 0; start < 9; start++)
		for (size_t len = 0; len <= sizeof(bytes) - start; len++)
			assert_int_equal(crc_32c(7, bytes + start, len),
					 crc_32c_by_tables(7, bytes + start, len));
	assert_int_equal(crc_32c(0, "", 0), 0);
}

static void an_event_is_read_back(void **state)
{
	struct events *events = events_new(scratch.fd);
	cleanup_event struct event event = EVENT_INIT;
	struct event_place first;
	struct event_place second;

	(void)state;
	first = add(events, "{\"a\":1}", "x\ny");
	second = add(events, "{}", "");
	assert_int_equal(second.offset, first.offset + first.len);
	assert_int_equal(events_size(events), second.offset + second.len);
	assert_int_equal(first.len, events_cost(7, 3));
	assert_int_equal(events_read(events, &second, &event, &err), 0);
	assert_int_equal(event.data_len, 0);
	assert_int_equal(events_read(events, &first, &event, &err), 0);
	assert_int_equal(json_integer_value(json_object_get(event.fields, "a")), 1);
	assert_int_equal(event.data_len, 3);
	assert_memory_equal(event.data, "x\ny", 3);
	second.len++;
	assert_int_equal(events_read(events, &second, &event, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	events_free(events);
}

static void no_file_is_made_before_the_first_event(void **state)
{
	struct events *events = events_new(scratch.fd);
	struct event_place nowhere = { .len = 0 };
	cleanup_event struct event event = EVENT_INIT;

	(void)state;
	assert_false(scratch_exists(scratch.fd, EVENTS_FILE));
	assert_false(events_next(events, &nowhere, &event));
	assert_null(events_open(scratch.fd, &err));
	assert_int_equal(err.code, ERR_SYSTEM);
	events_free(events);
}

/* Wherever a killed server's file ends, its whole events are there, and nothing is added to it. */
static void of_a_torn_file_the_whole_events_are_read(void **state)
{
	struct events *events = events_new(scratch.fd);
	struct event_place places[3];
	struct event_place added;
	cleanup_free char *whole = NULL;
	size_t size;

	(void)state;
	places[0] = add(events, "{\"n\":1}", "one");
	places[1] = add(events, "{\"n\":2}", "");
	places[2] = add(events, "{\"n\":3}", "three");
	size = (size_t)events_size(events);
	events_free(events);
	whole = scratch_read(scratch.fd, EVENTS_FILE);
	for (size_t cut = (size_t)places[0].offset; cut <= size; cut++) {
		size_t expected = 0;
		cleanup_fd int fd = openat(scratch.fd, EVENTS_FILE, O_WRONLY | O_TRUNC | O_CLOEXEC);

		assert_int_equal(fd_write_all(fd, whole, cut, &err), 0);
		for (size_t i = 0; i < 3; i++)
			expected += places[i].offset + places[i].len <= cut;
		assert_int_equal(count(), expected);
		events = events_open(scratch.fd, &err);
		assert_int_equal(events_add(events, "{}", "", 0, &added, &err), -1);
		events_free(events);
	}
}

static void an_event_with_a_changed_byte_is_the_end(void **state)
{
	struct events *events = events_new(scratch.fd);
	struct event_place place = add(events, "{\"n\":1}", "one");
	cleanup_event struct event event = EVENT_INIT;
	cleanup_free char *whole = NULL;
	cleanup_fd int fd = -1;

	(void)state;
	whole = scratch_read(scratch.fd, EVENTS_FILE);
	fd = openat(scratch.fd, EVENTS_FILE, O_WRONLY | O_CLOEXEC);
	for (uint64_t at = place.offset; at < place.offset + place.len; at++) {
		char changed = (char)(whole[at] ^ 1);
		bool line_end = whole[at] == '\n' && at > place.offset + 26;

		assert_int_equal(pwrite(fd, &changed, 1, (off_t)at), 1);
		/* The line ends behind fields and data are for people's eyes. */
		assert_int_equal(events_read(events, &place, &event, &err), line_end ? 0 : -1);
		assert_int_equal(pwrite(fd, &whole[at], 1, (off_t)at), 1);
	}
	assert_int_equal(events_read(events, &place, &event, &err), 0);
	events_free(events);
}

static void a_file_of_another_format_is_refused(void **state)
{
	(void)state;
	scratch_write(scratch.fd, EVENTS_FILE, "ptycell events 2\n");
	assert_null(events_open(scratch.fd, &err));
	assert_int_equal(err.code, ERR_INVALID);
	scratch_write(scratch.fd, EVENTS_FILE, "");
	assert_null(events_open(scratch.fd, &err));
}

static void what_is_too_large_is_refused(void **state)
{
	struct events *events = events_new(scratch.fd);
	struct event_place place;

	(void)state;
	assert_int_equal(events_add(events, "{}", "", (size_t)EVENTS_LEN_MAX + 1, &place, &err),
			 -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_false(scratch_exists(scratch.fd, EVENTS_FILE));
	events_free(events);
}

/* Reads an event that was held, and the next one. */
static void assert_read(const struct events *events, const struct event_place *place,
			const char *data)
{
	cleanup_event struct event event = EVENT_INIT;

	if (events_read(events, place, &event, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(event.data, data);
}

static void a_held_event_is_written_with_the_next_one(void **state)
{
	struct events *events = events_new(scratch.fd);
	struct event_place held;
	struct event_place next;

	(void)state;
	add(events, "{\"n\":1}", "one");
	assert_int_equal(events_hold(events, "{\"n\":2}", "two", 3, &held, &err), 0);
	assert_int_equal(count(), 1);
	assert_int_equal(events_size(events), held.offset + held.len);
	assert_read(events, &held, "two\n");
	next = add(events, "{\"n\":3}", "three");
	assert_int_equal(next.offset, held.offset + held.len);
	assert_int_equal(count(), 3);
	assert_read(events, &held, "two\n");
	assert_read(events, &next, "three\n");
	events_free(events);
}

static void a_held_event_waits_when_the_next_one_fails(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct events *events = events_new(scratch.fd);
	struct event_place held;
	struct event_place place;
	struct rlimit before;
	struct rlimit small;

	(void)state;
	add(events, "{\"n\":1}", "one");
	assert_int_equal(events_hold(events, "{\"n\":2}", "two", 3, &held, &err), 0);
	assert_int_equal(sigaction(SIGXFSZ, &ignore, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = (rlim_t)(held.offset + held.len + 10);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(events_add(events, "{\"n\":3}", "three", 5, &place, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_read(events, &held, "two\n");
	place = add(events, "{}", "");
	assert_int_equal(place.offset, held.offset + held.len);
	assert_int_equal(count(), 3);
	assert_read(events, &held, "two\n");
	events_free(events);
}

#define EVENTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENTS_TEST(the_checksum_is_that_of_the_standard),
		EVENTS_TEST(an_event_is_read_back),
		EVENTS_TEST(no_file_is_made_before_the_first_event),
		EVENTS_TEST(of_a_torn_file_the_whole_events_are_read),
		EVENTS_TEST(an_event_with_a_changed_byte_is_the_end),
		EVENTS_TEST(a_file_of_another_format_is_refused),
		EVENTS_TEST(what_is_too_large_is_refused),
		EVENTS_TEST(a_held_event_is_written_with_the_next_one),
		EVENTS_TEST(a_held_event_waits_when_the_next_one_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
