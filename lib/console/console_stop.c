/* SPDX-License-Identifier: MIT */
/*
 * console_stop.c - ends sessions and cells at the user's request. The model learns who did it by
 * the reason of the session's end, or by a notice.
 */
#include "console/console_internal.h"
#include "json/make.h"
#include "session/session.h"
#include "session/table.h"

void console_stop(struct console *console, struct peer *peer, const json_t *request)
{
	struct err err;
	struct session *session = console_find(console, request, &err);
	bool lasts = session != NULL && session_lasts(session);
	json_t *reply;

	if (session == NULL || table_end_saved(console->service->table, session_id(session),
					       "the user ended it with ptycell stop", &err) < 0) {
		listener_refuse(peer, &err);
		return;
	}
	reply = json_object();
	json_put_bool(reply, "lasts", lasts);
	listener_answer(peer, reply);
}

void console_interrupt(struct console *console, struct peer *peer, const json_t *request)
{
	struct err err;
	struct session *session = console_find(console, request, &err);
	size_t count = session != NULL ? session_interrupt_all(session) : 0;
	json_t *reply;

	if (session != NULL && count == 0)
		(void)err_set(&err, ERR_NOT_FOUND, "no cell runs in session '%s'",
			      session_id(session));
	if (count == 0) {
		listener_refuse(peer, &err);
		return;
	}
	session_add_notice(session, "The user interrupted what ran, with ptycell stop --cell.");
	reply = json_object();
	json_put_int(reply, "cells", (json_int_t)count);
	listener_answer(peer, reply);
}
