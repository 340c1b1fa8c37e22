/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <stdlib.h>

#include "base/mem.h"
#include "helper/program.h"
#include "json/make.h"
#include "json/write.h"

enum {
	REPORT_MS = 1000,
	/* Told so much, the interval is doubled: far below REPLY_TOTAL_MAX of helper/reply.h. */
	REPORT_BYTES = 4 << 20,
	DOUBLINGS_MAX = 20,
};

struct stats_row {
	struct host_port to; /* "" for those without a name */
	uint64_t allowed;
	uint64_t refused;
	uint64_t failed;
	uint64_t sent;
	uint64_t received;
	enum verdict last;
};

struct stats {
	struct loop *loop;
	struct loop_timer report;
	uint64_t reported_ms; /* 0: never */
	size_t told;          /* bytes of reports */
	uint64_t bytes;
	size_t count;
	struct stats_row rows[STATS_ROWS + 1]; /* the first is the one without a name */
};

struct stats *stats_new(struct loop *loop)
{
	struct stats *tally = xcalloc(1, sizeof(*tally));

	tally->loop = loop;
	tally->count = 1;
	return tally;
}

void stats_free(struct stats *tally)
{
	loop_timer_stop(&tally->report);
	free(tally);
}

struct stats_row *stats_find(struct stats *tally, const struct host_port *to)
{
	struct stats_row *row;

	if (to == NULL)
		return &tally->rows[0];
	for (size_t i = 1; i < tally->count; i++)
		if (tally->rows[i].to.port == to->port && str_eq(tally->rows[i].to.host, to->host))
			return &tally->rows[i];
	if (tally->count == ARRAY_SIZE(tally->rows))
		return &tally->rows[0];
	row = &tally->rows[tally->count++];
	row->to = *to;
	return row;
}

/* ---- reports ---- */

static json_t *describe_row(const struct stats_row *row)
{
	json_t *object = json_object();

	json_put_str(object, "host", row->to.host);
	json_put_int(object, "port", row->to.port);
	json_put_int(object, "allowed", (json_int_t)row->allowed);
	json_put_int(object, "refused", (json_int_t)row->refused);
	json_put_int(object, "failed", (json_int_t)row->failed);
	json_put_int(object, "sent", (json_int_t)row->sent);
	json_put_int(object, "received", (json_int_t)row->received);
	json_put_str(object, "last", verdict_word(row->last));
	return object;
}

static json_t *describe(const struct stats *tally)
{
	json_t *report = json_object();
	json_t *hosts = json_array();

	for (size_t i = 0; i < tally->count; i++) {
		const struct stats_row *row = &tally->rows[i];

		if (row->allowed + row->refused + row->failed > 0)
			json_append(hosts, describe_row(row));
	}
	json_put(report, "hosts", hosts);
	json_put_int(report, "bytes", (json_int_t)tally->bytes);
	return report;
}

static void on_report(struct loop_timer *timer)
{
	struct stats *tally = container_of(timer, struct stats, report);
	json_t *report = describe(tally);
	cleanup_free char *text = json_write_text(report);

	tally->told += strlen(text);
	tally->reported_ms = loop_now(tally->loop);
	response_progress(report);
}

void stats_finish(struct stats *tally)
{
	response_result(describe(tally));
}

static uint64_t interval_ms(const struct stats *tally)
{
	size_t doublings = size_min(tally->told / REPORT_BYTES, DOUBLINGS_MAX);

	return (uint64_t)REPORT_MS << doublings;
}

static void report_soon(struct stats *tally)
{
	uint64_t due = tally->reported_ms + interval_ms(tally);

	if (loop_timer_active(&tally->report))
		return;
	if (tally->reported_ms == 0 || due < loop_now(tally->loop))
		due = loop_now(tally->loop);
	loop_timer_start(tally->loop, &tally->report, due, on_report);
}

/* ---- counting ---- */

void stats_count(struct stats *tally, struct stats_row *row, enum verdict verdict)
{
	row->last = verdict;
	if (verdict == VERDICT_ALLOWED)
		row->allowed++;
	else if (verdict_is_refusal(verdict))
		row->refused++;
	else
		row->failed++;
	report_soon(tally);
}

void stats_add(struct stats *tally, struct stats_row *row, uint64_t sent, uint64_t received)
{
	row->sent += sent;
	row->received += received;
	tally->bytes += sent + received;
	report_soon(tally);
}

uint64_t stats_bytes(const struct stats *tally)
{
	return tally->bytes;
}
