/* SPDX-License-Identifier: MIT */
/*
 * azure_backend.c - Azure Blob Storage: Put Blob, Put Block, Put Block List, Create Container.
 *
 * A request is authorized by the account's key, or else by the SAS of the connection string. Only
 * the key can make links. Success is always 201, so a login page or a proxy in between is
 * recognized by its status.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend.h"
#include "base/mem.h"
#include "body.h"
#include "crypto.h"
#include "storage/azure.h"
#include "storage/object_name.h"
#include "storage/target.h"
#include "storage/url.h"
#include "text/base64.h"
#include "upload.h"

enum { HEADERS_MAX = 8, STATUS_CREATED = 201 };

struct azure_backend {
	struct backend backend;
	const struct storage_target *target;
	struct azure_account account;
};

/* A request's own headers, each "name: value". */
struct headers {
	char *lines[HEADERS_MAX];
	size_t count;
};

static const struct azure_backend *from(const struct backend *backend)
{
	return backend->owner;
}

static void add_header(struct headers *headers, char *line_own)
{
	headers->lines[headers->count++] = line_own;
}

/*
 * Appends the id of a block. All ids of a blob must have the same length. Each upload has its own
 * token, so blocks of other uploads of that name, also of other servers, are never committed.
 */
static void put_block_id(struct buf *out, const struct upload *upload, unsigned int part)
{
	char id[BACKEND_TOKEN_LEN + 16];
	int len = snprintf(id, sizeof(id), "%s%08u", upload->token, part);

	base64_encode(out, id, (size_t)len);
}

static void put_block_list(struct buf *out, const struct upload *upload)
{
	buf_puts(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
	for (unsigned int i = 0; i < upload->part_count; i++) {
		buf_puts(out, "<Latest>");
		put_block_id(out, upload, i);
		buf_puts(out, "</Latest>");
	}
	buf_puts(out, "</BlockList>");
}

static void add_description(struct headers *headers, const struct upload *upload)
{
	cleanup_free char *type = storage_content_type(upload->name);
	cleanup_free char *disposition = storage_disposition(upload->name);

	add_header(headers, xasprintf("x-ms-blob-content-type: %s", type));
	add_header(headers, xasprintf("x-ms-blob-content-disposition: %s", disposition));
}

/* Returns the URL of a step without its authorization, and appends the headers of this step. */
static char *describe(const struct azure_backend *azure, struct sending *sending,
		      struct headers *headers)
{
	const struct upload *upload = sending->upload;
	const char *container = azure->target->azure_container;
	cleanup_free char *url =
		azure_url(&azure->account, container, upload != NULL ? upload->name : NULL);
	cleanup_buf struct buf id = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf encoded = BUF_INIT(BUF_UNBOUNDED);

	if (upload == NULL) /* STEP_CONTAINER */
		return xasprintf("%s?restype=container", url);
	if (sending->step == STEP_PART) {
		put_block_id(&id, upload, sending->part);
		url_encode(&encoded, buf_str(&id));
		return xasprintf("%s?comp=block&blockid=%s", url, buf_str(&encoded));
	}
	add_description(headers, upload);
	if (sending->step == STEP_WHOLE) {
		add_header(headers, xstrdup("x-ms-blob-type: BlockBlob"));
		return mem_steal(&url);
	}
	buf_clear(&sending->text);
	put_block_list(&sending->text, upload);
	sending->length = sending->text.len;
	return xasprintf("%s?comp=blocklist", url);
}

static char *date_header(void)
{
	char date[64] = "";
	time_t now = time(NULL);
	struct tm utc;

	if (gmtime_r(&now, &utc) != NULL)
		(void)strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &utc);
	return xasprintf("x-ms-date: %s", date);
}

/* Signs with the key if there is one, else appends the SAS. */
static void authorize(const struct azure_backend *azure, struct sending *sending, const char *md5,
		      struct headers *headers)
{
	const struct azure_request request = {
		.method = sending->method,
		.url = sending->url,
		.content_length = sending->length,
		.content_md5 = md5,
		.x_headers = (const char *const *)headers->lines,
		.x_header_count = headers->count,
	};
	cleanup_free char *url = NULL;
	cleanup_free char *authorization = NULL;

	if (azure->account.key != NULL) {
		authorization = azure_authorization(&azure->account, &crypto_functions, &request);
		add_header(headers, xasprintf("Authorization: %s", authorization));
		return;
	}
	url = sending->url;
	sending->url =
		xasprintf("%s%c%s", url, strchr(url, '?') != NULL ? '&' : '?', azure->account.sas);
}

/* Adds everything but the URL. Takes ownership of the lines in `headers`. */
static void finish_headers(const struct azure_backend *azure, struct sending *sending,
			   const char *md5, struct headers *headers)
{
	add_header(headers, xstrdup("x-ms-version: " AZURE_VERSION));
	add_header(headers, date_header());
	authorize(azure, sending, md5, headers);
	if (md5 != NULL)
		add_header(headers, xasprintf("Content-MD5: %s", md5));
	for (size_t i = 0; i < headers->count; i++) {
		sending->headers = curl_slist_append(sending->headers, headers->lines[i]);
		free(headers->lines[i]);
	}
}

static int prepare(const struct backend *backend, struct sending *sending, CURL *curl,
		   struct err *err)
{
	cleanup_buf struct buf md5 = BUF_INIT(BUF_UNBOUNDED);
	struct headers headers = { .count = 0 };

	(void)curl;
	sending->method = "PUT";
	sending->url = describe(from(backend), sending, &headers);
	if (sending->length > 0 && body_md5(sending, &md5, err) < 0) {
		for (size_t i = 0; i < headers.count; i++)
			free(headers.lines[i]);
		return -1;
	}
	finish_headers(from(backend), sending, md5.len > 0 ? buf_str(&md5) : NULL, &headers);
	return 0;
}

/* Accepts status 201 only: any other responder, such as a login page, does not send it. */
static int accept_answer(const struct backend *backend, struct upload *upload,
			 const struct sending *sending, const struct reception *reception,
			 struct err *err)
{
	(void)backend;
	(void)upload;
	(void)sending;
	return reception->status == STATUS_CREATED ? 0 : backend_no_storage(reception, err);
}

static char *make_link(const struct backend *backend, const char *name, uint64_t seconds,
		       struct err *err)
{
	const struct azure_backend *azure = from(backend);
	const struct azure_grant grant = {
		.container = azure->target->azure_container,
		.blob = name,
		.expires = time(NULL) + (time_t)seconds,
	};

	if (azure->account.key != NULL)
		return azure_link(&azure->account, &crypto_functions, &grant);
	(void)err_set(err, ERR_UNSUPPORTED,
		      "AZURE_BLOB_CONNECTION_STRING has no AccountKey, and only that makes links");
	return NULL;
}

static void free_azure(struct backend *backend)
{
	struct azure_backend *azure = backend->owner;

	azure_account_release(&azure->account);
	free(azure);
}

struct backend *azure_backend_new(const struct storage_target *target, struct err *err)
{
	struct azure_backend *azure = xcalloc(1, sizeof(*azure));

	if (azure_account_parse(target->azure_connection, &azure->account, err) < 0) {
		free(azure);
		return NULL;
	}
	azure->target = target;
	azure->backend = (struct backend){
		.owner = azure,
		.prepare = prepare,
		.accept = accept_answer,
		.link = make_link,
		.free = free_azure,
		.makes_container = true,
		.parts_max = AZURE_BLOCKS_MAX,
		.key_names = "AZURE_BLOB_CONNECTION_STRING",
	};
	return &azure->backend;
}
