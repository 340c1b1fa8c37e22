/* SPDX-License-Identifier: MIT */
/*
 * refusal.c - judges the error codes of storages. Storages report the reason as a code, a word in a
 * header or in XML. The tables group the codes by what they mean for the other files: a wrong key,
 * region or token fails all of them, so the batch ends at once. Any other code fails one file.
 */
#include "refusal.h"

#include <string.h>

#include "base/util.h"

enum { REGION_MAX = 40, STATUS_UNKNOWN = 401, STATUS_REFUSED = 403 };

/*
 * These concern the account, its key or this machine's clock: every other file would fail as well.
 */
static const char *const key_codes[] = {
	/* Azure */
	"AccountIsDisabled", "AuthenticationFailed", "AuthorizationFailure",
	"AuthorizationPermissionMismatch", "AuthorizationResourceTypeMismatch",
	"AuthorizationServiceMismatch", "InvalidAuthenticationInfo",
	"KeyBasedAuthenticationNotPermitted",
	/* S3 */
	"AccountProblem", "AllAccessDisabled", "InvalidAccessKeyId", "NotSignedUp",
	"RequestTimeTooSkewed", "SignatureDoesNotMatch"
};
/* Codes about a temporary key. */
static const char *const token_codes[] = { "ExpiredToken", "InvalidToken", "TokenRefreshRequired" };
static const char *const region_codes[] = { "AuthorizationHeaderMalformed",
					    "IllegalLocationConstraintException",
					    "PermanentRedirect", "TemporaryRedirect" };

#define is_among(word, words) among(word, words, ARRAY_SIZE(words))

static bool among(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(word, words[i]))
			return true;
	return false;
}

bool refusal_may_pass(const struct reception *reception)
{
	switch (reception->status) {
	case 408:
	case 429:
	case 500:
	case 502:
	case 503:
	case 504:
		return true;
	case 400: /* a body that was slow, damaged on its way, or changed during the request */
		return str_eq(reception->code, "RequestTimeout") ||
		       str_eq(reception->code, "XAmzContentSHA256Mismatch") ||
		       str_eq(reception->code, "BadDigest") ||
		       str_eq(reception->code, "Md5Mismatch");
	case 409:
		return str_eq(reception->code, "ContainerBeingDeleted") ||
		       str_eq(reception->code, "OperationAborted");
	default:
		return false;
	}
}

/* Sets `region` to the one that the storage names, or to "". */
static void find_region(const struct reception *reception, char region[REGION_MAX + 1])
{
	static const char element[] = "<Region>";
	const char *text = strstr(buf_str(&reception->body), element);
	size_t len;

	if (text != NULL)
		text += strlen(element);
	else
		text = reception->region;
	len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
	if (len > REGION_MAX)
		len = 0;
	memcpy(region, text, len);
	region[len] = '\0';
}

static void explain_region(const struct reception *reception, struct err *err)
{
	char region[REGION_MAX + 1];

	find_region(reception, region);
	if (region[0] != '\0')
		(void)err_set(
			err, ERR_INVALID,
			"the bucket is in the region '%s' (%ld %s): set PTYCELL_S3_REGION to it",
			region, reception->status, reception->code);
	else
		(void)err_set(
			err, ERR_INVALID,
			"the bucket is in another region (%ld %s): look at PTYCELL_S3_REGION and "
			"PTYCELL_S3_ENDPOINT",
			reception->status, reception->code);
}

static enum storage_reply judge_code(const struct backend *backend,
				     const struct reception *reception, struct err *err)
{
	const char *code = reception->code;

	bool is_key = is_among(code, key_codes) || reception->status == STATUS_UNKNOWN;

	if (is_key || reception->status == STATUS_REFUSED)
		(void)err_set(err, ERR_DENIED,
			      "the storage refuses it (%ld%s%s): look at %s, and at this machine's "
			      "clock",
			      reception->status, code[0] != '\0' ? " " : "", code,
			      backend->key_names);
	if (is_among(code, token_codes)) {
		(void)err_set(
			err, ERR_DENIED,
			"the storage refuses it (%ld %s): the key of PTYCELL_S3_SESSION_TOKEN is "
			"no longer good; get new ones and start ptycell again",
			reception->status, code);
		return STORAGE_REPLY_HOPELESS;
	}
	if (is_among(code, region_codes)) {
		explain_region(reception, err);
		return STORAGE_REPLY_HOPELESS;
	}
	return is_key ? STORAGE_REPLY_HOPELESS : STORAGE_REPLY_BAD;
}

enum storage_reply refusal_judge(const struct backend *backend, const struct reception *reception,
				 struct err *err)
{
	const char *code = reception->code;

	(void)err_set(err, ERR_SYSTEM, "the storage answered %ld%s%s", reception->status,
		      code[0] != '\0' ? " " : "", code);
	if (str_eq(code, "ContainerNotFound"))
		return STORAGE_REPLY_NO_CONTAINER;
	if (str_eq(code, "NoSuchBucket")) {
		(void)err_set(err, ERR_NOT_FOUND, "the bucket of PTYCELL_S3_BUCKET does not exist");
		return STORAGE_REPLY_HOPELESS;
	}
	return judge_code(backend, reception, err);
}

int backend_no_storage(const struct reception *reception, struct err *err)
{
	return err_set(
		err, ERR_INVALID,
		"what answered (%ld) is not the storage: is a login page or a proxy in between?",
		reception->status);
}
