/* SPDX-License-Identifier: MIT */
/*
 * test_pool.c - prestarted sandboxes are made when all is quiet, used once, and dropped when
 * unused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "pool/pool.h"
#include "pool/slot.h"
#include "session/session_internal.h"
#include "session_fixture.h"
#include "workspace/home.h"

enum { LOADED_MS = 10 * 1000 };

static struct language other_language; /* the same program by another name */
static struct pool *pool;
static struct session *session;
static bool busy;
static char meminfo[128]; /* missing: plenty */
static int answered;
static char answer_text[200];
static char answer_value[200];

static bool is_busy(void *owner)
{
	(void)owner;
	return busy;
}

static int set_up(void **state)
{
	(void)state;
	fixture_open();
	fixture.settings.spares = 1;
	fixture.settings.preload = NULL;
	fixture.host.busy = is_busy;
	other_language = fixture_language;
	other_language.name = "other";
	busy = false;
	session = NULL;
	answered = 0;
	(void)snprintf(meminfo, sizeof(meminfo), "%s/meminfo", fixture.scratch.path);
	pool = pool_new(&fixture.host, &fixture_language, meminfo);
	fixture.host.pool = pool;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pool_free(pool);
	fixture.host.pool = NULL;
	session_free(session, "the test is over");
	(void)remove(meminfo);
	fixture_close();
	return 0;
}

