/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/schema.h"
#include "config/settings.h"
#include "literals.h"

static const char *const home_list[] = { "HOME=/h", NULL };
#define home_env ((char *const *)(uintptr_t)home_list)

static void settings_cleanup(struct settings **settings)
{
	settings_free(*settings);
}
#define cleanup_settings __attribute__((cleanup(settings_cleanup)))

static struct settings *load_env(const char *entry)
{
	char *const *env = LIST("HOME=/h", entry);

	return settings_load(0, NULL, env);
}

static struct settings *load_flags(const char *first, const char *second)
{
	char *const *argv = LIST(first, second);

	return settings_load(second ? 2 : 1, argv, home_env);
}

/* A file with this text; the caller unlinks and frees. */
static char *write_file(const char *text)
{
	char *path = xstrdup("/tmp/ptycell-settings-XXXXXX");
	cleanup_fd int fd = mkostemp(path, O_CLOEXEC);
	struct err err = { 0 };

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text), &err), 0);
	return path;
}

static void assert_contains(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text ? text : "(none)");
}

static void nothing_set_gives_the_defaults(void **state)
{
	cleanup_settings struct settings *s = settings_load(0, NULL, home_env);

	(void)state;
	assert_null(s->problem);
	assert_null(s->notices);
	assert_int_equal(s->limits.session_ttl, 86400);
	assert_int_equal(s->limits.idle_timeout, 14400);
	assert_int_equal(s->limits.exec_timeout, 300);
	assert_int_equal(s->limits.output_chars, 8000);
	assert_int_equal(s->limits.spool_max, 64 << 20);
	assert_in_range(s->limits.memory_max, 64 << 20, (uint64_t)4 << 30);
	assert_int_equal(s->exec_timeout_max, 86400);
	assert_int_equal(s->cleanup_interval, 60);
	assert_int_equal(s->max_sessions, 128);
	assert_int_equal(s->query_rows_max, SETTINGS_QUERY_ROWS_MAX);
	assert_int_equal(s->results, RESULTS_BLOCKS);
	assert_string_equal(s->log_level, "warn");
	assert_string_equal(s->keep, "/h/ptycell");
	assert_int_equal(s->home[0], '/');
	assert_false(s->drain || s->unconfined);
	assert_int_equal(s->floor, FLOOR_LANDLOCK);
	assert_int_equal(s->share_count, 0);
	assert_int_equal(s->limits.processes_max, 256);
	assert_int_equal(s->limits.tmp_max, 256 << 20);
}

static void shares_come_one_a_line_or_by_a_repeated_flag(void **state)
{
	char *const *argv = LIST("--share=~/a", "--share", " /b c:rw ", "--share=~:home");
	cleanup_settings struct settings *flags = settings_load(4, argv, home_env);
	cleanup_settings struct settings *env = load_env("PTYCELL_SHARE=/x\n\n /y:rw\r\n");

	(void)state;
	assert_null(flags->problem);
	assert_int_equal(flags->share_count, 3);
	assert_string_equal(flags->shares[0].path, "/h/a");
	assert_false(flags->shares[0].writable);
	assert_string_equal(flags->shares[1].path, "/b c");
	assert_true(flags->shares[1].writable);
	assert_false(flags->shares[1].is_home);
	assert_string_equal(flags->shares[2].path, "/h");
	assert_true(flags->shares[2].is_home);
	assert_null(env->problem);
	assert_int_equal(env->share_count, 2);
	assert_string_equal(env->shares[1].path, "/y");
	assert_true(env->shares[1].writable);
}

static void a_share_that_is_no_absolute_path_is_explained(void **state)
{
	cleanup_settings struct settings *s = load_env("PTYCELL_SHARE=/x\ndata:rw");

	(void)state;
	assert_contains(s->problem, "PTYCELL_SHARE");
	assert_contains(s->problem, "absolute or from ~/ on: PATH or PATH:rw, one a line");
}

static void more_shares_than_a_session_can_have_are_refused(void **state)
{
	cleanup_buf struct buf value = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	buf_puts(&value, "PTYCELL_SHARE=");
	for (int i = 0; i <= SETTINGS_SHARES_MAX; i++)
		buf_putf(&value, "/s%d\n", i);
	{
		cleanup_settings struct settings *s = load_env(buf_str(&value));

		assert_contains(s->problem, "at most 32 folders");
	}
}

