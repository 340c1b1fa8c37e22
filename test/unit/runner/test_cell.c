/* SPDX-License-Identifier: MIT */
/* test_cell.c - which images and texts a cell accepts, and what it drops when there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "event/loop.h"
#include "runner/cell.h"
#include "runner/holdings.h"

/* The start of a PNG of 640 x 480, which is all that is read of it. */
static const unsigned char png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0,   0, 0,
				     13,   'I', 'H', 'D', 'R',  0,    0,    2,    128, 0, 0,
				     1,    224, 8,   6,   0,    0,    0,    1,    2,   3, 4 };

static size_t image_count(const struct cell *cell)
{
	size_t count = 0;

	for (const struct list *node = cell->images.next; node != &cell->images; node = node->next)
		count++;
	return count;
}

static void a_new_cell_is_empty(void **state)
{
	struct cell *cell = cell_new(14, "python");

	(void)state;
	assert_int_equal(cell->number, 14);
	assert_string_equal(cell->language, "python");
	assert_int_equal(cell->text.len, 0);
	assert_false(cell->ran);
	assert_int_equal(image_count(cell), 0);
	cell_free(cell);
	cell_free(NULL);
}

static void every_state_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(cell_state_name(CELL_DONE), "done");
	assert_string_equal(cell_state_name(CELL_RAISED), "raised");
	assert_string_equal(cell_state_name(CELL_INTERRUPTED), "interrupted");
	assert_string_equal(cell_state_name(CELL_TIMED_OUT), "timed_out");
	assert_string_equal(cell_state_name(CELL_DIED), "died");
	assert_string_equal(cell_state_name(CELL_NOT_STARTED), "not_started");
}

static void images_are_kept_in_order_with_what_was_seen_in_them(void **state)
{
	struct cell *cell = cell_new(1, "python");
	const struct cell_image *image;

	(void)state;
	cell_add_image(cell, png, sizeof(png), xstrdup("a.png"));
	cell_add_image(cell, png, sizeof(png), NULL);
	assert_int_equal(image_count(cell), 2);
	image = list_entry(cell->images.next, struct cell_image, node);
	assert_string_equal(image->file, "a.png");
	assert_string_equal(image->mime, "image/png");
	assert_int_equal(image->width, 640);
	assert_int_equal(image->height, 480);
	assert_int_equal(image->len, sizeof(png));
	assert_memory_equal(image->data, png, sizeof(png));
	assert_int_equal(cell->images_dropped, 0);
	cell_free(cell);
}

static void what_is_no_image_or_too_large_is_counted_and_dropped(void **state)
{
	struct cell *cell = cell_new(1, "python");
	char *big = xcalloc(1, CELL_IMAGE_BYTES_MAX + 1);

	(void)state;
	memcpy(big, png, sizeof(png));
	cell_add_image(cell, "GIF89a", 6, xstrdup("a.gif"));
	cell_add_image(cell, "", 0, NULL);
	cell_add_image(cell, big, CELL_IMAGE_BYTES_MAX + 1, xstrdup("big.png"));
	assert_int_equal(cell->images_dropped, 3);
	cell_add_image(cell, big, CELL_IMAGE_BYTES_MAX, NULL);
	assert_int_equal(image_count(cell), 1);
	free(big);
	cell_free(cell);
}

/* A few bytes may claim any size; the host would decode it, or refuse the whole chat. */
static void an_image_of_too_many_pixels_is_dropped(void **state)
{
	struct cell *cell = cell_new(1, "python");
	unsigned char claim[sizeof(png)];

	(void)state;
	memcpy(claim, png, sizeof(png));
	claim[18] = CELL_IMAGE_SIDE_MAX >> 8;
	claim[19] = CELL_IMAGE_SIDE_MAX & 255;
	cell_add_image(cell, claim, sizeof(claim), NULL);
	assert_int_equal(image_count(cell), 1);
	claim[19]++;
	cell_add_image(cell, claim, sizeof(claim), NULL);
	memcpy(claim, png, sizeof(png));
	claim[20] = 0x7f;
	cell_add_image(cell, claim, sizeof(claim), NULL);
	assert_int_equal(image_count(cell), 1);
	assert_int_equal(cell->images_dropped, 2);
	cell_free(cell);
}

static void no_more_than_the_maximum_of_images_is_kept(void **state)
{
	struct cell *cell = cell_new(1, "python");

	(void)state;
	for (int i = 0; i < CELL_IMAGES_MAX + 5; i++)
		cell_add_image(cell, png, sizeof(png), xstrdup("x"));
	assert_int_equal(image_count(cell), CELL_IMAGES_MAX);
	assert_int_equal(cell->images_dropped, 5);
	cell_free(cell);
}

