/* SPDX-License-Identifier: MIT */
/*
 * resources.c - resources/list, templates, read and the subscriptions of older revisions. A URI is
 * only checked for its form here; whether it exists is up to the features.
 */
#include "json/get.h"
#include "mcp/mcp_internal.h"

void mcp_resources_list(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	const char *cursor = NULL;
	struct err err;

	if (json_get_text(call->params, "params", "cursor", &cursor, NULL, &err) < 0)
		mcp_call_refuse_params(call, &err);
	else
		f->resources_list(call, cursor, f->context);
}

void mcp_resources_templates(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	json_t *templates;
	json_t *result;

	if (mcp_call_refused_cursor(call))
		return;
	templates = json_array();
	for (size_t i = 0; i < f->template_count; i++) {
		const struct mcp_resource_template *template = &f->templates[i];
		json_t *object = json_object();

		json_put_str(object, "uriTemplate", template->uri_template);
		json_put_str(object, "name", template->name);
		json_put_str(object, "description", template->description);
		json_put_str(object, "mimeType", template->mime_type);
		json_append(templates, object);
	}
	result = json_object();
	json_put(result, "resourceTemplates", templates);
	mcp_call_finish_result(call, result);
}

static bool is_scheme_char(char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		return true;
	return !first && ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.');
}

/* RFC 3986: a scheme, a colon, and no blanks or controls anywhere (RS-3). */
static bool is_uri(const char *uri)
{
	const char *p = uri;

	while (is_scheme_char(*p, p == uri))
		p++;
	if (p == uri || *p != ':')
		return false;
	for (; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return false;
	return true;
}

/* Returns NULL if the call was refused. */
static const char *read_uri(struct mcp_call *call)
{
	const char *uri = NULL;
	struct err err;

	if (json_get_required(call->params, "params", "uri", &err) == 0 &&
	    json_get_text(call->params, "params", "uri", &uri, NULL, &err) == 0) {
		if (is_uri(uri))
			return uri;
		(void)err_set(&err, ERR_INVALID, "params.uri is not a URI");
	}
	mcp_call_refuse_params(call, &err);
	return NULL;
}

void mcp_resources_read(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	const char *uri = read_uri(call);

	if (uri != NULL)
		f->resources_read(call, uri, f->context);
}

void mcp_resources_subscribe(struct mcp_call *call)
{
	struct mcp_server *server = call->server;
	const char *uri = read_uri(call);

	if (uri == NULL)
		return;
	if (json_object_size(server->legacy.subscribed) >= server->limits->listeners_max) {
		mcp_call_refuse(call, RPC_INTERNAL_ERROR, "Too many subscriptions", NULL);
		return;
	}
	json_put(server->legacy.subscribed, uri, json_true());
	mcp_call_finish_result(call, json_object());
}

void mcp_resources_unsubscribe(struct mcp_call *call)
{
	const char *uri = read_uri(call);

	if (uri == NULL)
		return;
	(void)json_object_del(call->server->legacy.subscribed, uri);
	mcp_call_finish_result(call, json_object());
}
