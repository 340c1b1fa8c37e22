/* SPDX-License-Identifier: MIT */
/*
 * host.h - the server as its sessions see it: what they share, and to whom they report.
 *
 * Every function is called from the loop, never from within a call into the session.
 */
#ifndef RUNNER_HOST_H
#define RUNNER_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ask;
struct cell;
struct change;
struct confinement;
struct exec_asked;
struct exec_result;
struct holdings;
struct home;
struct keeproom;
struct language;
struct launcher;
struct list;
struct inspector;
struct loop;
struct pool;
struct lostcells_report;
struct sandbox;
struct session;
struct session_event;
struct settings;
struct uploads_event;

/* The parts of a server that its sessions share. Borrowed by each session. */
struct session_host {
	struct loop *loop;
	struct home *home;
	struct launcher *launcher;
	struct confinement *confinement; /* settled before the first session is made */
	const struct settings *settings;
	char *code_rules;     /* for cells of Python, as in policy/rules.h; or NULL */
	char *files_helper;   /* path of ptycell-files */
	char *proxy_helper;   /* path of ptycell-proxy; NULL if it is missing and not needed */
	char *fetch_helper;   /* path of ptycell-fetch; NULL without a storage for results */
	struct list *uploads; /* those of all sessions, transfer/uploads.h */
	char *zygote_library; /* path of the zygote's library, sandbox/supervise/zygote.h; NULL:
				 sessions are not forked */
	struct keeproom *keeproom; /* workspace/keeproom.h; NULL: without a limit */
	struct pool *pool;         /* the warm pool; NULL: every session starts from nothing */
	struct holdings *holdings; /* server memory that sessions hold; NULL: not counted */
	/*
	 * Ends a sandbox, inspects shared folders a last time, and removes the folder `name` of
	 * `home`, in the background. With `lasts` the folder stays (workspace/lasting.h). Takes
	 * ownership of the sandbox and the inspector; both may be NULL.
	 */
	void (*retire)(void *owner, struct sandbox *sandbox_own, const char *name,
		       struct inspector *inspector_own, bool lasts);
	/* An ended session left something unreported about shares (workspace/unreported.h). May be
	 * NULL. */
	void (*unreported)(void *owner);
	/*
	 * Makes sessions of servers that died since it was called last findable (lasting.h). May be
	 * NULL.
	 */
	void (*adopt)(void *owner);
	/* The folder `name` of LASTING_FOLDER was taken over, or is removed. May be NULL. */
	void (*adopted)(void *owner, const char *name);
	/* A folder is removed once its results are exported (LASTING_FORGOTTEN). May be NULL. */
	void (*forgotten)(void *owner);
	/* A session is resumed, and cells ran when its server was killed. May be NULL. */
	void (*killed)(void *owner, const struct lostcells_report *report);
	/* A cell was requested. Called once per cell, before it begins. */
	void (*cell_asked)(void *owner, struct session *session, const struct exec_asked *asked);
	/* Returns why no cell may begin now, for the caller to free, or NULL. May be NULL. */
	char *(*refusal)(void *owner);
	/* A cell's code is sent to the interpreter. */
	void (*cell_began)(void *owner, struct session *session, const struct cell *cell);
	/* An answer shows the text of a cell that runs on. */
	void (*cell_shown)(void *owner, struct session *session, const struct cell *cell);
	/*
	 * A cell is over. Called once per cell, before its end is answered. `result` has no notice.
	 */
	void (*cell_over)(void *owner, const struct exec_result *result);
	/*
	 * Cell `cell` of `language` requests packages. `of` and `packages` (lines) are untrusted.
	 * session_installed must follow, later.
	 */
	void (*install)(void *owner, struct session *session, const struct language *language,
			uint64_t cell, const char *of, const char *packages);
	/*
	 * A program of the session asks for something, in `text`, which is untrusted and borrowed
	 * for the call. asking_answer (session/asking.h) must follow, now or later, unless
	 * `ask_gone` is called before. NULL: nothing takes requests.
	 */
	void (*asked)(void *owner, struct session *session, struct ask *ask, const char *text,
		      size_t len);
	/* The program has ended, or its session ends. `ask` is freed after the call. */
	void (*ask_gone)(void *owner, struct ask *ask);
	/* A terminal of the session brought bytes, with the secrets in them. May be NULL. */
	void (*wrote)(void *owner, struct session *session, const struct language *language,
		      const char *data, size_t len);
	/* Something else happened that the audit must have. May be NULL. */
	void (*happened)(void *owner, struct session *session, const struct session_event *event);
	/* Reports an upload, which may come after the session's end. May be NULL. */
	void (*uploaded)(void *owner, const struct uploads_event *event);
	/* session_state() may have changed. */
	void (*state_changed)(void *owner, const struct session *session);
	/*
	 * Processes wrote files while no cell ran, as a scan found. May be NULL. `files_watched`
	 * returns whether a client wants to know, so that scans are made.
	 */
	void (*files_changed)(void *owner, const struct session *session,
			      const struct change *changes, size_t count);
	bool (*files_watched)(void *owner, const struct session *session);
	/*
	 * A session cannot go on. The owner ends it at once: `why` follows "it ended because". The
	 * session calls this from a turn of its own.
	 */
	void (*fails)(void *owner, struct session *session, const char *why);
	/* A session ends. May be NULL. */
	void (*ends)(void *owner, const struct session *session);
	/*
	 * Returns how many bytes of answers were written so far. NULL: each answer counts as read
	 * by the client. Else the last executions stay for session_report_again.
	 */
	uint64_t (*written)(void *owner);
	/* Returns whether any session is busy. May be NULL: none ever is. */
	bool (*busy)(void *owner);
	void *owner;
};

#endif
