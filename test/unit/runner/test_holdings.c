/* SPDX-License-Identifier: MIT */
/* test_holdings.c - when sessions have room, and which frames are read on when they have none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/util.h"
#include "event/loop.h"
#include "runner/holdings.h"

enum { MB = 1 << 20, FULL = HOLDINGS_MAX / HOLDER_MAX };

struct frame_of {
	struct incoming incoming;
	int resumed;
};

static struct loop *loop;
static struct holdings *holdings;
static struct holder *holders[FULL + 2];

static uint64_t now(void)
{
	return 1000;
}

static void on_resume(struct incoming *incoming)
{
	container_of(incoming, struct frame_of, incoming)->resumed++;
}

static int start(void **state)
{
	struct err err;

	(void)state;
	loop = loop_new(now, &err);
	assert_non_null(loop);
	holdings = holdings_new(loop);
	for (size_t i = 0; i < ARRAY_SIZE(holders); i++)
		holders[i] = holdings_join(holdings);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(holders); i++)
		holdings_leave(holders[i]);
	holdings_free(holdings);
	loop_free(loop);
	return 0;
}

static void fill(size_t bytes)
{
	for (size_t i = 0; i < FULL; i++)
		holdings_take(holders[i], bytes);
}

static void empty(size_t bytes)
{
	for (size_t i = 0; i < FULL; i++)
		holdings_give_back(holders[i], bytes);
}

static void a_holder_has_room_up_to_its_share(void **state)
{
	(void)state;
	assert_true(holdings_has_room(holders[0], HOLDER_MAX));
	assert_false(holdings_has_room(holders[0], HOLDER_MAX + 1));
	holdings_take(holders[0], HOLDER_MAX - 1);
	assert_true(holdings_has_room(holders[0], 1));
	assert_false(holdings_has_room(holders[0], 2));
	assert_true(holdings_has_room(holders[1], HOLDER_MAX));
	holdings_give_back(holders[0], HOLDER_MAX - 1);
	assert_true(holdings_has_room(NULL, SIZE_MAX));
}

static void at_the_sum_each_has_what_is_sure(void **state)
{
	(void)state;
	fill(HOLDER_MAX);
	assert_true(holdings_has_room(holders[FULL], HOLDER_SURE_MAX));
	assert_false(holdings_has_room(holders[FULL], HOLDER_SURE_MAX + 1));
	holdings_take(holders[FULL], HOLDER_SURE_MAX);
	assert_false(holdings_has_room(holders[FULL], 1));
	holdings_give_back(holders[FULL], HOLDER_SURE_MAX);
	empty(HOLDER_MAX);
	assert_true(holdings_has_room(holders[FULL], HOLDER_MAX));
}

static void a_frame_waits_while_its_holder_has_no_room(void **state)
{
	struct frame_of frame = { .incoming.resume = on_resume };

	(void)state;
	holdings_set_incoming(&frame.incoming, holders[0], MB);
	assert_true(holdings_may_grow(&frame.incoming));
	holdings_take(holders[0], HOLDER_MAX - MB);
	assert_false(holdings_may_grow(&frame.incoming));
	holdings_set_incoming(&frame.incoming, holders[0], HOLDER_FRAME_SURE_MAX);
	assert_true(holdings_may_grow(&frame.incoming)); /* the end of a cell always comes */
	holdings_set_incoming(&frame.incoming, holders[0], MB);
	assert_false(holdings_may_grow(&frame.incoming));
	loop_turn(loop, 0);
	assert_int_equal(frame.resumed, 0);
	holdings_give_back(holders[0], HOLDER_MAX - MB);
	loop_turn(loop, 0);
	assert_int_equal(frame.resumed, 1);
	holdings_set_incoming(&frame.incoming, holders[0], 0);
}

/* At the sum the small frames become complete, and make room for the others. */
static void at_the_sum_the_largest_frames_wait(void **state)
{
	struct frame_of large = { .incoming.resume = on_resume };
	struct frame_of small = { .incoming.resume = on_resume };

	(void)state;
	fill(HOLDER_MAX - MB);
	holdings_set_incoming(&large.incoming, holders[FULL], 4 * MB);
	holdings_set_incoming(&small.incoming, holders[FULL + 1], MB);
	assert_false(holdings_may_grow(&large.incoming));
	assert_true(holdings_may_grow(&small.incoming));
	holdings_set_incoming(&small.incoming, holders[FULL + 1], 0);
	assert_false(holdings_may_grow(&large.incoming));
	empty(HOLDER_MAX - MB);
	loop_turn(loop, 0);
	assert_int_equal(large.resumed, 1);
	assert_int_equal(small.resumed, 0);
	holdings_set_incoming(&large.incoming, holders[FULL], 0);
}

static void frames_of_one_size_wait_all_at_the_sum(void **state)
{
	struct frame_of frames[FULL + 2] = { 0 };

	(void)state;
	fill(HOLDER_MAX - MB);
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		frames[i].incoming.resume = on_resume;
		holdings_set_incoming(&frames[i].incoming, holders[i], MB);
	}
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		assert_false(holdings_may_grow(&frames[i].incoming));
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		holdings_set_incoming(&frames[i].incoming, holders[i], 0);
	empty(HOLDER_MAX - MB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_holder_has_room_up_to_its_share, start, stop),
		cmocka_unit_test_setup_teardown(at_the_sum_each_has_what_is_sure, start, stop),
		cmocka_unit_test_setup_teardown(a_frame_waits_while_its_holder_has_no_room, start,
						stop),
		cmocka_unit_test_setup_teardown(at_the_sum_the_largest_frames_wait, start, stop),
		cmocka_unit_test_setup_teardown(frames_of_one_size_wait_all_at_the_sum, start,
						stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
