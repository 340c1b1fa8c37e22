/* SPDX-License-Identifier: MIT */
/*
 * tool.h - the entry points of the tools, and the functions that several tools share.
 *
 * Every tool ends its call, now or later, by one of tool_answer, tool_fail and tool_fail_text, or
 * by cell_answer_finish. A tool that waits must answer the client's cancellation itself.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <jansson.h>

#include "base/err.h"
#include "mcp/server.h"

struct buf;
struct service;
struct list;
struct session;
struct language;

/* The functions of the catalog (mcp_tool.call). `context` is the service. */
void tool_exec_code(struct mcp_call *call, json_t *arguments, void *context);
void tool_interact(struct mcp_call *call, json_t *arguments, void *context);
void tool_upload_file(struct mcp_call *call, json_t *arguments, void *context);
void tool_install_packages(struct mcp_call *call, json_t *arguments, void *context);
void tool_exec_sql(struct mcp_call *call, json_t *arguments, void *context);
void tool_list_artifacts(struct mcp_call *call, json_t *arguments, void *context);
void tool_session_info(struct mcp_call *call, json_t *arguments, void *context);
void tool_list_sessions(struct mcp_call *call, json_t *arguments, void *context);
void tool_destroy_session(struct mcp_call *call, json_t *arguments, void *context);

/* Ends the calls of service.sql_calls for this folder (workspace_name) that no query keeps. */
void tool_sql_end_folder(struct list *calls, const char *name);
/* Frees the calls of service.sql_calls, whose queries must have ended. */
void tool_sql_forget(struct list *calls);

/* Ends the call with the error's message, as blocks or JSON as the settings say. */
void tool_fail(struct mcp_call *call, const struct service *service, const struct err *err);
/* Ends the call with an error of any length. */
void tool_fail_text(struct mcp_call *call, const struct service *service, const char *message);
/*
 * Ends the call and returns true when PTYCELL_AUDIT is set and cannot be written. Call it before
 * anything is done.
 */
bool tool_audit_refused(struct mcp_call *call, struct service *service);
/*
 * Ends the call with an object: structuredContent, and the same as text. Takes ownership of it.
 */
void tool_answer(struct mcp_call *call, const struct service *service, json_t *object_own);
/*
 * Ends the call with an object as structuredContent and what a model needs of it as text; with
 * RESULTS_JSON as tool_answer does. Takes ownership of the object.
 */
void tool_answer_text(struct mcp_call *call, const struct service *service, json_t *object_own,
		      const struct buf *text);
/*
 * Returns the session that `arguments` name, and makes a new one if `make`. The table owns it, here
 * and below. Returns NULL and sets *err.
 */
struct session *tool_session(struct service *service, json_t *arguments, bool make,
			     struct err *err) MUST_CHECK;
/*
 * Returns the session that `arguments` name, if it is live or can be resumed. Returns NULL and sets
 * *err.
 */
struct session *tool_session_again(struct service *service, json_t *arguments,
				   struct err *err) MUST_CHECK;
/*
 * Returns the session that `arguments` name, and makes a new one for a cell in `language`. Returns
 * NULL and sets *err.
 */
struct session *tool_session_for(struct service *service, json_t *arguments,
				 const struct language *language, struct err *err) MUST_CHECK;
/*
 * Checks `arguments` for unknown keys. Returns -1 and sets *err for these, and for a problem of the
 * configuration: then every tool answers with it.
 */
int tool_check(const struct service *service, json_t *arguments, const char *const *known,
	       size_t known_count, struct err *err) MUST_CHECK;
/*
 * Checks that each of these arguments is there. Returns -1 and sets *err otherwise; the message
 * names all of them.
 */
int tool_require(const json_t *arguments, const char *const *names, size_t count,
		 struct err *err) MUST_CHECK;
/*
 * Sets *ret_ms to `wait` of the arguments, else to the call budget. A call budget that the user has
 * set is also the maximum: *ret_cut says that `wait` was longer. Returns -1 and sets *err for a
 * `wait` that is no time.
 */
int tool_get_wait(const struct service *service, json_t *arguments, uint64_t *ret_ms, bool *ret_cut,
		  struct err *err) MUST_CHECK;
/*
 * Returns the argument `language`, else the language of the session's last cell, else "python".
 * Borrowed from the arguments, or static.
 */
const char *tool_language_name(const struct service *service, const json_t *arguments);
/*
 * Returns the language of this name or alias. Returns NULL and sets *err, which names the installed
 * ones.
 */
const struct language *tool_find_language(const struct service *service, const char *name,
					  struct err *err) MUST_CHECK;
/*
 * Checks `config`, an object or NULL, without a session. Returns -1 and sets *err to ERR_INVALID
 * for an unknown key and for a value that is no number.
 */
int tool_check_config(const struct service *service, json_t *config, struct err *err) MUST_CHECK;
/* Lowers the limits of the session. Returns -1 and sets *err as tool_check_config. */
int tool_configure(const struct service *service, struct session *session, json_t *config,
		   struct err *err) MUST_CHECK;

#endif
