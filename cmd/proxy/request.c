/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <stdlib.h>

#include "base/mem.h"
#include "helper/program.h"
#include "json/get.h"
#include "json/make.h"

enum { ORDER_MAX = 1 << 20 };

static int take_proxy(const json_t *json, const char *key, struct request_proxy *ret_proxy,
		      struct err *err)
{
	const char *url = NULL;
	struct err unusable;

	if (json_get_text(json, "order", key, &url, NULL, err) < 0)
		return -1;
	if (url != NULL && url[0] != '\0')
		ret_proxy->unusable = upstream_parse(url, &ret_proxy->at, &unusable) < 0;
	return 0;
}

static int take(const json_t *json, struct request *order, struct err *err)
{
	const char *hosts = "";
	const char *no_proxy = "";
	json_int_t bytes_max = 0;

	if (json_get_required(json, "order", "hosts", err) < 0 ||
	    json_get_text(json, "order", "hosts", &hosts, NULL, err) < 0 ||
	    json_get_bool(json, "order", "allow_private", &order->allow_private, err) < 0 ||
	    json_get_required(json, "order", "bytes_max", err) < 0 ||
	    json_get_int(json, "order", "bytes_max", &bytes_max, err) < 0 ||
	    take_proxy(json, "https_proxy", &order->https, err) < 0 ||
	    take_proxy(json, "http_proxy", &order->http, err) < 0 ||
	    json_get_text(json, "order", "no_proxy", &no_proxy, NULL, err) < 0)
		return -1;
	if (bytes_max < 0)
		return err_set(err, ERR_INVALID, "order.bytes_max is negative");
	order->bytes_max = (uint64_t)bytes_max;
	order->no_proxy = xstrdup(no_proxy);
	order->hosts = host_list_parse(hosts, err);
	return order->hosts != NULL ? 0 : err_wrap(err, "order.hosts");
}

int request_take(struct request *ret_order, struct err *err)
{
	cleanup_json json_t *json = request_read(ORDER_MAX, err);

	*ret_order = (struct request){ .hosts = NULL };
	if (json == NULL)
		return -1;
	if (take(json, ret_order, err) < 0) {
		request_release(ret_order);
		return -1;
	}
	return 0;
}

void request_release(struct request *order)
{
	host_list_free(order->hosts);
	free(order->no_proxy);
	explicit_bzero(order, sizeof(*order));
}

int request_find_upstream(const struct request *order, const char *host, bool tunnel,
			  const struct upstream **ret_upstream, struct err *err)
{
	const struct request_proxy *proxy = tunnel ? &order->https : &order->http;

	*ret_upstream = NULL;
	if (upstream_excepted(order->no_proxy, host))
		return 0;
	if (proxy->unusable)
		return err_set(err, ERR_UNSUPPORTED,
			       "the proxy that this machine's environment names cannot be used: it "
			       "must be http://HOST:PORT");
	if (proxy->at.host[0] != '\0')
		*ret_upstream = &proxy->at;
	return 0;
}
