/* SPDX-License-Identifier: MIT */
/* message.h - classifies a parsed JSON-RPC 2.0 message by its shape. */
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

/* Every answer repeats its request's id, so we refuse a longer string as an id. */
enum { RPC_ID_MAX = 1024 };

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE, RPC_INVALID };

/* All values are borrowed from the message. */
struct rpc_message {
	enum rpc_kind kind;
	json_t *id;         /* NULL if there is none, or none that can be repeated */
	const char *method; /* of requests and notifications */
	json_t *params;     /* as received, of any type; NULL if absent */
	json_t *result;     /* of responses: one of these two */
	json_t *error;
	const char *problem; /* of invalid messages: a sentence */
};

/* Classifies `value`. Never fails: a wrong message is RPC_INVALID. */
void rpc_message_read(json_t *value, struct rpc_message *ret);
/* Returns true for a string of bounded length, and for an integer. */
bool rpc_id_valid(const json_t *id);

/* An id as bytes. They differ if the ids or their JSON types differ. */
struct rpc_key {
	size_t len;
	char data[RPC_ID_MAX + 1];
};

/* Makes the key of an id, which must be valid. */
void rpc_key_of(const json_t *id, struct rpc_key *ret);

#endif
