/* SPDX-License-Identifier: MIT */
/*
 * session_ask.c - the pipes by which programs of a session ask for packages. A session works
 * without them, so a failure is only logged.
 */
#include "base/log.h"
#include "session/asking.h"
#include "session/session_internal.h"

static void on_asked(struct ask *ask, const char *text, size_t len, void *data)
{
	struct session *s = data;

	s->host->asked(s->host->owner, s, ask, text, len);
}

static void on_gone(struct ask *ask, void *data)
{
	const struct session *s = data;

	s->host->ask_gone(s->host->owner, ask);
}

void session_ask_new(struct session *s)
{
	static const struct asking_handlers handlers = { .asked = on_asked, .gone = on_gone };
	struct err err;

	if (s->host->asked == NULL)
		return;
	s->asking = asking_new(s->host->loop, s->workspace, &handlers, s, &err);
	if (s->asking == NULL)
		log_warn("session", "%s: no program of it can ask for packages: %s", s->id,
			 err.msg);
}
