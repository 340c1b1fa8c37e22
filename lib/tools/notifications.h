/* SPDX-License-Identifier: MIT */
/*
 * notices.h - telling subscribers what changed, once for many changes.
 *
 * A change waits NOTIFICATIONS_MS for more of them; each uri is then told once. Only uris that
 * somebody subscribed to are remembered, so that what waits is bounded by the subscriptions.
 */
#ifndef TOOLS_NOTIFICATIONS_H
#define TOOLS_NOTIFICATIONS_H

#include <stdbool.h>

struct loop;
struct mcp_server;
struct notifications;

enum { NOTIFICATIONS_MS = 50 };

struct notifications *notifications_new(struct loop *loop);
void notifications_free(struct notifications *notices);
/* Who is told; NULL: nobody, and what waits is dropped. */
void notifications_attach(struct notifications *notices, struct mcp_server *server);

/* The list of resources is another. */
void notifications_list_changed(struct notifications *notices);
void notifications_changed(struct notifications *notices, const char *uri);
/* session://{id} and everything below it that is said of the session itself: /notebook ... */
void notifications_session_changed(struct notifications *notices, const char *id,
				   const char *below);
/* session://{id} and everything below it. */
void notifications_session_ended(struct notifications *notices, const char *id);
/* Somebody subscribed to a uri that begins with session://{id} and `below`. */
bool notifications_watched_below(const struct notifications *notices, const char *id,
				 const char *below);

#endif
