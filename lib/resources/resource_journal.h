/* SPDX-License-Identifier: MIT */
/* resource_journal.h - what a client reads of a session's journal. */
#ifndef RESOURCES_RESOURCE_JOURNAL_H
#define RESOURCES_RESOURCE_JOURNAL_H

struct mcp_call;
struct session;

/* Ends the call for session://{id}/REST: notebook, script, cells, cells/N, cells/N/FIGURE. */
void resource_journal(struct mcp_call *call, const struct session *session, const char *uri,
		      const char *rest);

#endif
