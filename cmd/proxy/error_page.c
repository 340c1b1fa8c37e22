/* SPDX-License-Identifier: MIT */
/*
 * error_page.c - words a refusal. The reason phrase of the status line repeats the sentence,
 * because curl, pip and others print that line and drop the body. A header has the verdict's word
 * for programs.
 */
#include "error_page.h"

#include <string.h>

#include "base/mem.h"

struct row {
	int status;
	const char *what_to_do;
};

static const char ask_for_host[] = "; the user can add it to PTYCELL_HOSTS for new sessions";

static const struct row rows[] = {
	[VERDICT_ALLOWED] = { 200, "" },
	[VERDICT_MALFORMED] = { 400, "" },
	[VERDICT_NOT_LISTED] = { 403, ask_for_host },
	[VERDICT_FORBIDDEN] = { 403, "" },
	[VERDICT_PORT] = { 403, ask_for_host },
	[VERDICT_PRIVATE] = { 403,
			      "; the user can allow that with PTYCELL_ALLOW_PRIVATE_HOSTS=1 for new sessions" },
	[VERDICT_RESERVED] = { 403, "" },
	[VERDICT_TLS] = { 403, "" },
	[VERDICT_BYTES] = { 403, "; the user can raise it for new sessions" },
	[VERDICT_UNRESOLVED] = { 502, "" },
	[VERDICT_UNREACHABLE] = { 502, "" },
};
_Static_assert(ARRAY_SIZE(rows) == VERDICTS, "a row for each");

static const char *title(int status)
{
	return status == 400 ? "Bad Request" : status == 403 ? "Forbidden" : "Bad Gateway";
}

static char *sentence(enum verdict verdict, const struct host_port *to, const char *detail)
{
	cleanup_free char *what =
		to != NULL ? xasprintf("'%s:%u' %s", to->host, to->port, verdict_clause(verdict))
			   : xstrdup("this request cannot be answered");

	return xasprintf("ptycell: %s%s%s%s.", what, detail != NULL ? ": " : "",
			 detail != NULL ? detail : "", rows[verdict].what_to_do);
}

void error_page_write(struct buf *out, enum verdict verdict, const struct host_port *to,
		      const char *detail)
{
	cleanup_free char *text = sentence(verdict, to, detail);
	int status = rows[verdict].status;

	buf_putf(out,
		 "HTTP/1.1 %d %s - %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
		 "Content-Length: %zu\r\nX-Ptycell-Verdict: %s\r\nConnection: close\r\n\r\n%s\n",
		 status, title(status), text, strlen(text) + 1, verdict_word(verdict), text);
}

void error_page_write_alert(struct buf *out)
{
	static const unsigned char alert[] = { 21, 3, 3, 0, 2, 2, 112 };

	buf_put(out, alert, sizeof(alert));
}
