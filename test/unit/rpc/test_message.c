/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json/make.h"
#include "json/parse.h"
#include "rpc/message.h"

struct row {
	const char *text;
	enum rpc_kind kind;
	bool has_id;
};

static const struct row rows[] = {
	{ "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"m\"}", RPC_REQUEST, true },
	{ "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\"}", RPC_REQUEST, true },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":1}", RPC_REQUEST, true },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", RPC_NOTIFICATION, false },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", RPC_RESPONSE, true },
	{ "{\"id\":null,\"error\":{}}", RPC_RESPONSE, false },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", RPC_INVALID, false },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"m\"}", RPC_INVALID, false },
	{ "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"m\"}", RPC_INVALID, false },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", RPC_INVALID, true },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000b\"}", RPC_INVALID, true },
	{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", RPC_INVALID, true },
	{ "{\"id\":1,\"method\":\"m\"}", RPC_INVALID, true },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID, true },
	{ "{}", RPC_INVALID, false },
	{ "[]", RPC_INVALID, false },
	{ "\"m\"", RPC_INVALID, false },
};

static void RP_2_the_shape_tells_the_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_json json_t *value = json_parse_const(rows[i].text);
		struct rpc_message message;

		rpc_message_read(value, &message);
		if (message.kind != rows[i].kind || (message.id != NULL) != rows[i].has_id)
			fail_msg("kind %d: %s", (int)message.kind, rows[i].text);
		if (message.kind == RPC_INVALID)
			assert_non_null(message.problem);
	}
}

static bool same_key(const char *a, const char *b)
{
	cleanup_json json_t *id_a = json_parse_const(a);
	cleanup_json json_t *id_b = json_parse_const(b);
	struct rpc_key key_a;
	struct rpc_key key_b;

	rpc_key_of(id_a, &key_a);
	rpc_key_of(id_b, &key_b);
	return key_a.len == key_b.len && memcmp(key_a.data, key_b.data, key_a.len) == 0;
}

static void RP_1_ids_differ_by_value_and_type(void **state)
{
	(void)state;
	assert_true(same_key("0", "0"));
	assert_true(same_key("\"a\"", "\"\\u0061\""));
	assert_false(same_key("0", "\"0\""));
	assert_false(same_key("0", "\"\""));
	assert_false(same_key("1", "2"));
	assert_false(same_key("\"a\"", "\"a\\u0000\""));
}

static void an_id_has_a_greatest_length(void **state)
{
	static char text[RPC_ID_MAX + 1];
	json_t *fits;
	json_t *too_long;

	(void)state;
	memset(text, 'x', sizeof(text));
	fits = json_make_text(text, RPC_ID_MAX);
	too_long = json_make_text(text, RPC_ID_MAX + 1);
	assert_true(rpc_id_valid(fits));
	assert_false(rpc_id_valid(too_long));
	assert_false(rpc_id_valid(NULL));
	json_decref(fits);
	json_decref(too_long);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(RP_2_the_shape_tells_the_kind),
		cmocka_unit_test(RP_1_ids_differ_by_value_and_type),
		cmocka_unit_test(an_id_has_a_greatest_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
