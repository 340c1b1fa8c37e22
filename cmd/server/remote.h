/* SPDX-License-Identifier: MIT */
/*
 * remote.h - the user's running servers, and the sessions that can be resumed, as commands see
 * them. Servers are found by their sockets in PTYCELL_HOME (control/sockets.h), other sessions by
 * their folders (workspace/lasting.h).
 */
#ifndef SERVER_REMOTE_H
#define SERVER_REMOTE_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct client;

enum { REMOTE_ANSWER_MS = 2000 /* a server that is busy with a large answer replies within it */ };

struct remote_server {
	pid_t pid;
	char *socket;   /* its name in the folder */
	json_t *facts;  /* its reply to `ps`; NULL: it does not answer */
	struct err err; /* why it does not */
};

struct remote {
	int home_fd;   /* -1: there is no such folder */
	int folder_fd; /* of the sockets; -1: there is none */
	struct remote_server *servers;
	size_t count;
	json_t *ended; /* made by remote_ended; or NULL */
};

/* Finds the servers whose home is `home` and asks each. Returns -1 and sets *err. */
int remote_open(struct remote *remote, const char *home, struct err *err) MUST_CHECK;
void remote_close(struct remote *remote);
#define cleanup_remote __attribute__((cleanup(remote_close)))

/*
 * Returns the sessions without a server that can be resumed, the last used first, as an array of
 * {session_id, state, used_seconds, why, kept (unless there is none), place}. Borrowed.
 */
const json_t *remote_ended(struct remote *remote);

/* A session that a command names. */
struct remote_session {
	const struct remote_server *server; /* NULL: it has none, and can be resumed */
	const json_t *row;                  /* of `ps` or of remote_ended() */
};
/*
 * Finds a session; `pid` chooses the server, 0 any. Returns -1 and sets *err: ERR_NOT_FOUND names
 * those that there are, ERR_INVALID if several servers have it.
 */
int remote_find(struct remote *remote, const char *id, pid_t pid, struct remote_session *ret,
		struct err *err) MUST_CHECK;
/* Returns whether a row of sessions has the id, as that of several sessions or as its own. */
bool remote_has_id(const json_t *row, const char *id);
/*
 * Waits until the server has the session no more and its folder has left the server's, for
 * REMOTE_ANSWER_MS at most: then others find it.
 */
void remote_await_end(const struct remote *remote, const struct remote_session *session);
/* Waits until the server has left its sessions to others, for REMOTE_ANSWER_MS at most. */
void remote_await_server_end(const struct remote *remote, const struct remote_server *server);
/* Sends a request to a server. As client_open. */
int remote_ask(const struct remote *remote, const struct remote_server *server, json_t *request,
	       struct client *ret, struct err *err) MUST_CHECK;
/* Sends a request and returns the reply, a new reference. Returns NULL and sets *err. */
json_t *remote_call(const struct remote *remote, const struct remote_server *server,
		    json_t *request, struct err *err) MUST_CHECK;
/* Prints the error. Returns the exit code of a command that failed, 1. */
int remote_complain(const struct err *err);
/* Opens the session's journal folder. Returns -1 and sets *err. */
int remote_open_journal(const struct remote *remote, const struct remote_session *session,
			struct err *err) MUST_CHECK;

#endif
