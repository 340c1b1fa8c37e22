/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs a fuzz target over files instead of under libFuzzer.
 *
 * replay PATH...: each file, and each file directly in a folder, goes once through
 * LLVMFuzzerTestOneInput(), as does the empty input. Exits 1 when nothing was read, so that an
 * empty or missing corpus is noticed.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input's exact size on the heap, so that a sanitizer sees a read behind its end. */
static int replay_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "rbe");
	uint8_t *data = malloc(size ? size : 1);
	int ok = f && data && fread(data, 1, size, f) == size;

	if (ok)
		LLVMFuzzerTestOneInput(data, size);
	else
		fprintf(stderr, "replay: cannot read %s\n", path);
	free(data);
	if (f)
		fclose(f);
	return ok;
}

static int replay_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		char name[4096];
		struct stat st;

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
			count += replay_file(name, (size_t)st.st_size);
	}
	closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	int count = 0;

	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			count += replay_folder(argv[i]);
		else
			count += replay_file(argv[i], (size_t)st.st_size);
	}
	printf("%d inputs replayed\n", count);
	return count ? 0 : 1;
}
