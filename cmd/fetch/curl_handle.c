/* SPDX-License-Identifier: MIT */
/*
 * curl_handle.c - sets libcurl's options and judges addresses.
 *
 * libcurl calls the socket callback with each address that it is about to connect to. Judging there
 * leaves a name server no chance to answer differently in between. Options that limit a transfer
 * may fail in old versions of libcurl; options that keep something out must not (set_rules).
 */
#include "curl_handle.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "net/address.h"
#include "net/host.h"
#include "net/upstream.h"
#include "text/sanitize.h"

enum {
	CONNECT_MS = 30000,
	BUFFER_SIZE = 512 << 10, /* the maximum of libcurl */
	MESSAGE_MAX = 100,       /* characters of libcurl's message in ours */
};

static const char separators[] = ", \t";

char *curl_handle_part(CURLU *url, CURLUPart part, unsigned int flags)
{
	char *text = NULL;

	return curl_url_get(url, part, &text, flags) == CURLUE_OK ? text : NULL;
}

/* ---- proxies ---- */

static bool names_literally(const char *list, const char *host)
{
	for (;;) {
		size_t len;

		list += strspn(list, separators);
		if (*list == '\0')
			return false;
		len = strcspn(list, separators);
		if (len == strlen(host) && strncasecmp(list, host, len) == 0)
			return true;
		list += len;
	}
}

static bool excepted(const char *no_proxy, const char *host)
{
	char name[HOST_MAX + 1];
	struct err err;

	if (no_proxy == NULL)
		return false;
	if (host_canonicalise(host, strlen(host), name, &err) == 0)
		return upstream_excepted(no_proxy, name);
	return str_eq(no_proxy, "*") || names_literally(no_proxy, host);
}

static const char *find_proxy(const struct job *job, const char *scheme, const char *host)
{
	const char *proxy = strcasecmp(scheme, "https") == 0 ? job->https_proxy : job->http_proxy;

	return proxy != NULL && !excepted(job->no_proxy, host) ? proxy : NULL;
}

/* ---- the handle ---- */

static bool may_connect(struct curl_handle *handle, const struct sockaddr *address)
{
	const char *what;
	enum address_class class;

	if (handle->proxied || handle->reach == CURL_HANDLE_ANY)
		return true;
	class = address_classify(address, &what);
	if (address_allowed(address, handle->reach == CURL_HANDLE_PRIVATE))
		return true;
	/* Of several refused addresses, the one that a setting can allow is reported. */
	if (handle->refused == NULL || class == ADDRESS_PRIVATE)
		handle->refused = what;
	return false;
}

static curl_socket_t on_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct curl_handle *handle = data;

	if (purpose != CURLSOCKTYPE_IPCXN || !may_connect(handle, &address->addr))
		return CURL_SOCKET_BAD;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_limits(const struct curl_handle *handle)
{
	CURL *curl = handle->curl;
	long stall_s = (long)((handle->job->stall_ms + 999) / 1000);

	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)JOB_STALL_BYTES);
	(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, stall_s);
	(void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	(void)curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)BUFFER_SIZE);
	(void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	(void)curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

/* Sets the options whose failure would let something through. */
static int set_rules(struct curl_handle *handle, struct err *err)
{
	CURL *curl = handle->curl;
	const char *ca_file = handle->job->ca_file;

	if (curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, on_open) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, handle) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, handle->message) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_NOPROXY, "") != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_USERAGENT, "ptycell/" PTYCELL_VERSION) != CURLE_OK ||
	    (ca_file != NULL && curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file) != CURLE_OK))
		return err_set(err, ERR_INTERNAL, "libcurl does not take an option");
	return 0;
}

struct curl_handle *curl_handle_new(const struct job *job, enum curl_handle_reach reach,
				    struct err *err)
{
	struct curl_handle *handle = xcalloc(1, sizeof(*handle));

	handle->job = job;
	handle->reach = reach;
	handle->curl = curl_easy_init();
	if (handle->curl == NULL)
		(void)err_set(err, ERR_INTERNAL, "libcurl makes no handle");
	if (handle->curl == NULL || set_rules(handle, err) < 0) {
		curl_handle_free(handle);
		return NULL;
	}
	set_limits(handle);
	return handle;
}

void curl_handle_free(struct curl_handle *handle)
{
	if (handle == NULL)
		return;
	curl_easy_cleanup(handle->curl);
	free(handle);
}

