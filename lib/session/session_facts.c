/* SPDX-License-Identifier: MIT */
/* session_facts.c - what a session is: its id, its parts, its state, its notices. */
#include <ctype.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "session/session.h"
#include "session/session_internal.h"
#include "session/watchdog.h"

/* ---- ids ---- */

int session_id_check(const char *id, struct err *err)
{
	static const char rule[] = "session_id must be 1 to 64 characters of A-Z a-z 0-9 . _ -, "
				   "beginning with a letter or digit";
	size_t len = strlen(id);

	if (len == 0 || len > SESSION_ID_MAX || !isascii(id[0]) || !isalnum((unsigned char)id[0]))
		return err_set(err, ERR_INVALID, "%s", rule);
	for (size_t i = 0; i < len; i++)
		if (!isascii(id[i]) ||
		    (!isalnum((unsigned char)id[i]) && strchr("._-", id[i]) == NULL))
			return err_set(err, ERR_INVALID, "%s", rule);
	return 0;
}

/* ---- accessors ---- */

const char *session_id(const struct session *s)
{
	return s->id;
}

uint64_t session_generation(const struct session *s)
{
	return s->generation;
}

uint64_t session_first_cell(const struct session *s)
{
	return s->first_cell;
}

uint64_t session_newest_cell(const struct session *s)
{
	return s->next_cell - 1;
}

const struct language *session_last_language(const struct session *s)
{
	return s->last_language;
}

const struct workspace *session_workspace(const struct session *s)
{
	return s->workspace;
}

const struct confinement *session_confinement(const struct session *s)
{
	return s->host->confinement;
}

const struct settings *session_settings(const struct session *s)
{
	return s->host->settings;
}

const struct proxy *session_proxy(const struct session *s)
{
	return s->proxy;
}

const struct uploads *session_uploads(const struct session *s)
{
	return s->uploads;
}

struct journal *session_journal(const struct session *s)
{
	return s->journal;
}

const struct session_limits *session_limits(const struct session *s)
{
	return &s->limits;
}

uint64_t session_age_ms(const struct session *s)
{
	return loop_now(s->host->loop) - s->created_ms;
}

uint64_t session_idle_ms(const struct session *s)
{
	return session_busy(s) ? 0 : loop_now(s->host->loop) - s->used_ms;
}

uint64_t session_memory(const struct session *s)
{
	return watchdog_memory(s->watchdog);
}

void session_touch(struct session *s)
{
	s->used_ms = loop_now(s->host->loop);
}

const struct runner *session_runner(const struct session *s, size_t index)
{
	return index < s->language_count ? s->languages[index].runner : NULL;
}

void session_hold(struct session *s)
{
	s->holds++;
}

void session_release_hold(struct session *s)
{
	s->holds--;
	session_touch(s);
}

uint64_t session_take_number(struct session *s)
{
	session_record(s);
	return s->next_cell++;
}

bool session_busy(const struct session *s)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (runner_state(s->languages[i].runner) == RUNNER_STARTING)
			return true;
	return session_has_work(s);
}

bool session_has_work(const struct session *s)
{
	for (size_t i = 0; i < s->language_count; i++) {
		const struct runner *runner = s->languages[i].runner;

		if (runner_busy(runner) &&
		    (runner_state(runner) != RUNNER_STARTING || runner_queued(runner) > 0))
			return true;
	}
	return !list_empty(&s->execs) || s->keeping != NULL || s->holds > 0;
}

bool session_overdue(const struct session *s)
{
	size_t overdue = 0;

	for (size_t i = 0; i < s->language_count; i++)
		overdue += runner_in_grace(s->languages[i].runner);
	return overdue > 0 && list_len(&s->execs) == overdue && s->keeping == NULL && s->holds == 0;
}

const char *session_state(const struct session *s)
{
	bool starting = false;
	bool running = false;

	for (size_t i = 0; i < s->language_count; i++) {
		const struct runner *runner = s->languages[i].runner;

		if (runner_state(runner) == RUNNER_BUSY && runner_wait(runner) != NULL)
			return "waiting_for_input";
		running = running || runner_state(runner) == RUNNER_BUSY;
		starting = starting || runner_state(runner) == RUNNER_STARTING;
	}
	return running ? "running" : starting ? "starting" : "idle";
}

char *session_take_notice(struct session *s)
{
	char *const texts[] = { session_inspection_take(s), notices_take(&s->notices),
				mem_steal(&s->restore_report) };
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (texts[i] != NULL)
			buf_putf(&out, "%s%s", out.len > 0 ? "\n" : "", texts[i]);
		free(texts[i]);
	}
	return out.len > 0 ? buf_steal(&out) : NULL;
}

void session_add_notice(struct session *s, const char *text)
{
	notices_add(&s->notices, text);
}

void session_set_ways_back(struct session *s, char *text_own)
{
	free(s->ways_back);
	s->ways_back = text_own;
}

void session_forget_ways_back(struct session *s)
{
	if (s->ways_back != NULL)
		notices_cut(&s->notices, s->ways_back);
	mem_cleanup(&s->ways_back);
}

void session_add_notice_about(struct session *s, uint64_t subject, const char *text)
{
	notices_add_about(&s->notices, subject, text);
}

void session_withdraw_notice(struct session *s, uint64_t subject)
{
	notices_withdraw(&s->notices, subject);
}
