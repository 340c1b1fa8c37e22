/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "crypto_fixture.h"
#include "storage/azure.h"

/* Base64 of the bytes 0x00 to 0x3f. */
#define KEY                                                                                        \
	"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw=="
#define CONTAINER "code-interpreter-artifacts"
#define BLOB "sess 1/plot \303\251.png"

enum { EXPIRES = 1893553445 /* 2030-01-02T03:04:05Z */ };

static struct azure_account parse(const char *text)
{
	struct azure_account account = { .name = NULL };
	struct err err = { 0 };

	if (azure_account_parse(text, &account, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return account;
}

/* ---- connection strings ---- */

static void assert_account(const char *text, const char *name, const char *endpoint, size_t key_len,
			   const char *sas)
{
	cleanup_azure struct azure_account account = parse(text);

	assert_string_equal(account.name, name);
	assert_string_equal(account.endpoint, endpoint);
	assert_int_equal(account.key_len, key_len);
	if (sas == NULL)
		assert_null(account.sas);
	else
		assert_string_equal(account.sas, sas);
}

/* CB-26: endpoint, sovereign cloud, emulator, SAS only. */
static void every_form_of_a_connection_string_is_read(void **state)
{
	(void)state;
	assert_account("DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=" KEY
		       ";EndpointSuffix=core.windows.net",
		       "acct", "https://acct.blob.core.windows.net", 64, NULL);
	assert_account("AccountName=acct;AccountKey=" KEY, "acct",
		       "https://acct.blob.core.windows.net", 64, NULL);
	assert_account("DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=" KEY
		       ";EndpointSuffix=core.chinacloudapi.cn",
		       "acct", "https://acct.blob.core.chinacloudapi.cn", 64, NULL);
	assert_account("AccountName=acct;AccountKey=" KEY
		       ";BlobEndpoint=https://files.example.com/;QueueEndpoint=https://q",
		       "acct", "https://files.example.com", 64, NULL);
	assert_account("BlobEndpoint=https://acct.blob.core.windows.net/;"
		       "SharedAccessSignature=sv=2021-12-02&ss=b&sp=rcw&sig=a%2Bb%3D",
		       "acct", "https://acct.blob.core.windows.net", 0,
		       "sv=2021-12-02&ss=b&sp=rcw&sig=a%2Bb%3D");
	assert_account("AccountName=acct;SharedAccessSignature=?sv=1&sig=x", "acct",
		       "https://acct.blob.core.windows.net", 0, "sv=1&sig=x");
	assert_account("UseDevelopmentStorage=true", "devstoreaccount1",
		       "http://127.0.0.1:10000/devstoreaccount1", 64, NULL);
	assert_account("UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite/",
		       "devstoreaccount1", "http://azurite:10000/devstoreaccount1", 64, NULL);
	assert_account("AccountKey=" KEY ";BlobEndpoint=http://127.0.0.1:41/local1", "local1",
		       "http://127.0.0.1:41/local1", 64, NULL);
}

static void blanks_case_and_unknown_parts_do_not_matter(void **state)
{
	(void)state;
	assert_account(" accountname = acct ;; ACCOUNTKEY=" KEY " ; Surprise=1;\n", "acct",
		       "https://acct.blob.core.windows.net", 64, NULL);
	assert_account("AccountName=acct;AccountKey=" KEY ";EndpointSuffix=", "acct",
		       "https://acct.blob.core.windows.net", 64, NULL);
}

static void assert_refused(const char *text, const char *message)
{
	struct azure_account account;
	struct err err = { 0 };

	assert_int_equal(azure_account_parse(text, &account, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	if (strstr(err.msg, message) == NULL)
		fail_msg("'%s' is not in: %s", message, err.msg);
	assert_null(strstr(err.msg, "s3cret"));
}

static void a_wrong_string_is_refused_and_no_part_of_it_shown(void **state)
{
	(void)state;
	assert_refused("", "neither AccountName nor BlobEndpoint");
	assert_refused("s3cret", "no '='");
	assert_refused("AccountName=acct", "neither AccountKey nor");
	assert_refused("AccountName=acct;AccountKey=s3cret!", "not Base64");
	assert_refused("AccountName=acct;AccountKey=s3cretA", "not Base64");
	assert_refused("AccountName=a/s3cret;AccountKey=" KEY, "AccountName");
	assert_refused("AccountKey=" KEY, "neither AccountName nor");
	assert_refused("BlobEndpoint=ftp://s3cret;AccountKey=" KEY, "BlobEndpoint");
	assert_refused("BlobEndpoint=https://u:s3cret@host;AccountKey=" KEY, "BlobEndpoint");
	assert_refused("BlobEndpoint=https://host?s3cret;AccountKey=" KEY, "BlobEndpoint");
	assert_refused("BlobEndpoint=http://[::1]:1;AccountKey=" KEY, "add AccountName");
	assert_refused("DefaultEndpointsProtocol=gopher;AccountName=a;AccountKey=" KEY,
		       "DefaultEndpointsProtocol");
	assert_refused("AccountName=a;SharedAccessSignature=s3cret\nX-Y: 1", "query of a URL");
	assert_refused("UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://h:1",
		       "DevelopmentStorageProxyUri");
	assert_refused("UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://h/s3cret",
		       "DevelopmentStorageProxyUri");
	assert_refused("BlobEndpoint=https://a:b:c;AccountName=a;AccountKey=" KEY, "BlobEndpoint");
	assert_refused("BlobEndpoint=https://[::1;AccountName=a;AccountKey=" KEY, "BlobEndpoint");
	assert_refused("UseDevelopmentStorage=true;DevelopmentStorageProxyUri=s3cret",
		       "DevelopmentStorageProxyUri");
}

static void containers_are_named_by_the_service_s_rule(void **state)
{
	(void)state;
	assert_true(azure_container_valid("abc"));
	assert_true(azure_container_valid(CONTAINER));
	assert_true(azure_container_valid("0-1-2"));
	assert_false(azure_container_valid("ab"));
	assert_false(azure_container_valid("Abc"));
	assert_false(azure_container_valid("a--b"));
	assert_false(azure_container_valid("-ab"));
	assert_false(azure_container_valid("ab-"));
	assert_false(azure_container_valid("$root"));
	assert_false(azure_container_valid(
		"a123456789012345678901234567890123456789012345678901234567890123"));
}

/* CB-25: each segment is encoded; CB-24: the path stays. */
static void a_blob_s_url_is_encoded(void **state)
{
	cleanup_azure struct azure_account account = parse("AccountName=acct;AccountKey=" KEY);
	cleanup_free char *url = azure_url(&account, "box", "s/a b/c#d?e%.png");
	cleanup_free char *container = azure_url(&account, "box", NULL);

	(void)state;
	assert_string_equal(url, "https://acct.blob.core.windows.net/box/s/a%20b/c%23d%3Fe%25.png");
	assert_string_equal(container, "https://acct.blob.core.windows.net/box");
}

/* ---- Shared Key ---- */

static const char *const put_headers[] = { "x-ms-version: 2021-12-02",
					   "x-ms-date: Wed, 02 Jan 2030 03:04:05 GMT",
					   "x-ms-blob-type: BlockBlob" };
static const struct azure_request put_request = {
	.method = "PUT",
	.url = "https://acct.blob.core.windows.net/" CONTAINER "/sess%201/plot%20%C3%A9.png",
	.content_length = 5,
	.content_type = "text/csv",
	.x_headers = put_headers,
	.x_header_count = 3,
};

static void put_blob_is_signed_as_the_vector_says(void **state)
{
	cleanup_azure struct azure_account account = parse("AccountName=acct;AccountKey=" KEY);
	cleanup_free char *value = azure_authorization(&account, &fixture_crypto, &put_request);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	azure_string_to_sign(&account, &put_request, &text);
	assert_string_equal(buf_str(&text),
			    "PUT\n\n\n5\n\ntext/csv\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\n"
			    "x-ms-date:Wed, 02 Jan 2030 03:04:05 GMT\nx-ms-version:2021-12-02\n"
			    "/acct/" CONTAINER "/sess%201/plot%20%C3%A9.png");
	assert_string_equal(value, "SharedKey acct:fPG0332xnRQ/n7OjgXYPVTp5x3E6Q1rpQwWBS1vHftk=");
}

static void the_hash_of_a_body_is_signed_between_length_and_type(void **state)
{
	cleanup_azure struct azure_account account = parse("AccountName=acct;AccountKey=" KEY);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct azure_request request = put_request;

	(void)state;
	request.content_md5 = "XUFAKrxLKna5cZ2REBfFkg==";
	azure_string_to_sign(&account, &request, &text);
	assert_memory_equal(buf_str(&text), "PUT\n\n\n5\nXUFAKrxLKna5cZ2REBfFkg==\ntext/csv\n",
			    strlen("PUT\n\n\n5\nXUFAKrxLKna5cZ2REBfFkg==\ntext/csv\n"));
}

static void create_container_is_signed_as_the_vector_says(void **state)
{
	cleanup_azure struct azure_account account = parse("AccountName=acct;AccountKey=" KEY);
	const struct azure_request request = {
		.method = "PUT",
		.url = "https://acct.blob.core.windows.net/" CONTAINER "?restype=container",
		.x_headers = put_headers,
		.x_header_count = 2,
	};
	cleanup_free char *value = azure_authorization(&account, &fixture_crypto, &request);

	(void)state;
	assert_string_equal(value, "SharedKey acct:ethLE0z5c9n3tJdd9+ynNNbyKzO3CBER+vtLBT3OIq4=");
}

static void members_of_the_query_are_sorted_and_decoded(void **state)
{
	cleanup_azure struct azure_account account = parse("UseDevelopmentStorage=true");
	const struct azure_request request = {
		.method = "PUT",
		.url = "http://127.0.0.1:10000/devstoreaccount1/box/b?comp=block&blockid=AA%3D%3D",
		.content_length = 7,
		.x_headers = put_headers,
		.x_header_count = 1,
	};
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	azure_string_to_sign(&account, &request, &text);
	assert_string_equal(buf_str(&text),
			    "PUT\n\n\n7\n\n\n\n\n\n\n\n\nx-ms-version:2021-12-02\n"
			    "/devstoreaccount1/devstoreaccount1/box/b\nblockid:AA==\ncomp:block");
}

/* ---- links ---- */

static const struct azure_grant grant = { .container = CONTAINER,
					  .blob = BLOB,
					  .expires = EXPIRES };

static void a_link_over_tls_is_signed_as_the_vector_says(void **state)
{
	cleanup_azure struct azure_account account = parse("AccountName=acct;AccountKey=" KEY);
	cleanup_free char *link = azure_link(&account, &fixture_crypto, &grant);

	(void)state;
	assert_string_equal(link, "https://acct.blob.core.windows.net/" CONTAINER
				  "/sess%201/plot%20%C3%A9.png"
				  "?sv=2021-12-02&sr=b&sp=r&se=2030-01-02T03%3A04%3A05Z&spr=https"
				  "&sig=fD1SdeX%2FeYTevEzOMeOQb610ryxW7cYjYc77hsKeCfQ%3D");
}

static void a_link_without_tls_is_signed_as_the_vector_says(void **state)
{
	cleanup_azure struct azure_account account =
		parse("DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=" KEY);
	cleanup_free char *link = azure_link(&account, &fixture_crypto, &grant);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	assert_non_null(strstr(link, "&sig=KVwLkV%2BSBHNSDzv3N%2FolKJXMS77%2FW0gZhYjYI0t1zKo%3D"));
	assert_null(strstr(link, "spr"));
	azure_sas_string_to_sign(&account, &grant, &text);
	assert_string_equal(buf_str(&text), "r\n\n2030-01-02T03:04:05Z\n/blob/acct/" CONTAINER
					    "/" BLOB "\n\n\n\n2021-12-02\nb\n\n\n\n\n\n\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_a_connection_string_is_read),
		cmocka_unit_test(blanks_case_and_unknown_parts_do_not_matter),
		cmocka_unit_test(a_wrong_string_is_refused_and_no_part_of_it_shown),
		cmocka_unit_test(containers_are_named_by_the_service_s_rule),
		cmocka_unit_test(a_blob_s_url_is_encoded),
		cmocka_unit_test(put_blob_is_signed_as_the_vector_says),
		cmocka_unit_test(the_hash_of_a_body_is_signed_between_length_and_type),
		cmocka_unit_test(create_container_is_signed_as_the_vector_says),
		cmocka_unit_test(members_of_the_query_are_sorted_and_decoded),
		cmocka_unit_test(a_link_over_tls_is_signed_as_the_vector_says),
		cmocka_unit_test(a_link_without_tls_is_signed_as_the_vector_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
