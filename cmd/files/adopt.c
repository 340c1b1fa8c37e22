/* SPDX-License-Identifier: MIT */
/* adopt.c - compares files in the folder of results with what the session has or had written. */
#include "adopt.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/fd.h"
#include "base/mem.h"
#include "helper/program.h"
#include "workspace/beneath.h"
#include "workspace/keepname.h"

enum { COMPARE_BYTES = 64 << 10, NUMBERS_MAX = 1000 };

char *adopt_same(int from_fd, int dir_fd, const char *name, struct stat *ret_stat)
{
	for (int number = 1; number <= NUMBERS_MAX; number++) {
		cleanup_free char *numbered = keepname_numbered(name, number);
		struct err err;
		cleanup_fd int there = beneath_open_regular(dir_fd, numbered, NULL, &err);

		if (there < 0)
			return NULL;
		if (copy_is_same(from_fd, there, program_alive) && fstat(there, ret_stat) == 0)
			return mem_steal(&numbered);
	}
	return NULL;
}

int adopt_crc(int fd, off_t len, uint32_t *ret)
{
	char part[COMPARE_BYTES];

	*ret = 0;
	for (off_t at = 0; at < len;) {
		ssize_t n = pread(fd, part, size_min(sizeof(part), (size_t)(len - at)), at);

		if (n <= 0)
			return -1;
		*ret = crc_32c(*ret, part, (size_t)n);
		at += n;
		program_alive();
	}
	return 0;
}

void adopt_seen(int dir_fd, const char *name, json_int_t size, json_int_t mtime_ns,
		struct copy_known *known)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size == size && copy_mtime_ns(&st) == mtime_ns)
		*known = copy_describe(&st);
}

static bool is_listed(const json_t *copies, off_t size, uint32_t crc)
{
	size_t index;
	json_t *copy;

	json_array_foreach (copies, index, copy)
		if (json_integer_value(json_object_get(copy, "size")) == size &&
		    json_integer_value(json_object_get(copy, "crc")) == (json_int_t)crc)
			return true;
	return false;
}

void adopt_listed(int dir_fd, const char *name, const json_t *copies, struct copy_known *known)
{
	struct err err;
	cleanup_fd int there = -1;
	uint32_t crc;
	struct stat st;

	if (json_array_size(copies) == 0)
		return;
	there = beneath_open_regular(dir_fd, name, NULL, &err);
	if (there < 0 || fstat(there, &st) < 0 || adopt_crc(there, st.st_size, &crc) < 0 ||
	    !is_listed(copies, st.st_size, crc))
		return;
	*known = copy_describe(&st);
}
