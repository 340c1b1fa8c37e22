/* SPDX-License-Identifier: MIT */
/* page.c - writes pages part by part, because a report may be large. */
#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adopt.h"
#include "base/crc.h"
#include "base/fd.h"
#include "base/mem.h"
#include "helper/program.h"
#include "journal/journal.h"
#include "json/make.h"
#include "keep.h"
#include "workspace/beneath.h"

#define MARK "<!-- ptycell %08x -->\n"

enum { MARK_LEN = sizeof("<!-- ptycell 01234567 -->\n") - 1, PART_BYTES = 256 << 10 };

int page_open(int dir_fd, struct page *ret, struct err *err)
{
	ret->crc = 0;
	ret->fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (ret->fd < 0)
		ret->fd = memfd_create("page", MFD_CLOEXEC);
	return ret->fd < 0 ? err_sys(err, "making a file for it") : 0;
}

int page_put(struct page *page, const struct buf *part, struct err *err)
{
	page->crc = crc_32c(page->crc, buf_str(part), part->len);
	program_alive();
	return fd_write_all(page->fd, buf_str(part), part->len, err);
}

int page_finish(struct page *page, struct err *err)
{
	char mark[MARK_LEN + 1];

	(void)snprintf(mark, sizeof(mark), MARK, (unsigned int)page->crc);
	if (fd_write_all(page->fd, mark, MARK_LEN, err) < 0)
		return -1;
	if (lseek(page->fd, 0, SEEK_SET) < 0)
		return err_sys(err, "drawing it");
	return fd_steal(&page->fd);
}

void page_recognise(int dir_fd, const char *name, struct copy_known *known)
{
	char mark[MARK_LEN + 1];
	char there[MARK_LEN];
	struct err ignored;
	struct stat st;
	uint32_t crc;
	cleanup_fd int fd = beneath_open_regular(dir_fd, name, NULL, &ignored);

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < MARK_LEN ||
	    pread(fd, there, MARK_LEN, st.st_size - MARK_LEN) != MARK_LEN ||
	    memcmp(there, MARK, strcspn(MARK, "%")) != 0 ||
	    adopt_crc(fd, st.st_size - MARK_LEN, &crc) < 0)
		return;
	(void)snprintf(mark, sizeof(mark), MARK, (unsigned int)crc);
	if (memcmp(mark, there, MARK_LEN) == 0)
		*known = copy_describe(&st);
}

/* ---- the report ---- */

static int put_text(struct page *page, const char *text, size_t len, struct err *err)
{
	page->crc = crc_32c(page->crc, text, len);
	return fd_write_all(page->fd, text, len, err);
}

/* Adds the first `size` bytes of the file of pieces. */
static int put_pieces(struct page *page, int journal_fd, uint64_t size, struct err *err)
{
	cleanup_free char *part = xcalloc(1, PART_BYTES);
	cleanup_fd int fd = size == 0 ? -1
				      : openat(journal_fd, JOURNAL_REPORT_FILE,
					       O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	for (uint64_t at = 0; at < size;) {
		size_t len = size - at < PART_BYTES ? (size_t)(size - at) : PART_BYTES;
		ssize_t n = pread(fd, part, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 ? err_set(err, ERR_INVALID, "it is shorter than it was")
				      : err_sys(err, "reading its pieces");
		if (put_text(page, part, (size_t)n, err) < 0)
			return -1;
		at += (uint64_t)n;
		program_alive();
	}
	return 0;
}

int page_join(int journal_fd, const json_t *parts, struct err *err)
{
	const char *head = json_string_value(json_object_get(parts, "head"));
	const char *tail = json_string_value(json_object_get(parts, "tail"));
	json_int_t size = json_integer_value(json_object_get(parts, "size"));
	struct page page;
	int fd = -1;

	if (head == NULL || tail == NULL || size < 0)
		return err_set(err, ERR_INVALID, "the request has no parts of a report");
	if (page_open(journal_fd, &page, err) < 0)
		return -1;
	if (put_text(&page, head, strlen(head), err) == 0 &&
	    put_pieces(&page, journal_fd, (uint64_t)size, err) == 0 &&
	    put_text(&page, tail, strlen(tail), err) == 0)
		fd = page_finish(&page, err);
	fd_close(&page.fd);
	return fd;
}

int page_run(int journal_fd, json_t *request, struct err *err)
{
	const json_t *parts = json_object_get(request, "report");
	cleanup_fd int drawn = page_join(journal_fd, parts, err);

	json_put(request, "facts", json_incref(json_object_get(parts, "facts")));
	return keep_run(journal_fd, request, drawn, err);
}
