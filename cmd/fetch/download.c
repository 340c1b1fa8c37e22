/* SPDX-License-Identifier: MIT */
/*
 * download.c - downloads a file hop by hop. Each hop is one transfer: libcurl follows no redirect,
 * because each new URL is checked by redirect_check first. The head is judged in the header
 * callback, before any byte of the body is written. A file whose name says that it is compressed is
 * stored as it comes, even if the server declares a Content-Encoding.
 */
#include "download.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/chars.h"
#include "base/clock.h"
#include "base/mem.h"
#include "crypto.h"
#include "curl_handle.h"
#include "decoder.h"
#include "helper/program.h"
#include "http_response.h"
#include "job.h"
#include "json/get.h"
#include "json/make.h"
#include "lockdown.h"
#include "net/filename.h"
#include "redirect.h"
#include "sink.h"
#include "text/sanitize.h"

enum {
	FILE_FD = 3,
	REDIRECTS_MAX = 10,
	/* bytes of a redirect's body that are read to reuse the connection */
	DISCARD_MAX = 64 << 10,
	PROGRESS_MS = 500,
	TYPE_MAX = 100,
};

struct download {
	struct job job;
	struct redirect_rules rules;
	struct host_list *hosts;
	bool raw;
	CURLU *url; /* of the current hop */
	struct curl_handle *handle;
	struct http_response response;
	struct decoder decoder;
	struct sink sink;
	size_t discarded;
	uint64_t reported_ms;
	bool failed; /* in a callback; `err` has the reason */
	struct err err;
};

/* ---- while it comes ---- */

/*
 * Returns true for a file that is compressed by its name. It stays so, even if the server calls
 * that an encoding.
 */
static bool is_compressed(CURLU *url)
{
	static const char *const ends[] = { ".gz", ".tgz", ".svgz", ".zst", ".br", ".Z" };
	char *path = curl_handle_part(url, CURLUPART_PATH, 0);
	bool found = false;

	for (size_t i = 0; path != NULL && i < ARRAY_SIZE(ends); i++)
		found = found || chars_end_with(path, ends[i]);
	curl_free(path);
	return found;
}

static bool is_raw(const struct download *d)
{
	return d->raw || is_compressed(d->url);
}

/* Always returns -1. */
static int blame_server(const struct download *d, struct err *err)
{
	cleanup_free char *host = sanitize_quote(d->handle->host);

	return err_wrap(err, "what '%s' sent", host);
}

static json_t *describe_type(const char *type)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&clean, type, strcspn(type, ";"), TYPE_MAX);
	return json_make_str(buf_str(&clean));
}

static char *find_name(const struct download *d)
{
	const char *disposition = d->response.disposition;
	char *name = disposition != NULL
			     ? filename_from_disposition(disposition, strlen(disposition))
			     : NULL;
	char *path;

	if (name != NULL)
		return name;
	path = curl_handle_part(d->url, CURLUPART_PATH, 0);
	if (path != NULL)
		name = filename_from_path(path);
	curl_free(path);
	return name;
}

static void report_head(const struct download *d)
{
	json_t *progress = json_object();
	json_t *head = json_object();
	cleanup_free char *name = find_name(d);

	json_put_str(head, "name", name);
	if (d->response.type != NULL)
		json_put(head, "type", describe_type(d->response.type));
	if (d->response.has_length && !d->decoder.active)
		json_put_int(head, "total", (json_int_t)d->response.length);
	json_put(progress, "head", head);
	program_progress(progress);
}

static void report_bytes(struct download *d)
{
	uint64_t now = clock_ms();
	json_t *progress;

	if (now - d->reported_ms < PROGRESS_MS)
		return;
	d->reported_ms = now;
	progress = json_object();
	json_put_int(progress, "bytes", (json_int_t)d->sink.size);
	program_progress(progress);
}

/* Judges a complete head. Returns -1 and sets *err when no acceptable file follows. */
static int check_head(struct download *d, struct err *err)
{
	if (http_response_redirects(&d->response))
		return 0;
	if (http_response_check_status(&d->response, err) < 0)
		return -1;
	if (d->response.has_length && sink_check_size(&d->sink, d->response.length, err) < 0)
		return -1;
	if (!is_raw(d) && decoder_begin(&d->decoder, d->response.coding, err) < 0)
		return blame_server(d, err);
	report_head(d);
	return 0;
}

static size_t on_line(char *line, size_t size, size_t count, void *data)
{
	struct download *d = data;
	bool was_complete = d->response.complete;
	size_t len = size * count;

	d->failed = http_response_take_line(&d->response, line, len, &d->err) < 0 ||
		    (d->response.complete && !was_complete && check_head(d, &d->err) < 0);
	return d->failed ? 0 : len;
}

static int write_body(struct download *d, const char *bytes, size_t len, struct err *err)
{
	if (decoder_write(&d->decoder, &d->sink, bytes, len, err) == 0)
		return 0;
	return err->code == ERR_INVALID ? blame_server(d, err) : -1;
}

static size_t on_data(char *bytes, size_t size, size_t count, void *data)
{
	struct download *d = data;
	size_t len = size * count;

	if (http_response_redirects(&d->response)) {
		d->discarded += len;
		return d->discarded > DISCARD_MAX ? 0 : len;
	}
	d->failed = write_body(d, bytes, len, &d->err) < 0;
	if (d->failed)
		return 0;
	report_bytes(d);
	return len;
}

