/* SPDX-License-Identifier: MIT */
#include "refuse.h"

#include <string.h>

#include "base/mem.h"

struct row {
	int status;
	const char *why; /* after "ptycell: 'a.example:443' " */
	const char *what_to_do;
};

static const char ask_for_host[] = "; the person can add it to PTYCELL_HOSTS for new sessions";

static const struct row rows[] = {
	[VERDICT_ALLOWED] = { 200, "is allowed", "" },
	[VERDICT_MALFORMED] = { 400, "cannot be asked for like this", "" },
	[VERDICT_NOT_LISTED] = { 403, "is not among the hosts that this session may reach",
				 ask_for_host },
	[VERDICT_FORBIDDEN] = { 403, "is forbidden by an entry of PTYCELL_HOSTS", "" },
	[VERDICT_PORT] = { 403, "may be reached, but not on this port", ask_for_host },
	[VERDICT_PRIVATE] = { 403, "leads to this machine or its networks",
			      "; the person can allow that with PTYCELL_ALLOW_PRIVATE_HOSTS=1 for new sessions" },
	[VERDICT_RESERVED] = { 403, "leads to an address that is not for sessions", "" },
	[VERDICT_TLS] = { 403, "is reached by TLS with its own name only", "" },
	[VERDICT_BYTES] = { 403, "is not reached: this session's PTYCELL_NET_MAX is used up",
			    "; the person can raise it for new sessions" },
	[VERDICT_UNRESOLVED] = { 502, "is not known to the name service", "" },
	[VERDICT_UNREACHABLE] = { 502, "does not answer", "" },
};
_Static_assert(ARRAY_SIZE(rows) == VERDICTS, "a row for each");

static const char *title(int status)
{
	return status == 400 ? "Bad Request" : status == 403 ? "Forbidden" : "Bad Gateway";
}

static char *sentence(enum verdict verdict, const struct host_port *to, const char *detail)
{
	const struct row *row = &rows[verdict];
	cleanup_free char *what = to != NULL ? xasprintf("'%s:%u' %s", to->host, to->port, row->why)
					     : xstrdup("this request cannot be answered");

	return xasprintf("ptycell: %s%s%s%s.", what, detail != NULL ? ": " : "",
			 detail != NULL ? detail : "", row->what_to_do);
}

void refuse_write(struct buf *out, enum verdict verdict, const struct host_port *to,
		  const char *detail)
{
	cleanup_free char *text = sentence(verdict, to, detail);
	int status = rows[verdict].status;

	buf_putf(out,
		 "HTTP/1.1 %d %s - %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
		 "Content-Length: %zu\r\nX-Ptycell-Verdict: %s\r\nConnection: close\r\n\r\n%s\n",
		 status, title(status), text, strlen(text) + 1, verdict_word(verdict), text);
}

void refuse_write_alert(struct buf *out)
{
	static const unsigned char alert[] = { 21, 3, 3, 0, 2, 2, 112 };

	buf_put(out, alert, sizeof(alert));
}
