/* SPDX-License-Identifier: MIT */
/*
 * remote.c - all servers are asked before the first reply is read, so that one that does not answer
 * costs its time once. Folders are only read: a server that starts meanwhile may move them.
 */
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/client.h"
#include "control/sockets.h"
#include "json/make.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/lasting.h"
#include "workspace/rescue_record.h"

enum { NAMED_MAX = 5 /* sessions that an error names */ };

/* ---- servers ---- */

static json_t *request_new(const char *command)
{
	json_t *request = json_object();

	json_put_str(request, "command", command);
	return request;
}

int remote_ask(const struct remote *remote, const struct remote_server *server, json_t *request,
	       struct client *ret, struct err *err)
{
	return client_open(ret, remote->folder_fd, server->socket, request, err);
}

json_t *remote_call(const struct remote *remote, const struct remote_server *server,
		    json_t *request, struct err *err)
{
	cleanup_client struct client client;

	if (remote_ask(remote, server, request, &client, err) < 0)
		return NULL;
	return client_read(&client, clock_ms() + REMOTE_ANSWER_MS, err);
}

/* Asks a server, unless it has ended. */
static void ask_one(struct remote *remote, const char *name, struct client *client)
{
	cleanup_json json_t *request = request_new("ps");
	struct remote_server server = { .err = { .code = ERR_NONE } };

	if (client_open(client, remote->folder_fd, name, request, &server.err) < 0 &&
	    server.err.code == ERR_NOT_FOUND) {
		client_close(client);
		return;
	}
	server.pid = client->pid;
	server.socket = xstrdup(name);
	remote->servers[remote->count++] = server;
}

static int compare_servers(const void *a, const void *b)
{
	const struct remote_server *one = a;
	const struct remote_server *two = b;

	return (one->pid > two->pid) - (one->pid < two->pid);
}

static void ask_all(struct remote *remote)
{
	uint64_t deadline = clock_ms() + REMOTE_ANSWER_MS;
	size_t count;
	char **names = sockets_list(remote->folder_fd, &count);
	struct client *clients = xcalloc(count + 1, sizeof(*clients));

	remote->servers = xcalloc(count + 1, sizeof(*remote->servers));
	for (size_t i = 0; i < count; i++) {
		ask_one(remote, names[i], &clients[remote->count]);
		free(names[i]);
	}
	for (size_t i = 0; i < remote->count; i++) {
		struct remote_server *server = &remote->servers[i];

		if (server->err.code == ERR_NONE)
			server->facts = client_read(&clients[i], deadline, &server->err);
		client_close(&clients[i]);
	}
	qsort(remote->servers, remote->count, sizeof(*remote->servers), compare_servers);
	free(clients);
	free(names);
}

int remote_open(struct remote *remote, const char *home, struct err *err)
{
	struct stat st;

	*remote = (struct remote){ .folder_fd = -1 };
	remote->home_fd = open(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (remote->home_fd < 0 && errno == ENOENT)
		return 0;
	if (remote->home_fd < 0 || fstat(remote->home_fd, &st) < 0)
		return err_sys(err, "opening the folder for sessions '%s'", home);
	if (st.st_uid != geteuid())
		return err_set(err, ERR_DENIED,
			       "the folder for sessions '%s' belongs to another user (%u): only "
			       "that user sees what runs there",
			       home, (unsigned int)st.st_uid);
	remote->folder_fd = sockets_open(remote->home_fd, false, err);
	if (remote->folder_fd < 0)
		return err->code == ERR_NOT_FOUND ? 0 : -1;
	ask_all(remote);
	return 0;
}

void remote_close(struct remote *remote)
{
	for (size_t i = 0; i < remote->count; i++) {
		free(remote->servers[i].socket);
		json_decref(remote->servers[i].facts);
	}
	free(remote->servers);
	json_decref(remote->ended);
	fd_close(&remote->folder_fd);
	fd_close(&remote->home_fd);
	*remote = (struct remote){ .home_fd = -1, .folder_fd = -1 };
}

/* ---- sessions without a server ---- */

/* Adds the folder of the session's results, as a server's `ps` does, unless it is gone. */
static void put_kept(json_t *row, int journal_fd)
{
	cleanup_free char *path = rescue_record_path(journal_fd);

	if (path != NULL && access(path, F_OK) == 0)
		json_put_str(row, "kept", path);
}

struct ended_row {
	struct timespec used;
	json_t *row;
};

struct ended_rows {
	struct ended_row *rows;
	size_t count;
};

struct ended_search {
	struct ended_rows *found;
	const char *folder; /* relative to the home */
};

static const char *id_of(const json_t *row)
{
	return json_string_value(json_object_get(row, "session_id"));
}

static void put_own_id(json_t *row)
{
	const char *place = json_string_value(json_object_get(row, "place"));
	cleanup_free char *own = lasting_own_id(id_of(row), strrchr(place, '/') + 1);

	json_put_str(row, "own_id", own);
}

/* Gives each of several rows with the same id an id of its own. */
static void put_own_ids(json_t *rows)
{
	struct map *firsts = map_new();
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row) {
		json_t *first = map_get(firsts, id_of(row), strlen(id_of(row)));

		if (first == NULL) {
			(void)map_set(firsts, id_of(row), strlen(id_of(row)), row);
			continue;
		}
		put_own_id(first);
		put_own_id(row);
	}
	map_free(firsts);
}

