/* SPDX-License-Identifier: MIT */
/*
 * admission_policy.c - asks the warm pool what the next session should wait for.
 *
 * The first interpreter starts while the escape tests run, in a sandbox of the confinement that is
 * assumed to hold. That is safe because no session code is in it yet: when another confinement is
 * settled, the pool is dropped.
 */
#include "tools/admission_policy.h"

#include "base/log.h"
#include "base/util.h"
#include "confinement/confinement.h"
#include "pool/pool.h"
#include "runtime/language.h"
#include "session/session.h"
#include "session/table.h"
#include "tools/service.h"
#include "tools/tool.h"

static const struct language *language_of(struct service *service, const json_t *arguments)
{
	return language_find(tool_language_name(service, arguments));
}

void admission_policy_prepare(struct service *service, const json_t *arguments)
{
	const struct language *language = language_of(service, arguments);
	struct err err;

	if (language == NULL || service_open_home(service, &err) < 0)
		return;
	if (confinement_assume(service->host.confinement))
		pool_start_first(service->host.pool, language);
	/* Folders of killed servers, and the socket for commands, while the launcher is at work. */
	if (service_table(service, &err) == NULL)
		log_debug("gate", "%s", err.msg); /* the call itself reports it */
}

void admission_policy_settled(struct service *service)
{
	const struct confinement *confinement = service->host.confinement;

	confinement_log(confinement);
	if (!confinement_foreseen(confinement))
		pool_drop(service->host.pool);
}

uint64_t admission_policy_wait_ms(struct service *service, const json_t *arguments)
{
	const char *id = json_string_value(json_object_get(arguments, "session_id"));
	const struct session *session;
	struct err err;

	if (id == NULL || service->table == NULL)
		return 0;
	session = table_find(service->table, id, &err);
	/* Only a session in which nothing has run yet can be forked from a zygote. */
	if (session != NULL && session_runner(session, 0) != NULL)
		return 0;
	return pool_wait_ms(service->host.pool, language_of(service, arguments));
}

/* Returns whether a call of the tool makes or resumes a session that is not there. */
static bool opens_session(const char *tool)
{
	static const char *const names[] = { "exec_code", "exec_sql", "install_packages",
					     "upload_file" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(tool, names[i]))
			return true;
	return false;
}

bool admission_policy_held(struct service *service, const char *tool, const json_t *arguments,
			   bool *ret_leaving)
{
	const char *id = json_string_value(json_object_get(arguments, "session_id"));
	struct table *table;
	struct err err;

	if (id == NULL || !opens_session(tool) || session_id_check(id, &err) < 0)
		return false;
	table = service_table(service, &err);
	return table != NULL && table_in_use(table, id, ret_leaving);
}
