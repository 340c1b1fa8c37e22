/* SPDX-License-Identifier: MIT */
/* transcript_fixture.h - a transcript with a spool of at most SPOOL_MAX bytes, which the test
 * defines. */
#ifndef TEST_TRANSCRIPT_FIXTURE_H
#define TEST_TRANSCRIPT_FIXTURE_H

#include "runner/transcript.h"
#include "session_fixture.h"
#include "workspace/spool.h"

static struct workspace *workspace;
static struct transcript *t;
static struct buf out;

static int set_up(void **state)
{
	struct err err;

	(void)state;
	fixture_open();
	workspace = workspace_new(fixture.home, &err);
	t = transcript_new(spool_new(workspace, 1, "fake", SPOOL_MAX), NULL);
	buf_init(&out, BUF_UNBOUNDED);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	transcript_free(t);
	buf_release(&out);
	workspace_free(workspace);
	fixture_close();
	return 0;
}

static void feed(const char *text)
{
	transcript_feed(t, text, strlen(text));
}

#endif