static void note_ended(void *data, const struct lasting_session *session,
		       struct lasting_record *record)
{
	const struct ended_search *search = data;
	struct ended_rows *found = search->found;
	int64_t ago = (int64_t)time(NULL) - session->used.tv_sec;
	json_t *row;

	if (lasting_is_forgotten(session->journal_fd))
		return;
	row = json_object();
	json_put_str(row, "session_id", record->session_id);
	json_put_str(row, "state", "resumable");
	json_put_int(row, "used_seconds", ago > 0 ? ago : 0);
	json_put_str(row, "why", record->why != NULL ? record->why : "its server was killed");
	put_kept(row, session->journal_fd);
	json_put(row, "place", json_make_fmt("%s/%s", search->folder, session->name));
	found->rows = xrealloc(found->rows, (found->count + 1) * sizeof(*found->rows));
	found->rows[found->count++] = (struct ended_row){ .used = session->used, .row = row };
}

static void search_folder(const struct remote *remote, struct ended_rows *found, const char *folder)
{
	struct ended_search search = { .found = found, .folder = folder };

	(void)lasting_each(beneath_open(remote->home_fd, folder, O_RDONLY | O_DIRECTORY, 0),
			   note_ended, &search);
}

/* Returns whether no living server has the folder: then its lock can be shared for an instant. */
static bool is_dead(const struct remote *remote, const char *server)
{
	cleanup_free char *path = xasprintf("%s/lock", server);
	cleanup_fd int lock = beneath_open(remote->home_fd, path, O_RDONLY | O_NONBLOCK, 0);

	return lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) == 0;
}

static bool is_answering(const struct remote *remote, const char *server)
{
	for (size_t i = 0; i < remote->count; i++) {
		const char *name =
			json_string_value(json_object_get(remote->servers[i].facts, "server"));

		if (name != NULL && str_eq(name, server))
			return true;
	}
	return false;
}

struct server_search {
	const struct remote *remote;
	struct ended_rows *found;
};

static bool search_server(void *data, int home_fd, const char *server)
{
	const struct server_search *search = data;
	cleanup_free char *sessions = xasprintf("%s/" HOME_SESSIONS, server);

	(void)home_fd;
	if (!is_answering(search->remote, server) && is_dead(search->remote, server))
		search_folder(search->remote, search->found, sessions);
	return true;
}

/* Orders the last used first. */
static int compare_used(const void *a, const void *b)
{
	const struct ended_row *one = a;
	const struct ended_row *two = b;

	return lasting_compare_use(&two->used, &one->used);
}

const json_t *remote_ended(struct remote *remote)
{
	struct ended_rows found = { .count = 0 };
	struct server_search search = { .remote = remote, .found = &found };

	if (remote->ended != NULL)
		return remote->ended;
	remote->ended = json_array();
	if (remote->home_fd >= 0) {
		search_folder(remote, &found, LASTING_FOLDER);
		(void)home_each_server(remote->home_fd, search_server, &search);
	}
	if (found.count > 1)
		qsort(found.rows, found.count, sizeof(*found.rows), compare_used);
	for (size_t i = 0; i < found.count; i++)
		json_append(remote->ended, found.rows[i].row);
	free(found.rows);
	put_own_ids(remote->ended);
	return remote->ended;
}

/* ---- one session ---- */

bool remote_has_id(const json_t *row, const char *id)
{
	const char *name = json_string_value(json_object_get(row, "session_id"));
	const char *own = json_string_value(json_object_get(row, "own_id"));

	return (name != NULL && str_eq(name, id)) || (own != NULL && str_eq(own, id));
}

/* Returns the row of this id, NULL for none. Borrowed. */
static const json_t *find_row(const json_t *rows, const char *id)
{
	size_t index;
	json_t *row;

	json_array_foreach (rows, index, row)
		if (remote_has_id(row, id))
			return row;
	return NULL;
}

