/* SPDX-License-Identifier: MIT */
/*
 * session_json.c - describes a session, or what every session would have: languages, limits,
 * folders, storage and confinement. Of environment variables and secrets only the names are shown.
 */
#include "answer/session_json.h"

#include <stdlib.h>

#include "answer/confinement_json.h"
#include "answer/history.h"
#include "answer/network_json.h"
#include "answer/storage_links.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "json/make.h"
#include "query/databases.h"
#include "runtime/language.h"
#include "session/session.h"
#include "text/sanitize.h"
#include "workspace/workspace.h"

static const struct runner *runner_of(const struct session *session,
				      const struct language *language)
{
	const struct runner *runner;

	for (size_t i = 0; (runner = session_runner(session, i)) != NULL; i++)
		if (runner_language(runner) == language)
			return runner;
	return NULL;
}

static const char *state_of(const struct settings *settings, const struct language *language,
			    const struct runner *runner)
{
	enum runner_state state = runner != NULL ? runner_state(runner) : RUNNER_IDLE;

	if (state == RUNNER_IDLE && !language_is_here(language, settings->environment))
		return "not installed";
	return runner_state_name(state);
}

/* `session` may be NULL. */
static json_t *describe_language(const struct settings *settings, const struct session *session,
				 const struct language *language)
{
	const struct runner *runner = session != NULL ? runner_of(session, language) : NULL;
	json_t *object = json_object();
	json_t *aliases = json_array();

	for (size_t i = 0; language->aliases[i] != NULL; i++)
		json_append(aliases, json_make_str(language->aliases[i]));
	json_put_str(object, "name", language->name);
	json_put(object, "aliases", aliases);
	json_put_str(object, "state", state_of(settings, language, runner));
	if (runner != NULL && runner_version(runner) != NULL) {
		cleanup_free char *version = sanitize_quote(runner_version(runner));

		json_put_str(object, "version", version);
		json_put_str(object, "path", runner_path(runner));
		json_put_str(object, "chosen_by", runner_reason(runner));
	}
	return object;
}

/* `session` may be NULL. */
static json_t *describe_languages(const struct settings *settings, const struct session *session)
{
	json_t *languages = json_array();

	for (size_t i = 0; language_at(i) != NULL; i++)
		json_append(languages, describe_language(settings, session, language_at(i)));
	return languages;
}

static json_t *describe_limits(const struct session_limits *values)
{
	json_t *limits = json_object();
	const char *key;
	uint64_t value;

	for (size_t i = 0; settings_limit_at(values, i, &key, &value); i++)
		json_put_int(limits, key, (json_int_t)value);
	return limits;
}

/* `proxy` may be NULL. */
static json_t *describe_confinement(const struct settings *settings,
				    const struct confinement *confinement,
				    const struct proxy *proxy)
{
	const struct confinement_facts facts = confinement_facts(confinement);
	json_t *object = confinement_json_make(confinement);

	json_put(object, "network", network_json_describe(settings, &facts, proxy));
	return object;
}

static void put_folders(json_t *answer, const struct session *session)
{
	const char *data = workspace_data_path(session_workspace(session));

	json_put_str(answer, "workdir", data);
	json_put(answer, "input_dir", json_make_fmt("%s/input", data));
	json_put(answer, "output_dir", json_make_fmt("%s/output", data));
	json_put(answer, "keep_dir",
		 session_keep_folder(session) != NULL ? json_make_str(session_keep_folder(session))
						      : json_null());
}

static json_t *describe_environment(const struct settings *settings)
{
	const struct user_env *user_env = &settings->user_env;
	json_t *environment = json_object();
	json_t *variables = json_array();
	json_t *secrets = json_array();

	for (size_t i = 0; i < user_env->count; i++)
		json_append(user_env->items[i].secret ? secrets : variables,
			    json_make_str(user_env->items[i].name));
	json_put(environment, "variables", variables);
	json_put(environment, "secrets", secrets);
	return environment;
}

json_t *session_json_describe(struct session *session)
{
	json_t *answer = json_object();

	json_put_str(answer, "session_id", session_id(session));
	json_put_int(answer, "generation", (json_int_t)session_generation(session));
	json_put_str(answer, "state", session_state(session));
	put_folders(answer, session);
	json_put(answer, "languages", describe_languages(session_settings(session), session));
	json_put(answer, "databases", databases_list(session_settings(session)));
	json_put(answer, "effective_config", describe_limits(session_limits(session)));
	if (session_settings(session)->user_env.count > 0)
		json_put(answer, "environment", describe_environment(session_settings(session)));
	json_put(answer, "storage", storage_links_describe(session));
	json_put(answer, "journal", history_describe(session));
	json_put(answer, "confinement",
		 describe_confinement(session_settings(session), session_confinement(session),
				      session_proxy(session)));
	return answer;
}

json_t *session_json_none(const struct settings *settings, const struct confinement *confinement,
			  const char *id, const char *why)
{
	json_t *answer = json_object();

	json_put_str(answer, "session_id", id);
	json_put_str(answer, "state", "none");
	json_put(answer, "notice",
		 json_make_fmt("%c%s. Nothing was made.", why[0] & ~0x20, why + 1));
	json_put(answer, "languages", describe_languages(settings, NULL));
	json_put(answer, "databases", databases_list(settings));
	json_put(answer, "effective_config", describe_limits(&settings->limits));
	if (settings->user_env.count > 0)
		json_put(answer, "environment", describe_environment(settings));
	json_put(answer, "confinement", describe_confinement(settings, confinement, NULL));
	return answer;
}

json_t *session_json_row(const struct session *session)
{
	json_t *row = json_object();

	json_put_str(row, "session_id", session_id(session));
	json_put_int(row, "generation", (json_int_t)session_generation(session));
	json_put_str(row, "state", session_state(session));
	json_put_int(row, "age_seconds", (json_int_t)(session_age_ms(session) / 1000));
	json_put_int(row, "idle_seconds", (json_int_t)(session_idle_ms(session) / 1000));
	json_put_str(row, "workdir", workspace_data_path(session_workspace(session)));
	return row;
}
