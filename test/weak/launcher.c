/* SPDX-License-Identifier: MIT */
/*
 * launcher.c - ptycell-launcher with layers switched off, for tests: to see what each of them
 * stops, and that the server notices.
 *
 * The file `means` beside the program says which: the bits of struct privdrop_means.without, in
 * hex, and the highest ABI of landlock to use.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/launcher/launch.h"

static int read_means(struct privdrop_means *ret_means)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof("means"));
	FILE *file;
	int count;

	if (len < 0)
		return -1;
	path[len] = '\0';
	memcpy(strrchr(path, '/') + 1, "means", sizeof("means"));
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	count = fscanf(file, "%x %d", &ret_means->without, &ret_means->landlock_abi);
	(void)fclose(file);
	return count == 2 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct privdrop_means means;
	struct err err;

	if (argc > 1)
		return launch_inside(argc, argv, &privdrop_whole);
	if (read_means(&means) < 0) {
		perror("means");
		return EXIT_FAILURE;
	}
	(void)umask(S_IWGRP | S_IWOTH);
	(void)setsid();
	(void)!chdir("/");
	(void)close_range(LAUNCH_CHANNEL + 1, ~0U, 0);
	(void)fcntl(LAUNCH_CHANNEL, F_SETFD, FD_CLOEXEC);
	return launch_run(LAUNCH_CHANNEL, &means, &err) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
