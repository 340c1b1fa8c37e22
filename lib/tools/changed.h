/* SPDX-License-Identifier: MIT */
/* changed.h - which resources change with an event of a session. */
#ifndef TOOLS_CHANGED_H
#define TOOLS_CHANGED_H

#include <stddef.h>

struct change;
struct exec_result;
struct notifications;
struct redact;

/* Where the changes are reported, and what takes secrets out of names (may be NULL). */
struct changed {
	struct notifications *notifications;
	const struct redact *redact;
};

/* Reports a file of a session that is new, changed or gone. */
void changed_file(const struct changed *changed, const char *session_id, const char *path);
/* Reports such files, and the list of resources where it names them. */
void changed_files(const struct changed *changed, const char *session_id,
		   const struct change *changes, size_t count);
/* Reports a cell that is over: its session, its own resources and its files. */
void changed_cell(const struct changed *changed, const struct exec_result *result);

#endif