/* Counts folders of sessions and slots; none is removed here. */
static int home_count(void)
{
	int fd = openat(home_sessions_fd(fixture.home), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fdopendir(fd);
	int count = 0;

	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		count += entry->d_name[0] != '.';
	(void)closedir(folder);
	return count;
}

static bool is_there(void)
{
	struct slot *slot = pool_take(pool, &fixture_language);

	if (slot == NULL)
		return false;
	slot_free(slot);
	return true;
}

static void have_memory(const char *text)
{
	FILE *file = fopen(meminfo, "w");

	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

/* Advances the clock in steps until a slot is ready, and takes it. Returns NULL after a minute. */
static struct slot *wait_for(const struct language *language)
{
	struct slot *slot = NULL;

	for (int i = 0; i < 600 && slot == NULL; i++) {
		fixture_pass(100);
		rest(fixture.loop);
		slot = pool_take(pool, language);
	}
	return slot;
}

/* Advances the clock until a slot has imported everything; it stays. */
static void wait_until_loaded(void)
{
	for (int passed = 0; passed < LOADED_MS; passed += 100) {
		fixture_pass(100);
		rest(fixture.loop);
	}
}

static void on_done(struct call *call, const struct exec_result *result, void *data)
{
	(void)call;
	(void)data;
	answered++;
	(void)snprintf(answer_text, sizeof(answer_text), "%s", buf_str(&result->cell->text));
	(void)snprintf(answer_value, sizeof(answer_value), "%s",
		       result->cell->value != NULL ? result->cell->value : "");
}

static void open_session(const struct language *first)
{
	struct err err;

	session = session_new(&fixture.host, "test", 1, NULL, first, &err);
	assert_non_null(session);
}

static void run_cell(const struct language *language, const char *code)
{
	const struct exec_request request = {
		.language = language, .code = code, .code_len = strlen(code), .wait_ms = 3600000
	};
	struct err err;
	int before = answered;

	assert_non_null(session_exec(session, &request, on_done, NULL, &err));
	fixture_until(answered == before + 1);
}

static void nothing_is_made_before_a_session_is_and_then_when_all_is_quiet(void **state)
{
	(void)state;
	fixture_pass(10 * POOL_LOOK_MS);
	assert_false(is_there());
	assert_int_equal(home_count(), 0);
	pool_want(pool, &fixture_language);
	fixture_pass(POOL_QUIET_MS - 1);
	assert_int_equal(home_count(), 0);
	pool_defer_work(pool);
	fixture_pass(POOL_QUIET_MS - 1);
	assert_int_equal(home_count(), 0);
	fixture_pass(1);
	assert_int_equal(home_count(), 1);
	slot_free(wait_for(&fixture_language));
	assert_int_equal(fixture.retired, 1);
}

static void the_first_one_waits_for_the_first_answer(void **state)
{
	(void)state;
	busy = true;
	pool_want(pool, &fixture_language);
	for (int i = 0; i < 20; i++)
		fixture_pass(POOL_BUSY_MS);
	assert_int_equal(home_count(), 0);
	busy = false;
	fixture_pass(POOL_BUSY_MS);
	slot_free(wait_for(&fixture_language));
	assert_int_equal(fixture.retired, 1);
	/* Later ones wait only until a cell is a long one. */
	busy = true;
	pool_want(pool, &fixture_language);
	fixture_pass(POOL_QUIET_MS);
	assert_int_equal(home_count(), 1); /* of the slot that was taken; it is not removed here */
	fixture_pass(POOL_BUSY_MS - POOL_QUIET_MS);
	assert_int_equal(home_count(), 2);
}

static void a_session_gets_it_and_knows_nothing_of_it(void **state)
{
	struct slot *slot;

	(void)state;
	fixture.settings.preload = (char *)(uintptr_t) "print=imported\\n\ndone";
	pool_want(pool, &fixture_language);
	wait_until_loaded();
	open_session(&fixture_language);
	assert_int_equal(home_count(), 1); /* no other folder */
	assert_null(session_runner(session, 0));
	assert_string_equal(session_state(session), "idle");
	run_cell(&fixture_language, "print=hello\nresult=1\ndone");
	assert_string_equal(answer_text, "hello");
	assert_string_equal(answer_value, "1");
	assert_int_equal(session_generation(session), 1);
	assert_null(session_runner(session, 1));
	/* And the next one is made. */
	slot = wait_for(&fixture_language);
	assert_non_null(slot);
	slot_free(slot);
}

static void another_language_or_other_limits_start_from_nothing_in_the_same_folder(void **state)
{
	struct session_limits limits;
	struct err err;

	(void)state;
	pool_want(pool, &fixture_language);
	wait_until_loaded();
	open_session(&fixture_language);
	run_cell(&other_language, "result=1\ndone");
	assert_string_equal(answer_value, "1");
	assert_int_equal(home_count(), 1);
	assert_null(session_runner(session, 1));
	session_free(session, "it is enough");

	wait_until_loaded();
	open_session(&fixture_language);
	limits = *session_limits(session);
	limits.open_files_max = 100;
	assert_int_equal(session_set_limits(session, &limits, &err), 0);
	assert_null(session->slot);
	run_cell(&fixture_language, "result=2\ndone");
	assert_string_equal(answer_value, "2");
}

static void a_session_that_never_ran_a_cell_ends_with_it(void **state)
{
	(void)state;
	pool_want(pool, &fixture_language);
	wait_until_loaded();
	open_session(&fixture_language);
	assert_non_null(session->slot);
	session_free(session, "it is enough");
	session = NULL;
	assert_int_equal(fixture.retired, 1);
}

static void a_second_language_has_its_own_after_its_first_use(void **state)
{
	struct slot *slot;

	(void)state;
	pool_want(pool, &other_language);
	slot = wait_for(&other_language);
	assert_non_null(slot);
	assert_ptr_equal(slot_language(slot), &other_language);
	slot_free(slot);
	slot = wait_for(&fixture_language); /* wanted always */
	assert_non_null(slot);
	slot_free(slot);
}

static void it_goes_when_no_session_came_for_so_long(void **state)
{
	(void)state;
	pool_want(pool, &fixture_language);
	wait_until_loaded();
	fixture_pass(POOL_IDLE_MS - LOADED_MS - 1);
	assert_int_equal(fixture.retired, 0);
	fixture_pass(1);
	assert_int_equal(fixture.retired, 1);
	assert_false(is_there());
	fixture_pass(10 * POOL_LOOK_MS);
	assert_int_equal(home_count(), 1); /* and no new one is made */
}

static void one_that_died_is_not_handed_out(void **state)
{
	(void)state;
	fixture_start_with(STEPS("ready", "exit=3"));
	pool_want(pool, &fixture_language);
	assert_null(wait_for(&other_language));
	assert_false(is_there());
	/* Nor is it tried for ever. */
	assert_int_equal(fixture.retired, POOL_FAILURES_MAX);
	open_session(&fixture_language);
	assert_null(session->slot);
}

static void an_import_that_hangs_or_prints_without_end_is_given_up(void **state)
{
	(void)state;
	fixture.settings.preload = (char *)(uintptr_t) "hang=1000";
	pool_want(pool, &fixture_language);
	wait_until_loaded();
	assert_false(is_there());
	assert_int_equal(fixture.retired, 0);
	for (int i = 0; i < 5 && fixture.retired == 0; i++)
		fixture_pass(POOL_LOOK_MS);
	assert_int_equal(fixture.retired, 1);

	fixture.settings.preload = (char *)(uintptr_t) "flood=100000\ndone";
	fixture_until((fixture_pass(100), fixture.retired == 2));
}

/*
 * Returns 'R', 'S' or 'T', the process state of the waiting interpreter, found by its folder; '?'
 * without one.
 */
static char state_of(const char *pid)
{
	char path[300];
	char link[300] = "";
	char stat[300] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%s/cwd", pid);
	(void)!readlink(path, link, sizeof(link) - 1);
	(void)snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return '?';
	(void)!fgets(stat, sizeof(stat), file);
	(void)fclose(file);
	if (strstr(stat, "(fake_driver) ") == NULL ||
	    strncmp(link, fixture.scratch.path, strlen(fixture.scratch.path)) != 0)
		return '?';
	return strstr(stat, ") ")[2];
}

static char state_of_interpreter(void)
{
	DIR *folder = opendir("/proc");
	char state = '?';

	assert_non_null(folder);
	for (struct dirent *entry; state == '?' && (entry = readdir(folder)) != NULL;)
		state = state_of(entry->d_name);
	(void)closedir(folder);
	return state;
}

static void an_import_stands_still_while_cells_run(void **state)
{
	(void)state;
	fixture.settings.preload = (char *)(uintptr_t) "hang=1000";
	pool_want(pool, &fixture_language);
	wait_until_loaded();
	fixture_until(state_of_interpreter() == 'S');
	pool_defer_work(pool);
	fixture_until(state_of_interpreter() == 'T');
	fixture_pass(POOL_QUIET_MS);
	assert_int_equal(state_of_interpreter(), 'T');
	fixture_pass(POOL_LOAD_MS - POOL_QUIET_MS);
	fixture_until(state_of_interpreter() == 'S');
}

static void memory_is_judged_by_the_kernels_account(void **state)
{
	static const struct {
		const char *text;
		enum pool_memory memory;
	} cases[] = {
		{ "MemTotal: 16000000 kB\nMemFree: 1 kB\nMemAvailable: 4000000 kB\n",
		  MEMORY_PLENTY },
		{ "MemTotal: 16000000 kB\nMemAvailable: 3999999 kB\n", MEMORY_LITTLE },
		{ "MemTotal: 16000000 kB\nMemAvailable: 1048576 kB\n", MEMORY_LITTLE },
		{ "MemTotal: 16000000 kB\nMemAvailable: 1048575 kB\n", MEMORY_SHORT },
		/* A small machine is not always short. */
		{ "MemTotal: 2000000 kB\nMemAvailable: 300000 kB\n", MEMORY_LITTLE },
		{ "MemTotal: 2000000 kB\nMemAvailable: 249999 kB\n", MEMORY_SHORT },
		{ "nothing\n", MEMORY_PLENTY },
	};

	(void)state;
	assert_int_equal(pool_read_memory("/nowhere/meminfo"), MEMORY_PLENTY);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		have_memory(cases[i].text);
		assert_int_equal(pool_read_memory(meminfo), cases[i].memory);
	}
}

static void little_memory_is_not_spent_on_imports_and_short_memory_is_given_back(void **state)
{
	struct slot *slot;

	(void)state;
	fixture.settings.preload = (char *)(uintptr_t) "done";
	have_memory("MemTotal: 16000000 kB\nMemAvailable: 3000000 kB\n");
	pool_want(pool, &fixture_language);
	wait_until_loaded();
	slot = pool_take(pool, &fixture_language);
	assert_non_null(slot);
	assert_false(slot_wants_ready(slot));
	assert_true(slot_wants_load(slot));
	slot_free(slot);
	pool_want(pool, &fixture_language);
	wait_until_loaded();
	assert_int_equal(fixture.retired, 1);
	have_memory("MemTotal: 16000000 kB\nMemAvailable: 30000 kB\n");
	fixture_pass(POOL_LOOK_MS);
	assert_int_equal(fixture.retired, 2);
	assert_false(is_there());
	have_memory("MemTotal: 16000000 kB\nMemAvailable: 9000000 kB\n");
	slot_free(wait_for(&fixture_language));
	assert_int_equal(fixture.retired, 3);
}

static uint64_t driver_id(void)
{
	return 1;
}

/* Returns whether the driver that a slot with this variable compiled is stored for others. */
static bool keeps_what_was_compiled(const char *variable)
{
	struct user_env_variable item = { .name = (char *)(uintptr_t)variable,
					  .value = (char *)(uintptr_t) "/project" };
	struct slot *slot;

	fixture.settings.user_env = (struct user_env){ .items = &item, .count = 1 };
	other_language.driver_id = driver_id;
	pool_want(pool, &other_language);
	wait_until_loaded();
	slot = wait_for(&other_language);
	assert_non_null(slot);
	assert_false(slot_wants_load(slot));
	slot_free(slot);
	fixture.settings.user_env = (struct user_env){ .items = NULL };
	return scratch_exists(home_fd(fixture.home), "drivers");
}

static void what_one_compiled_is_kept_for_others(void **state)
{
	(void)state;
	assert_true(keeps_what_was_compiled("DATA"));
}

static void what_one_compiled_where_code_may_have_a_say_is_not_kept(void **state)
{
	(void)state;
	assert_false(keeps_what_was_compiled("PYTHONPATH"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_made_before_a_session_is_and_then_when_all_is_quiet),
		TEST(the_first_one_waits_for_the_first_answer),
		TEST(what_one_compiled_is_kept_for_others),
		TEST(what_one_compiled_where_code_may_have_a_say_is_not_kept),
		TEST(a_session_gets_it_and_knows_nothing_of_it),
		TEST(another_language_or_other_limits_start_from_nothing_in_the_same_folder),
		TEST(a_session_that_never_ran_a_cell_ends_with_it),
		TEST(a_second_language_has_its_own_after_its_first_use),
		TEST(it_goes_when_no_session_came_for_so_long),
		TEST(one_that_died_is_not_handed_out),
		TEST(an_import_that_hangs_or_prints_without_end_is_given_up),
		TEST(an_import_stands_still_while_cells_run),
		TEST(memory_is_judged_by_the_kernels_account),
		TEST(little_memory_is_not_spent_on_imports_and_short_memory_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
