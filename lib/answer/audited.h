/* SPDX-License-Identifier: MIT */
/*
 * audited.h - the events of the audit other than cells. cmd/server/help/audit.md has their table.
 *
 * Events that code can cause without end (hosts, limits, typed input) are collected. They become
 * one line for each cell and kind when the cell ends.
 */
#ifndef ANSWER_AUDITED_H
#define ANSWER_AUDITED_H

#include <stdint.h>

struct audited;
struct auditor;
struct broker_event;
struct exec_result;
struct session;
struct session_event;
struct uploads_event;

enum { AUDITED_TYPED_MAX = 64 << 10 /* bytes of typed input in the line of a cell */ };

/* Makes a recorder that borrows `auditor`. */
struct audited *audited_new(struct auditor *auditor);
/* Frees it. `audited` may be NULL. */
void audited_free(struct audited *audited);

/* Records an event of a session. `session` is NULL when it has ended, here and below. */
void audited_session(struct audited *audited, struct session *session,
		     const struct session_event *event);
/* Writes the lines that were collected for a cell. Call it before the cell's end is recorded. */
void audited_end_cell(struct audited *audited, const struct exec_result *result);
/* Records an upload of a result to the storage. */
void audited_result(struct audited *audited, struct session *session,
		    const struct uploads_event *event);
/* Records an installation that is over. */
void audited_installation(struct audited *audited, struct session *session,
			  const struct broker_event *event);

/* A file that upload_file brought, or failed to. All but `from` may be NULL. */
struct audited_upload {
	const char *from;   /* static: "content", "path", "url" */
	const char *source; /* the path, or the URL without login and query */
	const char *path;   /* relative to the session's folder */
	const char *problem;
	uint64_t size;
	const void *content; /* `size` bytes, of which the SHA-256 is recorded */
	const char *sha256;  /* where there is no content */
};
/* Records an upload_file that is over. */
void audited_upload(struct audited *audited, struct session *session,
		    const struct audited_upload *upload);

/* Records the outcome of a question to the user. `answer` is a static word. */
void audited_question(struct audited *audited, struct session *session, uint64_t cell,
		      const char *language, const char *answer);

#endif
