/* SPDX-License-Identifier: MIT */
/* test_catalog.c - the texts that a model reads first must stay small: hosts cut or drop longer
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/schema.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "mcp/server.h"
#include "runtime/language.h"
#include "tools/catalog.h"
#include "tools/keys.h"

static const struct settings settings = { .call_budget = 86400,
					  .limits = { .exec_timeout = 604800 } };
static struct catalog *catalog;
static struct mcp_features features;
static struct buf out;

static void on_write(void *context, const char *line, size_t len)
{
	(void)context;
	buf_put(&out, line, len);
}

/* The result of tools/list as it goes over the wire. */
static json_t *list(void)
{
	static const struct mcp_limits limits = { 1 << 20, 16, 4 };
	static const char input[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		"\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";
	struct err err;
	struct loop *loop = loop_new(clock_ms, &err);
	struct mcp_server *server;
	const char *line;
	json_t *answer;
	json_t *result;

	buf_init(&out, BUF_UNBOUNDED);
	server = mcp_server_new(loop, &features, &limits, on_write);
	mcp_server_feed(server, input, sizeof(input) - 1);
	line = strstr(buf_str(&out), "\n{") + 1;
	answer = json_parse(line, strcspn(line, "\n"), &err);
	assert_non_null(answer);
	result = json_incref(json_object_get(answer, "result"));
	json_decref(answer);
	mcp_server_free(server);
	buf_release(&out);
	loop_free(loop);
	return result;
}

static void the_list_of_tools_fits_its_budget(void **state)
{
	json_t *result = list();
	char *text = json_write_text(result);

	(void)state;
	assert_true(json_array_size(json_object_get(result, "tools")) == features.tool_count);
	assert_in_range(strlen(text), 500, CATALOG_LIST_MAX);
	free(text);
	json_decref(result);
}

static void every_tool_has_its_texts_and_fits(void **state)
{
	(void)state;
	for (size_t i = 0; i < features.tool_count; i++) {
		const struct mcp_tool *tool = &features.tools[i];

		assert_non_null(tool->title);
		assert_non_null(tool->call);
		assert_in_range(strlen(tool->description), 20, CATALOG_DESCRIPTION_MAX - 1);
	}
}

static void exec_sql_names_the_databases_that_it_asks(void **state)
{
	static const char *const databases[] = { "PostgreSQL", "MariaDB", "MySQL", "SQLite" };
	const char *description = "";

	(void)state;
	for (size_t i = 0; i < features.tool_count; i++)
		if (str_eq(features.tools[i].name, "exec_sql"))
			description = features.tools[i].description;
	for (size_t i = 0; i < ARRAY_SIZE(databases); i++)
		assert_non_null(strstr(description, databases[i]));
}

static void the_instructions_tell_the_budget_that_holds(void **state)
{
	(void)state;
	assert_in_range(strlen(features.instructions), 100, CATALOG_INSTRUCTIONS_MAX - 1);
	assert_non_null(strstr(features.instructions, "A call answers within 86400 s;"));
}

/*
 * More than JSON Schema asks for: VS Code refuses an array whose items are not described, OpenAI's
 * models a node without a type and an object whose properties are open, Google's an enumeration
 * without a type.
 */
static void check_node(const char *tool, const char *name, const json_t *node)
{
	const char *type = json_string_value(json_object_get(node, "type"));
	const json_t *choices = json_object_get(node, "anyOf");
	const char *key;
	size_t index;
	json_t *child;

	json_array_foreach (choices, index, child)
		check_node(tool, name, child);
	if (type == NULL && json_array_size(choices) == 0)
		fail_msg("%s of %s has no type", name, tool);
	if (type == NULL)
		return;
	if (str_eq(type, "array"))
		check_node(tool, name, json_object_get(node, "items"));
	if (str_eq(type, "object") && json_object_size(json_object_get(node, "properties")) == 0)
		fail_msg("%s of %s is open", name, tool);
	json_object_foreach (json_object_get(node, "properties"), key, child) {
		check_node(tool, key, child);
		if (json_object_get(child, "description") == NULL)
			fail_msg("%s of %s of %s says nothing", key, name, tool);
	}
}

static void check_closed(const char *tool, const json_t *node)
{
	const char *type = json_string_value(json_object_get(node, "type"));
	const json_t *properties = json_object_get(node, "properties");
	const char *key;
	json_t *child;

	if (type == NULL && json_object_get(node, "anyOf") == NULL)
		fail_msg("a part of what %s answers has no type", tool);
	if (type != NULL && str_eq(type, "array"))
		check_closed(tool, json_object_get(node, "items"));
	if (type != NULL && str_eq(type, "object") && json_object_size(properties) == 0)
		fail_msg("an object of what %s answers is open", tool);
	json_object_foreach (json_object_get(node, "properties"), key, child)
		check_closed(tool, child);
}

static void every_answer_says_its_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < features.tool_count; i++) {
		const char *text = features.tools[i].output_schema;
		cleanup_json json_t *schema = text != NULL ? json_parse_const(text) : NULL;

		if (schema != NULL)
			check_closed(features.tools[i].name, schema);
	}
}

