/* SPDX-License-Identifier: MIT */
/*
 * proxy.c - starts ptycell-proxy on the first connection and keeps its last report. Once the
 * program has the listener, ours is closed: when the program ends, the kernel refuses further
 * connections at once instead of letting them wait. A report replaces the rows only if every row of
 * it is valid.
 */
#include "proxy/proxy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/get.h"
#include "json/make.h"
#include "net/upstream.h"

struct proxy {
	struct loop *loop;
	char *path;      /* of ptycell-proxy */
	json_t *request; /* until the program has it */
	int listener;    /* until the program has it */
	struct loop_io first_connection;
	struct helper *helper;
	char *problem;
	struct proxy_row rows[PROXY_ROWS_MAX];
	size_t count;
};

/* ---- the request ---- */

static json_t *make_request(const struct proxy_spec *spec)
{
	struct upstream_variables upstream;
	json_t *request = json_object();

	upstream_find(spec->environment, &upstream);
	json_put_str(request, "hosts", spec->hosts);
	json_put_bool(request, "allow_private", spec->allow_private);
	json_put_int(request, "bytes_max", (json_int_t)spec->bytes_max);
	json_put_str(request, "https_proxy", upstream.https_proxy);
	json_put_str(request, "http_proxy", upstream.http_proxy);
	json_put_str(request, "no_proxy", upstream.no_proxy);
	return request;
}

/* ---- reports ---- */

static int take_number(const json_t *row, const char *key, uint64_t *ret, struct err *err)
{
	json_int_t value = 0;

	if (json_get_int(row, "row", key, &value, err) < 0)
		return -1;
	if (value < 0)
		return err_set(err, ERR_INVALID, "row.%s is negative", key);
	*ret = (uint64_t)value;
	return 0;
}

static int take_name(const json_t *row, struct proxy_row *ret_row, struct err *err)
{
	const char *host = "";
	const char *last = "";
	uint64_t port = 0;

	if (json_get_text(row, "row", "host", &host, NULL, err) < 0 ||
	    json_get_text(row, "row", "last", &last, NULL, err) < 0 ||
	    take_number(row, "port", &port, err) < 0)
		return -1;
	if (host[0] != '\0' && host_canonicalise(host, strlen(host), ret_row->host, err) < 0)
		return -1;
	ret_row->last = verdict_find(last);
	if (port > UINT16_MAX || ret_row->last == VERDICTS)
		return err_set(err, ERR_INVALID, "a row of the report is none");
	ret_row->port = (uint16_t)port;
	return 0;
}

static int take_row(const json_t *row, struct proxy_row *ret_row, struct err *err)
{
	if (!json_is_object(row))
		return err_set(err, ERR_INVALID, "a row of the report is none");
	if (take_name(row, ret_row, err) < 0 ||
	    take_number(row, "allowed", &ret_row->allowed, err) < 0 ||
	    take_number(row, "refused", &ret_row->refused, err) < 0 ||
	    take_number(row, "failed", &ret_row->failed, err) < 0 ||
	    take_number(row, "sent", &ret_row->sent, err) < 0 ||
	    take_number(row, "received", &ret_row->received, err) < 0)
		return -1;
	return 0;
}

static int take_report(const json_t *report, struct proxy *proxy, struct err *err)
{
	struct proxy_row rows[PROXY_ROWS_MAX] = { { .port = 0 } };
	json_t *list = NULL;
	size_t index;
	json_t *row;

	if (json_get_array(report, "report", "hosts", &list, err) < 0)
		return -1;
	if (json_array_size(list) > PROXY_ROWS_MAX)
		return err_set(err, ERR_INVALID, "the report has too many rows");
	json_array_foreach (list, index, row)
		if (take_row(row, &rows[index], err) < 0)
			return -1;
	memcpy(proxy->rows, rows, sizeof(rows));
	proxy->count = json_array_size(list);
	return 0;
}

/* ---- the program ---- */

static void set_problem(struct proxy *proxy, const struct err *err)
{
	free(proxy->problem);
	proxy->problem = xstrdup(err->msg);
	log_warn("proxy", "a session is without network: %s", err->msg);
}

static void on_proxy_progress(struct helper *helper, const json_t *progress)
{
	struct proxy *proxy = helper_data(helper);
	struct err err;

	if (take_report(progress, proxy, &err) < 0)
		log_warn("proxy", "a report is not usable: %s", err.msg);
}

static void on_proxy_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct proxy *proxy = helper_data(helper);
	struct err ended;

	(void)result; /* it ends by itself only when it fails */
	(void)err_set(&ended, ERR_INTERNAL, "ptycell-proxy ended");
	set_problem(proxy, err != NULL ? err : &ended);
	proxy->helper = NULL;
	helper_free(helper);
}

static const struct helper_handlers handlers = { .progress = on_proxy_progress,
						 .done = on_proxy_done };

static int start_program(struct proxy *proxy, struct err *err)
{
	struct helper_spec spec = { .path = proxy->path,
				    .request = proxy->request,
				    .fds = &proxy->listener,
				    .fd_count = 1 };

	proxy->helper = helper_start(proxy->loop, &spec, &handlers, proxy, err);
	return proxy->helper != NULL ? 0 : -1;
}

/*
 * Closes our listener. The program's copy is then the only one, so connections are refused when it
 * ends.
 */
static void give_away(struct proxy *proxy)
{
	loop_io_stop(&proxy->first_connection);
	fd_close(&proxy->listener);
	json_decref(proxy->request);
	proxy->request = NULL;
}

static void on_first_connection(struct loop_io *io, uint32_t events)
{
	struct proxy *proxy = container_of(io, struct proxy, first_connection);
	struct err err;

	(void)events;
	if (start_program(proxy, &err) < 0)
		set_problem(proxy, &err);
	give_away(proxy);
}

/* ---- the object ---- */

struct proxy *proxy_new(struct loop *loop, const struct proxy_spec *spec, int listener_own)
{
	struct proxy *proxy = xcalloc(1, sizeof(*proxy));
	struct err err;

	proxy->loop = loop;
	proxy->path = xstrdup(spec->helper);
	proxy->listener = listener_own;
	proxy->request = make_request(spec);
	if (loop_io_start(loop, &proxy->first_connection, listener_own, EPOLLIN,
			  on_first_connection, &err) < 0) {
		set_problem(proxy, &err);
		give_away(proxy);
	}
	return proxy;
}

void proxy_free(struct proxy *proxy)
{
	if (proxy == NULL)
		return;
	give_away(proxy);
	helper_free(proxy->helper);
	free(proxy->problem);
	free(proxy->path);
	free(proxy);
}

const struct proxy_row *proxy_row(const struct proxy *proxy, size_t index)
{
	return index < proxy->count ? &proxy->rows[index] : NULL;
}

const char *proxy_problem(const struct proxy *proxy)
{
	return proxy->problem;
}