/* sandbox.md 1: an unconfined mode exists only by an explicit flag. */
static void only_the_flag_takes_confinement_away(void **state)
{
	cleanup_settings struct settings *flag = load_flags("--unconfined", NULL);
	cleanup_settings struct settings *env = load_env("PTYCELL_UNCONFINED=1");

	(void)state;
	assert_true(flag->unconfined);
	assert_false(env->unconfined);
	assert_contains(env->notices, "there is only the flag --unconfined");
}

static void the_floor_is_one_of_the_tiers(void **state)
{
	cleanup_settings struct settings *good = load_env("PTYCELL_FLOOR=Namespaces");
	cleanup_settings struct settings *bad = load_env("PTYCELL_FLOOR=docker");

	(void)state;
	assert_int_equal(good->floor, FLOOR_NAMESPACES);
	assert_contains(bad->problem, "landlock, bwrap, namespaces");
}

static void a_limit_of_the_whole_sandbox_is_told_from_others(void **state)
{
	cleanup_settings struct settings *s = settings_load(0, NULL, home_env);
	struct session_limits other = s->limits;
	uint64_t value = 0;

	(void)state;
	other.disk_max--;
	other.exec_timeout--;
	assert_null(settings_fixed_difference(&s->limits, &other, &value));
	other.file_max--;
	assert_string_equal(settings_fixed_difference(&s->limits, &other, &value), "file_max");
	assert_int_equal(value, s->limits.file_max);
}

static void flags_win_over_the_environment_and_that_over_files(void **state)
{
	cleanup_free char *path = write_file("EXEC_TIMEOUT=10\nIDLE_TIMEOUT=20\nSESSION_TTL=30\n");
	char *const *argv = LIST("--exec-timeout", "3m", "--env-file", path);
	char *const *env = LIST("HOME=/h", "EXEC_TIMEOUT=11", "IDLE_TIMEOUT=21");
	cleanup_settings struct settings *s = settings_load(4, argv, env);

	(void)state;
	unlink(path);
	assert_null(s->problem);
	assert_int_equal(s->limits.exec_timeout, 180);
	assert_int_equal(s->limits.idle_timeout, 21);
	assert_int_equal(s->limits.session_ttl, 30);
}

static void the_last_of_one_kind_wins(void **state)
{
	cleanup_free char *path = write_file("EXEC_TIMEOUT=10\nEXEC_TIMEOUT=20\n");
	cleanup_settings struct settings *file = load_flags("--env-file", path);
	char *const *argv = LIST("--exec-timeout=1", "--exec-timeout=2");
	cleanup_settings struct settings *flag = settings_load(2, argv, home_env);

	(void)state;
	unlink(path);
	assert_int_equal(file->limits.exec_timeout, 20);
	assert_int_equal(flag->limits.exec_timeout, 2);
}

static void every_setting_is_also_a_flag(void **state)
{
	(void)state;
	for (size_t i = 0; schema_at(i); i++) {
		const struct setting *row = schema_at(i);
		cleanup_free char *flag = xasprintf("--%s", row->flag);
		cleanup_free char *number =
			xasprintf("%llu", (unsigned long long)schema_default_number(row));
		const char *value = number;

		if (row->type == SCHEMA_FOLDER || row->type == SCHEMA_FILE ||
		    row->type == SCHEMA_PROGRAM || row->type == SCHEMA_SHARES)
			value = "/x";
		else if (row->type == SCHEMA_HOSTS)
			value = "a.example";
		else if (row->type == SCHEMA_MODULES)
			value = "a,b.c";
		else if (row->words && !schema_is_number(row))
			value = row->words[1];
		if (row->flag[0] == '\0' || row->type == SCHEMA_TEXT || row->type == SCHEMA_SECRET)
			continue; /* there is no flag; a storage's only hold together */
		cleanup_settings struct settings *s =
			load_flags(flag, row->type == SCHEMA_SWITCH ? NULL : value);

		if (s->problem)
			fail_msg("%s: %s", flag, s->problem);
	}
}

