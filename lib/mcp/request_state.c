/* SPDX-License-Identifier: MIT */
/*
 * request_state.c - stores states behind requestState handles (MI-3).
 *
 * A handle is 128 random bits and holds no data, so it can be neither read nor forged. It works
 * once, for ten minutes, and only with the method and params for which it was issued.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/random.h"
#include "json/write.h"
#include "mcp/mcp_internal.h"

enum {
	HANDLE_LEN = 32,
	STATES_MAX = 64, /* then the oldest is dropped: a retry may never come (MI-5) */
	STATES_BYTES =
		4 << 20, /* of requests; then the oldest is dropped too. One alone may be larger */
	STATES_MS = 10 * 60 * 1000,
};

struct entry {
	char handle[HANDLE_LEN + 1]; /* "" if free */
	char *request;               /* the request that it belongs to */
	json_t *state;
	uint64_t until_ms;
};

struct mcp_states {
	struct entry entries[STATES_MAX];
	size_t next; /* a ring: the oldest entry */
	size_t bytes;
};

struct mcp_states *mcp_states_new(void)
{
	return xcalloc(1, sizeof(struct mcp_states));
}

static void clear_state(struct mcp_states *states, struct entry *entry)
{
	states->bytes -= entry->request != NULL ? strlen(entry->request) : 0;
	free(entry->request);
	json_decref(entry->state);
	*entry = (struct entry){ .until_ms = 0 };
}

void mcp_states_free(struct mcp_states *states)
{
	for (size_t i = 0; i < STATES_MAX; i++)
		clear_state(states, &states->entries[i]);
	free(states);
}

/*
 * Returns the request without members that differ between rounds, as comparable text. The caller
 * frees it.
 */
static char *describe_request(const struct mcp_call *call)
{
	cleanup_json json_t *params = json_copy(call->params);
	struct buf text;
	struct err err;

	(void)json_object_del(params, "_meta");
	(void)json_object_del(params, "inputResponses");
	(void)json_object_del(params, "requestState");
	buf_init(&text, BUF_UNBOUNDED);
	buf_puts(&text, call->method->name);
	if (json_write_sorted(&text, params, &err) < 0)
		abort(); /* it was parsed, so it can be written */
	return buf_steal(&text);
}

static void drop_oldest(struct mcp_states *states, const struct entry *newest)
{
	for (size_t i = 0; i < STATES_MAX && states->bytes > STATES_BYTES; i++) {
		struct entry *entry = &states->entries[(states->next + i) % STATES_MAX];

		if (entry != newest)
			clear_state(states, entry);
	}
}

json_t *mcp_states_put(struct mcp_states *states, const struct mcp_call *call, json_t *state_own)
{
	struct entry *entry = &states->entries[states->next];

	states->next = (states->next + 1) % STATES_MAX;
	clear_state(states, entry);
	random_hex(entry->handle, HANDLE_LEN);
	entry->request = describe_request(call);
	entry->state = state_own;
	entry->until_ms = loop_now(call->server->loop) + STATES_MS;
	states->bytes += strlen(entry->request);
	drop_oldest(states, entry);
	return json_make_str(entry->handle);
}

static struct entry *find_state(struct mcp_states *states, const char *handle)
{
	for (size_t i = 0; i < STATES_MAX; i++)
		if (states->entries[i].state != NULL && str_eq(states->entries[i].handle, handle))
			return &states->entries[i];
	return NULL;
}

json_t *mcp_states_take(struct mcp_states *states, const struct mcp_call *call,
			const json_t *handle)
{
	const char *text = json_string_value(handle);
	struct entry *entry = text != NULL ? find_state(states, text) : NULL;
	cleanup_free char *request = NULL;
	json_t *state = NULL;

	if (entry == NULL)
		return NULL;
	request = describe_request(call);
	if (entry->until_ms > loop_now(call->server->loop) && str_eq(entry->request, request))
		state = json_incref(entry->state);
	clear_state(states, entry);
	return state;
}
