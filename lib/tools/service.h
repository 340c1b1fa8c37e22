/* SPDX-License-Identifier: MIT */
/*
 * service.h - the context of every tool and resource: settings, sessions and what they share.
 *
 * Tools read the fields; exec_sql also changes its list of calls. A part that costs something is
 * NULL until the function of its name makes it. Nothing but the socket for commands (console/) is
 * written and no process but the launcher is started before the first request that needs a session.
 * The launcher is started when a client has the list of tools.
 */
#ifndef TOOLS_SERVICE_H
#define TOOLS_SERVICE_H

#include "base/err.h"
#include "base/list.h"
#include "config/settings.h"
#include "event/loop.h"
#include "mcp/server.h"
#include "runner/host.h"
#include "tools/changed.h"

struct admission;
struct broker;
struct catalog;
struct cell;
struct exec_result;
struct history;
struct language;
struct notifications;
struct policyfile;
struct queries;
struct retirement;
struct session;
struct table;
struct wait_import;

/* Sees what happens in a server, from the loop. Each function may be NULL. */
struct service_observer {
	/*
	 * The home folder may be used from now on: the client has the list of tools, or a session
	 * is about to be made. May be called again.
	 */
	void (*ready)(void *data);
	/* As the callbacks of the same names in runner/host.h. */
	void (*began)(void *data, struct session *session, const struct cell *cell);
	void (*wrote)(void *data, struct session *session, const struct language *language,
		      const char *bytes, size_t len);
	void (*over)(void *data, const struct exec_result *result);
	void (*state_changed)(void *data, const struct session *session);
	void (*ends)(void *data, const struct session *session);
	/* A call waits until this time for this session, which another server has. */
	void (*wanted)(void *data, const char *id, uint64_t until_ms);
	void (*sessions_changed)(void *data); /* after a session was made or has ended */
	void *data;
};

enum { SERVICE_CLOSE_MS = 800 }; /* hosts kill a server that takes longer than about 2 s */

struct service {
	struct loop *loop;
	const struct settings *settings;
	const struct policyfile *policy; /* NULL: no request needs a policy, as in tests */
	struct history *history;
	struct notifications *notifications;
	struct changed changed;
	struct admission *admission;
	struct table *table;          /* NULL: no session was asked for yet, or the server ends */
	struct broker *broker;        /* NULL: nothing was installed yet */
	struct wait_import *imports;  /* NULL: no file came from elsewhere yet */
	struct queries *queries;      /* NULL: no query ran yet */
	struct list cell_installs;    /* of cell_install.c: cells that wait for packages */
	struct list program_installs; /* of program_install.c: programs that wait for packages */
	struct list stored;           /* the uploads of all sessions */
	struct list sql_calls;        /* of exec_sql: running, or ended while no call waited */

	/* The rest is for the modules of the life cycle. */
	struct mcp_features features;
	struct catalog *catalog;
	struct session_host host; /* .home is NULL until the first session */
	struct retirement *retirement;
	const struct service_observer *observer; /* NULL: none */
	uint64_t (*written)(void *data);         /* NULL: answers count as read */
	void *written_data;
	struct loop_defer start_launcher;
	struct loop_timer close_timer;
	struct loop_defer close_defer;
	void (*closed)(void *data);
	void *closed_data;
};

/* Makes a service that borrows `settings` and `policy`, which may be NULL. */
struct service *service_new(struct loop *loop, const struct settings *settings,
			    const struct policyfile *policy);
/*
 * Ends every session and removes its folder. Sessions save their variables (TABLE_SAVE_MS at most),
 * then idle interpreters end by themselves (TABLE_QUIT_MS at most). `closed` is called from the
 * loop when nothing is left, or SERVICE_CLOSE_MS later: a helper process then continues removing by
 * itself.
 */
void service_close(struct service *service, void (*closed)(void *data), void *data);
/* Frees a closed service. `service` may be NULL. */
void service_free(struct service *service);
/* Returns everything that the server offers but resources; borrowed from the service. */
const struct mcp_features *service_features(const struct service *service);
/* Returns whether any session is live, or still ends. */
bool service_has_sessions(const struct service *service);
/* Sets the observer, which is borrowed. It may be NULL. */
void service_observe(struct service *service, const struct service_observer *observer);
/*
 * Notes that the server outlives its client: `written` returns how many bytes were written for the
 * client. Must be called before the first session is made.
 */
void service_outlives_client(struct service *service, uint64_t (*written)(void *data), void *data);
/* Notes that the client has gone and has no calls left; it has read `read` bytes for certain. */
void service_client_gone(struct service *service, uint64_t read);
/* Sets the server that is notified of changed resources. `server` may be NULL. */
void service_attach(struct service *service, struct mcp_server *server);

/* The functions below return parts of the service, which owns them. */

/*
 * Returns the confinement, which is made at the first call and may not be settled yet. Returns NULL
 * when tools can only answer why there is none.
 */
struct confinement *service_confinement(struct service *service);
/* Returns the queries. Returns NULL and sets *err when ptycell-sql is missing. */
struct queries *service_queries(struct service *service, struct err *err) MUST_CHECK;
/*
 * Returns the broker of packages; a table must have been made before. Returns NULL and sets *err
 * when the cache of packages cannot be used.
 */
struct broker *service_broker(struct service *service, struct err *err) MUST_CHECK;
/* Returns the files that are on their way into sessions. */
struct wait_import *service_imports(struct service *service);
/*
 * Opens the home folder and makes the pool, which is all that an interpreter needs. Returns -1 and
 * sets *err as service_table does.
 */
int service_open_home(struct service *service, struct err *err) MUST_CHECK;
/*
 * Returns the sessions. Returns NULL and sets *err to the reason and the remedy when the home
 * folder cannot be used.
 */
struct table *service_table(struct service *service, struct err *err) MUST_CHECK;

#endif
