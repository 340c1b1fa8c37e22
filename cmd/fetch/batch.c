/* SPDX-License-Identifier: MIT */
/*
 * batch.c - runs the requests of many uploads. One curl multi handle drives all transfers. A failed
 * request goes back to a waiting list with a time before which it is not sent. The first request
 * that misses the container creates it, while the others wait. When a request shows that nothing
 * can succeed (a bad key, a missing bucket), all remaining uploads fail at once.
 */
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

static void report_if_done(struct batch *batch, struct upload *upload)
{
	if (upload->reported || upload->running > 0 ||
	    (upload->state != UPLOAD_DONE && upload->state != UPLOAD_FAILED))
		return;
	fd_close(&upload->fd);
	upload->reported = true;
	batch->on_upload_done(batch, (size_t)(upload - batch->uploads));
}

static void abandon_all(struct batch *batch, const struct err *why)
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
	report_if_done(batch, upload);
}

static void fail_request(struct batch *batch, struct request *request, const struct err *err)
{
	if (request->sending.step != STEP_ABORT)
		upload_fail(request->upload, err);
	end_request(batch, request);
}

static void queue_request(struct batch *batch, struct request *request)
{
	list_append(&batch->waiting, &request->node);
}

/*
 * Sends a STEP_LOOK first when the request may have succeeded and only its response was lost. Where
 * that does not find the file, the file is uploaded again: what is stored is never called lost.
 */
static void on_bad(struct batch *batch, struct request *request)
{
	struct err err = request->sending.step == STEP_LOOK ? request->doubt : request->err;

	if (request_in_vain(request) && upload_repeat(request->upload)) {
		end_request(batch, request);
		return;
	}
	if (!request_doubtful(request, batch->backend)) {
		fail_request(batch, request, &err);
		return;
	}
	request_look(request);
	queue_request(batch, request);
}

/* ---- the container ---- */

/*
 * Creates the container when a request missed it, once. The others wait, as it takes no longer than
 * one request.
 */
static enum storage_reply try_container(struct batch *batch, struct request *request)
{
	if (request_prepare(request, batch->backend, batch->job, &request->err) < 0)
		return STORAGE_REPLY_BAD;
	return request_judge(request, batch->backend, curl_easy_perform(request->handle->curl));
}

/* Does not wait when this process was stopped until after that time. */
static void wait_until(uint64_t time_ms)
{
	uint64_t now = clock_ms();

	if (time_ms > now)
		(void)poll(NULL, 0, (int)(time_ms - now));
}

static int make_container(struct batch *batch, struct err *err)
{
	struct sending sending = { .step = STEP_CONTAINER, .fd = -1 };
	struct request *request;
	enum storage_reply reply;
	bool exists;

	buf_init(&sending.text, BUF_UNBOUNDED);
	request = request_new(&sending, NULL);
	while ((reply = try_container(batch, request)) == STORAGE_REPLY_AGAIN)
		wait_until(request->not_before);
	exists = str_eq(request->reception.code, "ContainerAlreadyExists");
	*err = request->err;
	/* The response to an earlier try may have been lost. */
	if (reply == STORAGE_REPLY_GOOD || (exists && request->tries > 1))
		batch->on_container_made(batch);
	if (reply == STORAGE_REPLY_NO_CONTAINER)
		(void)err_set(err, ERR_NOT_FOUND, "the storage does not know where it should be");
	request_free(request);
	return reply == STORAGE_REPLY_GOOD || exists ? 0 : err_wrap(err, "making the container");
}

static void on_no_container(struct batch *batch, struct request *request)
{
	struct err err = { 0 };

	if (!batch->backend->makes_container || request->tries >= REQUEST_TRIES_MAX) {
		(void)err_set(&err, ERR_NOT_FOUND, "the container does not exist");
		abandon_all(batch, &err);
		fail_request(batch, request, &err);
		return;
	}
	if (!batch->container_tried && make_container(batch, &err) < 0) {
		abandon_all(batch, &err);
		fail_request(batch, request, &err);
		return;
	}
	batch->container_tried = true;
	queue_request(batch, request);
}

/* ---- requests ---- */

/* Returns true when the file has changed since it was opened: the upload would mix two states. */
static bool restart_if_changed(struct batch *batch, struct request *request)
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
	if (request_prepare(request, batch->backend, batch->job, &err) < 0) {
		if (!restart_if_changed(batch, request))
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

static void act_on_reply(struct batch *batch, struct request *request, enum storage_reply reply)
{
	enum step step = request->sending.step;
	struct err err;

	switch (reply) {
	case STORAGE_REPLY_GOOD:
		batch->proven = true;
		upload_step_done(request->upload, step);
		end_request(batch, request);
		break;
	case STORAGE_REPLY_AGAIN:
		queue_request(batch, request);
		break;
	case STORAGE_REPLY_NO_CONTAINER:
		on_no_container(batch, request);
		break;
	case STORAGE_REPLY_HOPELESS:
		err = request->err;
		abandon_all(batch, &err);
		fail_request(batch, request, &err);
		break;
	case STORAGE_REPLY_BAD:
		on_bad(batch, request);
		break;
	}
}

static void on_transfer_done(struct batch *batch, CURL *curl, CURLcode code)
{
	struct request *request = NULL;
	enum storage_reply reply;

	(void)curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&request);
	(void)curl_multi_remove_handle(batch->multi, curl);
	batch->running--;
	reply = request_judge(request, batch->backend, code);
	if (reply == STORAGE_REPLY_NO_CONTAINER || reply == STORAGE_REPLY_HOPELESS ||
	    !restart_if_changed(batch, request))
		act_on_reply(batch, request, reply);
}

/* ---- the next request ---- */

static bool is_moot(const struct request *request)
{
	enum upload_state state = request->upload->state;

	return (state == UPLOAD_FAILED || state == UPLOAD_STALE) &&
	       request->sending.step != STEP_ABORT;
}

/*
 * Returns a request whose time has come. Returns NULL when there is none, and lowers *ret_next_ms
 * to the time until the next one.
 */
static struct request *take_waiting(struct batch *batch, uint64_t *ret_next_ms)
{
	uint64_t now = clock_ms();

	list_for_each (struct request, request, &batch->waiting, node) {
		if (batch->hopeless)
			upload_fail(request->upload, &batch->why);
		if (is_moot(request)) {
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

		/* A request that is already sent may still succeed: its own response decides. */
		if (batch->hopeless && upload->state != UPLOAD_BUSY)
			upload_fail(upload, &batch->why);
		if (upload_next(upload, batch->backend, batch->folder_fd, &sending))
			return request_new(&sending, upload);
		report_if_done(batch, upload);
	}
	return NULL;
}

/* Sets how long to wait at most. Returns false when there is nothing left to wait for. */
static bool send_requests(struct batch *batch, uint64_t *ret_wait_ms)
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

/* Returns true when a transfer has finished: more requests can be sent. */
static bool take_results(struct batch *batch)
{
	bool any = false;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(batch->multi, &left)) != NULL) {
		any = true;
		if (message->msg == CURLMSG_DONE)
			on_transfer_done(batch, message->easy_handle, message->data.result);
	}
	return any;
}

static int run_transfers(struct batch *batch, struct err *err)
{
	uint64_t wait_ms;

	while (send_requests(batch, &wait_ms)) {
		int running;

		if (curl_multi_perform(batch->multi, &running) != CURLM_OK)
			return err_set(err, ERR_INTERNAL, "libcurl's transfers broke");
		if (take_results(batch))
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
	result = run_transfers(batch, err);
	(void)curl_multi_cleanup(batch->multi);
	return result;
}
