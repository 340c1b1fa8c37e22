/* SPDX-License-Identifier: MIT */
/*
 * notifications.h - notifies subscribers of changed resources, once for many changes.
 *
 * A change waits NOTIFICATIONS_MS for further ones; then each URI is sent once. Only URIs with a
 * subscription are remembered, so the subscriptions bound the number of waiting changes.
 */
#ifndef TOOLS_NOTIFICATIONS_H
#define TOOLS_NOTIFICATIONS_H

#include <stdbool.h>

struct loop;
struct mcp_server;
struct notifications;

enum { NOTIFICATIONS_MS = 50 };

/* Makes an empty set, attached to no server. */
struct notifications *notifications_new(struct loop *loop);
/* Frees it. `notifications` may be NULL. */
void notifications_free(struct notifications *notifications);
/* Sets the server and drops the waiting changes. With NULL no notification is sent. */
void notifications_attach(struct notifications *notifications, struct mcp_server *server);

/* Notes that the list of resources has changed. The notification needs no subscription. */
void notifications_list_changed(struct notifications *notifications);
/* Notes that the resource has changed. Without a subscription to this URI it does nothing. */
void notifications_changed(struct notifications *notifications, const char *uri);
/* Returns whether a client has subscribed to any URI. Few do, and each cell changes several. */
bool notifications_any_watched(const struct notifications *notifications);
/* Notes a change of session://{id} and `below`, which is "" or begins with a slash. */
void notifications_session_changed(struct notifications *notifications, const char *id,
				   const char *below);
/* Notes a change of session://{id} and of every watched resource below it. */
void notifications_session_ended(struct notifications *notifications, const char *id);
/* Returns whether a client has subscribed to a URI that begins with session://{id} and `below`. */
bool notifications_watched_below(const struct notifications *notifications, const char *id,
				 const char *below);

#endif
