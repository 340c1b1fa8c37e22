/* SPDX-License-Identifier: MIT */
/*
 * content.c - content blocks, and their conversion for revisions that do not know them (1.7). A
 * client that validates results fails on an unknown `type`, so unknown blocks become text.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "json/get.h"
#include "json/write.h"
#include "mcp/mcp_internal.h"
#include "text/base64.h"

static json_t *make_block(const char *type)
{
	json_t *block = json_object();

	json_put_str(block, "type", type);
	return block;
}

json_t *mcp_text(const char *text, size_t len)
{
	json_t *block = make_block("text");

	json_put(block, "text", json_make_text(text, len));
	return block;
}

static json_t *make_base64(const void *data, size_t len)
{
	struct buf out;
	json_t *text;

	buf_init(&out, BUF_UNBOUNDED);
	base64_encode(&out, data, len);
	text = json_make_text(buf_str(&out), out.len);
	buf_release(&out);
	return text;
}

static json_t *make_data_block(const char *type, const void *data, size_t len,
			       const char *mime_type)
{
	json_t *block = make_block(type);

	json_put(block, "data", make_base64(data, len));
	json_put_str(block, "mimeType", mime_type);
	return block;
}

json_t *mcp_image(const void *data, size_t len, const char *mime_type)
{
	return make_data_block("image", data, len, mime_type);
}

json_t *mcp_audio(const void *data, size_t len, const char *mime_type)
{
	return make_data_block("audio", data, len, mime_type);
}

json_t *mcp_resource_link(const char *uri, const char *name, const char *mime_type, json_int_t size)
{
	json_t *block = make_block("resource_link");

	json_put_str(block, "uri", uri);
	json_put_str(block, "name", name);
	json_put_str(block, "mimeType", mime_type);
	if (size >= 0)
		json_put_int(block, "size", size);
	return block;
}

static json_t *make_resource(const char *uri, const char *mime_type)
{
	json_t *resource = json_object();

	json_put_str(resource, "uri", uri);
	json_put_str(resource, "mimeType", mime_type);
	return resource;
}

json_t *mcp_resource_text(const char *uri, const char *mime_type, const char *text, size_t len)
{
	json_t *resource = make_resource(uri, mime_type);

	json_put(resource, "text", json_make_text(text, len));
	return resource;
}

json_t *mcp_resource_blob(const char *uri, const char *mime_type, const void *data, size_t len)
{
	json_t *resource = make_resource(uri, mime_type);

	json_put(resource, "blob", make_base64(data, len));
	return resource;
}

json_t *mcp_embedded(json_t *resource_own)
{
	json_t *block = make_block("resource");

	json_put(block, "resource", resource_own);
	return block;
}

/* ---- conversion ---- */

static json_t *link_to_text(const json_t *block)
{
	json_t *text = make_block("text");

	json_put(text, "text",
		 json_make_fmt("%s: %s", json_text_at(block, "name"), json_text_at(block, "uri")));
	return text;
}

static json_t *audio_to_resource(const json_t *block)
{
	json_t *resource = make_resource("audio:inline", json_text_at(block, "mimeType"));

	json_put(resource, "blob", json_incref(json_object_get(block, "data")));
	return mcp_embedded(resource);
}

/* Converts a block to text: an unknown type would be fatal to the client. */
static json_t *unknown_to_text(const json_t *block)
{
	char *dump = json_write_text(block);
	json_t *text = mcp_text(dump, strlen(dump));

	free(dump);
	return text;
}

json_t *mcp_content_convert_block(json_t *block_own, enum mcp_revision revision)
{
	const char *type = json_text_at(block_own, "type");
	json_t *other;

	if (str_eq(type, "text") || str_eq(type, "image") || str_eq(type, "resource"))
		return block_own;
	if (str_eq(type, "resource_link")) {
		if (revision >= MCP_2025_06_18)
			return block_own;
		other = link_to_text(block_own);
	} else if (str_eq(type, "audio")) {
		if (revision >= MCP_2025_03_26)
			return block_own;
		other = audio_to_resource(block_own);
	} else {
		other = unknown_to_text(block_own);
	}
	json_decref(block_own);
	return other;
}

json_t *mcp_content_convert(json_t *content_own, enum mcp_revision revision)
{
	json_t *block;
	size_t i;

	if (content_own == NULL)
		return json_array();
	json_array_foreach (content_own, i, block) {
		json_t *known = mcp_content_convert_block(json_incref(block), revision);

		if (known == block)
			json_decref(known);
		else if (json_array_set_new(content_own, i, known) < 0)
			abort();
	}
	return content_own;
}
