/* SPDX-License-Identifier: MIT */
/*
 * host.h - the server as its sessions see it: what they share, and whom they report to.
 *
 * Every function is called from the loop, never from within a call into the session.
 */
#ifndef RUNNER_HOST_H
#define RUNNER_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell;
struct change;
struct confinement;
struct exec_asked;
struct exec_result;
struct holdings;
struct home;
struct language;
struct launcher;
struct lookout;
struct loop;
struct pool;
struct sandbox;
struct session;
struct session_event;
struct settings;
struct uploads_event;

/* What the sessions of one server share. Borrowed by each. */
struct session_host {
	struct loop *loop;
	struct home *home;
	struct launcher *launcher;
	struct confinement *confinement; /* settled before the first session is made */
	const struct settings *settings;
	char *code_rules;     /* for cells of Python, as policy/rules.h; or NULL */
	char *files_helper;   /* path of ptycell-files */
	char *proxy_helper;   /* of ptycell-proxy; NULL where it is missing and not needed */
	char *fetch_helper;   /* of ptycell-fetch; NULL without a storage for results */
	char *parent_library; /* of sandbox/supervise/zygote.h; NULL: sessions are not forked */
	struct pool *spares;  /* NULL: every session starts from nothing */
	struct holdings *holdings; /* what sessions hold of our memory; NULL: that is not counted */
	/* Ends the sandbox (taken, NULL when none was opened), then looks a last time (`lookout` is
	 * taken, NULL: not at all) and removes the folder `name` of `home`, in the background.
	 */
	void (*retire)(void *owner, struct sandbox *sandbox_own, const char *name,
		       struct lookout *lookout_own);
	/* A cell was asked for; told once, before it begins. */
	void (*cell_asked)(void *owner, struct session *session, const struct exec_asked *asked);
	/* Its code goes to the interpreter. */
	void (*cell_began)(void *owner, struct session *session, const struct cell *cell);
	/* An answer shows the text of a cell that goes on. */
	void (*cell_shown)(void *owner, struct session *session, const struct cell *cell);
	/*
	 * A cell is over, whether or not somebody waits for it; told before the answer, each once.
	 * `result` has no notice.
	 */
	void (*cell_over)(void *owner, const struct exec_result *result);
	/*
	 * Cell `cell` of `language` wants packages (lines, foreign; `of` too): session_installed
	 * follows, later.
	 */
	void (*install)(void *owner, struct session *session, const struct language *language,
			uint64_t cell, const char *of, const char *packages);
	/* Something else happened that somebody may have to answer for. NULL: nobody has. */
	void (*happened)(void *owner, struct session *session, const struct session_event *event);
	/* Of a result that goes to the storage, which may be after the session's end. Or NULL. */
	void (*uploaded)(void *owner, const struct uploads_event *event);
	/* What session_state() says may be another. */
	void (*state_changed)(void *owner, const struct session *session);
	/*
	 * Processes wrote files while no cell ran, as a look at the files found; NULL: nobody wants
	 * to know. `files_watched`: whether somebody does, so that it is looked.
	 */
	void (*files_changed)(void *owner, const struct session *session,
			      const struct change *changes, size_t count);
	bool (*files_watched)(void *owner, const struct session *session);
	/* It ends; or NULL. */
	void (*ends)(void *owner, const struct session *session);
	/* Is any session busy? NULL: none ever is. */
	bool (*busy)(void *owner);
	void *owner;
};

#endif
