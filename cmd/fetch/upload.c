/* SPDX-License-Identifier: MIT */
#include "upload.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"
#include "workspace/beneath.h"

void upload_release(struct upload *upload)
{
	for (unsigned int i = 0; upload->etags != NULL && i < upload->part_count; i++)
		free(upload->etags[i]);
	free(upload->etags);
	free(upload->id);
	free(upload->path);
	free(upload->name);
	fd_close(&upload->fd);
}

void upload_fail(struct upload *upload, const struct err *err)
{
	if (upload->state == UPLOAD_FAILED || upload->state == UPLOAD_DONE)
		return;
	upload->state = UPLOAD_FAILED;
	upload->err = *err;
}

/* What it has now is what is uploaded; what is written later is found by the next scan. */
static int open_file(struct upload *upload, int folder_fd, struct err *err)
{
	struct stat st;

	upload->fd = beneath_open_regular(folder_fd, upload->path, NULL, err);
	if (upload->fd < 0)
		return -1;
	if (fstat(upload->fd, &st) < 0)
		return err_sys(err, "looking at it");
	upload->size = (uint64_t)st.st_size;
	if (upload->size > upload->size_max)
		return err_set(err, ERR_LIMIT, "limit");
	return 0;
}

static int divide(struct upload *upload, unsigned int parts_max, struct err *err)
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

static bool give(struct upload *upload, struct sending *sending, enum step step)
{
	*sending = (struct sending){ .step = step, .upload = upload, .fd = -1 };
	buf_init(&sending->text, BUF_UNBOUNDED);
	upload->running++;
	return true;
}

static bool begin(struct upload *upload, const struct backend *backend, int folder_fd,
		  struct sending *sending)
{
	struct err err;

	if (open_file(upload, folder_fd, &err) < 0 ||
	    (upload->size > UPLOAD_WHOLE_MAX && divide(upload, backend->parts_max, &err) < 0)) {
		upload_fail(upload, &err);
		return false;
	}
	random_hex(upload->token, BACKEND_TOKEN_LEN);
	upload->state = UPLOAD_BUSY;
	if (upload->part_count == 0) {
		(void)give(upload, sending, STEP_WHOLE);
		sending->fd = upload->fd;
		sending->length = upload->size;
		return true;
	}
	if (backend->has_begin)
		return give(upload, sending, STEP_BEGIN);
	upload->state = UPLOAD_PARTS;
	return upload_next(upload, backend, folder_fd, sending);
}

static bool next_part(struct upload *upload, struct sending *sending)
{
	if (upload->next_part < upload->part_count) {
		(void)give(upload, sending, STEP_PART);
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
	return give(upload, sending, STEP_FINISH);
}

bool upload_next(struct upload *upload, const struct backend *backend, int folder_fd,
		 struct sending *ret_sending)
{
	switch (upload->state) {
	case UPLOAD_NEW:
		return begin(upload, backend, folder_fd, ret_sending);
	case UPLOAD_PARTS:
		return next_part(upload, ret_sending);
	case UPLOAD_FAILED:
		/* Parts that nobody puts together would lie there for good. */
		if (upload->id == NULL || upload->aborting || upload->running > 0)
			return false;
		upload->aborting = true;
		return give(upload, ret_sending, STEP_ABORT);
	case UPLOAD_BUSY:
	case UPLOAD_DONE:
		break;
	}
	return false;
}

void upload_step_done(struct upload *upload, enum step step)
{
	if (upload->state == UPLOAD_FAILED)
		return;
	if (step == STEP_WHOLE || step == STEP_FINISH || step == STEP_LOOK)
		upload->state = UPLOAD_DONE;
	else if (step == STEP_BEGIN)
		upload->state = UPLOAD_PARTS;
	else if (step == STEP_PART)
		upload->parts_done++;
}
