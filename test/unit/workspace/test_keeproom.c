/* SPDX-License-Identifier: MIT */
/* The limit for the results of all sessions. */
#include "fixture.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "patience.h"
#include "workspace/keeper.h"
#include "workspace/keepname.h"
#include "workspace/keeproom.h"
#include "workspace/kept_size.h"

#define HELPER TEST_BUILD "/ptycell-files"
#define OTHERS "/kept/2026-01-02-old-abcd"

enum { MAX = 10000 };

static struct {
	bool told;
	size_t copied;
	char error[512];
} outcome;
static uint64_t now;

static uint64_t on_clock(void)
{
	return now;
}

static void on_done(struct keeper *keeper, const struct keep_result *result)
{
	(void)keeper;
	outcome.told = true;
	outcome.copied = result->copied;
	(void)snprintf(outcome.error, sizeof(outcome.error), "%s",
		       result->error == NULL ? "" : result->error);
}

static const char *under(const struct fixture *f, const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s%s", f->scratch.path, name);
	return path;
}

/* Writes a file of `size` bytes below the scratch folder. */
static void fill(const struct fixture *f, const char *name, off_t size)
{
	int fd = open(under(f, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	(void)close(fd);
}

static void make_folder(const struct fixture *f, const char *name)
{
	assert_int_equal(mkdir(under(f, name), 0700), 0);
}

static struct keeproom *new_room(struct fixture *f)
{
	return keeproom_new(f->loop, f->home, HELPER, under(f, "/kept"), MAX);
}

static void wait_until_known(struct fixture *f, const struct keeproom *room)
{
	patience_turn_until(f->loop, keeproom_left(room) != UINT64_MAX);
}

static struct keeper *new_keeper(struct fixture *f, struct keeproom *room)
{
	struct keeper *keeper = keeper_new(&(struct keeper_spec){ .loop = f->loop,
								  .workspace = f->workspace,
								  .helper = HELPER,
								  .root = under(f, "/kept"),
								  .room = room,
								  .session_id = "s" });

	keeper_set_quota(keeper, 1 << 30);
	return keeper;
}

static void copy(struct fixture *f, struct keeper *keeper, const char *path, off_t size)
{
	int fd = openat(f->data, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, size), 0);
	(void)close(fd);
	outcome.told = false;
	keeper_copy(keeper, &path, 1, on_done);
	while (!outcome.told)
		loop_turn(f->loop, -1);
}

static void names_of_folders_are_known_again(void **state)
{
	static const char *const others[] = { "",
					      "2026-01-02",
					      "2026-01-02-",
					      "2026-01-02-abcd",
					      "2026-01-02x-s-abcd",
					      "x026-01-02-s-abcd",
					      "2026-01-02-s_abcd" };
	cleanup_free char *plain = keepname_new("s", NULL);
	cleanup_free char *titled = keepname_new("s-1", "Sales of June");

	(void)state;
	assert_true(keepname_is_folder(plain));
	assert_true(keepname_is_folder(titled));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(keepname_is_folder(others[i]));
}

static void only_files_in_folders_of_sessions_count(void **state)
{
	struct fixture *f = *state;
	uint64_t bytes = 1;
	struct err err;

	assert_int_equal(kept_size_measure(under(f, "/kept"), NULL, &bytes, &err), 0);
	assert_int_equal(bytes, 0);
	make_folder(f, "/kept");
	make_folder(f, OTHERS);
	make_folder(f, OTHERS "/deep");
	make_folder(f, "/kept/photos");
	fill(f, OTHERS "/a", 100);
	fill(f, OTHERS "/deep/b", 20);
	fill(f, "/kept/index.html", 3000);
	fill(f, "/kept/photos/c", 3000);
	assert_int_equal(symlink("/usr", under(f, OTHERS "/link")), 0);
	assert_int_equal(kept_size_measure(under(f, "/kept"), NULL, &bytes, &err), 0);
	assert_int_equal(bytes, 120);
}

static void a_result_at_the_limit_is_saved_and_one_byte_more_is_not(void **state)
{
	struct fixture *f = *state;
	struct keeproom *room;
	struct keeper *keeper;

	make_folder(f, "/kept");
	make_folder(f, OTHERS);
	fill(f, OTHERS "/a", MAX - 1000);
	room = new_room(f);
	keeper = new_keeper(f, room);
	wait_until_known(f, room);
	assert_int_equal(keeproom_left(room), 1000);
	copy(f, keeper, "output/b", 1001);
	assert_int_equal(outcome.copied, 0);
	assert_non_null(strstr(outcome.error, "'b' was not saved: saved results of all sessions"));
	assert_non_null(strstr(outcome.error, "PTYCELL_KEEP_TOTAL"));
	assert_null(keeper_folder(keeper));
	copy(f, keeper, "output/b", 1000);
	assert_int_equal(outcome.copied, 1);
	assert_int_equal(keeproom_left(room), 0);
	copy(f, keeper, "output/b", 999); /* a copy is replaced */
	assert_int_equal(keeproom_left(room), 1);
	copy(f, keeper, "output/c", 2);
	assert_int_equal(outcome.copied, 0);
	assert_int_equal(unlink(under(f, OTHERS "/a")), 0);
	copy(f, keeper, "output/d", 2);
	assert_string_equal(outcome.error, "");
	assert_int_equal(keeproom_left(room), MAX - 999 - 2 - 2);
	keeper_free(keeper);
	keeproom_free(room);
}

static void what_was_refused_is_saved_once_the_user_has_made_room(void **state)
{
	struct fixture *f = *state;
	struct keeproom *room;
	struct keeper *keeper;
	const char *due;

	make_folder(f, "/kept");
	make_folder(f, OTHERS);
	fill(f, OTHERS "/a", MAX);
	room = new_room(f);
	keeper = new_keeper(f, room);
	wait_until_known(f, room);
	copy(f, keeper, "output/b", 10);
	assert_int_equal(keeper_count_due(keeper, &due), 1);
	assert_int_equal(unlink(under(f, OTHERS "/a")), 0);
	copy(f, keeper, "output/c", 20);
	assert_string_equal(outcome.error, "");
	assert_int_equal(keeper_count_due(keeper, &due), 0);
	assert_int_equal(keeproom_left(room), MAX - 30);
	keeper_free(keeper);
	keeproom_free(room);
}

static void the_user_is_warned_once_before_the_limit(void **state)
{
	struct fixture *f = *state;
	struct keeproom *room = new_room(f);
	cleanup_free char *text = NULL;

	assert_int_equal(keeproom_max(room), MAX);
	assert_null(keeproom_take_warning(room));
	wait_until_known(f, room);
	keeproom_count(room, 0, MAX / 10 * 9 - 1);
	assert_null(keeproom_take_warning(room));
	keeproom_count(room, 0, 1);
	text = keeproom_take_warning(room);
	assert_non_null(text);
	assert_non_null(strstr(text, "nothing there is deleted"));
	assert_null(keeproom_take_warning(room));
	keeproom_set(room, MAX / 10 * 9 - 1);
	assert_null(keeproom_take_warning(room));
	keeproom_set(room, MAX + 1);
	free(text);
	text = keeproom_take_warning(room);
	assert_non_null(text);
	assert_int_equal(keeproom_left(room), 0);
	keeproom_free(room);
}

static void an_old_size_is_measured_again(void **state)
{
	struct fixture *f = *state;
	struct err err;
	struct keeproom *room;

	loop_free(f->loop);
	f->loop = loop_new(on_clock, &err);
	room = new_room(f);
	now += KEEPROOM_AFTER_MS;
	wait_until_known(f, room);
	make_folder(f, "/kept");
	make_folder(f, OTHERS);
	fill(f, OTHERS "/a", 4000);
	keeproom_count(room, 0, 1);
	assert_int_equal(keeproom_left(room), MAX - 1);
	now += KEEPROOM_OLD_MS;
	loop_turn(f->loop, 0);
	keeproom_count(room, 0, 1);
	keeproom_count(room, 0, 5); /* while the helper measures */
	patience_turn_until(f->loop, keeproom_left(room) == MAX - 4005);
	keeproom_free(room);
}

static void without_a_helper_nothing_is_refused(void **state)
{
	struct fixture *f = *state;
	struct keeproom *room =
		keeproom_new(f->loop, f->home, "/no/helper", under(f, "/kept"), MAX);

	for (int i = 0; i <= KEEPROOM_AFTER_MS; i++)
		loop_turn(f->loop, 1);
	assert_int_equal(keeproom_left(room), UINT64_MAX);
	keeproom_free(room);
	keeproom_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_folders_are_known_again),
		FIXTURE_TEST(only_files_in_folders_of_sessions_count),
		FIXTURE_TEST(a_result_at_the_limit_is_saved_and_one_byte_more_is_not),
		FIXTURE_TEST(what_was_refused_is_saved_once_the_user_has_made_room),
		FIXTURE_TEST(the_user_is_warned_once_before_the_limit),
		FIXTURE_TEST(an_old_size_is_measured_again),
		FIXTURE_TEST(without_a_helper_nothing_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