static void a_switch_takes_a_value_only_behind_an_equals_sign(void **state)
{
	cleanup_settings struct settings *on = load_flags("--drain", "--results=json");
	cleanup_settings struct settings *off = load_flags("--drain=0", NULL);

	(void)state;
	assert_null(on->problem);
	assert_true(on->drain);
	assert_int_equal(on->results, RESULTS_JSON);
	assert_false(off->drain);
}

static void a_bad_value_names_setting_value_place_and_what_is_legal(void **state)
{
	cleanup_settings struct settings *env = load_env("EXEC_TIMEOUT=6_0");
	cleanup_settings struct settings *flag = load_flags("--output-chars", "499");
	cleanup_free char *path = write_file("\nPTYCELL_JOURNAL_MAX=lots\n");
	cleanup_settings struct settings *file = load_flags("--env-file", path);

	(void)state;
	unlink(path);
	assert_string_equal(env->problem,
			    "The setting EXEC_TIMEOUT has the value '6_0' in the environment, but "
			    "it takes seconds, 1 to 604800, also written 90s, 5m, 2h or 1d. "
			    "Correct it and start ptycell again.");
	assert_int_equal(env->limits.exec_timeout, 300);
	assert_string_equal(flag->problem, "The setting --output-chars has the value '499', but it "
					   "takes a whole number, 500 to 200000. Correct it and "
					   "start ptycell again.");
	assert_contains(file->problem,
			"PTYCELL_JOURNAL_MAX has the value 'lots' in line 2 of '/tmp");
}

static void a_value_that_is_not_used_is_no_trouble(void **state)
{
	char *const *argv = LIST("--exec-timeout=5");
	char *const *env = LIST("HOME=/h", "EXEC_TIMEOUT=rubbish");
	cleanup_settings struct settings *s = settings_load(1, argv, env);

	(void)state;
	assert_null(s->problem);
	assert_int_equal(s->limits.exec_timeout, 5);
}

static void an_empty_variable_means_the_default_but_an_empty_flag_is_wrong(void **state)
{
	cleanup_settings struct settings *env = load_env("EXEC_TIMEOUT=");
	cleanup_settings struct settings *flag = load_flags("--exec-timeout=", NULL);
	cleanup_settings struct settings *program = load_flags("--python=", NULL);

	(void)state;
	assert_null(env->problem);
	assert_non_null(flag->problem);
	assert_non_null(program->problem);
}

static void a_hostile_value_is_cleaned_and_cut_in_the_sentence(void **state)
{
	char value[4000] = "EXEC_TIMEOUT=\x1b[31m\n\xe2\x80\xae";
	size_t start = strlen(value);

	(void)state;
	memset(value + start, 'x', sizeof(value) - 1 - start);
	cleanup_settings struct settings *s = load_env(value);

	assert_non_null(s->problem);
	assert_null(strchr(s->problem, '\x1b'));
	assert_null(strchr(s->problem, '\n'));
	assert_null(strstr(s->problem, "\xe2\x80\xae"));
	assert_true(strlen(s->problem) < 300);
}

static void unknown_flags_and_commands_are_named(void **state)
{
	cleanup_settings struct settings *slip = load_flags("--exec-timout", "3");
	cleanup_settings struct settings *flag = load_flags("--frobnicate", NULL);
	cleanup_settings struct settings *word = load_flags("serve", NULL);
	cleanup_settings struct settings *alone = load_flags("--exec-timeout", NULL);
	cleanup_settings struct settings *odd = load_flags("", NULL);

	(void)state;
	assert_string_equal(slip->problem,
			    "ptycell has no flag '--exec-timout'; did you mean --exec-timeout?");
	assert_contains(flag->problem, "no flag '--frobnicate'; ptycell --help");
	assert_contains(word->problem, "'serve' has no place here: flags begin with --, and a");
	assert_contains(alone->problem, "--exec-timeout needs a value");
	assert_non_null(odd->problem);
}

static void a_missing_file_is_named(void **state)
{
	cleanup_settings struct settings *s = load_flags("--env-file", "/nowhere/at all");

	(void)state;
	assert_string_equal(s->problem, "The file '/nowhere/at all' of --env-file cannot be read: "
					"No such file or directory.");
}

