/* SPDX-License-Identifier: MIT */
/*
 * notices.h - telling subscribers what changed, once for many changes.
 *
 * A change waits NOTICES_MS for more of them; each uri is then told once. Only uris that somebody
 * subscribed to are remembered, so that what waits is bounded by the subscriptions.
 */
#ifndef TOOLS_NOTICES_H
#define TOOLS_NOTICES_H

#include <stdbool.h>

struct loop;
struct mcp_server;
struct notices;

enum { NOTICES_MS = 50 };

struct notices *notices_new(struct loop *loop);
void notices_free(struct notices *notices);
/* Who is told; NULL: nobody, and what waits is dropped. */
void notices_attach(struct notices *notices, struct mcp_server *server);

/* The list of resources is another. */
void notices_list_changed(struct notices *notices);
void notices_changed(struct notices *notices, const char *uri);
/* session://{id} and everything below it that is said of the session itself: /notebook ... */
void notices_session_changed(struct notices *notices, const char *id, const char *below);
/* session://{id} and everything below it. */
void notices_session_ended(struct notices *notices, const char *id);
/* Somebody subscribed to a uri that begins with session://{id} and `below`. */
bool notices_watched_below(const struct notices *notices, const char *id, const char *below);

#endif
