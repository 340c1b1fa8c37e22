/* SPDX-License-Identifier: MIT */
/* changed.h - which resources are others after something happened in a session. */
#ifndef TOOLS_CHANGED_H
#define TOOLS_CHANGED_H

#include <stdbool.h>
#include <stddef.h>

struct change;
struct exec_result;
struct notifications;
struct redact;

/* Who is told, and what takes secrets out of names (or NULL). */
struct changed {
	struct notifications *notices;
	const struct redact *redact;
};

/* A file of a session is new, changed or gone. */
void changed_file(const struct changed *changed, const char *session_id, const char *path);
/* These files are, and with them the list of resources where it names them. */
void changed_files(const struct changed *changed, const char *session_id,
		   const struct change *changes, size_t count);
/* A cell is over: its session, its own resources and its files. */
void changed_cell(const struct changed *changed, const struct exec_result *result);

#endif
