/* SPDX-License-Identifier: MIT */
/*
 * upload.c - decides what an upload sends next. A state machine that produces requests:
 * upload_next() returns the next one that may be sent now. A file that changes while it is uploaded
 * is started again from its beginning. Parts of a failed upload are aborted, since the storage
 * would keep, and charge for, parts that are never put together.
 */
#include "upload.h"

#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"
#include "workspace/beneath.h"
#include "workspace/expose.h"

enum { RESTARTS_MAX = 3 };

/* Resets everything that belongs to the current attempt. */
static void reset_upload(struct upload *upload)
{
	for (unsigned int i = 0; upload->etags != NULL && i < upload->part_count; i++)
		free(upload->etags[i]);
	mem_cleanup(&upload->etags);
	mem_cleanup(&upload->id);
	fd_close(&upload->fd);
	upload->part_count = 0;
	upload->next_part = 0;
	upload->parts_done = 0;
	upload->aborting = false;
}

void upload_release(struct upload *upload)
{
	reset_upload(upload);
	free(upload->path);
	free(upload->name);
}

void upload_fail(struct upload *upload, const struct err *err)
{
	if (upload->state == UPLOAD_FAILED || upload->state == UPLOAD_DONE)
		return;
	upload->state = UPLOAD_FAILED;
	upload->err = *err;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool has_changed(const struct upload *upload)
{
	struct stat now;

	return fstat(upload->fd, &now) < 0 || now.st_size != upload->seen.st_size ||
	       !same_time(now.st_mtim, upload->seen.st_mtim) ||
	       !same_time(now.st_ctim, upload->seen.st_ctim);
}

bool upload_restart(struct upload *upload)
{
	struct err err;

	if (upload->state == UPLOAD_STALE)
		return true;
	if ((upload->state != UPLOAD_BUSY && upload->state != UPLOAD_PARTS) || !has_changed(upload))
		return false;
	if (upload->restarts++ < RESTARTS_MAX) {
		upload->state = UPLOAD_STALE;
		return true;
	}
	if (upload->part_count == 0)
		return false;
	(void)err_set(&err, ERR_BUSY, "it is written to all the time");
	upload_fail(upload, &err);
	return true;
}

bool upload_repeat(struct upload *upload)
{
	if (upload->repeated || upload->state != UPLOAD_BUSY)
		return false;
	upload->repeated = true;
	upload->state = UPLOAD_STALE;
	return true;
}

static int open_file(struct upload *upload, int folder_fd, struct err *err)
{
	upload->fd = beneath_open_regular(folder_fd, upload->path, NULL, err);
	if (upload->fd < 0)
		return -1;
	expose_writes(upload->fd);
	if (fstat(upload->fd, &upload->seen) < 0)
		return err_sys(err, "looking at it");
	upload->size = (uint64_t)upload->seen.st_size;
	if (upload->size > upload->size_max)
		return err_set(err, ERR_LIMIT, "limit");
	return 0;
}

static int divide_into_parts(struct upload *upload, unsigned int parts_max, struct err *err)
{
	upload->part_size = UPLOAD_PART_SIZE;
	while (upload->size / upload->part_size >= parts_max)
		upload->part_size *= 2;
	if (upload->part_size > (uint64_t)UPLOAD_PART_SIZE << 8)
		return err_set(err, ERR_LIMIT, "it is larger than the storage allows");
	upload->part_count =
		(unsigned int)((upload->size + upload->part_size - 1) / upload->part_size);
	upload->etags = xcalloc(upload->part_count, sizeof(char *));
	return 0;
}

static bool set_sending(struct upload *upload, struct sending *sending, enum step step)
{
	*sending = (struct sending){ .step = step, .upload = upload, .fd = -1 };
	buf_init(&sending->text, BUF_UNBOUNDED);
	upload->running++;
	return true;
}

static bool begin_upload(struct upload *upload, const struct backend *backend, int folder_fd,
			 struct sending *sending)
{
	struct err err;

	if (open_file(upload, folder_fd, &err) < 0 ||
	    (upload->size > UPLOAD_WHOLE_MAX &&
	     divide_into_parts(upload, backend->parts_max, &err) < 0)) {
		upload->unfit = true;
		upload_fail(upload, &err);
		return false;
	}
	random_hex(upload->token, BACKEND_TOKEN_LEN);
	upload->state = UPLOAD_BUSY;
	if (upload->part_count == 0) {
		(void)set_sending(upload, sending, STEP_WHOLE);
		sending->fd = upload->fd;
		sending->length = upload->size;
		return true;
	}
	if (backend->has_begin)
		return set_sending(upload, sending, STEP_BEGIN);
	upload->state = UPLOAD_PARTS;
	return upload_next(upload, backend, folder_fd, sending);
}

static bool next_part(struct upload *upload, struct sending *sending)
{
	if (upload->next_part < upload->part_count) {
		(void)set_sending(upload, sending, STEP_PART);
		sending->part = upload->next_part++;
		sending->fd = upload->fd;
		sending->offset = sending->part * upload->part_size;
		sending->length = upload->size - sending->offset;
		if (sending->length > upload->part_size)
			sending->length = upload->part_size;
		return true;
	}
	if (upload->parts_done < upload->part_count)
		return false;
	upload->state = UPLOAD_BUSY;
	return set_sending(upload, sending, STEP_FINISH);
}

/* Aborts an upload in parts, which the storage would otherwise keep for good. */
static bool abort_parts(struct upload *upload, struct sending *sending)
{
	if (upload->id == NULL || upload->aborting || upload->running > 0)
		return false;
	upload->aborting = true;
	return set_sending(upload, sending, STEP_ABORT);
}

static bool restart_upload(struct upload *upload, const struct backend *backend, int folder_fd,
			   struct sending *sending)
{
	if (upload->running > 0)
		return false;
	if (abort_parts(upload, sending))
		return true;
	reset_upload(upload);
	return begin_upload(upload, backend, folder_fd, sending);
}

bool upload_next(struct upload *upload, const struct backend *backend, int folder_fd,
		 struct sending *ret_sending)
{
	switch (upload->state) {
	case UPLOAD_NEW:
		return begin_upload(upload, backend, folder_fd, ret_sending);
	case UPLOAD_PARTS:
		return next_part(upload, ret_sending);
	case UPLOAD_STALE:
		return restart_upload(upload, backend, folder_fd, ret_sending);
	case UPLOAD_FAILED:
		return abort_parts(upload, ret_sending);
	case UPLOAD_BUSY:
	case UPLOAD_DONE:
		break;
	}
	return false;
}

void upload_step_done(struct upload *upload, enum step step)
{
	if (upload->state == UPLOAD_FAILED || upload->state == UPLOAD_STALE)
		return;
	if (step == STEP_WHOLE || step == STEP_FINISH || step == STEP_LOOK)
		upload->state = UPLOAD_DONE;
	else if (step == STEP_BEGIN)
		upload->state = UPLOAD_PARTS;
	else if (step == STEP_PART)
		upload->parts_done++;
}
