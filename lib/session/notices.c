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

void notices_add_about(struct notices *notices, uint64_t subject, const char *text)
{
	for (unsigned int i = 0; i < notices->count; i++)
		if (notices->rows[i].subject == subject && str_eq(notices->rows[i].text, text)) {
			notices->rows[i].times++;
			return;
		}
	if (notices->count == NOTICES_MAX) {
		notices->others++;
		return;
	}
	notices->rows[notices->count++] =
		(struct notice){ .text = xstrdup(text), .times = 1, .subject = subject };
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
		free(notices->rows[i].text);
		notices->count--;
		memmove(&notices->rows[i], &notices->rows[i + 1],
			(notices->count - i) * sizeof(notices->rows[0]));
		return;
	}
}
