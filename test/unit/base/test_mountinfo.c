/* SPDX-License-Identifier: MIT */
/* test_mountinfo.c - the kernel's list of mounts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/mountinfo.h"

#define FIRST                                                                                      \
	"36 35 98:0 /a\\040b /mnt/x\\134\\040y rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
#define SECOND "37 35 98:0 / /sealed nosuid,ro - tmpfs none rw\n"

static void assert_field(const char *line, int number, const char *expected)
{
	cleanup_free char *field = mountinfo_field(line, number);

	assert_string_equal(field, expected);
}

static void fields_have_their_blanks(void **state)
{
	(void)state;
	assert_field(FIRST SECOND, MOUNTINFO_ROOT, "/a b");
	assert_field(FIRST SECOND, MOUNTINFO_POINT, "/mnt/x\\ y");
	assert_field(FIRST SECOND, MOUNTINFO_OPTIONS, "rw,noatime");
	assert_field("36 35 98:0 / /x\\04", MOUNTINFO_POINT, "/x\\04");
}

static void a_field_that_is_missing_is_empty(void **state)
{
	(void)state;
	assert_field("36 35\n" SECOND, MOUNTINFO_POINT, "");
	assert_field("", MOUNTINFO_POINT, "");
}

static void lines_follow_each_other(void **state)
{
	const char *second = mountinfo_next(FIRST SECOND);

	(void)state;
	assert_field(second, MOUNTINFO_POINT, "/sealed");
	assert_string_equal(mountinfo_next(second), "");
	assert_string_equal(mountinfo_next("37 35"), "");
}

static void the_flag_of_the_mount_counts(void **state)
{
	(void)state;
	assert_false(mountinfo_is_read_only(FIRST));
	assert_true(mountinfo_is_read_only(SECOND));
	assert_false(mountinfo_is_read_only("37 35 98:0 / /x rw,root - tmpfs none ro\n"));
}

static void a_line_has_any_length(void **state)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *point = NULL;

	(void)state;
	buf_puts(&line, "36 35 98:0 / ");
	for (int i = 0; i < 2000; i++)
		buf_puts(&line, "/folder");
	buf_puts(&line, " ro - ext4 /dev/x rw\n" SECOND);
	point = mountinfo_field(buf_str(&line), MOUNTINFO_POINT);
	assert_int_equal(strlen(point), 2000 * strlen("/folder"));
	assert_true(mountinfo_is_read_only(buf_str(&line)));
	assert_string_equal(mountinfo_next(buf_str(&line)), SECOND);
}

static void the_root_is_in_the_list(void **state)
{
	struct err err;
	cleanup_free char *list = mountinfo_read(&err);
	bool found = false;

	(void)state;
	assert_non_null(list);
	for (const char *line = list; *line != '\0'; line = mountinfo_next(line)) {
		cleanup_free char *point = mountinfo_field(line, MOUNTINFO_POINT);

		found = found || str_eq(point, "/");
	}
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_have_their_blanks),
		cmocka_unit_test(a_field_that_is_missing_is_empty),
		cmocka_unit_test(lines_follow_each_other),
		cmocka_unit_test(the_flag_of_the_mount_counts),
		cmocka_unit_test(a_line_has_any_length),
		cmocka_unit_test(the_root_is_in_the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
