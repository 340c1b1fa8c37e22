/* SPDX-License-Identifier: MIT */
/*
 * message.c - distinguishes requests, notifications and responses. A message that has the shape of
 * a response is never answered, however wrong it is: two peers that answer each other's errors
 * would never stop.
 */
#include "rpc/message.h"

#include <assert.h>
#include <string.h>

bool rpc_id_valid(const json_t *id)
{
	if (json_is_string(id))
		return json_string_length(id) <= RPC_ID_MAX;
	return json_is_integer(id);
}

void rpc_key_of(const json_t *id, struct rpc_key *ret)
{
	json_int_t number = json_integer_value(id);

	assert(rpc_id_valid(id));
	ret->data[0] = json_is_string(id) ? 's' : 'i';
	if (json_is_string(id)) {
		memcpy(ret->data + 1, json_string_value(id), json_string_length(id));
		ret->len = json_string_length(id) + 1;
	} else {
		memcpy(ret->data + 1, &number, sizeof(number));
		ret->len = sizeof(number) + 1;
	}
}

static void set_invalid(struct rpc_message *message, const char *problem)
{
	message->kind = RPC_INVALID;
	message->problem = problem;
}

static bool is_version_2(const json_t *object)
{
	const char *version = json_string_value(json_object_get(object, "jsonrpc"));

	return version != NULL && str_eq(version, "2.0");
}

/* Returns the method; NULL if it is no string, or holds NUL, which no known name does. */
static const char *method_name(const json_t *method)
{
	const char *name = json_string_value(method);

	return name != NULL && strlen(name) == json_string_length(method) ? name : NULL;
}

void rpc_message_read(json_t *value, struct rpc_message *ret)
{
	json_t *id = json_object_get(value, "id");
	json_t *method = json_object_get(value, "method");

	*ret = (struct rpc_message){
		.id = rpc_id_valid(id) ? id : NULL,
		.method = method_name(method),
		.params = json_object_get(value, "params"),
		.result = json_object_get(value, "result"),
		.error = json_object_get(value, "error"),
	};
	if (!json_is_object(value)) {
		set_invalid(ret, "a message must be an object");
	} else if (method == NULL) {
		/* Two peers that answer each other's broken responses would never stop. */
		ret->kind = RPC_RESPONSE;
		if (ret->result == NULL && ret->error == NULL)
			set_invalid(ret, "a message needs a method, a result or an error");
	} else if (!is_version_2(value)) {
		set_invalid(ret, "jsonrpc must be \"2.0\"");
	} else if (ret->method == NULL) {
		set_invalid(ret, "method must be a string");
	} else if (id != NULL && ret->id == NULL) {
		set_invalid(ret, "id must be a string of at most 1024 bytes or a 64-bit integer");
	} else {
		ret->kind = id != NULL ? RPC_REQUEST : RPC_NOTIFICATION;
	}
}