static void lines_of_a_file_may_use_the_environment_and_lines_before(void **state)
{
	cleanup_free char *path =
		write_file("BASE=${HOME}/a\nexport PTYCELL_KEEP=\"${BASE}/b\" # x\n"
			   "what is this\n");
	cleanup_settings struct settings *s = load_flags("--env-file", path);

	(void)state;
	unlink(path);
	assert_null(s->problem);
	assert_string_equal(s->keep, "/h/a/b");
	assert_contains(s->notices, "Line 3 of '/tmp/");
}

static void folders_are_absolute_or_start_at_home(void **state)
{
	cleanup_settings struct settings *tilde = load_env("PTYCELL_KEEP=~/x");
	cleanup_settings struct settings *off = load_env("PTYCELL_KEEP=OFF");
	cleanup_settings struct settings *relative = load_env("PTYCELL_HOME=x");
	cleanup_settings struct settings *home_off = load_env("PTYCELL_HOME=off");

	(void)state;
	assert_string_equal(tilde->keep, "/h/x");
	assert_null(off->keep);
	assert_null(off->problem);
	assert_contains(relative->problem, "PTYCELL_HOME has the value 'x' in the "
					   "environment, but it takes a folder, "
					   "absolute or from ~/ on: a path. Correct");
	assert_non_null(home_off->problem);
}

static void the_two_deadlines_never_contradict_each_other(void **state)
{
	cleanup_settings struct settings *longer = load_env("EXEC_TIMEOUT=2d");
	cleanup_settings struct settings *lower = load_env("PTYCELL_EXEC_TIMEOUT_MAX=60");
	cleanup_settings struct settings *both =
		load_flags("--exec-timeout=61", "--exec-timeout-max=60");

	(void)state;
	assert_null(longer->problem);
	assert_int_equal(longer->exec_timeout_max, 2 * 86400);
	assert_null(lower->problem);
	assert_int_equal(lower->limits.exec_timeout, 60);
	assert_contains(both->problem, "EXEC_TIMEOUT is 61 s, more than PTYCELL_EXEC_TIMEOUT_MAX");
}

static void names_of_other_servers_get_one_line_each(void **state)
{
	static const char *const names[] = { "MCP_TRANSPORT", "MCP_HOST", "PORT", "MCP_PORT",
					     "BASE_WORKDIR" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *entry = xasprintf("%s=8000", names[i]);
		cleanup_settings struct settings *s = load_env(entry);

		assert_null(s->problem);
		assert_contains(s->notices, names[i]);
		assert_ptr_equal(strchr(s->notices, '\n'), s->notices + strlen(s->notices) - 1);
	}
}

static void each_of_our_names_that_is_none_is_told(void **state)
{
	cleanup_settings struct settings *slip = load_env("PTYCELL_MAX_SESSION=3");
	cleanup_settings struct settings *far = load_env("PTYCELL_MEMORY=64M");
	cleanup_settings struct settings *foreign = load_env("PTYCEL_MEMORY=64M");

	(void)state;
	assert_string_equal(
		slip->notices,
		"PTYCELL_MAX_SESSION has no effect: did you mean PTYCELL_MAX_SESSIONS?\n");
	assert_string_equal(far->notices,
			    "PTYCELL_MEMORY has no effect: there is no such setting; ptycell "
			    "help settings lists what there is.\n");
	assert_null(foreign->notices);
}

static size_t count_entry(char *const env[], const char *entry)
{
	size_t count = 0;

	for (; *env; env++)
		count += str_eq(*env, entry);
	return count;
}

static void a_program_from_a_flag_replaces_that_of_the_environment(void **state)
{
	char *const *argv = LIST("--python", "/flag/python3");
	char *const *env = LIST("PTYCELL_PYTHON=/env/python3", "HOME=/h", "X");
	cleanup_settings struct settings *s = settings_load(2, argv, env);

	(void)state;
	assert_int_equal(count_entry(s->environment, "PTYCELL_PYTHON=/flag/python3"), 1);
	assert_int_equal(count_entry(s->environment, "PTYCELL_PYTHON=/env/python3"), 0);
	assert_int_equal(count_entry(s->environment, "HOME=/h"), 1);
}

