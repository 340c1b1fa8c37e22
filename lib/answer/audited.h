/* SPDX-License-Identifier: MIT */
/*
 * audited.h - the events of the audit besides the cells: README.md has their table.
 *
 * What code can cause without end (hosts, limits, typed input) is gathered, and becomes one line a
 * cell and kind at the cell's end.
 */
#ifndef ANSWER_AUDITED_H
#define ANSWER_AUDITED_H

#include <stddef.h>
#include <stdint.h>

struct audited;
struct auditor;
struct broker_event;
struct exec_result;
struct session;
struct session_event;
struct uploads_event;

enum { AUDITED_TYPED_MAX = 64 << 10 /* bytes of typed input in the line of a cell */ };

/* `auditor` is borrowed. */
struct audited *audited_new(struct auditor *auditor);
void audited_free(struct audited *audited);

/* `session` NULL: it has ended. */
void audited_session(struct audited *audited, struct session *session,
		     const struct session_event *event);
/* Before the cell's own end is recorded. */
void audited_end_cell(struct audited *audited, const struct exec_result *result);
void audited_result(struct audited *audited, struct session *session,
		    const struct uploads_event *event);
void audited_installation(struct audited *audited, struct session *session,
			  const struct broker_event *event);

/* A file that upload_file brought, or failed to. All but `from` may be NULL. */
struct audited_upload {
	const char *from;   /* static: "content", "path", "url" */
	const char *source; /* the path, or the URL without login and query */
	const char *path;   /* relative to the session's folder */
	const char *problem;
	uint64_t size;
	const void *content; /* of so many bytes, where it is at hand: its SHA-256 is recorded */
};
void audited_upload(struct audited *audited, struct session *session,
		    const struct audited_upload *upload);

/* What became of a question to the user: `answer` is a static word. */
void audited_question(struct audited *audited, struct session *session, uint64_t cell,
		      const char *language, const char *answer);

#endif
