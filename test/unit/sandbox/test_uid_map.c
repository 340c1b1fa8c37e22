/* SPDX-License-Identifier: MIT */
/*
 * The user of a root server's session. The accounts are this program's: its functions precede
 * libc's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "sandbox/namespaces/uid_map.h"

enum { SKIP = 77 };

static int users;  /* the next so many users have accounts */
static int groups; /* and groups */
static int users_error;
static uid_t last;

int getpwuid_r(uid_t uid, struct passwd *resultbuf, char *buffer, size_t buflen,
	       struct passwd **result)
{
	assert_true(buflen > 0);
	buffer[0] = '\0';
	last = uid;
	*result = users > 0 && users-- > 0 ? resultbuf : NULL;
	return users_error;
}

int getgrgid_r(gid_t gid, struct group *resultbuf, char *buffer, size_t buflen,
	       struct group **result)
{
	assert_true(buflen > 0);
	buffer[0] = '\0';
	assert_int_equal(gid, last);
	*result = groups > 0 && groups-- > 0 ? resultbuf : NULL;
	return 0;
}

/* The next reads of a folder fail. */
static int bad_reads;

struct dirent *readdir(DIR *dirp)
{
	static struct dirent *(*real)(DIR *);

	if (bad_reads > 0) {
		bad_reads--;
		errno = EIO;
		return NULL;
	}
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	return real(dirp);
}

static const char pattern[] = "/tmp/usermap-XXXXXX";
static char folder[sizeof(pattern)];
static int folder_fd = -1;

static int set_up(void **state)
{
	(void)state;
	users = 0;
	groups = 0;
	users_error = 0;
	memcpy(folder, pattern, sizeof(pattern));
	if (mkdtemp(folder) == NULL)
		return -1;
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder_fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	fd_close(&folder_fd);
	return rmdir(folder);
}

static uid_t owner(void)
{
	struct stat st;

	assert_int_equal(fstat(folder_fd, &st), 0);
	return st.st_uid;
}

static void an_account_is_no_sessions_user(void **state) /* T12 */
{
	struct uid_map map;
	struct err err;

	(void)state;
	users = UID_MAP_PICKS_MAX / 2;
	groups = UID_MAP_PICKS_MAX / 2 - 1;
	assert_int_equal(uid_map_choose(folder_fd, &map, &err), 0);
	assert_int_equal(users + groups, 0);
	assert_true(map.other_user && map.uid == last && map.gid == last && owner() == last);
	assert_in_range(map.uid, UID_MAP_FIRST, UID_MAP_LAST);
}

static void without_a_free_user_there_is_no_session(void **state)
{
	struct uid_map map;
	struct err err;

	(void)state;
	users = UID_MAP_PICKS_MAX;
	assert_int_equal(uid_map_choose(folder_fd, &map, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "have accounts on this machine"));
	assert_int_equal(owner(), 0);
}

static void an_account_that_is_too_large_to_read_is_one(void **state)
{
	struct uid_map map;
	struct err err;

	(void)state;
	users_error = ERANGE;
	assert_int_equal(uid_map_choose(folder_fd, &map, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

static uid_t owner_of(const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_uid;
}

static void a_folder_is_given_whole_or_not_at_all(void **state)
{
	struct uid_map map;
	struct err err;

	(void)state;
	assert_int_equal(mkdirat(folder_fd, "output", 0700), 0);
	bad_reads = 1;
	assert_int_equal(uid_map_choose(folder_fd, &map, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(owner(), 0);
	assert_int_equal(uid_map_choose(folder_fd, &map, &err), 0);
	assert_true(owner() == map.uid && owner_of("output") == map.uid);
	assert_int_equal(unlinkat(folder_fd, "output", AT_REMOVEDIR), 0);
}

static void a_folder_keeps_its_user(void **state)
{
	struct uid_map first;
	struct uid_map second;
	struct err err;

	(void)state;
	assert_int_equal(uid_map_choose(folder_fd, &first, &err), 0);
	assert_int_equal(uid_map_choose(folder_fd, &second, &err), 0);
	assert_int_equal(second.uid, first.uid);
}

static void a_drawn_user_is_checked_later(void **state) /* T12 */
{
	struct err err;

	(void)state;
	users = 1;
	assert_int_equal(uid_map_draw(folder_fd, &err), 0);
	assert_in_range(owner(), UID_MAP_FIRST, UID_MAP_LAST);
	assert_int_equal(users, 1); /* not looked up yet */
	assert_int_equal(uid_map_check(folder_fd, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "has an account on this machine"));
	assert_true(users == 0 && last == owner());
	assert_int_equal(uid_map_check(folder_fd, &err), 0);
}

static void a_folder_that_was_given_to_nobody_is_not_looked_up(void **state)
{
	struct err err;

	(void)state;
	users = 1;
	assert_int_equal(uid_map_check(folder_fd, &err), 0);
	assert_int_equal(users, 1);
	assert_int_equal(uid_map_check(-1, &err), -1);
}

#define USERMAP_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		USERMAP_TEST(an_account_is_no_sessions_user),
		USERMAP_TEST(without_a_free_user_there_is_no_session),
		USERMAP_TEST(an_account_that_is_too_large_to_read_is_one),
		USERMAP_TEST(a_folder_is_given_whole_or_not_at_all),
		USERMAP_TEST(a_folder_keeps_its_user),
		USERMAP_TEST(a_drawn_user_is_checked_later),
		USERMAP_TEST(a_folder_that_was_given_to_nobody_is_not_looked_up),
	};

	if (geteuid() != 0) {
		print_message("skipped: only root gives sessions users\n");
		return SKIP;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