static void every_argument_says_its_type_and_what_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < features.tool_count; i++) {
		cleanup_json json_t *schema = json_parse_const(features.tools[i].input_schema);
		const char *name;
		json_t *argument;

		json_object_foreach (json_object_get(schema, "properties"), name, argument) {
			check_node(features.tools[i].name, name, argument);
			if (json_object_get(argument, "description") == NULL)
				fail_msg("%s of %s", name, features.tools[i].name);
		}
	}
}

static bool is_language(const char *word)
{
	return language_find(word) != NULL && str_eq(language_find(word)->name, word);
}

static bool is_key(const char *word)
{
	const char *bytes;
	size_t len;

	return keys_find(word, &bytes, &len);
}

static bool is_limit(const char *word)
{
	for (size_t i = 0; i < schema_count(); i++)
		if (schema_at(i)->key != NULL && str_eq(schema_at(i)->key, word))
			return true;
	return false;
}

static void languages_keys_and_limits_are_those_that_there_are(void **state)
{
	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < features.tool_count; i++) {
		cleanup_json json_t *schema = json_parse_const(features.tools[i].input_schema);
		const json_t *properties = json_object_get(schema, "properties");
		const json_t *words =
			json_object_get(json_object_get(properties, "language"), "enum");
		const char *name;
		json_t *word;
		size_t index;

		json_array_foreach (words, index, word)
			assert_true(is_language(json_string_value(word)));
		checked += json_array_size(words);
		words = json_object_get(json_object_get(properties, "key"), "enum");
		json_array_foreach (words, index, word)
			assert_true(is_key(json_string_value(word)));
		checked += json_array_size(words);
		json_object_foreach (
			json_object_get(json_object_get(properties, "config"), "properties"), name,
			word)
			assert_true(is_limit(name));
	}
	assert_in_range(checked, 4 + 4 + 3 + 26, 100);
}

static void defaults_are_those_of_the_settings(void **state)
{
	const char *exec_code = features.tools[0].input_schema;

	(void)state;
	assert_non_null(strstr(exec_code, "default 604800\""));
	assert_non_null(strstr(exec_code, "default 86400;"));
}

/* The server fills in numbers in the instructions and in the schemas of arguments only. */
static void no_text_has_a_number_that_is_not_filled_in(void **state)
{
	json_t *result = list();
	char *text = json_write_text(result);

	(void)state;
	assert_null(strstr(text, "{call_budget}"));
	assert_null(strstr(text, "{exec_timeout}"));
	free(text);
	json_decref(result);
}

static void answers_are_described_where_they_are_objects(void **state)
{
	struct settings json = settings;
	struct catalog *other;
	struct mcp_features plain;

	(void)state;
	json.results = RESULTS_JSON;
	other = catalog_new(&json);
	catalog_features(other, &plain);
	for (size_t i = 0; i < features.tool_count; i++) {
		bool runs = str_eq(features.tools[i].name, "exec_code") ||
			    str_eq(features.tools[i].name, "interact");

		assert_int_equal(features.tools[i].output_schema == NULL, runs);
		assert_null(plain.tools[i].output_schema);
	}
	catalog_free(other);
}

/* Unknown arguments are refused by the tools themselves, which list what there is. */
static void schemas_are_objects_and_name_what_they_require(void **state)
{
	(void)state;
	for (size_t i = 0; i < features.tool_count; i++) {
		json_t *schema = json_parse_const(features.tools[i].input_schema);
		json_t *annotations = json_parse_const(features.tools[i].annotations);
		json_t *required = json_object_get(schema, "required");
		size_t index;
		json_t *name;

		assert_string_equal(json_string_value(json_object_get(schema, "type")), "object");
		/* TL-3 */
		if (json_object_size(json_object_get(schema, "properties")) == 0)
			assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
		json_array_foreach (required, index, name)
			assert_non_null(json_object_get(json_object_get(schema, "properties"),
							json_string_value(name)));
		assert_true(json_is_object(annotations));
		json_decref(schema);
		json_decref(annotations);
	}
}

static int set_up(void **state)
{
	(void)state;
	catalog = catalog_new(&settings);
	catalog_features(catalog, &features);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	catalog_free(catalog);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_of_tools_fits_its_budget),
		cmocka_unit_test(every_tool_has_its_texts_and_fits),
		cmocka_unit_test(exec_sql_names_the_databases_that_it_asks),
		cmocka_unit_test(the_instructions_tell_the_budget_that_holds),
		cmocka_unit_test(every_answer_says_its_types),
		cmocka_unit_test(every_argument_says_its_type_and_what_it_is),
		cmocka_unit_test(languages_keys_and_limits_are_those_that_there_are),
		cmocka_unit_test(defaults_are_those_of_the_settings),
		cmocka_unit_test(no_text_has_a_number_that_is_not_filled_in),
		cmocka_unit_test(answers_are_described_where_they_are_objects),
		cmocka_unit_test(schemas_are_objects_and_name_what_they_require),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
