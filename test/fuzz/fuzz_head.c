/* SPDX-License-Identifier: MIT */
/* layers: net */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "net/http_body.h"
#include "net/http_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What goes to another proxy must be read there as we read it. */
static void check_rewritten(const struct http_head_request *request)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct http_head_request again;
	struct err err;

	http_head_write_request(request, true, NULL, &out);
	if (http_head_len(out.data, out.len) != out.len)
		abort();
	if (http_head_parse_request(out.data, out.len, &again, &err) < 0) {
		if (err.code != ERR_LIMIT) /* one field more than the most */
			abort();
		return;
	}
	if (!str_eq(request->to.host, again.to.host) || request->to.port != again.to.port ||
	    request->body != again.body || request->body_len != again.body_len)
		abort();
}

/* However a body is cut, it ends at the same byte. */
static void check_body(const char *data, size_t len)
{
	struct http_body whole;
	struct http_body bytes;
	struct err err;
	ptrdiff_t all;
	ptrdiff_t sum = 0;

	http_body_init(&whole, HTTP_BODY_CHUNKED, 0);
	http_body_init(&bytes, HTTP_BODY_CHUNKED, 0);
	all = http_body_take(&whole, data, len, &err);
	for (size_t i = 0; i < len && sum >= 0 && !http_body_done(&bytes); i++) {
		ptrdiff_t n = http_body_take(&bytes, data + i, 1, &err);

		sum = n < 0 ? -1 : sum + n;
	}
	if (all != sum)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t len = http_head_len(text, size);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const struct host_port tunnel = { .host = "a.example", .port = 80 };
	struct http_head_request request;
	struct http_head_response response;
	struct err err;

	if (len == 0) {
		check_body(text, size);
		return 0;
	}
	if (http_head_parse_request(text, len, &request, &err) == 0 && !request.connect)
		check_rewritten(&request);
	if (http_head_parse_tunnelled(text, len, &tunnel, &request, &err) == 0)
		check_rewritten(&request);
	if (http_head_parse_response(text, len, &response, &err) == 0)
		http_head_write_response(&response, &out);
	check_body(text + len, size - len);
	return 0;
}
