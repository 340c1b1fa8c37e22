/* SPDX-License-Identifier: MIT */
/*
 * request.c - sends a request and schedules its retries. The body is read by pread() in a callback,
 * so a retry or a rewind needs no buffer. Delays between tries double, with a random part, and
 * Retry-After extends them. Of an error only the code is kept: other parts may repeat what was
 * signed.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "curl_handle.h"
#include "refusal.h"
#include "upload.h"

enum {
	BODY_MAX = 64 << 10, /* of a response; the rest is dropped */
	FIRST_DELAY_MS = 300,
	DELAY_MAX_MS = 8000,
	RETRY_AFTER_MAX_S = 24 * 3600,
	UPLOAD_BUFFER = 1 << 20,
};

struct request *request_new(const struct sending *sending, struct upload *upload)
{
	struct request *request = xcalloc(1, sizeof(*request));

	list_init(&request->node);
	request->sending = *sending;
	request->upload = upload;
	buf_init(&request->reception.body, BODY_MAX);
	return request;
}

static bool is_success(const struct reception *reception)
{
	return reception->status >= 200 && reception->status < 300;
}

/* Frees what one try made. */
static void clear_try(struct request *request)
{
	curl_handle_free(request->handle);
	request->handle = NULL;
	curl_slist_free_all(request->sending.headers);
	request->sending.headers = NULL;
	if (request->sending.url != NULL) /* it may contain a SAS */
		explicit_bzero(request->sending.url, strlen(request->sending.url));
	mem_cleanup(&request->sending.url);
	mem_cleanup(&request->reception.etag);
	buf_clear(&request->reception.body);
	request->sent = 0;
	request->body_failed = false;
}

void request_free(struct request *request)
{
	clear_try(request);
	list_remove(&request->node);
	buf_release(&request->sending.text);
	buf_release(&request->reception.body);
	free(request);
}

bool request_doubtful(const struct request *request, const struct backend *backend)
{
	enum step step = request->sending.step;

	return backend->has_look && (step == STEP_WHOLE || step == STEP_FINISH) &&
	       (request->tries > 1 || is_success(&request->reception));
}

static bool is_answered(const struct request *request)
{
	return request->reception.status != 0 && !refusal_may_pass(&request->reception);
}

bool request_in_vain(const struct request *request)
{
	return request->sending.step == STEP_LOOK && request->settled && is_answered(request);
}

void request_look(struct request *request)
{
	struct sending *sending = &request->sending;

	request->doubt = request->err;
	request->settled = is_answered(request);
	request->tries = 0;
	request->not_before = 0;
	sending->step = STEP_LOOK;
	sending->fd = -1;
	sending->offset = 0;
	sending->length = 0;
	buf_clear(&sending->text);
}

/* ---- bodies ---- */

static size_t read_text(struct request *request, char *out, size_t len)
{
	len = size_min(len, request->sending.text.len - request->sent);
	memcpy(out, buf_str(&request->sending.text) + request->sent, len);
	request->sent += len;
	return len;
}

static size_t on_read(char *out, size_t size, size_t count, void *data)
{
	struct request *request = data;
	const struct sending *sending = &request->sending;
	uint64_t left = sending->length - request->sent;
	size_t len = size * count;
	ssize_t n;

	if (sending->fd < 0)
		return read_text(request, out, len);
	if (left < len)
		len = (size_t)left;
	if (len == 0)
		return 0;
	n = fd_read_at(sending->fd, out, len, sending->offset + request->sent);
	if (n <= 0) {
		request->body_failed = true;
		if (n < 0)
			(void)err_sys(&request->err, "reading it");
		else
			(void)err_set(&request->err, ERR_INVALID,
				      "it became shorter while it was uploaded");
		return CURL_READFUNC_ABORT;
	}
	request->sent += (uint64_t)n;
	return (size_t)n;
}

static int on_seek(void *data, curl_off_t offset, int origin)
{
	struct request *request = data;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > request->sending.length)
		return CURL_SEEKFUNC_CANTSEEK;
	request->sent = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static size_t on_data(char *data, size_t size, size_t count, void *owner)
{
	struct request *request = owner;
	struct buf *body = &request->reception.body;

	buf_put(body, data, size_min(size * count, BODY_MAX - body->len));
	return size * count;
}

/* ---- sending ---- */

static int set_body(struct request *request, CURL *curl, struct err *err)
{
	const struct sending *sending = &request->sending;
	bool sends = sending->step != STEP_ABORT && sending->step != STEP_LOOK;

	if (curl_easy_setopt(curl, CURLOPT_UPLOAD, sends ? 1L : 0L) != CURLE_OK ||
	    (sending->step == STEP_LOOK &&
	     curl_easy_setopt(curl, CURLOPT_NOBODY, 1L) != CURLE_OK) ||
	    curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_READDATA, request) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SEEKDATA, request) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE,
			     sends ? (curl_off_t)sending->length : (curl_off_t)-1) != CURLE_OK)
		return err_set(err, ERR_INTERNAL, "libcurl does not take an option");
	return 0;
}

static int set_options(struct request *request, CURL *curl, struct err *err)
{
	if (curl_easy_setopt(curl, CURLOPT_PRIVATE, request) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_WRITEDATA, request) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, request->sending.headers) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->sending.method) != CURLE_OK)
		return err_set(err, ERR_INTERNAL, "libcurl does not take an option");
	/* HTTP/1.1, because several connections are faster than several streams in one. */
	(void)curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	(void)curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
	/*
	 * libcurl sends Expect: 100-continue before a large body, and a busy server is slow to
	 * reply to it.
	 */
	if (request->eager)
		(void)curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
	return set_body(request, curl, err);
}

