/* SPDX-License-Identifier: MIT */
/*
 * network_options.c - adds the proxies and authorities of the environment (net/upstream.h) and a
 * stall limit to a request. The stall limit ends transfers whose server keeps the connection open
 * without sending.
 */
#include "transfer/network_options.h"

#include "json/make.h"
#include "net/upstream.h"

json_t *network_options_put(const char *operation, uint64_t deadline_ms, char *const *environment)
{
	struct upstream_variables upstream;
	json_t *request = json_object();

	upstream_find(environment, &upstream);
	json_put_str(request, "do", operation);
	json_put_int(request, "deadline_ms", (json_int_t)deadline_ms);
	json_put_int(request, "stall_ms", NETWORK_OPTIONS_STALL_MS);
	json_put_str(request, "https_proxy", upstream.https_proxy);
	json_put_str(request, "http_proxy", upstream.http_proxy);
	json_put_str(request, "no_proxy", upstream.no_proxy);
	json_put_str(request, "ca_file", upstream.authorities);
	return request;
}
