/* SPDX-License-Identifier: MIT */
/*
 * s3_backend.c - S3: PutObject and multipart uploads.
 *
 * libcurl signs the requests, with the hash of the body in a header: without it, libcurl would sign
 * the hash of an empty body. An object carries the upload's token as metadata, by which STEP_LOOK
 * recognizes it.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend.h"
#include "base/mem.h"
#include "body.h"
#include "crypto.h"
#include "storage/object_name.h"
#include "storage/s3.h"
#include "storage/url.h"
#include "upload.h"

enum { ID_MAX = 1024, ETAG_MAX = 256 };

struct s3_backend {
	struct backend backend;
	const struct storage_target *target;
	struct s3_bucket bucket;
};

static const struct s3_backend *from(const struct backend *backend)
{
	return backend->owner;
}

static void add_header(struct sending *sending, char *line_own)
{
	sending->headers = curl_slist_append(sending->headers, line_own);
	free(line_own);
}

/*
 * Appends the list of parts. Its ETags come from responses: bare_etag() has removed everything that
 * XML would interpret.
 */
static void put_parts(struct buf *out, const struct upload *upload)
{
	buf_puts(out, "<CompleteMultipartUpload>");
	for (unsigned int i = 0; i < upload->part_count; i++)
		buf_putf(out, "<Part><PartNumber>%u</PartNumber><ETag>&quot;%s&quot;</ETag></Part>",
			 i + 1, upload->etags[i]);
	buf_puts(out, "</CompleteMultipartUpload>");
}

static void add_description(struct sending *sending)
{
	cleanup_free char *type = storage_content_type(sending->upload->name);
	cleanup_free char *disposition = storage_disposition(sending->upload->name);

	add_header(sending, xasprintf("x-amz-meta-ptycell:%s", sending->upload->token));
	add_header(sending, xasprintf("content-type:%s", type));
	add_header(sending, xasprintf("content-disposition:%s", disposition));
}

/* Members of the query must be sorted by name: libcurl signs them in the order of the URL. */
static void describe(const struct s3_backend *s3, struct sending *sending)
{
	const struct upload *upload = sending->upload;
	cleanup_free char *url = s3_url(&s3->bucket, upload->name);
	cleanup_buf struct buf id = BUF_INIT(BUF_UNBOUNDED);

	if (upload->id != NULL)
		url_encode(&id, upload->id);
	sending->method = "PUT";
	switch (sending->step) {
	case STEP_BEGIN:
		sending->method = "POST";
		sending->url = xasprintf("%s?uploads=", url);
		add_description(sending);
		return;
	case STEP_PART:
		sending->url = xasprintf("%s?partNumber=%u&uploadId=%s", url, sending->part + 1,
					 buf_str(&id));
		return;
	case STEP_FINISH:
		sending->method = "POST";
		sending->url = xasprintf("%s?uploadId=%s", url, buf_str(&id));
		buf_clear(&sending->text);
		put_parts(&sending->text, upload);
		sending->length = sending->text.len;
		return;
	case STEP_ABORT:
		sending->method = "DELETE";
		sending->url = xasprintf("%s?uploadId=%s", url, buf_str(&id));
		return;
	case STEP_LOOK:
		sending->method = "HEAD";
		sending->url = mem_steal(&url);
		return;
	case STEP_WHOLE:
	case STEP_CONTAINER:
		break;
	}
	sending->url = mem_steal(&url);
	add_description(sending);
}

/*
 * Adds the signed hash, and Content-MD5 as well, since not every S3-compatible storage checks the
 * former.
 */
static int add_hashes(struct sending *sending, struct err *err)
{
	cleanup_buf struct buf hash = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf md5 = BUF_INIT(BUF_UNBOUNDED);

	if (body_sha256(sending, &hash, err) < 0 || body_md5(sending, &md5, err) < 0)
		return -1;
	add_header(sending, xasprintf("x-amz-content-sha256:%s", buf_str(&hash)));
	if (sending->length > 0 && md5.len > 0)
		add_header(sending, xasprintf("content-md5:%s", buf_str(&md5)));
	return 0;
}

static int prepare(const struct backend *backend, struct sending *sending, CURL *curl,
		   struct err *err)
{
	const struct s3_backend *s3 = from(backend);
	cleanup_free char *signer = xasprintf("aws:amz:%s:s3", s3->bucket.region);

