/* SPDX-License-Identifier: MIT */
/*
 * azure.h - Azure Blob Storage: connection strings, Shared Key and links with a service SAS.
 *
 * Sources: "Authorize with Shared Key" and "Create a service SAS" of the REST API's reference,
 * service version 2021-12-02 (a string to sign of 16 fields).
 */
#ifndef STORAGE_AZURE_H
#define STORAGE_AZURE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/crypto.h"

#define AZURE_VERSION "2021-12-02"

enum { AZURE_BLOCKS_MAX = 50000 };

struct azure_account {
	char *name;
	char *endpoint; /* a URL without a final slash; an emulator's ends with the account's name
			 */
	char *key;      /* decoded; NULL if there is only a SAS */
	size_t key_len;
	char *sas; /* a query that allows uploads, without its "?"; used if there is no key */
};

/*
 * Parses all forms: AccountName with AccountKey or SharedAccessSignature, EndpointSuffix,
 * BlobEndpoint, UseDevelopmentStorage. Keywords may be in any case; unknown ones are ignored.
 * Returns -1 and sets ERR_INVALID with a message that holds no part of the string.
 */
int azure_account_parse(const char *text, struct azure_account *ret_account,
			struct err *err) MUST_CHECK;
/* Wipes key and SAS, and frees the members. */
void azure_account_release(struct azure_account *account);
#define cleanup_azure __attribute__((cleanup(azure_account_release)))
bool azure_container_valid(const char *name);

/* Returns the URL of a blob, or of the container if `blob` is NULL. The caller frees it. */
char *azure_url(const struct azure_account *account, const char *container, const char *blob);

/* A request of ours, to be signed. */
struct azure_request {
	const char *method;
	const char *url; /* as sent, with its query but without a SAS */
	uint64_t content_length;
	const char *content_md5;      /* in Base64, or NULL */
	const char *content_type;     /* or NULL */
	const char *const *x_headers; /* "x-ms-date: ...", names in lower case, in any order */
	size_t x_header_count;
};

/* Appends the string to sign of Shared Key. */
void azure_string_to_sign(const struct azure_account *account, const struct azure_request *request,
			  struct buf *out);
/* Returns "SharedKey NAME:SIGNATURE". The caller frees it. */
char *azure_authorization(const struct azure_account *account, const struct storage_crypto *crypto,
			  const struct azure_request *request);

/* A blob that may be read until `expires`; over TLS only, unless the endpoint has none. */
struct azure_grant {
	const char *container;
	const char *blob;
	time_t expires;
};

void azure_sas_string_to_sign(const struct azure_account *account, const struct azure_grant *grant,
			      struct buf *out);
/* Returns the whole URL for an account with a key. The caller frees it. */
char *azure_link(const struct azure_account *account, const struct storage_crypto *crypto,
		 const struct azure_grant *grant);

#endif
