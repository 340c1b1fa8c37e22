/* SPDX-License-Identifier: MIT */
/*
 * console_type.c - types what the user typed in `ptycell attach`. The model learns of it by a
 * notice, one for what was typed into a cell and one for its interrupts.
 */
#include "base/mem.h"
#include "console/console_internal.h"
#include "json/get.h"
#include "json/make.h"
#include "session/session.h"

enum { INTERRUPT = 003, QUIT = 034 }; /* keys */

/* `did` is "typed into" or "interrupted". */
static void note_typing(struct console *console, struct session *session, uint64_t cell,
			const char *did)
{
	cleanup_free char *place =
		xasprintf("%s %s#%ju", did, session_id(session), (uintmax_t)cell);
	cleanup_free char *notice = NULL;

	if (console->typed != NULL && str_eq(console->typed, place))
		return;
	notice = xasprintf("The user %s cell %ju, with ptycell attach.", did, (uintmax_t)cell);
	session_add_notice(session, notice);
	free(console->typed);
	console->typed = mem_steal(&place);
}

static int find_kind(const json_t *request, enum runner_typing *ret, struct err *err)
{
	static const char *const words[] = {
		[TYPE_LINE] = "line", [TYPE_RAW] = "raw", [TYPE_KEY] = "key"
	};
	const char *word = "line";

	if (json_get_text(request, "request", "kind", &word, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!str_eq(words[i], word))
			continue;
		*ret = (enum runner_typing)i;
		return 0;
	}
	return err_set(err, ERR_INVALID, "request.kind must be line, raw or key");
}

/*
 * Returns the number of the cell, and in *ret_did what the user did to it; 0 and sets *err if none
 * gets it.
 */
static uint64_t type(struct session *session, const json_t *request, const char **ret_did,
		     struct err *err)
{
	enum runner_typing kind = TYPE_LINE;
	const char *text = "";
	size_t len = 0;

	if (json_get_required(request, "request", "text", err) < 0 ||
	    json_get_text(request, "request", "text", &text, &len, err) < 0 ||
	    find_kind(request, &kind, err) < 0)
		return 0;
	*ret_did = kind == TYPE_KEY && (text[0] == INTERRUPT || text[0] == QUIT) ? "interrupted"
										 : "typed into";
	return session_type(session, kind, text, len, err);
}

void console_type(struct console *console, struct peer *peer, const json_t *request)
{
	struct err err;
	struct session *session = console_find(console, request, &err);
	const char *did = NULL;
	uint64_t cell = session != NULL ? type(session, request, &did, &err) : 0;
	json_t *reply;

	if (cell == 0) {
		listener_refuse(peer, &err);
		return;
	}
	note_typing(console, session, cell, did);
	reply = json_object();
	json_put_int(reply, "cell", (json_int_t)cell);
	listener_answer(peer, reply);
}
