/* SPDX-License-Identifier: MIT */
/*
 * gitindex.c - reads versions 2 to 4 of an index, as Documentation/gitformat-index describes them.
 * With threads git also reads from the offsets that the extensions EOIE and IEOT have. These must
 * be the offsets at which a reader from the start finds entries and extensions.
 */
#include "base/gitindex.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"

enum {
	HEADER = 12,
	STAT = 40, /* of an entry, before its hash */
	NAME_MASK = 0xfff,
	EXTENDED = 0x4000,
	EXTENSION = 8,   /* its name and length */
	BLOCKS_MIN = 12, /* of IEOT: its version, and one place with its count */
	DIGITS_MAX = 6,  /* of a number in MERGE_RR: git would read a long one as negative */
};

struct start {
	size_t offset;
	size_t copied; /* bytes of the path that are taken from the entry before */
};

struct reader {
	const unsigned char *data;
	size_t len; /* without the checksum at the end */
	size_t hash_len;
	uint32_t version;
	size_t at;
	struct buf path;
	struct start *starts;
	size_t count;
};

static uint32_t number_at(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- paths ---- */

/*
 * Returns whether a path of an index may have this part. On Windows' file systems (WSL) .git has a
 * second name, git~1.
 */
static bool is_part_sound(const char *part, size_t len)
{
	return len > 0 && !(len == 1 && part[0] == '.') &&
	       !(len == 2 && strncmp(part, "..", 2) == 0) &&
	       !(len == 4 && strncasecmp(part, ".git", 4) == 0) &&
	       !(len == 5 && strncasecmp(part, "git~1", 5) == 0);
}

/*
 * Judges a path whose first `copied` bytes are those of a sound one. The path is empty where an
 * entry of a split index replaces one of the shared index.
 */
static bool is_path_sound(const char *path, size_t copied)
{
	const char *slash = memrchr(path, '/', copied);

	if (slash != NULL)
		path = slash + 1;
	while (*path != '\0') {
		size_t len = strcspn(path, "/");

		if (!is_part_sound(path, len))
			return false;
		path += len + (path[len] == '/');
	}
	return true;
}

/* ---- entries ---- */

/* Reads how many bytes at the end of the previous path are dropped. */
static bool read_stripped(struct reader *r, size_t *ret)
{
	size_t value = 0;

	for (int i = 0; i < 4 && r->at < r->len; i++) {
		unsigned char c = r->data[r->at++];

		value = (i > 0 ? (value + 1) << 7 : 0) | (c & 0x7f);
		*ret = value;
		if ((c & 0x80) == 0)
			return true;
	}
	return false;
}

/* Cuts the path to the beginning that the next path shares with it. */
static bool read_common(struct reader *r, struct start *start)
{
	size_t stripped = 0;

	if (r->version >= 4 && (!read_stripped(r, &stripped) || stripped > r->path.len))
		return false;
	start->copied = r->version >= 4 ? r->path.len - stripped : 0;
	if (r->path.len > 0)
		r->path.data[start->copied] = '\0';
	r->path.len = start->copied;
	return true;
}

static bool read_entry(struct reader *r, struct start *start)
{
	size_t head = STAT + r->hash_len + 2;
	size_t size;
	uint32_t flags;
	size_t len;

	start->offset = r->at;
	if (r->len - r->at < head + 2)
		return false;
	flags = (uint32_t)r->data[r->at + head - 2] << 8 | r->data[r->at + head - 1];
	r->at += head + ((flags & EXTENDED) != 0 ? 2 : 0);
	if (!read_common(r, start))
		return false;
	len = strnlen((const char *)r->data + r->at, r->len - r->at);
	if (len == r->len - r->at)
		return false;
	buf_put(&r->path, (const char *)r->data + r->at, len);
	if ((flags & NAME_MASK) != NAME_MASK && (flags & NAME_MASK) != r->path.len)
		return false;
	if (r->path.len > PATH_MAX) /* no file has such a path, and many of them take long */
		return false;
	size = r->at - start->offset + len;
	r->at = start->offset + (r->version >= 4 ? size + 1 : (size + 8) / 8 * 8);
	return r->at <= r->len && is_path_sound(buf_str(&r->path), start->copied);
}

static bool read_entries(struct reader *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (!read_entry(r, &r->starts[i]))
			return false;
	return true;
}

/* ---- extensions ---- */

/* Checks the offsets at which threads begin (IEOT). */
static bool are_blocks_sound(const struct reader *r, size_t at, size_t len)
{
	size_t entry = 0;

	if (len < BLOCKS_MIN)
		return false;
	for (size_t i = 4; i + 8 <= len; i += 8) {
		if (entry >= r->count || r->starts[entry].copied != 0 ||
		    r->starts[entry].offset != number_at(r->data + at + i))
			return false;
		entry += number_at(r->data + at + i + 4);
	}
	return entry == r->count;
}

static bool read_extension(struct reader *r)
{
	const char *name = (const char *)r->data + r->at;
	size_t at = r->at + EXTENSION;
	size_t len;

	if (r->len - r->at < EXTENSION)
		return false;
	len = number_at(r->data + r->at + 4);
	if (len > r->len - at)
		return false;
	r->at = at + len;
	return strncmp(name, "IEOT", 4) != 0 || are_blocks_sound(r, at, len);
}

/* Checks the offset of the extensions that EOIE has, if EOIE with such a hash is at the end. */
static bool is_end_sound(const struct reader *r, size_t extensions, size_t hash_len)
{
	size_t size = EXTENSION + 4 + hash_len;
	const unsigned char *end = r->data + (r->len >= size ? r->len - size : 0);

	return r->len < HEADER + size || memcmp(end, "EOIE", 4) != 0 ||
	       number_at(end + EXTENSION) == extensions;
}

/*
 * Reads the index to its end. With SHA-256 git writes EOIE with a long hash, but looks for a short
 * one.
 */
static bool read_all(struct reader *r)
{
	if (!read_entries(r) || !is_end_sound(r, r->at, GITINDEX_HASH_SHORT) ||
	    !is_end_sound(r, r->at, r->hash_len))
		return false;
	while (r->at < r->len)
		if (!read_extension(r))
			return false;
	return true;
}

bool gitindex_is_sound(const char *data, size_t len, size_t hash_len)
{
	struct reader r = { .data = (const unsigned char *)data,
			    .hash_len = hash_len,
			    .at = HEADER,
			    .path = BUF_INIT(BUF_UNBOUNDED) };
	bool sound;

	if (len < HEADER + hash_len || memcmp(data, "DIRC", 4) != 0)
		return false;
	r.len = len - hash_len;
	r.version = number_at(r.data + 4);
	r.count = number_at(r.data + 8);
	if (r.version < 2 || r.version > 4 || r.count > r.len / (STAT + hash_len))
		return false;
	r.starts = xcalloc(r.count + 1, sizeof(*r.starts));
	sound = read_all(&r);
	free(r.starts);
	buf_release(&r.path);
	return sound;
}

/* ---- conflicts ---- */

static bool is_conflict_sound(const char *entry)
{
	size_t hash = strspn(entry, "0123456789abcdefABCDEF");
	const char *at = entry + hash;

	if (*at == '.') {
		size_t digits = strspn(++at, "0123456789");

		if (digits == 0 || digits > DIGITS_MAX)
			return false;
		at += digits;
	}
	return (hash / 2 == GITINDEX_HASH_SHORT || hash / 2 == GITINDEX_HASH_MAX) &&
	       hash % 2 == 0 && *at == '\t' && at[1] != '\0' && is_path_sound(at + 1, 0);
}

bool gitindex_are_conflicts_sound(const char *data, size_t len)
{
	for (size_t at = 0; at < len; at += strlen(data + at) + 1)
		if (!is_conflict_sound(data + at))
			return false;
	return true;
}
