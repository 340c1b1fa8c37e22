/* SPDX-License-Identifier: MIT */
#include "sandbox/process/unlinked.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "sandbox/process/proctree.h"

enum {
	DESCRIPTORS_MAX = 16384, /* looked at, of all processes: 10 ms */
	BLOCK_BYTES = 512,
};

struct file {
	ino_t number;
	uint64_t bytes;
};

struct files {
	struct file *items;
	size_t len;
	size_t looked_at;
	dev_t device;
};

static void look_at(void *data, pid_t pid, int dir_fd, const char *name)
{
	struct files *files = data;
	struct stat st;

	(void)pid;
	if (files->looked_at == DESCRIPTORS_MAX)
		return;
	files->looked_at++;
	/* The link leads to what is open, whatever its name was. */
	if (fstatat(dir_fd, name, &st, 0) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 0 ||
	    st.st_dev != files->device)
		return;
	files->items[files->len++] =
		(struct file){ st.st_ino, (uint64_t)st.st_blocks * BLOCK_BYTES };
}

static int compare(const void *a, const void *b)
{
	const struct file *one = a;
	const struct file *two = b;

	return (one->number > two->number) - (one->number < two->number);
}

uint64_t unlinked_bytes(const struct pidlist *list, dev_t device)
{
	struct files files = { .items = calloc(DESCRIPTORS_MAX, sizeof(*files.items)),
			       .device = device };
	uint64_t bytes = 0;

	if (files.items == NULL)
		return 0;
	for (size_t i = 0; i < list->len; i++)
		proctree_each_descriptor(list->pids[i], look_at, &files);
	qsort(files.items, files.len, sizeof(files.items[0]), compare);
	for (size_t i = 0; i < files.len; i++)
		if (i == 0 || files.items[i].number != files.items[i - 1].number)
			bytes += files.items[i].bytes;
	free(files.items);
	return bytes;
}
