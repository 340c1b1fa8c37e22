/* SPDX-License-Identifier: MIT */
/*
 * azure_sign.c - composes the strings that an account's key signs. The service composes them too
 * and compares signatures, so every field, also an empty one, must have its line in this order.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "storage/azure.h"
#include "storage/object_name.h"
#include "storage/url.h"
#include "text/base64.h"
#include "text/percent.h"

static void put_signature(const struct azure_account *account, const struct storage_crypto *crypto,
			  const struct buf *text, struct buf *out)
{
	unsigned char hash[STORAGE_HASH_LEN];

	crypto->hmac_sha256(account->key, account->key_len, buf_str(text), text->len, hash);
	base64_encode(out, hash, sizeof(hash));
}

/* ---- Shared Key ---- */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_headers(struct buf *out, const struct azure_request *request)
{
	const char **sorted = xcalloc(request->x_header_count + 1, sizeof(*sorted));

	for (size_t i = 0; i < request->x_header_count; i++)
		sorted[i] = request->x_headers[i];
	qsort(sorted, request->x_header_count, sizeof(*sorted), compare_lines);
	for (size_t i = 0; i < request->x_header_count; i++) {
		const char *value = strchr(sorted[i], ':');

		buf_put(out, sorted[i], (size_t)(value - sorted[i]) + 1);
		value++;
		buf_putf(out, "%s\n", value + strspn(value, " "));
	}
	free(sorted);
}

/* Appends names in lower case and decoded values, sorted, one line each. */
static void put_query(struct buf *out, const char *query)
{
	cleanup_free char *copy = xstrdup(query);
	char *members[8];
	size_t count = 0;
	char *rest = copy;
	char *member;

	while ((member = strsep(&rest, "&")) != NULL && count < ARRAY_SIZE(members))
		members[count++] = member;
	qsort(members, count, sizeof(members[0]), compare_lines);
	for (size_t i = 0; i < count; i++) {
		size_t len = strcspn(members[i], "=");
		const char *value = members[i] + len + (members[i][len] == '=');
		cleanup_free char *decoded = percent_decode(value, strlen(value));

		buf_putf(out, "\n%.*s:%s", (int)len, members[i], decoded != NULL ? decoded : "");
	}
}

void azure_string_to_sign(const struct azure_account *account, const struct azure_request *request,
			  struct buf *out)
{
	const char *path = url_path(request->url);
	size_t path_len = strcspn(path, "?");

	/* Verb, encoding, language, length, MD5, type, date, four conditions, range. */
	buf_putf(out, "%s\n\n\n", request->method);
	if (request->content_length > 0)
		buf_putf(out, "%" PRIu64, request->content_length);
	buf_putf(out, "\n%s\n%s\n\n\n\n\n\n\n",
		 request->content_md5 != NULL ? request->content_md5 : "",
		 request->content_type != NULL ? request->content_type : "");
	put_headers(out, request);
	buf_putf(out, "/%s%.*s", account->name, (int)path_len, path);
	if (path[path_len] == '?')
		put_query(out, path + path_len + 1);
}

char *azure_authorization(const struct azure_account *account, const struct storage_crypto *crypto,
			  const struct azure_request *request)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf signature = BUF_INIT(BUF_UNBOUNDED);

	azure_string_to_sign(account, request, &text);
	put_signature(account, crypto, &text, &signature);
	return xasprintf("SharedKey %s:%s", account->name, buf_str(&signature));
}

/* ---- links ---- */

static const char *protocols(const struct azure_account *account)
{
	return url_is_https(account->endpoint) ? "https" : "";
}

/* The emulator's path begins with the account, but the signed string names it only once. */
void azure_sas_string_to_sign(const struct azure_account *account, const struct azure_grant *grant,
			      struct buf *out)
{
	char expires[STORAGE_TIME_LEN + 1];

	storage_time(grant->expires, expires);
	/*
	 * sp, st, se, resource, si, sip, spr, sv, sr, snapshot, ses, rscc, rscd, rsce, rscl, rsct
	 */
	buf_putf(out, "r\n\n%s\n/blob/%s/%s/%s\n\n\n%s\n" AZURE_VERSION "\nb\n\n\n\n\n\n\n",
		 expires, account->name, grant->container, grant->blob, protocols(account));
}

char *azure_link(const struct azure_account *account, const struct storage_crypto *crypto,
		 const struct azure_grant *grant)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf signature = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf link = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *url = azure_url(account, grant->container, grant->blob);
	char expires[STORAGE_TIME_LEN + 1];
	const char *spr = protocols(account);

	azure_sas_string_to_sign(account, grant, &text);
	put_signature(account, crypto, &text, &signature);
	storage_time(grant->expires, expires);
	buf_putf(&link, "%s?sv=" AZURE_VERSION "&sr=b&sp=r&se=", url);
	url_encode(&link, expires);
	buf_putf(&link, "%s%s&sig=", *spr != '\0' ? "&spr=" : "", spr);
	url_encode(&link, buf_str(&signature));
	return buf_steal(&link);
}
