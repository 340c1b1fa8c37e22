/* SPDX-License-Identifier: MIT */
/*
 * parts.c - compares versions. A server that was upgraded under its feet sees " (deleted)" in
 * /proc/self/exe; the advice to the user then is to restart it, otherwise to install ptycell again.
 */
#include "parts/parts.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

uint32_t parts_number(void)
{
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (const char *c = parts_version; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619U;
	return hash;
}

bool parts_agree(int argc, char *const *argv)
{
	return argc < 2 || str_eq(argv[1], parts_version);
}

/*
 * Returns whether this program's file was removed or replaced: the kernel marks the link's target.
 */
static bool was_replaced(void)
{
	static const char gone[] = " (deleted)";
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));

	return len >= (ssize_t)strlen(gone) &&
	       memcmp(path + len - strlen(gone), gone, strlen(gone)) == 0;
}

void parts_differ(const char *program, struct err *ret_err)
{
	(void)err_set(ret_err, ERR_UNSUPPORTED, "'%s' is of another version: %s", program,
		      was_replaced() ? "ptycell was upgraded; restart it"
				     : "install ptycell again, whole");
}
