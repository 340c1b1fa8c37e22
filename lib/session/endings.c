/* SPDX-License-Identifier: MIT */
/* endings.c - holds sessions from the end of their use to the end of their processes. */
#include "session/endings.h"

#include <stdlib.h>

#include "base/mem.h"
#include "session/session.h"

struct ending {
	struct list node;
	struct endings *endings;
	struct session *session;
};

static void ending_free(struct ending *ending)
{
	list_remove(&ending->node);
	free(ending);
}

static void on_over(void *data)
{
	struct ending *ending = data;
	const struct endings *endings = ending->endings;

	ending_free(ending);
	if (list_empty(&endings->all))
		endings->none_left(endings->data);
}

static void cut(struct ending *ending)
{
	session_free(ending->session, NULL);
	ending_free(ending);
}

static struct ending *find(const struct endings *endings, const char *id)
{
	list_for_each (struct ending, ending, &endings->all, node)
		if (str_eq(session_id(ending->session), id) && session_lasts(ending->session))
			return ending;
	return NULL;
}

void endings_init(struct endings *endings, void (*none_left)(void *data), void *data)
{
	list_init(&endings->all);
	endings->none_left = none_left;
	endings->data = data;
}

void endings_add(struct endings *endings, struct session *session, const char *why,
		 uint64_t quit_ms)
{
	struct ending *ending = xcalloc(1, sizeof(*ending));

	list_init(&ending->node);
	ending->endings = endings;
	ending->session = session;
	if (session_end(session, why, quit_ms, on_over, ending))
		list_append(&endings->all, &ending->node);
	else
		free(ending);
}

void endings_hurry(const struct endings *endings, uint64_t quit_ms)
{
	list_for_each (struct ending, ending, &endings->all, node)
		session_hurry(ending->session, quit_ms);
}

bool endings_have(const struct endings *endings, const char *id)
{
	return find(endings, id) != NULL;
}

void endings_cut(struct endings *endings, const char *id)
{
	struct ending *ending = find(endings, id);

	if (ending != NULL)
		cut(ending);
}

size_t endings_count(const struct endings *endings)
{
	return list_len(&endings->all);
}

void endings_cut_oldest(struct endings *endings)
{
	cut(list_entry(endings->all.next, struct ending, node));
}

void endings_cut_all(struct endings *endings)
{
	while (!list_empty(&endings->all))
		endings_cut_oldest(endings);
}
