/* SPDX-License-Identifier: MIT */
/*
 * names.c - compares the names of a bash before and after a cell by hashes of their values. Both
 * lists are sorted. Only the first NAMES_MAX names are compared, because the work is done in the
 * server.
 */
#include "runtime/bash/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/bash/declaration.h"

enum {
	NAMES_SHOWN = 20,  /* reported with the end of a cell */
	NAMES_MAX = 20000, /* compared, the first ones; more would delay other sessions */
	PREVIEW_BYTES = 200,
};

struct name {
	char *name;
	uint64_t hash;
	bool function;
	bool initial; /* unchanged since the start */
};

void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].name);
	free(names->items);
	*names = (struct names){ .count = 0 };
}

static int by_name(const void *a, const void *b)
{
	const struct name *left = a;
	const struct name *right = b;
	int order = strcmp(left->name, right->name);

	return order != 0 ? order : (int)left->function - (int)right->function;
}

static void add_name(struct names *names, const struct declaration *d)
{
	if (names->count == names->cap) {
		names->cap = names->cap > 0 ? 2 * names->cap : 64;
		names->items = xrealloc(names->items, names->cap * sizeof(*names->items));
	}
	names->items[names->count++] = (struct name){
		.name = xmemdup(d->name, d->name_len),
		.hash = declaration_hash(d),
		.function = d->type[0] == 'f',
	};
}

static struct names read_names(const char *text, size_t len)
{
	struct names names = { .count = 0 };
	struct declaration d;
	const char *at = text;

	while (names.count < NAMES_MAX && declaration_next(&at, text + len, &d))
		if (declaration_is_users(&d))
			add_name(&names, &d);
	if (names.count > 0)
		qsort(names.items, names.count, sizeof(*names.items), by_name);
	return names;
}

static struct name *find_name(const struct names *names, const struct name *key)
{
	if (names->count == 0)
		return NULL;
	return bsearch(key, names->items, names->count, sizeof(*names->items), by_name);
}

static struct name *find_declared(const struct names *names, const struct declaration *d)
{
	cleanup_free char *text = xmemdup(d->name, d->name_len);
	struct name key = { .name = text, .function = d->type[0] == 'f' };

	return find_name(names, &key);
}

static void put_changed(struct buf *out, const struct declaration *d)
{
	buf_putf(out, "%s%.*s %s", out->len > 0 ? "\n" : "", (int)d->name_len, d->name, d->type);
	if (d->value != NULL) {
		buf_puts(out, " ");
		declaration_shape(d, out);
	}
}

/* Appends the names that differ in `now`. Marks those that are unchanged since the start. */
static void put_new_names(const struct names *names, const char *text, size_t len,
			  struct names *now, struct buf *out)
{
	struct declaration d;
	const char *at = text;
	size_t shown = 0;
	size_t seen = 0;

	while (seen < now->count && declaration_next(&at, text + len, &d)) {
		struct name *new = find_declared(now, &d);
		const struct name *old = new != NULL ? find_name(names, new) : NULL;

		if (new == NULL)
			continue;
		seen++;
		if (old != NULL && old->hash == new->hash)
			new->initial = old->initial;
		else if (shown++ < NAMES_SHOWN)
			put_changed(out, &d);
	}
}

static void put_gone_names(const struct names *names, const struct names *now, struct buf *out)
{
	size_t shown = 0;

	for (size_t i = 0; i < names->count; i++)
		if (find_name(now, &names->items[i]) == NULL && shown++ < NAMES_SHOWN)
			buf_putf(out, "%s-%s", out->len > 0 ? "\n" : "", names->items[i].name);
}

void names_take(struct names *names, const char *text, size_t len, struct buf *changed)
{
	struct names now;

	if (len == 0)
		return;
	now = read_names(text, len);
	put_new_names(names, text, len, &now, changed);
	if (now.count < NAMES_MAX) /* otherwise deleted names are not known */
		put_gone_names(names, &now, changed);
	names_release(names);
	*names = now;
}

void names_settle(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		names->items[i].initial = true;
}

static int by_declared_name(const void *a, const void *b)
{
	const struct declaration *left = a;
	const struct declaration *right = b;
	int order = memcmp(left->name, right->name, size_min(left->name_len, right->name_len));

	return order != 0 ? order
			  : (left->name_len > right->name_len) - (left->name_len < right->name_len);
}

/* Returns the names that the user made or changed. The caller frees the result. */
static struct declaration *users_declarations(const struct names *names, const char *text,
					      size_t len, size_t *ret_count)
{
	struct declaration *list = NULL;
	struct declaration d;
	const char *at = text;
	size_t count = 0;

	while (count < NAMES_MAX && declaration_next(&at, text + len, &d)) {
		const struct name *known = find_declared(names, &d);

		if (!declaration_is_users(&d) || (known != NULL && known->initial))
			continue;
		if ((count & (count - 1)) == 0)
			list = xrealloc(list, (count > 0 ? 2 * count : 1) * sizeof(*list));
		list[count++] = d;
	}
	if (count > 0)
		qsort(list, count, sizeof(*list), by_declared_name);
	*ret_count = count;
	return list;
}

static void put_escaped(struct buf *out, const struct buf *text)
{
	static const char from[] = "\\\t\n\r";
	static const char to[] = "\\tnr";

	for (size_t i = 0; i < text->len; i++) {
		char c = text->data[i];
		const char *found = c != '\0' ? strchr(from, c) : NULL;

		if (found != NULL)
			buf_puts(out, "\\");
		buf_put(out, found != NULL ? &to[found - from] : &c, 1);
	}
}

static void put_row(struct buf *out, const struct declaration *d)
{
	cleanup_buf struct buf preview = BUF_INIT(BUF_UNBOUNDED);

	buf_putf(out, "%s%.*s\t%s\t", out->len > 0 ? "\n" : "", (int)d->name_len, d->name, d->type);
	declaration_shape(d, out);
	buf_putf(out, "\t%zu\t", d->value_len);
	declaration_preview(d, PREVIEW_BYTES, &preview);
	put_escaped(out, &preview);
}

size_t names_rows(const struct names *names, const char *text, size_t len, uint64_t limit,
		  struct buf *rows)
{
	size_t count;
	struct declaration *list = users_declarations(names, text, len, &count);

	for (size_t i = 0; i < count && i < limit; i++)
		put_row(rows, &list[i]);
	free(list);
	return count;
}
