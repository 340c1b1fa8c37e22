/* SPDX-License-Identifier: MIT */
/*
 * request.c - reads the request and finds the user's proxy for a host. A proxy setting that cannot
 * be parsed is not an error yet: it becomes one when a host needs that proxy. Connecting directly
 * instead would send traffic around a proxy that the user's network requires.
 */
#include "request.h"

#include <stdlib.h>

#include "base/mem.h"
#include "helper/program.h"
#include "json/get.h"
#include "json/make.h"

enum { REQUEST_MAX = 1 << 20 };

static int take_proxy(const json_t *json, const char *key, struct request_proxy *ret_proxy,
		      struct err *err)
{
	const char *url = NULL;
	struct err unusable;

	if (json_get_text(json, "request", key, &url, NULL, err) < 0)
		return -1;
	if (url != NULL && url[0] != '\0')
		ret_proxy->unusable = upstream_parse(url, &ret_proxy->at, &unusable) < 0;
	return 0;
}

static int take_members(const json_t *json, struct request *request, struct err *err)
{
	const char *hosts = "";
	const char *no_proxy = "";
	json_int_t bytes_max = 0;

	if (json_get_required(json, "request", "hosts", err) < 0 ||
	    json_get_text(json, "request", "hosts", &hosts, NULL, err) < 0 ||
	    json_get_bool(json, "request", "allow_private", &request->allow_private, err) < 0 ||
	    json_get_required(json, "request", "bytes_max", err) < 0 ||
	    json_get_int(json, "request", "bytes_max", &bytes_max, err) < 0 ||
	    take_proxy(json, "https_proxy", &request->https, err) < 0 ||
	    take_proxy(json, "http_proxy", &request->http, err) < 0 ||
	    json_get_text(json, "request", "no_proxy", &no_proxy, NULL, err) < 0)
		return -1;
	if (bytes_max < 0)
		return err_set(err, ERR_INVALID, "request.bytes_max is negative");
	request->bytes_max = (uint64_t)bytes_max;
	request->no_proxy = xstrdup(no_proxy);
	request->hosts = host_list_parse(hosts, err);
	return request->hosts != NULL ? 0 : err_wrap(err, "request.hosts");
}

int request_take(struct request *ret_request, struct err *err)
{
	cleanup_json json_t *json = program_read_request(REQUEST_MAX, err);

	*ret_request = (struct request){ .hosts = NULL };
	if (json == NULL)
		return -1;
	if (take_members(json, ret_request, err) < 0) {
		request_release(ret_request);
		return -1;
	}
	return 0;
}

void request_release(struct request *request)
{
	host_list_free(request->hosts);
	free(request->no_proxy);
	explicit_bzero(request, sizeof(*request));
}

int request_find_upstream(const struct request *request, const char *host, bool tunnel,
			  const struct upstream **ret_upstream, struct err *err)
{
	const struct request_proxy *proxy = tunnel ? &request->https : &request->http;

	*ret_upstream = NULL;
	if (upstream_excepted(request->no_proxy, host))
		return 0;
	if (proxy->unusable)
		return err_set(err, ERR_UNSUPPORTED,
			       "the proxy that this machine's environment names cannot be used: it "
			       "must be http://HOST:PORT");
	if (proxy->at.host[0] != '\0')
		*ret_upstream = &proxy->at;
	return 0;
}
