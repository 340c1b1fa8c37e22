/* SPDX-License-Identifier: MIT */
/*
 * journal_events.c - makes the fields of the journal's events between cells
 * (journal/notebook_setup.h).
 */
#include "answer/journal_events.h"

#include <stdlib.h>

#include "answer/audit_events.h"
#include "answer/install_result.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/settings.h"
#include "install/broker.h"
#include "journal/digest.h"
#include "journal/journal.h"
#include "journal/notebook_setup.h"
#include "json/make.h"
#include "runner/runner.h"
#include "session/session.h"
#include "text/sanitize.h"

static void add_note(struct session *session, const char *event, uint64_t cell, json_t *fields_own)
{
	struct err err;

	if (journal_note(session_journal(session), event, cell, fields_own, &err) < 0)
		log_debug("history", "'%s': the journal: %s", session_id(session), err.msg);
}

static json_t *language_fields(const struct language *language)
{
	json_t *fields = json_object();

	json_put_str(fields, "language", language->name);
	return fields;
}

/* Returns true for an event that changes what the cells behind it find. */
static bool changes_state(const char *event, const json_t *fields)
{
	if (notebook_setup_restored_nothing(fields))
		return false;
	return str_eq(event, NOTE_RESUMED) || str_eq(event, NOTE_VALUES) ||
	       str_eq(event, NOTE_RERUN);
}

void journal_events_other(struct session *session, const char *event, json_t *fields_own)
{
	struct err err;

	if (changes_state(event, fields_own)) {
		add_note(session, event, 0, fields_own);
		return;
	}
	if (journal_add_event(session_journal(session), event, fields_own, &err) < 0)
		log_debug("history", "'%s': the journal: %s", session_id(session), err.msg);
}

void journal_events_end(struct session *session, const char *event, json_t *fields_own)
{
	struct err err;

	if (journal_add_end(session_journal(session), event, fields_own, &err) < 0)
		log_debug("history", "'%s': the journal: %s", session_id(session), err.msg);
}

/* ---- events of a session ---- */

static void describe_session(struct session *session, const struct settings *settings,
			     const char *version)
{
	json_t *about = json_object();
	json_t *secrets = json_array();

	for (size_t i = 0; i < settings->user_env.count; i++)
		if (settings->user_env.items[i].secret)
			json_append(secrets, json_make_str(settings->user_env.items[i].name));
	json_put_str(about, "server", version);
	json_put(about, "secrets", secrets);
	journal_set_about(session_journal(session), about);
}

static void add_lost(struct session *session, const struct session_event *event)
{
	json_t *fields = language_fields(event->language);
	cleanup_free char *why = sanitize_quote(event->why);

	json_put_str(fields, "why", why);
	add_note(session, NOTE_LOST, 0, fields);
}

void journal_events_session(struct session *session, const struct session_event *event,
			    const struct settings *settings, const char *version)
{
	if (event->kind == SESSION_MADE)
		describe_session(session, settings, version);
	else if (event->kind == SESSION_RESET)
		add_lost(session, event);
}

/* ---- versions ---- */

static const struct runner *find_runner(const struct session *session, const char *language)
{
	const struct runner *runner;

	for (size_t i = 0; i < LANGUAGES_MAX; i++) {
		runner = session_runner(session, i);
		if (runner != NULL && str_eq(runner_language(runner)->name, language))
			return runner;
	}
	return NULL;
}

void journal_events_start(struct session *session, const struct cell *cell)
{
	const struct runner *runner;
	cleanup_free char *version = NULL;
	json_t *fields;

	if (journal_has_language(session_journal(session), cell->language))
		return;
	runner = find_runner(session, cell->language);
	if (runner == NULL || runner_version(runner) == NULL)
		return;
	version = sanitize_quote(runner_version(runner));
	fields = language_fields(runner_language(runner));
	json_put_str(fields, "version", version);
	add_note(session, NOTE_STARTED, cell->number, fields);
}

/* ---- files and packages ---- */

/* Returns [[NAME, VERSION], ...]. */
static json_t *pairs_of(const json_t *packages)
{
	json_t *pairs = json_array();
	size_t n;
	json_t *package;

	json_array_foreach (packages, n, package) {
		json_t *pair = json_array();

		json_append(pair, json_incref(json_object_get(package, "name")));
		json_append(pair, json_incref(json_object_get(package, "version")));
		json_append(pairs, pair);
	}
	return pairs;
}

/* Adds a note, or an event that no second run needs. */
static void add_either(struct session *session, bool note, const char *event, json_t *fields_own)
{
	if (note)
		add_note(session, event, 0, fields_own);
	else
		journal_events_other(session, event, fields_own);
}

json_t *journal_events_installation(const struct broker_event *event)
{
	json_t *fields = language_fields(event->language);
	const json_t *removed = json_object_get(event->result, "removed");

	json_put(fields, "asked", json_deep_copy(event->asked));
	json_put_str(fields, "from", event->from);
	if (event->result != NULL) {
		json_put(fields, "packages", pairs_of(json_object_get(event->result, "packages")));
		json_put(fields, "files", json_deep_copy(json_object_get(event->result, "files")));
	}
	if (removed != NULL)
		json_put(fields, "removed", install_result_names(removed));
	json_put_str(fields, "problem", event->problem);
	if (event->cell != 0)
		json_put_int(fields, NOTE_BY, (json_int_t)event->cell);
	return fields;
}

void journal_events_packages(struct session *session, const json_t *fields)
{
	add_either(session, notebook_setup_changes_packages(fields), NOTE_INSTALLED,
		   json_deep_copy(fields));
}

json_t *journal_events_import(struct session *session, const struct audit_import *import)
{
	json_t *fields = json_object();
	char digest[DIGEST_LEN + 1];

	json_put_str(fields, "from", import->from);
	json_put_str(fields, "source", import->source);
	json_put_str(fields, "path", import->path);
	if (import->problem == NULL)
		json_put_int(fields, "size_bytes", (json_int_t)import->size);
	if (import->content != NULL) {
		digest_sha256(import->content, import->size, digest);
		json_put_str(fields, "sha256", digest);
	} else {
		json_put_str(fields, "sha256", import->sha256);
	}
	json_put_str(fields, "problem", import->problem);
	add_either(session, import->problem == NULL,
		   import->problem == NULL ? NOTE_INPUT : "upload", json_deep_copy(fields));
	if (import->problem == NULL)
		session_keep_inputs(session);
	return fields;
}
