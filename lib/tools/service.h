/* SPDX-License-Identifier: MIT */
/*
 * service.h - the tools and resources of ptycell, ready to be lent to an mcp_server.
 *
 * Nothing is written and nothing but the launcher is started before the first request that needs a
 * session; the launcher, too, only when a client has the list of tools.
 */
#ifndef TOOLS_SERVICE_H
#define TOOLS_SERVICE_H

#include "base/err.h"
#include "config/settings.h"
#include "event/loop.h"
#include "mcp/server.h"

struct wait_upload;
struct broker;
struct changed;
struct confinement;
struct admission;
struct history;
struct list;
struct notifications;
struct policyfile;
struct queries;
struct service;
struct table;

enum { SERVICE_CLOSE_MS = 800 }; /* hosts kill a server that takes longer than about 2 s */

/* `settings` and `policy` are borrowed; `policy` NULL: nothing is asked that needs one. */
struct service *service_new(struct loop *loop, const struct settings *settings,
			    const struct policyfile *policy);
/*
 * Ends every session and removes its folder. `closed` comes from the loop when nothing is left, or
 * when SERVICE_CLOSE_MS have passed: a helper then goes on removing by itself.
 */
void service_close(struct service *service, void (*closed)(void *data), void *data);
/* After service_close. NULL is allowed. */
void service_free(struct service *service);
/* What the server offers, resources aside; borrowed from the service. */
const struct mcp_features *service_features(const struct service *service);
/* The server that is told about changed resources; may be NULL. */
void service_attach(struct service *service, struct mcp_server *server);

/* A file of a session, new or changed or gone: whoever subscribed to it is told. */
void service_file_changed(struct service *service, const char *session_id, const char *path);
struct loop *service_loop(const struct service *service);
const struct settings *service_settings(const struct service *service);
const struct policyfile *service_policy(const struct service *service);
/* Made at the first call, perhaps not settled. NULL when tools can only answer why not. */
struct confinement *service_confinement(struct service *service);
/* Made at the first query. NULL: ptycell-sql is missing. */
struct queries *service_queries(struct service *service, struct err *err) MUST_CHECK;
/* Those of exec_sql that run, or have ended while no call waited for them. */
struct list *service_sql_calls(struct service *service);
/* Made at the first package, after service_table. NULL: its cache cannot be used. */
struct broker *service_broker(struct service *service, struct err *err) MUST_CHECK;
/* NULL while nothing was ever installed. */
const struct broker *service_broker_if_any(const struct service *service);
/* Made at the first file that comes from elsewhere. */
struct wait_upload *service_arrivals(struct service *service);
/* NULL while there was none. */
const struct wait_upload *service_arrivals_if_any(const struct service *service);
struct history *service_history(const struct service *service);
struct notifications *service_notices(const struct service *service);
const struct changed *service_changed(const struct service *service);
/* The one that is attached, or NULL. */
struct mcp_server *service_server(const struct service *service);
/* For the gate itself. */
struct admission *service_gate(const struct service *service);
/* Made at the first call. NULL: the home folder cannot be used, `err` says why and what to do. */
struct table *service_table(struct service *service, struct err *err) MUST_CHECK;
/* The same without making it: NULL while no session was ever asked for. */
struct table *service_table_if_any(struct service *service);

#endif
