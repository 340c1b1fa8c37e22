/* SPDX-License-Identifier: MIT */
/*
 * import.c - copies one file within its size limit. The size is checked twice: by the allocated
 * blocks before the copy, and by the copied bytes during it, since the file may grow. Holes count
 * in neither. The program gives up every right to open files before it reads the first byte: it
 * needs only the two descriptors.
 */
#include "import.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "helper/program.h"
#include "journal/digest.h"
#include "json/get.h"
#include "json/make.h"
#include "lockdown.h"

enum {
	PROGRESS_MS = 500,
	STEP = 16 << 20,
	READ_SIZE = 256 << 10,
	BLOCK = 512,
	DIGEST_MAX = 256 << 20
};

struct import {
	int from;
	int to;
	off_t size;
	uint64_t copied;
	uint64_t size_max;
	const char *size_name;
	bool plain;      /* no digest is wanted */
	bool by_reading; /* the kernel cannot copy between these two */
	char *buffer;
	uint64_t reported_ms;
};

static int refuse_size(const struct import *import, struct err *err)
{
	return err_set(err, ERR_LIMIT, "it is larger than %ju bytes (%s)",
		       (uintmax_t)import->size_max, import->size_name);
}

static void report_head(const struct import *import, const char *name)
{
	json_t *progress = json_object();
	json_t *head = json_object();

	json_put_str(head, "name", name);
	json_put_int(head, "total", (json_int_t)import->size);
	json_put(progress, "head", head);
	program_progress(progress);
}

static void report_bytes(struct import *import, off_t at)
{
	uint64_t now = clock_ms();
	json_t *progress;

	if (now - import->reported_ms < PROGRESS_MS)
		return;
	import->reported_ms = now;
	progress = json_object();
	json_put_int(progress, "bytes", (json_int_t)at);
	program_progress(progress);
}

/* Returns how many bytes were copied, 0 at the end of a file that shrank. */
static ssize_t copy_by_reading(struct import *import, off_t at, size_t len, struct err *err)
{
	ssize_t n =
		fd_read_at(import->from, import->buffer, size_min(len, READ_SIZE), (uint64_t)at);

	if (n < 0)
		return err_sys(err, "reading it");
	if (fd_write_at(import->to, import->buffer, (size_t)n, (uint64_t)at) < 0)
		return err_sys(err, "writing it");
	return n;
}

static ssize_t copy_some(struct import *import, off_t at, size_t len, struct err *err)
{
	off_t from_at = at;
	off_t to_at = at;
	ssize_t n;

	if (!import->by_reading) {
		n = copy_file_range(import->from, &from_at, import->to, &to_at, len, 0);
		if (n > 0)
			return n;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return err_sys(err, "writing it");
		/* Some file systems return 0 where they do not support the call. */
		import->by_reading = true;
	}
	return copy_by_reading(import, at, len, err);
}

static int copy_stretch(struct import *import, off_t at, off_t end, struct err *err)
{
	while (at < end) {
		size_t len = end - at < STEP ? (size_t)(end - at) : STEP;
		ssize_t n = copy_some(import, at, len, err);

		if (n <= 0)
			return (int)n;
		at += n;
		import->copied += (uint64_t)n;
		if (import->copied > import->size_max)
			return refuse_size(import, err);
		report_bytes(import, at);
	}
	return 0;
}

/* Copies only data. A file system without SEEK_DATA reports data everywhere. */
static int copy_data(struct import *import, struct err *err)
{
	off_t at = 0;

	while (at < import->size) {
		off_t data = lseek(import->from, at, SEEK_DATA);
		off_t hole;

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data < 0)
			data = at;
		hole = lseek(import->from, data, SEEK_HOLE);
		if (hole < 0 || hole > import->size)
			hole = import->size;
		if (copy_stretch(import, data, hole, err) < 0)
			return -1;
		at = hole;
	}
	return 0;
}

static int copy(struct import *import, struct err *err)
{
	int result = 0;

	if (ioctl(import->to, FICLONE, import->from) != 0) {
		import->buffer = xcalloc(1, READ_SIZE);
		result = copy_data(import, err);
		mem_cleanup(&import->buffer);
	}
	if (result == 0 && ftruncate(import->to, import->size) < 0)
		return err_sys(err, "writing it");
	return result;
}

static int look(struct import *import, struct err *err)
{
	struct stat from;
	struct stat to;
	uint64_t data;

	if (fstat(import->to, &to) < 0 || !S_ISREG(to.st_mode) || fstat(import->from, &from) < 0 ||
	    !S_ISREG(from.st_mode))
		return err_set(err, ERR_INVALID, "descriptors 3 and 4 are no files");
	import->size = from.st_size;
	data = (uint64_t)from.st_blocks * BLOCK;
	if (data > (uint64_t)from.st_size)
		data = (uint64_t)from.st_size;
	return data > import->size_max ? refuse_size(import, err) : 0;
}

/*
 * Adds the digest of the copy, for records of the session. It is left out where it would take
 * seconds.
 */
static int put_digest(const struct import *import, json_t *result, struct err *err)
{
	cleanup_free char *buffer = xcalloc(1, READ_SIZE);
	char text[DIGEST_LEN + 1];
	struct digest digest;

	if (import->plain || import->size > DIGEST_MAX)
		return 0;
	digest_init(&digest);
	for (off_t at = 0; at < import->size;) {
		ssize_t n = fd_read_at(import->to, buffer, READ_SIZE, (uint64_t)at);

		if (n <= 0)
			return err_sys(err, "reading the copy");
		digest_add(&digest, buffer, (size_t)n);
		at += n;
	}
	digest_end(&digest, text);
	json_put_str(result, "sha256", text);
	return 0;
}

int import_run(int to_fd, int from_fd, const json_t *request, struct err *err)
{
	struct import import = { .from = from_fd, .to = to_fd, .size_name = "the limit" };
	const char *name = NULL;
	json_int_t size_max = 0;
	cleanup_json json_t *result = json_object();

	if (json_get_text(request, "request", "name", &name, NULL, err) < 0 ||
	    json_get_text(request, "request", "size_name", &import.size_name, NULL, err) < 0 ||
	    json_get_bool(request, "request", "plain", &import.plain, err) < 0 ||
	    json_get_int(request, "request", "size_max", &size_max, err) < 0)
		return -1;
	import.size_max = size_max > 0 ? (uint64_t)size_max : 0;
	import.reported_ms = clock_ms();
	if (look(&import, err) < 0 || lockdown_files(NULL, 0, 1, err) < 0)
		return -1;
	report_head(&import, name);
	if (copy(&import, err) < 0 || put_digest(&import, result, err) < 0)
		return -1;
	json_put_int(result, "size", (json_int_t)import.size);
	program_result(mem_steal(&result));
	return 0;
}
