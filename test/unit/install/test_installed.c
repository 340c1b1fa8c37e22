/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>
#include <cmocka.h>

#include "base/mem.h"
#include "install/installed.h"
#include "json/make.h"
#include "runtime/language.h"
#include "scratch.h"

static void release(struct list *all)
{
	list_for_each (struct installed, one, all, node)
		installed_free(one);
}

static void a_later_life_finds_the_packages_of_its_folder_alone(void **state)
{
	const struct language *python = language_find("python");
	struct scratch scratch;
	struct list all;
	struct installed *one;

	(void)state;
	scratch_init(&scratch);
	list_init(&all);
	assert_null(installed_find(&all, "a", python, false));
	for (const char *folder = "a"; folder != NULL; folder = folder[0] == 'a' ? "b" : NULL) {
		one = installed_find(&all, folder, python, true);
		one->from = xstrdup(folder);
		one->wanted = json_array();
		one->result = json_object();
	}
	installed_write(&all, "a", scratch.fd);
	release(&all);
	installed_read(&all, "later", scratch.fd);
	installed_read(&all, "later", scratch.fd);
	one = installed_find(&all, "later", python, false);
	assert_non_null(one);
	assert_string_equal(one->from, "a");
	assert_int_equal(list_len(&all), 1);
	release(&all);
	scratch_release(&scratch);
}

static void rows_that_are_none_are_left_out(void **state)
{
	static const char text[] =
		"[{\"language\":\"klingon\",\"from\":\"x\",\"wanted\":[],\"result\":{}},"
		"{\"language\":\"python\",\"from\":\"x\",\"wanted\":1,\"result\":{}}]";
	struct scratch scratch;
	struct list all;

	(void)state;
	scratch_init(&scratch);
	list_init(&all);
	installed_read(&all, "a", scratch.fd);
	scratch_write(scratch.fd, INSTALLED_RECORD, text);
	installed_read(&all, "a", scratch.fd);
	assert_true(list_empty(&all));
	scratch_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_later_life_finds_the_packages_of_its_folder_alone),
		cmocka_unit_test(rows_that_are_none_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
