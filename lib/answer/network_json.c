/* SPDX-License-Identifier: MIT */
/*
 * network_json.c - describes the network that code has: none, the allowed hosts by a proxy, or the
 * machine's own.
 *
 * Whether a cell failed for lack of network is guessed from the words of its errors. Package
 * managers are recognised apart, because their remedy is another tool and not another host.
 */
#include "answer/network_json.h"

#include <string.h>

#include "base/mem.h"
#include "confinement/confinement.h"
#include "json/make.h"
#include "proxy/proxy.h"
#include "session/session.h"
#include "text/sanitize.h"

enum mode { MODE_NONE, MODE_PROXY, MODE_HOST };

static enum mode mode_of(const struct confinement_facts *facts)
{
	if (facts->tier == POLICY_UNCONFINED && facts->refusal == NULL)
		return MODE_HOST;
	return facts->reaches_hosts ? MODE_PROXY : MODE_NONE;
}

static const char no_network[] = "Code has no network. The user can name hosts in PTYCELL_HOSTS.";
static const char no_effect[] =
	"Code has no network: PTYCELL_HOSTS needs a confinement tier with a "
	"network of its own.";

static const char *explain_mode(const struct settings *settings,
				const struct confinement_facts *facts, enum mode mode)
{
	switch (mode) {
	case MODE_HOST:
		return "Code uses the network of this machine as it likes.";
	case MODE_PROXY:
		return "Code reaches the allowed hosts by HTTP and HTTPS, through the proxy that its "
		       "environment names, and nothing else. Whatever it can read it can send there.";
	case MODE_NONE:
		break;
	}
	if (settings->hosts != NULL)
		return no_effect;
	/* Naming hosts helps only where there is a network to reach them by. */
	return facts->rooted ? no_network : "Code has no network.";
}

static void put_reach(struct buf *text, const char *hosts)
{
	buf_putf(text,
		 "Code reaches these hosts by HTTP and HTTPS, through the proxy that its "
		 "environment names (Node finds it from 22.21 on): %s. The user can name more in "
		 "PTYCELL_HOSTS.\n",
		 hosts);
}

static bool has_phrase(const char *text, const char *const *phrases)
{
	for (; text != NULL && *phrases != NULL; phrases++)
		if (strstr(text, *phrases) != NULL)
			return true;
	return false;
}

/* Searches for the words of Python, Node, curl, R and the C library. */
static bool has_network_error(const char *text)
{
	static const char *const phrases[] = {
		"Network is unreachable",
		"Temporary failure in name resolution",
		"Name or service not known",
		"No address associated with hostname",
		"ENETUNREACH",
		"EAI_AGAIN",
		"Could not resolve host",
		"Couldn't resolve host",
		"CONNECT tunnel failed",
		"from proxy after CONNECT",
		NULL,
	};

	return has_phrase(text, phrases);
}

/* Searches for the words of pip, npm, uv and R that ran in the session, and not through the server.
 */
static bool has_install_error(const char *text)
{
	static const char *const through_server[] = { "Asking ptycell to install ", NULL };
	static const char *const phrases[] = {
		"error: externally-managed-environment",
		"hint: See PEP 668 for the detailed specification.",
		"ERROR: No matching distribution found for ",
		"npm error code EAI_AGAIN",
		"npm ERR! code EAI_AGAIN",
		"npm error code ENOTCACHED",
		"npm ERR! code ENOTCACHED",
		"npm error network ",
		"npm ERR! network ",
		"error: Failed to fetch: `http",
		"unable to access index for repository http",
		NULL,
	};

	return has_phrase(text, phrases) && !has_phrase(text, through_server);
}

void network_json_explain(struct buf *text, const struct exec_result *result,
			  const struct confinement_facts *facts)
{
	const struct cell *cell = result->cell;
	bool failed = cell->state == CELL_RAISED ||
		      (cell->state == CELL_DONE && cell->has_exit_code && cell->exit_code != 0);
	enum mode mode = mode_of(facts);

	/* Cells that did not fail count, too: a failed installation rarely ends a script. */
	if (mode != MODE_HOST && (cell->state == CELL_DONE || cell->state == CELL_RAISED) &&
	    has_install_error(buf_str(&cell->text))) {
		buf_puts(text, "To install packages call install_packages, or run pip install NAME "
			       "or npm install NAME as they are on PATH. Another pip or npm "
			       "reaches no index.\n");
		return;
	}
	if (!failed ||
	    (!has_network_error(cell->traceback) && !has_network_error(buf_str(&cell->text))))
		return;
	if (mode == MODE_PROXY)
		put_reach(text, session_settings(result->session)->hosts);
	else if (mode == MODE_NONE)
		buf_putf(text,
			 "%s Data comes in by upload_file, or from a folder that the user "
			 "shares.\n",
			 explain_mode(session_settings(result->session), facts, mode));
}

void network_json_guide(struct buf *text, const struct settings *settings)
{
	if (settings->unconfined)
		return;
	buf_puts(text, "\n## Network\n\n");
	if (settings->hosts != NULL)
		put_reach(text, settings->hosts);
	else
		buf_putf(text, "%s\n", no_network);
}

static json_t *describe_row(const struct proxy_row *row)
{
	json_t *object = json_object();

	if (row->host[0] != '\0')
		json_put(object, "host", json_make_fmt("%s:%u", row->host, row->port));
	else
		json_put_str(object, "host", "others");
	json_put_int(object, "allowed", (json_int_t)row->allowed);
	json_put_int(object, "refused", (json_int_t)row->refused);
	json_put_int(object, "failed", (json_int_t)row->failed);
	json_put_int(object, "bytes_sent", (json_int_t)row->sent);
	json_put_int(object, "bytes_received", (json_int_t)row->received);
	json_put_str(object, "last", verdict_word(row->last));
	return object;
}

static void put_requests(json_t *object, const struct proxy *proxy)
{
	json_t *requests = json_array();
	const struct proxy_row *row;

	for (size_t i = 0; proxy != NULL && (row = proxy_row(proxy, i)) != NULL; i++)
		json_append(requests, describe_row(row));
	json_put(object, "requests", requests);
	if (proxy != NULL && proxy_problem(proxy) != NULL) {
		cleanup_free char *problem = sanitize_quote(proxy_problem(proxy));

		json_put_str(object, "problem", problem);
	}
}

json_t *network_json_describe(const struct settings *settings,
			      const struct confinement_facts *facts, const struct proxy *proxy)
{
	static const char *const names[] = {
		[MODE_NONE] = "none", [MODE_PROXY] = "proxy", [MODE_HOST] = "host"
	};
	enum mode mode = mode_of(facts);
	json_t *object = json_object();

	json_put_str(object, "mode", names[mode]);
	json_put_str(object, "explanation", explain_mode(settings, facts, mode));
	if (mode == MODE_PROXY) {
		json_put_str(object, "allowed", settings->hosts);
		put_requests(object, proxy);
	}
	return object;
}
