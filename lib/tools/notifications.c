/* SPDX-License-Identifier: MIT */
/*
 * notifications.c - a set of changed URIs and a timer, which sends each of them once.
 *
 * The set is taken before the first is sent, so that a change which comes meanwhile is sent by the
 * next timer.
 */
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
	struct notifications *notifications = xcalloc(1, sizeof(*notifications));

	notifications->loop = loop;
	notifications->uris = json_object();
	return notifications;
}

void notifications_free(struct notifications *notifications)
{
	if (notifications == NULL)
		return;
	loop_timer_stop(&notifications->timer);
	json_decref(notifications->uris);
	free(notifications);
}

void notifications_attach(struct notifications *notifications, struct mcp_server *server)
{
	notifications->server = server;
	loop_timer_stop(&notifications->timer);
	notifications->list = false;
	(void)json_object_clear(notifications->uris);
}

static void on_timer(struct loop_timer *timer)
{
	struct notifications *notifications = container_of(timer, struct notifications, timer);
	cleanup_json json_t *uris = notifications->uris;
	const char *uri;
	json_t *value;

	notifications->uris = json_object();
	if (notifications->list)
		mcp_server_resources_changed(notifications->server);
	notifications->list = false;
	json_object_foreach (uris, uri, value) {
		mcp_server_resource_updated(notifications->server, uri);
	}
}

static void wait_for_more(struct notifications *notifications)
{
	if (!loop_timer_active(&notifications->timer))
		loop_timer_start(notifications->loop, &notifications->timer,
				 loop_now(notifications->loop) + NOTIFICATIONS_MS, on_timer);
}

void notifications_list_changed(struct notifications *notifications)
{
	if (notifications->server == NULL)
		return;
	notifications->list = true;
	wait_for_more(notifications);
}

void notifications_changed(struct notifications *notifications, const char *uri)
{
	if (notifications->server == NULL ||
	    !mcp_server_resource_watched(notifications->server, uri))
		return;
	json_put(notifications->uris, uri, json_true());
	wait_for_more(notifications);
}

static void note_any(void *data, const char *uri)
{
	bool *any = data;

	(void)uri;
	*any = true;
}

bool notifications_any_watched(const struct notifications *notifications)
{
	bool any = false;

	if (notifications->server != NULL)
		mcp_server_each_watched(notifications->server, note_any, &any);
	return any;
}

void notifications_session_changed(struct notifications *notifications, const char *id,
				   const char *below)
{
	cleanup_free char *uri = xasprintf("session://%s%s", id, below);

	notifications_changed(notifications, uri);
}

/* A visit of the watched URIs that begin with `start`. */
struct below {
	struct notifications *notifications; /* NULL: only `any` is set */
	const char *start;
	bool any;
};

static void visit_uri(void *data, const char *uri)
{
	struct below *below = data;
	size_t len = strlen(below->start);

	if (strncmp(uri, below->start, len) != 0)
		return;
	if (below->notifications == NULL)
		below->any = true;
	else if (uri[len] == '\0' || uri[len] == '/')
		notifications_changed(below->notifications, uri);
}

void notifications_session_ended(struct notifications *notifications, const char *id)
{
	cleanup_free char *start = xasprintf("session://%s", id);
	struct below below = { .notifications = notifications, .start = start };

	if (notifications->server != NULL)
		mcp_server_each_watched(notifications->server, visit_uri, &below);
}

bool notifications_watched_below(const struct notifications *notifications, const char *id,
				 const char *below)
{
	cleanup_free char *start = xasprintf("session://%s%s", id, below);
	struct below found = { .start = start };

	if (notifications->server != NULL)
		mcp_server_each_watched(notifications->server, visit_uri, &found);
	return found.any;
}