static int set_aim(struct curl_handle *handle, const char *url, const char *proxy, struct err *err)
{
	uint64_t left = job_left_ms(handle->job);

	if (left == 0)
		return curl_handle_explain(handle, CURLE_OPERATION_TIMEDOUT, err);
	if (curl_easy_setopt(handle->curl, CURLOPT_URL, url) != CURLE_OK ||
	    curl_easy_setopt(handle->curl, CURLOPT_PROXY, proxy != NULL ? proxy : "") != CURLE_OK ||
	    curl_easy_setopt(handle->curl, CURLOPT_TIMEOUT_MS, (long)left) != CURLE_OK)
		return err_set(err, ERR_INTERNAL, "libcurl does not take an option");
	return 0;
}

int curl_handle_aim(struct curl_handle *handle, CURLU *url, struct err *err)
{
	char *text = curl_handle_part(url, CURLUPART_URL, 0);
	char *scheme = curl_handle_part(url, CURLUPART_SCHEME, 0);
	char *host = curl_handle_part(url, CURLUPART_HOST, 0);
	const char *proxy;
	int result = -1;

	handle->refused = NULL;
	handle->message[0] = '\0';
	if (text == NULL || scheme == NULL || host == NULL || strlen(host) > CURL_HANDLE_HOST_MAX) {
		(void)err_set(err, ERR_INVALID, "the URL names no host");
	} else {
		memcpy(handle->host, host, strlen(host) + 1);
		proxy = find_proxy(handle->job, scheme, host);
		handle->proxied = proxy != NULL;
		result = set_aim(handle, text, proxy, err);
	}
	curl_free(text);
	curl_free(scheme);
	curl_free(host);
	return result;
}

/* ---- failures ---- */

static int explain_connection(const struct curl_handle *handle, const char *host,
			      const char *message, struct err *err)
{
	if (handle->refused == NULL)
		return err_set(err, ERR_SYSTEM, "there is no connection to '%s': %s", host,
			       message);
	return err_set(err, ERR_DENIED, "the host '%s' leads to %s, which is not reached%s", host,
		       handle->refused,
		       handle->reach == CURL_HANDLE_WORLD
			       ? " (PTYCELL_ALLOW_PRIVATE_HOSTS=1 allows private ones)"
			       : "");
}

static int explain_time(const struct curl_handle *handle, const char *host, struct err *err)
{
	if (job_left_ms(handle->job) == 0)
		return err_set(err, ERR_TIMEOUT, "the time for it is over");
	if (strncmp(handle->message, "Operation too slow", strlen("Operation too slow")) == 0)
		return err_set(err, ERR_TIMEOUT, "'%s' sent nearly nothing for %ju s", host,
			       (uintmax_t)((handle->job->stall_ms + 999) / 1000));
	return err_set(err, ERR_TIMEOUT, "'%s' does not answer", host);
}

static int explain(const struct curl_handle *handle, CURLcode code, const char *host,
		   const char *message, struct err *err)
{
	switch ((int)code) {
	case CURLE_URL_MALFORMAT:
		return err_set(err, ERR_INVALID, "the host '%s' is not one", host);
	case CURLE_COULDNT_RESOLVE_HOST:
		return err_set(err, ERR_NOT_FOUND, "the host '%s' is not known", host);
	case CURLE_COULDNT_RESOLVE_PROXY:
		return err_set(err, ERR_NOT_FOUND,
			       "the proxy that this machine's environment names is not known");
	case CURLE_COULDNT_CONNECT:
		return explain_connection(handle, host, message, err);
	case CURLE_OPERATION_TIMEDOUT:
		return explain_time(handle, host, err);
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
		return err_set(err, ERR_DENIED, "there is no safe connection (TLS) to '%s': %s",
			       host, message);
	default:
		return err_set(err, ERR_SYSTEM, "the transfer with '%s' broke off: %s", host,
			       message);
	}
}

int curl_handle_explain(const struct curl_handle *handle, CURLcode code, struct err *err)
{
	cleanup_free char *host = sanitize_quote(handle->host);
	cleanup_buf struct buf message = BUF_INIT(BUF_UNBOUNDED);
	const char *text = handle->message[0] != '\0' ? handle->message : curl_easy_strerror(code);

	sanitize_line(&message, text, strlen(text), MESSAGE_MAX);
	return explain(handle, code, host, buf_str(&message), err);
}
