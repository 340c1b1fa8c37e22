/* SPDX-License-Identifier: MIT */
/*
 * message.h - what a parsed JSON-RPC 2.0 message is, by its shape.
 */
#ifndef RPC_MESSAGE_H
#define RPC_MESSAGE_H

#include <jansson.h>
#include <stddef.h>

#include "base/buf.h"

enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
};

/* An id is echoed in every answer: a longer string is no legal id for us. */
enum { RPC_ID_MAX = 1024 };

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE, RPC_INVALID };

/* All values are borrowed from the message. */
struct rpc_message {
	enum rpc_kind kind;
	json_t *id;         /* NULL when there is none, or none that can be echoed */
	const char *method; /* of requests and notifications */
	json_t *params;     /* as it came, any type; NULL when absent */
	json_t *result;     /* of responses: one of the two */
	json_t *error;
	const char *problem; /* of invalid ones: a sentence */
};

void rpc_message_read(json_t *value, struct rpc_message *ret);
/* True for a string of bounded length or an integer. */
bool rpc_id_valid(const json_t *id);

/* An id as bytes that differ when the ids or their JSON types differ. */
struct rpc_key {
	size_t len;
	char data[RPC_ID_MAX + 1];
};

/* `id` is valid. */
void rpc_key_of(const json_t *id, struct rpc_key *ret);

#endif
