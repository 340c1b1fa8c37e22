/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/util.h"
#include "curl_handle.h"
#include "request.h"

enum { POLL_MS = 1000 };

/* ---- ends ---- */

static void tell(struct batch *batch, struct upload *upload)
{
	if (upload->told || upload->running > 0 ||
	    (upload->state != UPLOAD_DONE && upload->state != UPLOAD_FAILED))
		return;
	fd_close(&upload->fd);
	upload->told = true;
	batch->told(batch, (size_t)(upload - batch->uploads));
}

static void give_up(struct batch *batch, const struct err *why)
{
	if (!batch->hopeless)
		batch->why = *why;
	batch->hopeless = true;
}

static void end_request(struct batch *batch, struct request *request)
{
	struct upload *upload = request->upload;

	request_free(request);
	upload->running--;
	tell(batch, upload);
}

static void fail_request(struct batch *batch, struct request *request, const struct err *err)
{
	if (request->sending.step != STEP_ABORT)
		upload_fail(request->upload, err);
	end_request(batch, request);
}

static void wait_for_turn(struct batch *batch, struct request *request)
{
	list_append(&batch->waiting, &request->node);
}

/* Of one that may have gone well, its answer lost, that is asked first. */
static void on_bad(struct batch *batch, struct request *request)
{
	struct err err = request->sending.step == STEP_LOOK ? request->doubt : request->err;

	if (!request_doubtful(request, batch->backend)) {
		fail_request(batch, request, &err);
		return;
	}
	request_look(request);
	wait_for_turn(batch, request);
}

/* ---- the container ---- */

/*
 * Made when a request missed it, once, while the others wait: it takes no longer than one of them.
 */
static enum verdict try_container(struct batch *batch, struct request *request)
{
	if (request_prepare(request, batch->backend, batch->order, &request->err) < 0)
		return VERDICT_BAD;
	return request_judge(request, batch->backend, curl_easy_perform(request->handle->curl));
}

static int make_container(struct batch *batch, struct err *err)
{
	struct sending sending = { .step = STEP_CONTAINER, .fd = -1 };
	struct request *request;
	enum verdict verdict;
	bool exists;

	buf_init(&sending.text, BUF_UNBOUNDED);
	request = request_new(&sending, NULL);
	while ((verdict = try_container(batch, request)) == VERDICT_AGAIN)
		(void)poll(NULL, 0, (int)(request->not_before - clock_ms()));
	exists = str_eq(request->reception.code, "ContainerAlreadyExists");
	*err = request->err;
	if (verdict == VERDICT_GOOD)
		batch->made(batch);
	if (verdict == VERDICT_NO_CONTAINER)
		(void)err_set(err, ERR_NOT_FOUND, "the storage does not know where it should be");
	request_free(request);
	return verdict == VERDICT_GOOD || exists ? 0 : err_wrap(err, "making the container");
}

static void on_no_container(struct batch *batch, struct request *request)
{
	struct err err = { 0 };

	if (!batch->backend->makes_container || request->tries >= REQUEST_TRIES_MAX) {
		(void)err_set(&err, ERR_NOT_FOUND, "the container does not exist");
		give_up(batch, &err);
		fail_request(batch, request, &err);
		return;
	}
	if (!batch->container_tried && make_container(batch, &err) < 0) {
		give_up(batch, &err);
		fail_request(batch, request, &err);
		return;
	}
	batch->container_tried = true;
	wait_for_turn(batch, request);
}

/* ---- requests ---- */

/* Of a file that has changed since it was opened: what came of it would be of several moments. */
static bool begin_anew(struct batch *batch, struct request *request)
{
	enum step step = request->sending.step;

	if ((step != STEP_WHOLE && step != STEP_PART) || !upload_restart(request->upload))
		return false;
	end_request(batch, request);
	return true;
}

static void send_request(struct batch *batch, struct request *request)
{
	struct err err;

	request->eager = batch->proven;
	if (request_prepare(request, batch->backend, batch->order, &err) < 0) {
		if (!begin_anew(batch, request))
			fail_request(batch, request, &err);
		return;
	}
	if (curl_multi_add_handle(batch->multi, request->handle->curl) != CURLM_OK) {
		(void)err_set(&err, ERR_INTERNAL, "libcurl takes no more transfers");
		fail_request(batch, request, &err);
		return;
	}
	batch->running++;
}

