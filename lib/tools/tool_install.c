/* SPDX-License-Identifier: MIT */
/* tool_install.c - install_packages. */
#include <stdlib.h>

#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "session/confinement.h"
#include "text/clean.h"
#include "tools/installs.h"
#include "tools/service.h"
#include "tools/tool.h"

struct asked {
	const struct language *language;
	json_t *packages;
};

static int read_asked(const struct service *service, json_t *arguments, struct asked *ret,
		      struct err *err)
{
	static const char *const known[] = { "session_id", "packages", "language" };
	const char *language = "python";

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0 ||
	    json_get_required(arguments, "arguments", "session_id", err) < 0 ||
	    json_get_required(arguments, "arguments", "packages", err) < 0 ||
	    json_get_texts(arguments, "arguments", "packages", &ret->packages, err) < 0 ||
	    json_get_text(arguments, "arguments", "language", &language, NULL, err) < 0)
		return -1;
	ret->language = tool_find_language(service, language, err);
	return ret->language == NULL ? -1 : 0;
}

static json_t *name_rows(const json_t *rows)
{
	json_t *list = json_array();
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row) {
		const char *name = json_string_value(json_object_get(row, "name"));
		const char *version = json_string_value(json_object_get(row, "version"));
		cleanup_free char *clean_name = clean_quote(name);
		cleanup_free char *clean_version = clean_quote(version);

		json_append(list, json_make_fmt("%s %s", clean_name, clean_version));
	}
	return list;
}

static void on_installed(void *data, const json_t *result, const char *problem)
{
	struct installs_call *waiting = data;
	struct mcp_call *call = installs_call(waiting);
	struct service *service = installs_service(waiting);
	json_t *answer;

	if (result == NULL) {
		tool_fail_text(call, service, problem);
		return;
	}
	answer = json_object();
	json_put_str(answer, "session_id", installs_session_id(waiting));
	json_put(answer, "packages", name_rows(json_object_get(result, "packages")));
	json_put(answer, "present", name_rows(json_object_get(result, "present")));
	json_put(answer, "cached", json_incref(json_object_get(result, "cached")));
	json_put_str(answer, "message",
		     json_array_size(json_object_get(result, "packages")) > 0
			     ? "The next cell can import them; no restart is needed."
			     : "The interpreter has it already; nothing was installed.");
	tool_answer(call, service, answer);
}

static void on_late(struct installs_call *waiting)
{
	tool_fail_text(installs_call(waiting), installs_service(waiting),
		       "Still installing. Call install_packages again with the same packages to "
		       "wait for it.");
}

void tool_install_packages(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	const struct confinement *confinement = service_confinement(service);
	struct asked asked = { .packages = NULL };
	struct session *session;
	struct err err;

	if (read_asked(service, arguments, &asked, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	if (confinement != NULL && confinement_refusal(confinement) != NULL) {
		tool_fail_text(call, service, confinement_refusal(confinement));
		return;
	}
	session = tool_session(service, arguments, true, &err);
	if (session == NULL) {
		tool_fail(call, service, &err);
		return;
	}
	const struct installs_request request = { .call = call,
						  .service = service,
						  .session = session,
						  .language = asked.language,
						  .packages = asked.packages,
						  .done = on_installed,
						  .late = on_late };
	if (installs_start(&request, &err) < 0)
		tool_fail(call, service, &err);
}
