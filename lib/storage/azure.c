/* SPDX-License-Identifier: MIT */
/*
 * azure.c - connection strings and URLs. Messages never quote the string, because any part of it
 * may be the key. Emulators (Azurite) put the account's name into the path instead of the host, so
 * the account is found in either place.
 */
#include "storage/azure.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "storage/url.h"
#include "text/base64.h"
#include "text/percent.h"

enum { CONTAINER_MIN = 3, CONTAINER_MAX = 63, NAME_MAX_LEN = 63 };

/* The emulators' account and key, which are public. */
#define EMULATOR_NAME "devstoreaccount1"
#define EMULATOR_KEY                                                                               \
	"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define EMULATOR_PORT "10000"

static void wipe_bytes(char **secret, size_t len)
{
	if (*secret != NULL)
		explicit_bzero(*secret, len);
	mem_cleanup(secret);
}

void azure_account_release(struct azure_account *account)
{
	wipe_bytes(&account->key, account->key_len);
	wipe_bytes(&account->sas, account->sas == NULL ? 0 : strlen(account->sas));
	mem_cleanup(&account->name);
	mem_cleanup(&account->endpoint);
	account->key_len = 0;
}

/* ---- the parts of a string ---- */

enum part {
	PART_PROTOCOL,
	PART_NAME,
	PART_KEY,
	PART_SUFFIX,
	PART_ENDPOINT,
	PART_SAS,
	PART_EMULATOR,
	PART_EMULATOR_HOST,
	PARTS
};

static const char *const keywords[] = {
	[PART_PROTOCOL] = "DefaultEndpointsProtocol",
	[PART_NAME] = "AccountName",
	[PART_KEY] = "AccountKey",
	[PART_SUFFIX] = "EndpointSuffix",
	[PART_ENDPOINT] = "BlobEndpoint",
	[PART_SAS] = "SharedAccessSignature",
	[PART_EMULATOR] = "UseDevelopmentStorage",
	[PART_EMULATOR_HOST] = "DevelopmentStorageProxyUri",
};
_Static_assert(ARRAY_SIZE(keywords) == PARTS, "a keyword for each part");

struct parts {
	char *copy;
	const char *values[PARTS]; /* into the copy */
};

static void parts_release(struct parts *parts)
{
	wipe_bytes(&parts->copy, strlen(parts->copy));
}
#define cleanup_parts __attribute__((cleanup(parts_release)))

static const char blanks[] = " \t\r\n";

/* Splits at the first "=" of each part, because keys and signatures contain others. */
static int split_string(struct parts *parts, struct err *err)
{
	char *rest = parts->copy;
	char *part;

	while ((part = strsep(&rest, ";")) != NULL) {
		char *value = strchr(part, '=');

		if (*str_trim(part, blanks) == '\0')
			continue;
		if (value == NULL)
			return err_set(err, ERR_INVALID,
				       "a part has no '='; it must be "
				       "NAME=VALUE;NAME=VALUE");
		*value++ = '\0';
		for (size_t i = 0; i < PARTS; i++)
			if (strcasecmp(keywords[i], str_trim(part, blanks)) == 0 &&
			    *str_trim(value, blanks) != '\0')
				parts->values[i] = str_trim(value, blanks);
	}
	return 0;
}

/* ---- the account ---- */

static bool is_label(const char *text, size_t max)
{
	size_t len =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

	return len > 0 && len <= max && text[len] == '\0';
}

/*
 * Finds the name in "https://NAME.blob.core.windows.net" or, where hosts have no names,
 * "http://127.0.0.1:1/NAME".
 */
static char *name_of_endpoint(const char *endpoint)
{
	const char *host = strstr(endpoint, "://") + 3;
	const char *path = strchr(host, '/');
	size_t len = strcspn(host, ".:/");

	if (path != NULL)
		return xstrdup(strrchr(path, '/') + 1);
	return xmemdup(host, len);
}

static int set_key(struct azure_account *account, const char *text, struct err *err)
{
	cleanup_buf struct buf key = BUF_INIT(BUF_UNBOUNDED);
	struct err why;

	if (base64_decode(&key, text, strlen(text), &why) < 0 || key.len == 0)
		return err_set(err, ERR_INVALID, "AccountKey is not Base64; was it cut off?");
	account->key_len = key.len;
	account->key = xmemdup(key.data, key.len);
	explicit_bzero(key.data, key.len);
	return 0;
}