static void a_session_stays_between_floor_and_server(void **state)
{
	static const struct {
		double value;
		uint64_t expected;
	} cases[] = {
		{ -1, 1 },    { 0, 1 },     { 0.5, 1 },     { 1, 1 },          { 299.9, 299 },
		{ 300, 300 }, { 301, 300 }, { 1e300, 300 }, { HUGE_VAL, 300 }, { -HUGE_VAL, 1 },
	};
	cleanup_settings struct settings *s = settings_load(0, NULL, home_env);
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct session_limits limits = s->limits;

		assert_int_equal(settings_clamp(s, &limits, "exec_timeout", cases[i].value, &err),
				 0);
		assert_int_equal(limits.exec_timeout, cases[i].expected);
		assert_int_equal(limits.idle_timeout, s->limits.idle_timeout);
	}
}

static void every_limit_clamps_to_its_own_row(void **state)
{
	cleanup_settings struct settings *s = settings_load(0, NULL, home_env);
	struct err err = { 0 };
	const char *key;
	uint64_t server;
	uint64_t low;
	size_t i;

	(void)state;
	for (i = 0; settings_limit_at(&s->limits, i, &key, &server); i++) {
		struct session_limits limits = s->limits;

		assert_int_equal(settings_clamp(s, &limits, key, -5, &err), 0);
		assert_true(settings_limit_at(&limits, i, &key, &low));
		assert_true(low >= 1 && low < server);
		assert_int_equal(settings_clamp(s, &limits, key, 1e18, &err), 0);
		assert_memory_equal(&limits, &s->limits, sizeof(limits));
	}
	assert_int_equal(i + 1, sizeof(s->limits) / sizeof(uint64_t)); /* `ulimits` is none */
}

