/* SPDX-License-Identifier: MIT */
/*
 * lasting.h - the folders of ended sessions, which stay until they are resumed or removed.
 *
 *   $PTYCELL_HOME/resume/<random>/{data,spool,packages,journal}
 *
 * A session's folder moves there by one rename when the session ends, or when another server finds
 * its server dead. It leaves by one rename, too: into the folder of the server that resumes it, or
 * to a hidden name under which it is removed. So a folder has one owner at any moment, even if a
 * server is killed. A server's folder, with the folders of its live sessions, is locked by that
 * server.
 *
 * The record LASTING_RECORD in the journal's folder, which no session code reaches, says whose
 * folder it is. A session without a record has nothing that could be resumed. A folder is ignored
 * if it is a link, another user's, or open to others.
 */
#ifndef WORKSPACE_LASTING_H
#define WORKSPACE_LASTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "workspace/workspace.h"

#define LASTING_FOLDER "resume"
#define LASTING_RECORD "session"
/* The empty file of this name says that a dead server's results were exported (rescue.h). */
#define LASTING_RESCUED "rescued"
/*
 * The empty file of this name says that the session was destroyed before its results were exported:
 * no id leads to it any more, and it is removed once they are.
 */
#define LASTING_FORGOTTEN "forgotten"
/* The file of this name has the folder's size, until it is resumed (cmd/files/sweep.h). */
#define LASTING_SIZE "size"

struct lasting_record {
	char *session_id;
	uint64_t generation;
	uint64_t next_cell; /* 0: see the journal */
	uint64_t running;   /* the last cell that its end stopped; 0: none */
	char *unread;       /* ended cells that no answer has reported, as "3 (done)"; or NULL */
	char *limits;       /* "KEY=VALUE ..." of those that the session had lowered; or NULL */
	char *why;     /* why it ended, after "it ended because"; NULL: its server was killed */
	bool exported; /* no export of results was due when it ended */
	bool cut;      /* an interpreter did not end in order */
};

void lasting_record_release(struct lasting_record *record);
/*
 * Replaces the record as a whole: if the disk is full, the earlier one stays. Returns -1 and sets
 * *err.
 */
int lasting_write(int journal_fd, const struct lasting_record *record, struct err *err) MUST_CHECK;
/* Reads the record. Returns -1 and sets *err: ERR_NOT_FOUND, or ERR_INVALID if it is none. */
int lasting_read(int journal_fd, struct lasting_record *ret, struct err *err) MUST_CHECK;

/* Moves a session's folder (workspace_name) to the lasting ones. Returns false if it cannot. */
bool lasting_release(const struct home *home, const char *name);
/*
 * Moves the sessions with a record out of the folder `server` in the home. Returns false when the
 * folder could not be read whole, or one not be moved: sessions may be left in it.
 */
bool lasting_release_all(struct home *home, const char *server) MUST_CHECK;

struct lasting {
	char *name;           /* in LASTING_FOLDER */
	struct timespec used; /* when it was used last */
	bool empty;           /* no cell ran; lasting_find does not set it */
	struct lasting_record record;
};

enum {
	LASTING_OWN_LEN = 8, /* letters of the folder's name in an own id */
	LASTING_ID_MAX = 64, /* bytes of an own id, and of any id of a session */
};

/*
 * Returns the own id of the ended session in the folder `name`, which no other session has. The
 * session's id is cut as far as LASTING_ID_MAX demands. The caller frees the result.
 */
char *lasting_own_id(const char *session_id, const char *name);

struct lasting_found {
	struct lasting *rows; /* the last used first */
	size_t count;
	bool in_use;               /* another server has a live session of this id */
	bool leaving;              /* and is about to end */
	bool cut;                  /* not every folder could be read: there may be more */
	struct timespec in_use_at; /* when that was used last */
};

/* Writes LASTING_FORGOTTEN into the folder `name`. Returns false if it cannot. */
bool lasting_forget(const struct home *home, const char *name);
bool lasting_is_forgotten(int journal_fd);

/* Finds the folders of sessions of this id, or the one whose own id it is. */
void lasting_find(const struct home *home, const char *session_id, struct lasting_found *ret);
/* Orders them by `empty`, then by their last use. */
void lasting_sort(struct lasting_found *found);
void lasting_found_release(struct lasting_found *found);
#define cleanup_lasting __attribute__((cleanup(lasting_found_release)))

/* A session in a folder of sessions. Borrowed for a call. */
struct lasting_session {
	int sessions_fd;
	const char *name;
	int fd;
	int journal_fd;
	struct timespec used;
};
/*
 * Calls `fn` for each session with a record in the folder `sessions_fd_own`, which may be -1. The
 * function may take the record's strings and set them to NULL. Returns false when the folder, or a
 * session in it, could not be read: there may be more.
 */
typedef void lasting_fn(void *data, const struct lasting_session *session,
			struct lasting_record *record);
bool lasting_each(int sessions_fd_own, lasting_fn *fn, void *data);

/* Compares two times of use as qsort() wants it: the earlier one first. */
int lasting_compare_use(const struct timespec *one, const struct timespec *two);

/*
 * Opens the folder `name` in LASTING_FOLDER, with its journal's folder in *ret_journal_fd. Returns
 * -1 if it is gone or must be ignored.
 */
int lasting_open(const struct home *home, const char *name, int *ret_journal_fd);
/* Returns the folder LASTING_FOLDER, or -1 if there is none. The caller closes it. */
int lasting_open_all(const struct home *home);

#endif
