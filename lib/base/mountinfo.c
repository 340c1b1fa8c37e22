/* SPDX-License-Identifier: MIT */
/*
 * mountinfo.c - reads the kernel's list of mounts, /proc/self/mountinfo. Each line has at least ten
 * fields, which single blanks separate.
 */
#include "base/mountinfo.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

enum { LIST_MAX = 16 << 20, OCTAL_DIGITS = 3 };

char *mountinfo_read(struct err *err)
{
	size_t len;

	return fd_read_file(AT_FDCWD, "/proc/self/mountinfo", LIST_MAX, &len, err);
}

const char *mountinfo_next(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

char *mountinfo_field(const char *line, int field)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 1; i < field; i++) {
		line += strcspn(line, " \n");
		line += *line == ' ';
	}
	for (; *line != '\0' && *line != ' ' && *line != '\n'; line++) {
		bool octal = line[0] == '\\' && strspn(line + 1, "01234567") >= OCTAL_DIGITS;

		buf_put_char(&text, octal ? (char)((line[1] - '0') << 6 | (line[2] - '0') << 3 |
						   (line[3] - '0'))
					  : line[0]);
		line += octal ? OCTAL_DIGITS : 0;
	}
	buf_put(&text, "", 0);
	return buf_steal(&text);
}

bool mountinfo_is_read_only(const char *line)
{
	cleanup_free char *options = mountinfo_field(line, MOUNTINFO_OPTIONS);
	char *rest = options;
	const char *option;

	while ((option = strsep(&rest, ",")) != NULL)
		if (str_eq(option, "ro"))
			return true;
	return false;
}
