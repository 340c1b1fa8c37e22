/* SPDX-License-Identifier: MIT */
/* written.c - reads the file `io` of a process. */
#include "sandbox/process/written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/process/proctree.h"

static uint64_t number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

struct written written_by(pid_t pid)
{
	char path[64];
	char text[512];

	(void)snprintf(path, sizeof(path), "/proc/%d/io", pid);
	if (!proctree_read(path, text, sizeof(text)))
		return (struct written){ 0, 0 };
	return (struct written){ .disk = number_after(text, "\nwrite_bytes:"),
				 .calls = number_after(text, "wchar:") };
}
