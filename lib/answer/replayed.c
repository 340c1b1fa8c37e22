/* SPDX-License-Identifier: MIT */
/* replayed.c - makes the fields of the journal's events between cells (journal/replay.h). */
#include "answer/replayed.h"

#include <stdlib.h>

#include "answer/audit_events.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/settings.h"
#include "install/broker.h"
#include "journal/digest.h"
#include "journal/journal.h"
#include "journal/replay.h"
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

/* ---- events of a session ---- */

static void describe_session(struct session *session, const struct settings *settings,
			     const char *version)
{
	json_t *about = json_object();
	json_t *secrets = json_array();

	for (size_t i = 0; i < settings->passed.count; i++)
		if (settings->passed.items[i].secret)
			json_append(secrets, json_make_str(settings->passed.items[i].name));
	json_put_str(about, "server", version);
	json_put(about, "secrets", secrets);
	journal_set_about(session_journal(session), about);
}

static void add_lost(struct session *session, const struct session_event *event)
{
	json_t *fields = language_fields(event->language);
	cleanup_free char *why = sanitize_quote(event->why);

	json_put_str(fields, "why", why);
	add_note(session, REPLAY_LOST, 0, fields);
}

void replayed_session(struct session *session, const struct session_event *event,
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

void replayed_start(struct session *session, const struct cell *cell)
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
	add_note(session, REPLAY_STARTED, cell->number, fields);
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

void replayed_installation(struct session *session, const struct broker_event *event)
{
	const json_t *packages = json_object_get(event->result, "packages");
	json_t *fields;

	if (session == NULL || json_array_size(packages) == 0)
		return;
	fields = language_fields(event->language);
	json_put(fields, "packages", pairs_of(packages));
	json_put_str(fields, "from", event->from);
	add_note(session, REPLAY_INSTALLED, 0, fields);
}

void replayed_import(struct session *session, const struct audit_import *import)
{
	json_t *fields;
	char digest[DIGEST_LEN + 1];

	if (import->problem != NULL)
		return;
	fields = json_object();
	json_put_str(fields, "path", import->path);
	json_put_int(fields, "size_bytes", (json_int_t)import->size);
	if (import->content != NULL) {
		digest_sha256(import->content, import->size, digest);
		json_put_str(fields, "sha256", digest);
	} else if (import->sha256 != NULL) {
		json_put_str(fields, "sha256", import->sha256);
	}
	json_put_str(fields, "from", import->from);
	json_put_str(fields, "source", import->source);
	add_note(session, REPLAY_INPUT, 0, fields);
	session_keep_input(session, import->path);
}