static void act(struct batch *batch, struct request *request, enum verdict verdict)
{
	enum step step = request->sending.step;
	struct err err;

	switch (verdict) {
	case VERDICT_GOOD:
		batch->proven = true;
		upload_step_done(request->upload, step);
		end_request(batch, request);
		break;
	case VERDICT_AGAIN:
		wait_for_turn(batch, request);
		break;
	case VERDICT_NO_CONTAINER:
		on_no_container(batch, request);
		break;
	case VERDICT_HOPELESS:
		err = request->err;
		give_up(batch, &err);
		fail_request(batch, request, &err);
		break;
	case VERDICT_BAD:
		on_bad(batch, request);
		break;
	}
}

static void on_answered(struct batch *batch, CURL *curl, CURLcode code)
{
	struct request *request = NULL;
	enum verdict verdict;

	(void)curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&request);
	(void)curl_multi_remove_handle(batch->multi, curl);
	batch->running--;
	verdict = request_judge(request, batch->backend, code);
	if (verdict == VERDICT_NO_CONTAINER || verdict == VERDICT_HOPELESS ||
	    !begin_anew(batch, request))
		act(batch, request, verdict);
}

/* ---- what comes next ---- */

static bool is_over(const struct request *request)
{
	enum upload_state state = request->upload->state;

	return (state == UPLOAD_FAILED || state == UPLOAD_STALE) &&
	       request->sending.step != STEP_ABORT;
}

/* One whose time has come; -1 and how long until then when there is none. */
static struct request *take_waiting(struct batch *batch, uint64_t *ret_next_ms)
{
	uint64_t now = clock_ms();
	struct list *node;
	struct list *next;

	list_for_each (node, next, &batch->waiting) {
		struct request *request = list_entry(node, struct request, node);

		if (batch->hopeless)
			upload_fail(request->upload, &batch->why);
		if (is_over(request)) {
			list_remove(&request->node);
			end_request(batch, request);
		} else if (request->not_before <= now) {
			list_remove(&request->node);
			return request;
		} else if (request->not_before - now < *ret_next_ms) {
			*ret_next_ms = request->not_before - now;
		}
	}
	return NULL;
}

static struct request *take_new(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct upload *upload = &batch->uploads[i];
		struct sending sending;

		/* What is on its way may arrive all the same: its own answers decide. */
		if (batch->hopeless && upload->state != UPLOAD_BUSY)
			upload_fail(upload, &batch->why);
		if (upload_next(upload, batch->backend, batch->folder_fd, &sending))
			return request_new(&sending, upload);
		tell(batch, upload);
	}
	return NULL;
}

/* How long to wait at most; false when nothing is left to wait for. */
static bool send_what_may(struct batch *batch, uint64_t *ret_wait_ms)
{
	*ret_wait_ms = POLL_MS;
	while (batch->running < BATCH_REQUESTS_MAX) {
		struct request *request = take_waiting(batch, ret_wait_ms);

		if (request == NULL)
			request = take_new(batch);
		if (request == NULL)
			break;
		send_request(batch, request);
	}
	return batch->running > 0 || !list_empty(&batch->waiting);
}

/* Returns whether there was one: then more can be sent. */
static bool take_answers(struct batch *batch)
{
	bool any = false;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(batch->multi, &left)) != NULL) {
		any = true;
		if (message->msg == CURLMSG_DONE)
			on_answered(batch, message->easy_handle, message->data.result);
	}
	return any;
}

static int work(struct batch *batch, struct err *err)
{
	uint64_t wait_ms;

	while (send_what_may(batch, &wait_ms)) {
		int running;

		if (curl_multi_perform(batch->multi, &running) != CURLM_OK)
			return err_set(err, ERR_INTERNAL, "libcurl's transfers broke");
		if (take_answers(batch))
			continue;
		if (curl_multi_poll(batch->multi, NULL, 0, (int)wait_ms, NULL) != CURLM_OK)
			return err_set(err, ERR_INTERNAL, "libcurl's transfers broke");
	}
	return 0;
}

int batch_run(struct batch *batch, struct err *err)
{
	int result;

	list_init(&batch->waiting);
	batch->multi = curl_multi_init();
	if (batch->multi == NULL)
		return err_set(err, ERR_INTERNAL, "libcurl does not start");
	result = work(batch, err);
	(void)curl_multi_cleanup(batch->multi);
	return result;
}