static int set_endpoint(struct azure_account *account, const struct parts *parts, struct err *err)
{
	const char *protocol = parts->values[PART_PROTOCOL];
	const char *suffix = parts->values[PART_SUFFIX];
	const char *endpoint = parts->values[PART_ENDPOINT];

	if (endpoint == NULL && account->name == NULL)
		return err_set(err, ERR_INVALID, "it has neither AccountName nor BlobEndpoint");
	account->endpoint =
		endpoint != NULL
			? xstrdup(endpoint)
			: xasprintf("%s://%s.blob.%s", protocol != NULL ? protocol : "https",
				    account->name, suffix != NULL ? suffix : "core.windows.net");
	if (!url_base_valid(account->endpoint))
		return err_set(err, ERR_INVALID,
			       endpoint != NULL ? "BlobEndpoint is not a URL like "
						  "https://NAME.blob.core.windows.net"
						: "DefaultEndpointsProtocol must be https or http "
						  "and EndpointSuffix a host's name");
	url_trim(account->endpoint);
	if (account->name == NULL)
		account->name = name_of_endpoint(account->endpoint);
	if (!is_label(account->name, NAME_MAX_LEN))
		return err_set(err, ERR_INVALID,
			       "BlobEndpoint does not tell the account; add "
			       "AccountName");
	return 0;
}

static int set_emulator(struct azure_account *account, const struct parts *parts, struct err *err)
{
	const char *given = parts->values[PART_EMULATOR_HOST];
	cleanup_free char *host = xstrdup(given != NULL ? given : "http://127.0.0.1");

	url_trim(host);
	account->name = xstrdup(EMULATOR_NAME);
	account->endpoint = xasprintf("%s:" EMULATOR_PORT "/" EMULATOR_NAME, host);
	if (!url_base_valid(account->endpoint) || url_path(host)[0] != '\0')
		return err_set(err, ERR_INVALID,
			       "DevelopmentStorageProxyUri is not a URL like http://127.0.0.1");
	return set_key(account, EMULATOR_KEY, err);
}

static int set_account(struct azure_account *account, const struct parts *parts, struct err *err)
{
	const char *name = parts->values[PART_NAME];
	const char *key = parts->values[PART_KEY];
	const char *sas = parts->values[PART_SAS];

	if (parts->values[PART_EMULATOR] != NULL &&
	    strcasecmp(parts->values[PART_EMULATOR], "true") == 0)
		return set_emulator(account, parts, err);
	if (name != NULL && !is_label(name, NAME_MAX_LEN))
		return err_set(err, ERR_INVALID, "AccountName is no account's name");
	if (name != NULL)
		account->name = xstrdup(name);
	if (set_endpoint(account, parts, err) < 0)
		return -1;
	if (key != NULL)
		return set_key(account, key, err);
	if (sas == NULL)
		return err_set(err, ERR_INVALID,
			       "it has neither AccountKey nor SharedAccessSignature");
	sas += *sas == '?';
	if (!url_query_valid(sas))
		return err_set(err, ERR_INVALID, "SharedAccessSignature is not the query of a URL");
	account->sas = xstrdup(sas);
	return 0;
}

int azure_account_parse(const char *text, struct azure_account *ret_account, struct err *err)
{
	cleanup_parts struct parts parts = { .copy = xstrdup(text) };
	struct azure_account account = { .name = NULL };

	if (split_string(&parts, err) < 0 || set_account(&account, &parts, err) < 0) {
		azure_account_release(&account);
		return -1;
	}
	*ret_account = account;
	return 0;
}

/* ---- names ---- */

bool azure_container_valid(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return name[len] == '\0' && len >= CONTAINER_MIN && len <= CONTAINER_MAX &&
	       name[0] != '-' && name[len - 1] != '-' && strstr(name, "--") == NULL;
}

char *azure_url(const struct azure_account *account, const char *container, const char *blob)
{
	cleanup_free char *encoded = blob != NULL ? percent_encode(blob) : NULL;

	return xasprintf("%s/%s%s%s", account->endpoint, container, blob != NULL ? "/" : "",
			 blob != NULL ? encoded : "");
}
