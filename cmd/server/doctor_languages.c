/* SPDX-License-Identifier: MIT */
/*
 * doctor_languages.c - builds a whole service, as the server does, and runs an empty cell of each
 * language in one session. The doctor therefore reports the same problems that a client would see.
 * Shares, exports, the audit and prestarted sandboxes are off, and folders that the trial created
 * are removed again.
 */
#include "doctor_languages.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/settings.h"
#include "confinement/confinement.h"
#include "doctor.h"
#include "event/loop.h"
#include "runtime/language.h"
#include "session/session.h"
#include "session/table.h"
#include "text/sanitize.h"
#include "tools/service.h"

enum { PATIENCE_MS = 40000 };

struct checkup {
	struct loop *loop;
	struct service *service;
	struct doctor_trials *trials;
	size_t waiting;
};

static size_t index_of(const struct language *language)
{
	size_t index = 0;

	while (language_at(index) != language)
		index++;
	return index;
}

static const char *version_in(const struct session *session, const struct language *language)
{
	const struct runner *runner;

	for (size_t i = 0; (runner = session_runner(session, i)) != NULL; i++) {
		if (runner_language(runner) == language)
			return runner_version(runner);
	}
	return NULL;
}

/*
 * Returns a copy of an untrusted text, which may contain output of the interpreter. The caller
 * frees it.
 */
static char *clean_copy(const char *text)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	sanitize_block(&out, text, strlen(text));
	return buf_steal(&out);
}

static void on_answer(struct call *call, const struct exec_result *result, void *data)
{
	struct checkup *c = data;
	const struct language *language = language_find(result->cell->language);
	struct doctor_trial *trial = &c->trials->languages[index_of(language)];
	const char *version = version_in(result->session, language);
	const char *problem = result->cell->problem;

	(void)call;
	c->waiting--;
	if (result->cell->state == CELL_DONE)
		trial->version = sanitize_quote(version != NULL ? version : "unknown");
	else
		trial->problem =
			clean_copy(problem != NULL ? problem : "it did not answer within 40 s");
}

static void try_language(struct checkup *c, struct session *session,
			 const struct language *language, char *const env[])
{
	const struct exec_request request = {
		.language = language,
		.code = "",
		.timeout_ms = PATIENCE_MS,
		.wait_ms = PATIENCE_MS,
	};
	struct interpreter_path path = { 0 };
	struct err err;

	if (language_locate(language, env, &path, &err) < 0)
		return;
	locate_release(&path);
	if (session_exec(session, &request, on_answer, c, &err) != NULL)
		c->waiting++;
	else
		c->trials->languages[index_of(language)].problem = clean_copy(err.msg);
}

static void try_all(struct checkup *c, const struct settings *settings)
{
	struct confinement *confinement = service_confinement(c->service);
	struct err err;
	struct table *table = confinement != NULL ? service_table(c->service, &err) : NULL;
	struct session *session = NULL;
	bool settled = false;

	if (table == NULL) {
		c->trials->home_problem = confinement != NULL ? clean_copy(err.msg) : NULL;
		return;
	}
	confinement_settle(confinement, doctor_note_end, &settled);
	doctor_turn_until(c->loop, &settled);
	if (confinement_facts(confinement).refusal == NULL)
		session = table_open(table, "doctor", NULL, &err);
	if (session == NULL)
		return;
	for (size_t i = 0; language_at(i) != NULL; i++)
		try_language(c, session, language_at(i), settings->environment);
	while (c->waiting > 0)
		loop_turn(c->loop, -1);
}

/*
 * Turns off what would change something of the user's: shares, exports, the audit, prestarted
 * sandboxes.
 */
static void drop_side_effects(struct settings *settings)
{
	for (size_t i = 0; i < settings->share_count; i++)
		free(settings->shares[i].path);
	settings->share_count = 0;
	settings->spares = 0;
	settings->resume = 0;
	free(settings->audit);
	settings->audit = NULL;
	free(settings->keep);
	settings->keep = NULL;
}

/* Returns the length of the part of `path` that exists. */
static size_t existing_len(const char *path)
{
	cleanup_free char *part = xstrdup(path);
	char *slash = NULL;

	while (access(part, F_OK) < 0 && (slash = strrchr(part, '/')) != NULL && slash > part)
		*slash = '\0';
	return strlen(part);
}

/*
 * Removes the folders of `path` that did not exist before. A folder that another process has put
 * something into stays.
 */
static void remove_made(const char *path, size_t kept)
{
	cleanup_free char *part = xstrdup(path);
	char *slash;

	while (strlen(part) > kept && rmdir(part) == 0 && (slash = strrchr(part, '/')) != NULL)
		*slash = '\0';
}

static void run_checkup(struct checkup *c, struct settings *settings)
{
	bool closed = false;

	c->service = service_new(c->loop, settings, NULL);
	try_all(c, settings);
	service_close(c->service, doctor_note_end, &closed);
	doctor_turn_until(c->loop, &closed);
	service_free(c->service);
}

void doctor_languages(struct settings *settings, struct doctor_trials *ret_trials)
{
	size_t kept = existing_len(settings->home);
	struct checkup c = { .trials = ret_trials };
	struct err err;
	size_t count = 0;

	while (language_at(count) != NULL)
		count++;
	*ret_trials =
		(struct doctor_trials){ .languages = xcalloc(count, sizeof(struct doctor_trial)) };
	if (settings->problem != NULL)
		return;
	drop_side_effects(settings);
	c.loop = loop_new(clock_ms, &err);
	if (c.loop == NULL)
		return;
	run_checkup(&c, settings);
	loop_free(c.loop);
	remove_made(settings->home, kept);
}

void doctor_languages_release(struct doctor_trials *trials)
{
	for (size_t i = 0; language_at(i) != NULL; i++) {
		free(trials->languages[i].version);
		free(trials->languages[i].problem);
	}
	free(trials->languages);
	free(trials->home_problem);
}
