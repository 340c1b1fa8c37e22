/* SPDX-License-Identifier: MIT */
/*
 * prompts.c - prompts/list, prompts/get and completion/complete. Arguments are checked here, so
 * that a prompt's function gets all required ones, as strings.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "json/get.h"
#include "json/parse.h"
#include "mcp/mcp_internal.h"
#include "text/sanitize.h"

enum { COMPLETIONS_MAX = 100 };

void mcp_prompts_list(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	json_t *prompts;
	json_t *result;

	if (mcp_call_refused_cursor(call))
		return;
	prompts = json_array();
	for (size_t i = 0; i < f->prompt_count; i++) {
		const struct mcp_prompt *prompt = &f->prompts[i];
		json_t *object = json_object();

		json_put_str(object, "name", prompt->name);
		json_put_str(object, "description", prompt->description);
		if (prompt->arguments != NULL)
			json_put(object, "arguments", json_parse_const(prompt->arguments));
		json_append(prompts, object);
	}
	result = json_object();
	json_put(result, "prompts", prompts);
	mcp_call_finish_result(call, result);
}

static const struct mcp_prompt *find_prompt(const struct mcp_features *f, const char *name)
{
	for (size_t i = 0; i < f->prompt_count; i++)
		if (str_eq(f->prompts[i].name, name))
			return &f->prompts[i];
	return NULL;
}

/* Checks that required arguments are present and all are strings. */
static int check_arguments(const struct mcp_prompt *prompt, json_t *arguments, struct err *err)
{
	cleanup_json json_t *known = NULL;
	json_t *argument;
	json_t *value;
	const char *key;
	size_t i;

	json_object_foreach (arguments, key, value) {
		if (!json_is_string(value)) {
			cleanup_free char *quoted = sanitize_quote(key);

			return err_set(err, ERR_INVALID, "arguments.%s must be a string, not %s",
				       quoted, json_get_type_name(value));
		}
	}
	if (prompt->arguments == NULL)
		return 0;
	known = json_parse_const(prompt->arguments);
	json_array_foreach (known, i, argument) {
		const char *name = json_string_value(json_object_get(argument, "name"));

		if (json_is_true(json_object_get(argument, "required")) &&
		    json_get_required(arguments, "arguments", name, err) < 0)
			return -1;
	}
	return 0;
}

void mcp_prompts_get(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	const struct mcp_prompt *prompt = NULL;
	const char *name = NULL;
	json_t *arguments = NULL;
	struct err err;

	if (json_get_required(call->params, "params", "name", &err) < 0 ||
	    json_get_text(call->params, "params", "name", &name, NULL, &err) < 0 ||
	    json_get_object(call->params, "params", "arguments", &arguments, &err) < 0) {
		mcp_call_refuse_params(call, &err);
		return;
	}
	prompt = find_prompt(f, name);
	arguments = mcp_call_arguments(call);
	if (prompt == NULL) {
		cleanup_free char *quoted = sanitize_quote(name);

		(void)err_set(&err, ERR_NOT_FOUND, "Unknown prompt: %s", quoted);
	}
	if (prompt == NULL || check_arguments(prompt, arguments, &err) < 0) {
		mcp_call_refuse_params(call, &err);
		return;
	}
	prompt->get(call, arguments, f->context);
}

/* Checks that a reference names an offered prompt, or a URI. */
static int check_reference(const struct mcp_features *f, const json_t *ref, struct err *err)
{
	const char *type = json_string_value(json_object_get(ref, "type"));
	const char *name = json_string_value(json_object_get(ref, "name"));

	if (type != NULL && str_eq(type, "ref/prompt")) {
		if (name == NULL || find_prompt(f, name) == NULL)
			return err_set(err, ERR_NOT_FOUND, "params.ref names no known prompt");
		return 0;
	}
	if (type != NULL && str_eq(type, "ref/resource")) {
		if (!json_is_string(json_object_get(ref, "uri")))
			return err_set(err, ERR_INVALID, "params.ref.uri must be a string");
		return 0;
	}
	return err_set(err, ERR_INVALID, "params.ref.type must be ref/prompt or ref/resource");
}

static int read_completion(const struct mcp_call *call, json_t **ret_ref, json_t **ret_argument,
			   struct err *err)
{
	const char *name = NULL;
	const char *value = NULL;
	size_t value_len;

	if (json_get_required(call->params, "params", "ref", err) < 0 ||
	    json_get_object(call->params, "params", "ref", ret_ref, err) < 0 ||
	    json_get_required(call->params, "params", "argument", err) < 0 ||
	    json_get_object(call->params, "params", "argument", ret_argument, err) < 0 ||
	    json_get_required(*ret_argument, "params.argument", "name", err) < 0 ||
	    json_get_text(*ret_argument, "params.argument", "name", &name, NULL, err) < 0 ||
	    json_get_required(*ret_argument, "params.argument", "value", err) < 0 ||
	    json_get_text(*ret_argument, "params.argument", "value", &value, &value_len, err) < 0)
		return -1;
	return check_reference(call->server->features, *ret_ref, err);
}

void mcp_complete(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	json_t *argument = NULL;
	json_t *ref = NULL;
	struct err err;

	if (read_completion(call, &ref, &argument, &err) < 0)
		mcp_call_refuse_params(call, &err);
	else
		f->complete(call, ref, argument, f->context);
}

void mcp_call_finish_completion(struct mcp_call *call, json_t *values_own)
{
	json_t *completion = json_object();
	json_t *result = json_object();
	size_t total = json_array_size(values_own);

	while (json_array_size(values_own) > COMPLETIONS_MAX)
		(void)json_array_remove(values_own, json_array_size(values_own) - 1);
	json_put(completion, "values", values_own);
	json_put_int(completion, "total", (json_int_t)total);
	json_put_bool(completion, "hasMore", total > COMPLETIONS_MAX);
	json_put(result, "completion", completion);
	mcp_call_finish_result(call, result);
}
