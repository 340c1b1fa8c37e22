/* SPDX-License-Identifier: MIT */
/* tool.h - the tools' entry points, and what they share. */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <jansson.h>

#include "base/err.h"
#include "mcp/server.h"

struct service;
struct list;
struct session;
struct language;

/* One a row of the catalog: mcp_tool.call. `context` is the service. */
void tool_exec_code(struct mcp_call *call, json_t *arguments, void *context);
void tool_interact(struct mcp_call *call, json_t *arguments, void *context);
void tool_upload_file(struct mcp_call *call, json_t *arguments, void *context);
void tool_install_packages(struct mcp_call *call, json_t *arguments, void *context);
void tool_exec_sql(struct mcp_call *call, json_t *arguments, void *context);
void tool_list_artifacts(struct mcp_call *call, json_t *arguments, void *context);
void tool_session_info(struct mcp_call *call, json_t *arguments, void *context);
void tool_list_sessions(struct mcp_call *call, json_t *arguments, void *context);
void tool_destroy_session(struct mcp_call *call, json_t *arguments, void *context);

/* Frees queries that have ended, of service_sql_calls. */
void tool_sql_forget(struct list *calls);

/* Ends the call with the error's message, in the way this server answers (blocks or JSON). */
void tool_fail(struct mcp_call *call, const struct service *service, const struct err *err);
/* The same with a text that may be long. */
void tool_fail_text(struct mcp_call *call, const struct service *service, const char *message);
/*
 * Before anything is done: true when it cannot be recorded as PTYCELL_AUDIT wants; the call is
 * answered then.
 */
bool tool_audit_refused(struct mcp_call *call, struct service *service);
/* Ends the call with an object: structuredContent, and the same as text. */
void tool_answer(struct mcp_call *call, const struct service *service, json_t *object_own);
/*
 * The session that `arguments` name, made when it is new if `make`. NULL with `err` set, also when
 * the configuration has a problem: then that is what every tool answers.
 */
struct session *tool_session(struct service *service, json_t *arguments, bool make,
			     struct err *err) MUST_CHECK;
/* The same, made when it is new, when a cell in `language` is to follow. */
struct session *tool_session_for(struct service *service, json_t *arguments,
				 const struct language *language, struct err *err) MUST_CHECK;
/* Checks `arguments` for keys that the tool does not know, and the configuration for a problem. */
int tool_check(const struct service *service, json_t *arguments, const char *const *known,
	       size_t known_count, struct err *err) MUST_CHECK;
/* `wait` of the arguments, else the settings' call budget, which is the most where one was set. */
int tool_get_wait(const struct service *service, json_t *arguments, uint64_t *ret_ms,
		  struct err *err) MUST_CHECK;
/*
 * The argument `language`, else the language of the session's last cell, else python. Borrowed from
 * the arguments, or static.
 */
const char *tool_language_name(struct service *service, const json_t *arguments);
/* The language of this name or alias; ERR_INVALID names those there are. */
const struct language *tool_find_language(const struct service *service, const char *name,
					  struct err *err) MUST_CHECK;
/*
 * Checks `config`, an object or NULL, for a session that there may not be yet: ERR_INVALID for a
 * key that is unknown and a value that is no number.
 */
int tool_check_config(const struct service *service, json_t *config, struct err *err) MUST_CHECK;
/* Lowers limits by it. */
int tool_configure(const struct service *service, struct session *session, json_t *config,
		   struct err *err) MUST_CHECK;

#endif