	describe(s3, sending);
	if (add_hashes(sending, err) < 0)
		return -1;
	if (s3->target->s3_token != NULL)
		add_header(sending, xasprintf("x-amz-security-token:%s", s3->target->s3_token));
	if (curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, signer) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_USERNAME, s3->target->s3_key_id) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_PASSWORD, s3->target->s3_secret) != CURLE_OK)
		return err_set(err, ERR_INTERNAL, "libcurl does not take an option");
	return 0;
}

/*
 * Returns the text of an element without children. Returns NULL when it is missing or not plain.
 * The caller frees the result.
 */
static char *element(const char *xml, const char *name, size_t max)
{
	cleanup_free char *open = xasprintf("<%s>", name);
	const char *start = strstr(xml, open);
	size_t len;

	if (start == NULL)
		return NULL;
	start += strlen(open);
	len = strcspn(start, "<&\r\n ");
	return start[len] == '<' && len > 0 && len <= max ? xmemdup(start, len) : NULL;
}

static char *bare_etag(const char *etag)
{
	const char *start = etag + (etag[0] == '"');
	size_t len =
		strspn(start, "0123456789abcdefABCDEF-ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ_");

	return len > 0 && len <= ETAG_MAX && (start[len] == '\0' || start[len] == '"')
		       ? xmemdup(start, len)
		       : NULL;
}

static int take_id(struct upload *upload, const struct reception *reception, struct err *err)
{
	upload->id = element(buf_str(&reception->body), "UploadId", ID_MAX);
	return upload->id != NULL ? 0 : backend_no_storage(reception, err);
}

static int take_etag(struct upload *upload, unsigned int part, const struct reception *reception,
		     struct err *err)
{
	free(upload->etags[part]);
	upload->etags[part] = reception->etag != NULL ? bare_etag(reception->etag) : NULL;
	return upload->etags[part] != NULL ? 0 : backend_no_storage(reception, err);
}

/* Reads the outcome from the body: S3 may send status 200 before it knows it. */
static int check_finish(const struct reception *reception, struct err *err)
{
	const char *body = buf_str(&reception->body);

	if (strstr(body, "<Error>") != NULL)
		return err_set(err, ERR_BUSY, "the storage could not put its parts together");
	return strstr(body, "<CompleteMultipartUploadResult") != NULL
		       ? 0
		       : backend_no_storage(reception, err);
}

static int accept_answer(const struct backend *backend, struct upload *upload,
			 const struct sending *sending, const struct reception *reception,
			 struct err *err)
{
	(void)backend;
	switch (sending->step) {
	case STEP_WHOLE:
		return reception->etag != NULL ? 0 : backend_no_storage(reception, err);
	case STEP_BEGIN:
		return take_id(upload, reception, err);
	case STEP_PART:
		return take_etag(upload, sending->part, reception, err);
	case STEP_FINISH:
		return check_finish(reception, err);
	case STEP_LOOK: /* the object may be left from an earlier upload */
		return str_eq(reception->token, upload->token)
			       ? 0
			       : err_set(err, ERR_NOT_FOUND, "it does not lie there");
	case STEP_ABORT:
	case STEP_CONTAINER:
		break;
	}
	return 0;
}

static char *make_link(const struct backend *backend, const char *name, uint64_t seconds,
		       struct err *err)
{
	const struct s3_backend *s3 = from(backend);
	const struct s3_grant grant = {
		.target = s3->target, .name = name, .now = time(NULL), .seconds = seconds
	};

	(void)err;
	return s3_link(&s3->bucket, &crypto_functions, &grant);
}

static void free_s3(struct backend *backend)
{
	struct s3_backend *s3 = backend->owner;

	s3_bucket_release(&s3->bucket);
	free(s3);
}

struct backend *s3_backend_new(const struct storage_target *target, struct err *err)
{
	struct s3_backend *s3 = xcalloc(1, sizeof(*s3));

	if (s3_bucket_make(target, &s3->bucket, err) < 0) {
		free(s3);
		return NULL;
	}
	s3->target = target;
	s3->backend = (struct backend){
		.owner = s3,
		.prepare = prepare,
		.accept = accept_answer,
		.link = make_link,
		.free = free_s3,
		.has_look = true,
		.has_begin = true,
		.parts_max = S3_PARTS_MAX,
		.key_names = "PTYCELL_S3_ACCESS_KEY_ID and PTYCELL_S3_SECRET_ACCESS_KEY",
	};
	return &s3->backend;
}
