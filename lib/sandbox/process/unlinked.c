/* SPDX-License-Identifier: MIT */
/*
 * unlinked.c - sums the sizes of open files without a name.
 *
 * Quotas and directory scans miss such files, so session code could fill the disk with them.
 * Several descriptors may lead to one file: the files are sorted by inode and counted once.
 */
#include "sandbox/process/unlinked.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "sandbox/process/proctree.h"

enum {
	DESCRIPTORS_MAX = 16384, /* examined of all processes together: 10 ms */
	BLOCK_BYTES = 512,
};

struct file {
	ino_t number;
	uint64_t bytes;
};

struct files {
	struct file *items;
	size_t len;
	size_t examined;
	dev_t device;
};

static void add_if_unlinked(void *data, pid_t pid, int dir_fd, const char *name)
{
	struct files *files = data;
	struct stat st;

	(void)pid;
	if (files->examined == DESCRIPTORS_MAX)
		return;
	files->examined++;
	/* stat follows the link in /proc to the open file itself. */
	if (fstatat(dir_fd, name, &st, 0) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 0 ||
	    st.st_dev != files->device)
		return;
	files->items[files->len++] =
		(struct file){ st.st_ino, (uint64_t)st.st_blocks * BLOCK_BYTES };
}

static int by_number(const void *a, const void *b)
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
		proctree_each_descriptor(list->pids[i], add_if_unlinked, &files);
	qsort(files.items, files.len, sizeof(files.items[0]), by_number);
	for (size_t i = 0; i < files.len; i++)
		if (i == 0 || files.items[i].number != files.items[i - 1].number)
			bytes += files.items[i].bytes;
	free(files.items);
	return bytes;
}