static void name_rows(struct buf *out, const json_t *rows, size_t *count)
{
	size_t index;
	json_t *row;

	json_array_foreach (rows, index, row) {
		const char *name = json_string_value(json_object_get(row, "session_id"));
		cleanup_free char *quoted = sanitize_quote(name != NULL ? name : "");

		if ((*count)++ < NAMED_MAX)
			buf_putf(out, "%s%s", out->len > 0 ? ", " : "", quoted);
	}
}

static int no_session(struct remote *remote, const char *id, struct err *err)
{
	cleanup_buf struct buf names = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *quoted = sanitize_quote(id);
	size_t count = 0;

	for (size_t i = 0; i < remote->count; i++) {
		const struct remote_server *server = &remote->servers[i];

		if (server->facts == NULL)
			return err_set(err, ERR_NOT_FOUND,
				       "no server that answers has a session '%s'; server %d does "
				       "not answer, and may have it",
				       quoted, (int)server->pid);
		name_rows(&names, json_object_get(server->facts, "sessions"), &count);
	}
	name_rows(&names, remote_ended(remote), &count);
	if (count == 0)
		return err_set(
			err, ERR_NOT_FOUND,
			"there is no session '%s', and no other. A host that sets PTYCELL_HOME "
			"has its sessions there: give that folder by --home",
			quoted);
	if (count > NAMED_MAX)
		buf_putf(&names, " and %zu more", count - NAMED_MAX);
	return err_set(err, ERR_NOT_FOUND, "there is no session '%s'; there are: %s", quoted,
		       buf_str(&names));
}

static bool is_there(const struct remote *remote, const char *path)
{
	return path != NULL && faccessat(remote->home_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool has_session(const struct remote *remote, const struct remote_session *session)
{
	cleanup_json json_t *request = request_new("ps");
	struct err gone;
	cleanup_json json_t *facts = remote_call(remote, session->server, request, &gone);

	return find_row(json_object_get(facts, "sessions"), id_of(session->row)) != NULL;
}

void remote_await_end(const struct remote *remote, const struct remote_session *session)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	const char *place = json_string_value(json_object_get(session->row, "place"));
	uint64_t deadline = clock_ms() + REMOTE_ANSWER_MS;

	while (clock_ms() < deadline && (has_session(remote, session) || is_there(remote, place)))
		(void)nanosleep(&pause, NULL);
}

void remote_await_server_end(const struct remote *remote, const struct remote_server *server)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	const char *name = json_string_value(json_object_get(server->facts, "server"));
	uint64_t deadline = clock_ms() + REMOTE_ANSWER_MS;

	while (clock_ms() < deadline && is_there(remote, name) && !is_dead(remote, name))
		(void)nanosleep(&pause, NULL);
}

int remote_find(struct remote *remote, const char *id, pid_t pid, struct remote_session *ret,
		struct err *err)
{
	*ret = (struct remote_session){ .server = NULL };
	for (size_t i = 0; i < remote->count; i++) {
		const struct remote_server *server = &remote->servers[i];
		const json_t *row = find_row(json_object_get(server->facts, "sessions"), id);

		if (row == NULL || (pid != 0 && pid != server->pid))
			continue;
		if (ret->server != NULL)
			return err_set(err, ERR_INVALID,
				       "servers %d and %d both have a session '%s': choose one by "
				       "--server PID",
				       (int)ret->server->pid, (int)server->pid, id);
		*ret = (struct remote_session){ .server = server, .row = row };
	}
	if (ret->server != NULL)
		return 0;
	if (pid != 0) {
		cleanup_free char *quoted = sanitize_quote(id);

		return err_set(
			err, ERR_NOT_FOUND,
			"server %d has no session '%s'; ptycell ps shows which server has it",
			(int)pid, quoted);
	}
	ret->row = find_row(remote_ended(remote), id);
	return ret->row != NULL ? 0 : no_session(remote, id, err);
}

int remote_complain(const struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&text, err->msg, strlen(err->msg), sizeof(err->msg));
	(void)fprintf(stderr, "ptycell: %s.\n", buf_str(&text));
	return 1;
}

int remote_open_journal(const struct remote *remote, const struct remote_session *session,
			struct err *err)
{
	const char *place = json_string_value(json_object_get(session->row, "place"));
	cleanup_free char *path = xasprintf("%s/journal", place != NULL ? place : "");
	int fd = beneath_open(remote->home_fd, path, O_RDONLY | O_DIRECTORY, 0);

	return fd >= 0 ? fd : err_sys(err, "opening the session's record");
}
