/* SPDX-License-Identifier: MIT */
#include "tools/notifications.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "event/loop.h"
#include "json/make.h"
#include "mcp/server.h"

struct notifications {
	struct loop *loop;
	struct mcp_server *server;
	struct loop_timer timer;
	bool list;
	json_t *uris; /* an object used as a set */
};

struct notifications *notifications_new(struct loop *loop)
{
	struct notifications *notices = xcalloc(1, sizeof(*notices));

	notices->loop = loop;
	notices->uris = json_object();
	return notices;
}

void notifications_free(struct notifications *notices)
{
	if (notices == NULL)
		return;
	loop_timer_stop(&notices->timer);
	json_decref(notices->uris);
	free(notices);
}

void notifications_attach(struct notifications *notices, struct mcp_server *server)
{
	notices->server = server;
	loop_timer_stop(&notices->timer);
	notices->list = false;
	(void)json_object_clear(notices->uris);
}

static void on_timer(struct loop_timer *timer)
{
	struct notifications *notices = container_of(timer, struct notifications, timer);
	cleanup_json json_t *uris = notices->uris;
	const char *uri;
	json_t *value;

	notices->uris = json_object();
	if (notices->list)
		mcp_server_resources_changed(notices->server);
	notices->list = false;
	json_object_foreach (uris, uri, value) {
		mcp_server_resource_updated(notices->server, uri);
	}
}

static void wait_for_more(struct notifications *notices)
{
	if (!loop_timer_active(&notices->timer))
		loop_timer_start(notices->loop, &notices->timer,
				 loop_now(notices->loop) + NOTIFICATIONS_MS, on_timer);
}

void notifications_list_changed(struct notifications *notices)
{
	if (notices->server == NULL)
		return;
	notices->list = true;
	wait_for_more(notices);
}

void notifications_changed(struct notifications *notices, const char *uri)
{
	if (notices->server == NULL || !mcp_server_resource_watched(notices->server, uri))
		return;
	json_put(notices->uris, uri, json_true());
	wait_for_more(notices);
}

void notifications_session_changed(struct notifications *notices, const char *id, const char *below)
{
	cleanup_free char *uri = xasprintf("session://%s%s", id, below);

	notifications_changed(notices, uri);
}

/* Those that begin with `start`. */
struct below {
	struct notifications *notices; /* NULL: they are only looked for */
	const char *start;
	bool any;
};

static void look_at(void *data, const char *uri)
{
	struct below *below = data;
	size_t len = strlen(below->start);

	if (strncmp(uri, below->start, len) != 0)
		return;
	if (below->notices == NULL)
		below->any = true;
	else if (uri[len] == '\0' || uri[len] == '/')
		notifications_changed(below->notices, uri);
}

void notifications_session_ended(struct notifications *notices, const char *id)
{
	cleanup_free char *start = xasprintf("session://%s", id);
	struct below below = { .notices = notices, .start = start };

	if (notices->server != NULL)
		mcp_server_each_watched(notices->server, look_at, &below);
}

bool notifications_watched_below(const struct notifications *notices, const char *id,
				 const char *below)
{
	cleanup_free char *start = xasprintf("session://%s%s", id, below);
	struct below found = { .start = start };

	if (notices->server != NULL)
		mcp_server_each_watched(notices->server, look_at, &found);
	return found.any;
}
