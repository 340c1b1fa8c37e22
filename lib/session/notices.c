/* SPDX-License-Identifier: MIT */
/*
 * notices.c - collects sentences for the next answer. An equal sentence counts up instead of being
 * added, so that code which meets a limit in a loop does not flood the answer.
 */
#include "session/notices.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void notices_release(struct notices *notices)
{
	for (unsigned int i = 0; i < notices->count; i++)
		free(notices->rows[i].text);
	*notices = (struct notices){ .count = 0 };
}

void notices_add(struct notices *notices, const char *text)
{
	notices_add_about(notices, 0, text);
}

static void remove_row(struct notices *notices, unsigned int index)
{
	free(notices->rows[index].text);
	notices->count--;
	memmove(&notices->rows[index], &notices->rows[index + 1],
		(notices->count - index) * sizeof(notices->rows[0]));
}

static void make_room(struct notices *notices)
{
	unsigned int i = notices->count;

	while (i > 0 && notices->rows[i - 1].sure)
		i--;
	if (i == 0 || notices->count < NOTICES_MAX)
		return;
	remove_row(notices, i - 1);
	notices->others++;
}

/* Adds a row, or counts an equal one. */
static void add_row(struct notices *notices, struct notice row, const char *text)
{
	for (unsigned int i = 0; i < notices->count; i++)
		if (notices->rows[i].subject == row.subject &&
		    str_eq(notices->rows[i].text, text)) {
			notices->rows[i].times++;
			return;
		}
	if (row.sure)
		make_room(notices);
	if (notices->count == NOTICES_MAX) {
		notices->others++;
		return;
	}
	row.text = xstrdup(text);
	row.times = 1;
	notices->rows[notices->count++] = row;
}

void notices_add_about(struct notices *notices, uint64_t subject, const char *text)
{
	add_row(notices, (struct notice){ .subject = subject }, text);
}

void notices_add_sure(struct notices *notices, const char *text)
{
	add_row(notices, (struct notice){ .sure = true }, text);
}

char *notices_take(struct notices *notices)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (notices->count == 0)
		return NULL;
	for (unsigned int i = 0; i < notices->count; i++) {
		buf_putf(&text, "%s%s", i > 0 ? "\n" : "", notices->rows[i].text);
		if (notices->rows[i].times > 1)
			buf_putf(&text, " (%u times)", notices->rows[i].times);
	}
	if (notices->others > 0)
		buf_putf(&text, "\n%u more messages of this kind are left out.", notices->others);
	notices_release(notices);
	return buf_steal(&text);
}

void notices_withdraw(struct notices *notices, uint64_t subject)
{
	for (unsigned int i = 0; i < notices->count; i++) {
		if (notices->rows[i].subject != subject)
			continue;
		remove_row(notices, i);
		return;
	}
}

void notices_cut(struct notices *notices, const char *part)
{
	size_t len = strlen(part);

	for (unsigned int i = 0; i < notices->count; i++) {
		char *at = strstr(notices->rows[i].text, part);

		if (at != NULL)
			memmove(at, at + len, strlen(at + len) + 1);
	}
}