static int aim_handle(const struct request *request, struct err *err)
{
	CURLU *url = curl_url();
	int result = -1;

	if (url == NULL || curl_url_set(url, CURLUPART_URL, request->sending.url, 0) != CURLUE_OK)
		(void)err_set(err, ERR_INVALID, "the storage's URL is none");
	else
		result = curl_handle_aim(request->handle, url, err);
	curl_url_cleanup(url);
	return result;
}

int request_prepare(struct request *request, const struct backend *backend, const struct job *job,
		    struct err *err)
{
	clear_try(request);
	request->reception.status = 0;
	request->reception.code[0] = '\0';
	request->reception.region[0] = '\0';
	request->reception.token[0] = '\0';
	request->tries++;
	/* The user named the storage, so any address is allowed. */
	request->handle = curl_handle_new(job, CURL_HANDLE_ANY, err);
	if (request->handle == NULL ||
	    backend->prepare(backend, &request->sending, request->handle->curl, err) < 0 ||
	    set_options(request, request->handle->curl, err) < 0)
		return -1;
	return aim_handle(request, err);
}

/* ---- judging ---- */

static const char *header_of(CURL *curl, const char *name)
{
	struct curl_header *header = NULL;

	return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
		       ? header->value
		       : NULL;
}

/* Keeps only the code: the rest of an error may repeat what was signed. */
static void take_code(struct reception *reception, const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	if (len == 0 || len > BACKEND_CODE_MAX)
		return;
	memcpy(reception->code, text, len);
	reception->code[len] = '\0';
}

static void read_response(struct request *request)
{
	struct reception *reception = &request->reception;
	CURL *curl = request->handle->curl;
	const char *etag = header_of(curl, "ETag");
	const char *code = header_of(curl, "x-ms-error-code");
	const char *region = header_of(curl, "x-amz-bucket-region");
	const char *token = header_of(curl, "x-amz-meta-ptycell");
	const char *element = strstr(buf_str(&reception->body), "<Code>");

	(void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reception->status);
	if (etag != NULL)
		reception->etag = xstrdup(etag);
	if (region != NULL)
		(void)snprintf(reception->region, sizeof(reception->region), "%s", region);
	if (token != NULL)
		(void)snprintf(reception->token, sizeof(reception->token), "%s", token);
	if (code != NULL)
		take_code(reception, code);
	else if (element != NULL)
		take_code(reception, element + strlen("<Code>"));
}

/*
 * Sets the time of the next try. Each delay is longer than the last, with a random part, so that
 * requests do not come together.
 */
static enum storage_reply schedule_retry(struct request *request)
{
	const char *wanted = header_of(request->handle->curl, "Retry-After");
	uint64_t delay = (uint64_t)FIRST_DELAY_MS << (request->tries - 1);
	long seconds = wanted != NULL ? strtol(wanted, NULL, 10) : 0; /* 0 for a date, too */
	uint64_t now = clock_ms();

	if (delay > DELAY_MAX_MS)
		delay = DELAY_MAX_MS;
	delay += (now ^ (uintptr_t)request >> 4) % (delay / 2);
	if (seconds > 0 && seconds <= RETRY_AFTER_MAX_S && (uint64_t)seconds * 1000 > delay)
		delay = (uint64_t)seconds * 1000;
	request->not_before = now + delay;
	return delay < job_left_ms(request->handle->job) ? STORAGE_REPLY_AGAIN
							 : STORAGE_REPLY_HOPELESS;
}

static enum storage_reply judge_transfer(struct request *request, CURLcode code)
{
	bool last = request->tries >= REQUEST_TRIES_MAX;

	if (request->body_failed)
		return STORAGE_REPLY_BAD;
	(void)curl_handle_explain(request->handle, code, &request->err);
	if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_URL_MALFORMAT ||
	    code == CURLE_UNSUPPORTED_PROTOCOL || job_left_ms(request->handle->job) == 0)
		return STORAGE_REPLY_HOPELESS;
	if (!last)
		return schedule_retry(request);
	/* A storage that cannot be reached fails for the next file as well. */
	return request->sent == 0 ? STORAGE_REPLY_HOPELESS : STORAGE_REPLY_BAD;
}

static enum storage_reply judge_response(struct request *request, const struct backend *backend)
{
	const struct reception *reception = &request->reception;
	enum storage_reply reply;

	if (is_success(reception)) {
		if (backend->accept(backend, request->upload, &request->sending, reception,
				    &request->err) == 0)
			return STORAGE_REPLY_GOOD;
		return request->err.code == ERR_BUSY && request->tries < REQUEST_TRIES_MAX
			       ? schedule_retry(request)
			       : STORAGE_REPLY_BAD;
	}
	reply = refusal_judge(backend, reception, &request->err);
	if (request->tries < REQUEST_TRIES_MAX && refusal_may_pass(reception))
		return schedule_retry(request);
	return reply;
}

enum storage_reply request_judge(struct request *request, const struct backend *backend,
				 CURLcode code)
{
	enum storage_reply reply;

	if (code == CURLE_OK) {
		read_response(request);
		reply = judge_response(request, backend);
	} else {
		reply = judge_transfer(request, code);
	}
	clear_try(request);
	return reply;
}
