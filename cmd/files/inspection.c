/* SPDX-License-Identifier: MIT */
/* inspection.c - the limits of an inspection, and what its folders hold. */
#include "inspection.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "helper/program.h"

enum { CLOCK_EVERY = 256, POINTER_MAX = 4096 };

size_t inspection_share(const struct inspection *run)
{
	return (size_t)(run->share - INSPECT_FIRST_FD);
}

bool inspection_goes_on(struct inspection *run)
{
	program_alive();
	if (run->more == NULL && clock_ms() >= run->until_ms)
		run->more = "time";
	return run->more == NULL;
}

bool inspection_count(struct inspection *run)
{
	if (run->more != NULL)
		return false;
	if (run->entries_left == 0) {
		run->more = "entries";
		return false;
	}
	return --run->entries_left % CLOCK_EVERY != 0 || inspection_goes_on(run);
}

void inspection_note_unread(struct inspection *run)
{
	/* The user's git runs nothing in a folder that is gone or closed to the user. */
	run->unread |=
		fd_hides_entries(errno) && errno != EXDEV && errno != EACCES && errno != EPERM;
}

bool inspection_is_first(struct inspection *run, int dir, enum judged_as as)
{
	static char there;
	struct statx st;
	uint64_t key[5];

	if (statx(dir, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &st) < 0)
		return true;
	/* Where a path leads from the folder depends on the mount. */
	key[0] = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	key[1] = st.stx_ino;
	key[2] = st.stx_mnt_id;
	key[3] = as;
	key[4] = run->new_repository;
	return map_set(run->judged, key, sizeof(key), &there) == NULL;
}

/*
 * Returns how much the file system cuts off its times: the coarsest resolution that fits these
 * digits.
 */
static int64_t grain_of(long ns)
{
	if (ns == 0)
		return 2000000000;
	return ns % 10000000 == 0 ? 10000000 : 1000;
}

bool inspection_is_young(const struct inspection *run, const struct stat *st)
{
	int64_t ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;

	return run->new_repository || ns + grain_of(st->st_ctim.tv_nsec) > run->since_ns;
}

bool inspection_stat(const struct folder_at *folder, const char *name, struct stat *ret_st)
{
	return fstatat(folder->fd, name, ret_st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool inspection_young_there(const struct inspection *run, const struct folder_at *folder,
			    const char *name, struct stat *ret_st)
{
	return inspection_stat(folder, name, ret_st) && inspection_is_young(run, ret_st);
}

char *inspection_read(const struct folder_at *folder, const char *name, size_t max, size_t *ret_len)
{
	cleanup_fd int fd =
		openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	cleanup_free char *text = xcalloc(1, max + 1);
	ssize_t len;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	len = fd_read_at(fd, text, max + 1, 0);
	if (len < 0 || (size_t)len > max)
		return NULL;
	*ret_len = (size_t)len;
	return mem_steal(&text);
}

char *inspection_read_pointer(const struct folder_at *folder, const char *name)
{
	size_t len = 0;
	char *text = inspection_read(folder, name, POINTER_MAX, &len);

	while (text != NULL && len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		text[--len] = '\0';
	return text;
}