static void an_unknown_limit_or_no_number_is_an_error_that_helps(void **state)
{
	cleanup_settings struct settings *s = settings_load(0, NULL, home_env);
	struct session_limits limits = s->limits;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(settings_clamp(s, &limits, "exec-timeout", 3, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_contains(err.msg, "no key 'exec-timeout'; there are exec_timeout, session_ttl");
	assert_contains(err.msg, "keep_max");
	assert_int_equal(settings_clamp(s, &limits, "exec_timeout", (double)NAN, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_memory_equal(&limits, &s->limits, sizeof(limits));
}

static void the_table_names_every_setting_and_help_the_common_ones(void **state)
{
	cleanup_buf struct buf help = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf markdown = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	settings_help(&help);
	settings_markdown(&markdown);
	assert_contains(buf_str(&markdown),
			"| `PTYCELL_EXEC_TIMEOUT` or `EXEC_TIMEOUT` | `--exec-timeout` | 300 s | "
			"1 to 604800 s | how long");
	for (size_t i = 0; schema_at(i); i++) {
		cleanup_free char *flag = xasprintf("  --%s ", schema_at(i)->flag);

		assert_int_equal(strstr(buf_str(&help), flag) != NULL, schema_at(i)->common);
		assert_contains(buf_str(&markdown), schema_at(i)->type == SCHEMA_SECRET
							    ? schema_at(i)->name
							    : schema_at(i)->flag);
	}
}

static void modules_are_names_with_commas_or_blanks_between(void **state)
{
	cleanup_settings struct settings *fallback = settings_load(0, LIST(NULL), home_env);
	cleanup_settings struct settings *two = load_flags("--preload", " numpy, a.b_1 ,");
	cleanup_settings struct settings *off = load_flags("--preload", "off");
	cleanup_settings struct settings *path = load_env("PTYCELL_PRELOAD=numpy,/etc/x");

	(void)state;
	assert_string_equal(fallback->preload, "numpy,pandas,matplotlib.pyplot");
	assert_string_equal(two->preload, "numpy,a.b_1");
	assert_null(off->preload);
	assert_null(off->problem);
	assert_contains(path->problem, "PTYCELL_PRELOAD has the value 'numpy,/etc/x' in the "
				       "environment, but it takes at most 32 modules: names with "
				       "commas between, off.");
}

static void hosts_are_checked_when_they_are_set(void **state)
{
	cleanup_settings struct settings *none = load_env("PTYCELL_HOSTS= ");
	cleanup_settings struct settings *forbidding = load_env("PTYCELL_HOSTS=!a.example");
	cleanup_settings struct settings *good =
		load_flags("--hosts", "a.example,*.b.example:8443");
	cleanup_settings struct settings *bad = load_env("PTYCELL_HOSTS=a.example 10.0.0.1");
	cleanup_settings struct settings *flag = load_flags("--hosts", "*");

	(void)state;
	assert_null(none->problem);
	assert_null(none->hosts);
	assert_null(forbidding->hosts);
	assert_null(good->problem);
	assert_string_equal(good->hosts, "a.example,*.b.example:8443");
	assert_false(good->allow_private_hosts);
	assert_contains(bad->problem, "PTYCELL_HOSTS in the environment has a mistake: entry 2: ");
	assert_null(bad->hosts);
	assert_contains(flag->problem, "The setting --hosts has a mistake: entry 1: ");
}

static void hosts_of_downloads_are_any_unless_some_are_named(void **state)
{
	cleanup_settings struct settings *any = load_env("PTYCELL_FETCH_HOSTS= ");
	cleanup_settings struct settings *off = load_env("PTYCELL_FETCH_HOSTS=Off");
	cleanup_settings struct settings *some = load_flags("--fetch-hosts", "A.example");
	cleanup_settings struct settings *forbidding = load_env("PTYCELL_FETCH_HOSTS=!a.example");
	cleanup_settings struct settings *bad = load_env("PTYCELL_FETCH_HOSTS=10.0.0.1");

	(void)state;
	assert_null(any->problem);
	assert_null(any->fetch_hosts);
	assert_string_equal(off->fetch_hosts, "");
	assert_string_equal(some->fetch_hosts, "a.example");
	assert_null(some->hosts);
	assert_string_equal(forbidding->fetch_hosts, "!a.example");
	assert_contains(bad->problem, "PTYCELL_FETCH_HOSTS in the environment has a mistake: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_come_one_a_line_or_by_a_repeated_flag),
		cmocka_unit_test(a_share_that_is_no_absolute_path_is_explained),
		cmocka_unit_test(more_shares_than_a_session_can_have_are_refused),
		cmocka_unit_test(only_the_flag_takes_confinement_away),
		cmocka_unit_test(the_floor_is_one_of_the_tiers),
		cmocka_unit_test(a_limit_of_the_whole_sandbox_is_told_from_others),
		cmocka_unit_test(nothing_set_gives_the_defaults),
		cmocka_unit_test(flags_win_over_the_environment_and_that_over_files),
		cmocka_unit_test(the_last_of_one_kind_wins),
		cmocka_unit_test(every_setting_is_also_a_flag),
		cmocka_unit_test(a_switch_takes_a_value_only_behind_an_equals_sign),
		cmocka_unit_test(a_bad_value_names_setting_value_place_and_what_is_legal),
		cmocka_unit_test(a_value_that_is_not_used_is_no_trouble),
		cmocka_unit_test(an_empty_variable_means_the_default_but_an_empty_flag_is_wrong),
		cmocka_unit_test(a_hostile_value_is_cleaned_and_cut_in_the_sentence),
		cmocka_unit_test(unknown_flags_and_commands_are_named),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(lines_of_a_file_may_use_the_environment_and_lines_before),
		cmocka_unit_test(folders_are_absolute_or_start_at_home),
		cmocka_unit_test(the_two_deadlines_never_contradict_each_other),
		cmocka_unit_test(names_of_other_servers_get_one_line_each),
		cmocka_unit_test(each_of_our_names_that_is_none_is_told),
		cmocka_unit_test(a_program_from_a_flag_replaces_that_of_the_environment),
		cmocka_unit_test(a_session_stays_between_floor_and_server),
		cmocka_unit_test(every_limit_clamps_to_its_own_row),
		cmocka_unit_test(an_unknown_limit_or_no_number_is_an_error_that_helps),
		cmocka_unit_test(the_table_names_every_setting_and_help_the_common_ones),
		cmocka_unit_test(modules_are_names_with_commas_or_blanks_between),
		cmocka_unit_test(hosts_are_checked_when_they_are_set),
		cmocka_unit_test(hosts_of_downloads_are_any_unless_some_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
