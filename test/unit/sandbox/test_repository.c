/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sandbox/rootfs/repository.h"

static void assert_next(struct repository_queue *queue, const char *path, bool in_packages)
{
	cleanup_free char *next = repository_queue_take(queue);

	assert_non_null(next);
	assert_string_equal(next, path);
	assert_int_equal(queue->in_packages, in_packages);
}

static void add(struct repository_queue *queue, const char *name, bool inner)
{
	repository_queue_add(queue, name, inner, xstrdup(name));
}

/* Session code can make a folder look like a repository's own, so all are searched in any case. */
static void a_repository_s_own_folders_come_behind_packages(void **state)
{
	struct repository_queue queue;

	(void)state;
	repository_queue_init(&queue);
	add(&queue, "info", true);
	add(&queue, "objects", false);
	add(&queue, "node_modules", false);
	add(&queue, "src", false);
	assert_next(&queue, "src", false);
	add(&queue, "info", false);
	assert_next(&queue, "info", false);
	assert_next(&queue, "node_modules", true);
	add(&queue, "left", false);
	assert_next(&queue, "left", true);
	assert_next(&queue, "info", false);
	add(&queue, "widget", false);
	assert_next(&queue, "objects", false);
	assert_next(&queue, "widget", false);
	assert_null(repository_queue_take(&queue));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_repository_s_own_folders_come_behind_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