static void images_for_which_there_is_no_room_are_dropped(void **state)
{
	struct err err;
	struct loop *loop = loop_new(clock_ms, &err);
	struct holdings *holdings = holdings_new(loop);
	struct holder *holder = holdings_join(holdings);
	struct cell *cell = cell_new(1, "python");

	(void)state;
	cell->holder = holder;
	holdings_take(holder, HOLDER_MAX - sizeof(png));
	cell_add_image(cell, png, sizeof(png), NULL);
	cell_add_image(cell, png, sizeof(png), NULL);
	assert_int_equal(image_count(cell), 1);
	assert_int_equal(cell->images_dropped, 1);
	cell_drop_images(cell);
	assert_true(holdings_has_room(holder, sizeof(png)));
	cell_add_image(cell, png, sizeof(png), NULL);
	assert_int_equal(image_count(cell), 1);
	cell_free(cell);
	holdings_give_back(holder, HOLDER_MAX - sizeof(png));
	holdings_leave(holder);
	holdings_free(holdings);
	loop_free(loop);
}

static void images_of_more_bytes_than_a_cell_may_hold_are_dropped(void **state)
{
	struct cell *cell = cell_new(1, "python");
	char *big = xcalloc(1, CELL_IMAGE_BYTES_MAX);

	(void)state;
	memcpy(big, png, sizeof(png));
	for (size_t sum = 0; sum < CELL_IMAGES_BYTES_MAX - CELL_IMAGE_BYTES_MAX;
	     sum += CELL_IMAGE_BYTES_MAX)
		cell_add_image(cell, big, CELL_IMAGE_BYTES_MAX, NULL);
	cell_add_image(cell, big, CELL_IMAGE_BYTES_MAX - sizeof(png), NULL);
	assert_int_equal(cell->images_dropped, 0);
	cell_add_image(cell, big, sizeof(png) + 1, xstrdup("over.png"));
	assert_int_equal(cell->images_dropped, 1);
	cell_add_image(cell, png, sizeof(png), NULL);
	assert_int_equal(cell->images_dropped, 1);
	cell_add_image(cell, png, sizeof(png), NULL);
	assert_int_equal(cell->images_dropped, 2);
	cell_free(cell);
	free(big);
}

static void sounds_are_taken_within_their_limits(void **state)
{
	struct cell *cell = cell_new(1, "python");
	char *data = xcalloc(1, CELL_SOUND_BYTES_MAX + 1);

	(void)state;
	memcpy(data, "fLaC", 4);
	cell_add_sound(cell, "no sound", 8);
	cell_add_sound(cell, data, CELL_SOUND_BYTES_MAX + 1);
	assert_int_equal(list_len(&cell->sounds), 0);
	cell_add_sound(cell, data, CELL_SOUND_BYTES_MAX);
	cell_observe(cell);
	for (int i = 0; i < CELL_SOUNDS_MAX; i++)
		cell_add_sound(cell, data, 5);
	assert_int_equal(list_len(&cell->sounds), CELL_SOUNDS_MAX);
	cell_forget_shown(cell);
	assert_true(container_of(cell->sounds.next, struct cell_image, node)->shown);
	assert_false(container_of(cell->sounds.prev, struct cell_image, node)->shown);
	cell_drop_images(cell);
	assert_int_equal(list_len(&cell->sounds), 1);
	cell_free(cell);
	free(data);
}

static void changes_are_copies(void **state)
{
	struct cell *cell = cell_new(1, "python");
	char path[] = "output/a.csv";
	struct change change = { .kind = CHANGE_NEW, .file = { .path = path, .size = 7 } };

	(void)state;
	cell_set_changes(cell, &change, 1);
	path[0] = 'X';
	assert_int_equal(cell->change_count, 1);
	assert_string_equal(cell->changes[0].file.path, "output/a.csv");
	assert_int_equal(cell->changes[0].file.size, 7);
	cell_free(cell);
	cell = cell_new(2, "python");
	cell_set_changes(cell, NULL, 0);
	assert_int_equal(cell->change_count, 0);
	cell_free(cell);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_cell_is_empty),
		cmocka_unit_test(every_state_has_its_name),
		cmocka_unit_test(images_are_kept_in_order_with_what_was_seen_in_them),
		cmocka_unit_test(what_is_no_image_or_too_large_is_counted_and_dropped),
		cmocka_unit_test(an_image_of_too_many_pixels_is_dropped),
		cmocka_unit_test(no_more_than_the_maximum_of_images_is_kept),
		cmocka_unit_test(images_for_which_there_is_no_room_are_dropped),
		cmocka_unit_test(images_of_more_bytes_than_a_cell_may_hold_are_dropped),
		cmocka_unit_test(sounds_are_taken_within_their_limits),
		cmocka_unit_test(changes_are_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