/* ---- one hop ---- */

static int set_hop(struct download *d, struct err *err)
{
	CURL *curl = d->handle->curl;
	const char *offer = is_raw(d) ? NULL : DECODER_OFFER;

	if (curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_line) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_HEADERDATA, d) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_WRITEDATA, d) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "") != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, offer) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_HTTP_CONTENT_DECODING, 0L) != CURLE_OK)
		return err_set(err, ERR_INTERNAL, "libcurl does not take an option");
	return 0;
}

/* Returns 0 with the head in d->response, and with the body in the sink unless it is a redirect. */
static int fetch_once(struct download *d, struct err *err)
{
	CURLcode code;

	http_response_release(&d->response);
	d->discarded = 0;
	if (redirect_check(d->url, &d->rules, err) < 0 || set_hop(d, err) < 0 ||
	    curl_handle_aim(d->handle, d->url, err) < 0)
		return -1;
	code = curl_easy_perform(d->handle->curl);
	if (d->failed) {
		*err = d->err;
		return -1;
	}
	if (d->response.complete && http_response_redirects(&d->response))
		return 0; /* even if its body broke off */
	if (code != CURLE_OK)
		return curl_handle_explain(d->handle, code, err);
	if (!d->response.complete)
		return err_set(err, ERR_INVALID, "the server's answer is not HTTP");
	return decoder_finish(&d->decoder, err) < 0 ? blame_server(d, err) : 0;
}

static int fetch_with_redirects(struct download *d, struct err *err)
{
	for (int hop = 0; hop <= REDIRECTS_MAX; hop++) {
		if (fetch_once(d, err) < 0)
			return -1;
		if (!http_response_redirects(&d->response))
			return sink_finish(&d->sink, err);
		if (redirect_follow(d->url, d->response.location, err) < 0)
			return -1;
	}
	return err_set(err, ERR_LIMIT, "the server redirects more than %d times", REDIRECTS_MAX);
}

/* ---- the request ---- */

static int take_request(struct download *d, const json_t *json, struct err *err)
{
	const char *url = NULL;
	const char *hosts = NULL;

	if (job_take(json, &d->job, err) < 0 || job_take_text(json, "url", &url, err) < 0 ||
	    job_take_text(json, "hosts", &hosts, err) < 0 ||
	    json_get_bool(json, "request", "allow_private", &d->rules.allow_private, err) < 0 ||
	    json_get_bool(json, "request", "raw", &d->raw, err) < 0 ||
	    job_take_size(json, "size_max", &d->sink.size_max, err) < 0 ||
	    job_take_text(json, "size_name", &d->sink.max_name, err) < 0)
		return -1;
	if (hosts != NULL) {
		d->hosts = host_list_parse(hosts, err);
		if (d->hosts == NULL)
			return err_wrap(err, "request.hosts");
		d->rules.hosts = d->hosts;
	}
	d->url = redirect_start(url != NULL ? url : "", err);
	return d->url != NULL ? 0 : -1;
}

static int check_file(struct err *err)
{
	struct stat st;

	if (fstat(FILE_FD, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "descriptor 3 is no file");
	return 0;
}

static int run_download(struct download *d, const json_t *json, struct err *err)
{
	if (check_file(err) < 0 || take_request(d, json, err) < 0 ||
	    lockdown_transfers(d->job.ca_file, -1, err) < 0)
		return -1;
	d->handle = curl_handle_new(
		&d->job, d->rules.allow_private ? CURL_HANDLE_PRIVATE : CURL_HANDLE_WORLD, err);
	if (d->handle == NULL)
		return -1;
	if (fetch_with_redirects(d, err) == 0)
		return 0;
	if (job_left_ms(&d->job) > 0)
		return -1;
	return err_set(
		err, ERR_TIMEOUT,
		"the download took longer than it may (PTYCELL_DOWNLOAD_TIMEOUT); %ju bytes had come",
		(uintmax_t)d->sink.size);
}

static int send_result(const struct download *d, struct err *err)
{
	json_t *result;
	cleanup_free char *from = redirect_show(d->url);
	char sha256[2 * STORAGE_HASH_LEN + 1];

	if (crypto_hash_file(FILE_FD, 0, d->sink.size, sha256, err) < 0)
		return -1;
	result = json_object();
	json_put_int(result, "size", (json_int_t)d->sink.size);
	json_put_str(result, "from", from);
	json_put_str(result, "sha256", sha256);
	program_result(result);
	return 0;
}

int download_run(const json_t *request, struct err *err)
{
	struct download d = { .raw = false };
	int result;

	http_response_init(&d.response);
	sink_init(&d.sink, FILE_FD);
	d.reported_ms = clock_ms();
	result = run_download(&d, request, err);
	if (result == 0)
		result = send_result(&d, err);
	curl_handle_free(d.handle);
	curl_url_cleanup(d.url);
	host_list_free(d.hosts);
	http_response_release(&d.response);
	decoder_release(&d.decoder);
	sink_release(&d.sink);
	return result;
}
