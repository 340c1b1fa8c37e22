/* SPDX-License-Identifier: MIT */
/*
 * stats.c - counts, and reports at growing intervals. Row 0 has no name and takes what does not
 * fit. The server accepts a limited number of bytes from a helper, so the interval between reports
 * doubles each time that REPORT_BYTES were sent.
 */
#include "stats.h"

#include <stdlib.h>

#include "base/mem.h"
#include "helper/program.h"
#include "json/make.h"
#include "json/write.h"

enum {
	REPORT_MS = 1000,
	/* After so many bytes the interval doubles. Far below REPLY_TOTAL_MAX of helper/reply.h. */
	REPORT_BYTES = 4 << 20,
	DOUBLINGS_MAX = 20,
};

struct stats_row {
	struct host_port to; /* "" for the row without a name */
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
	uint64_t reported_ms;  /* 0: never */
	size_t reported_bytes; /* bytes of all reports */
	uint64_t bytes;
	size_t count;
	struct stats_row rows[STATS_ROWS + 1]; /* row 0 is the one without a name */
};

struct stats *stats_new(struct loop *loop)
{
	struct stats *stats = xcalloc(1, sizeof(*stats));

	stats->loop = loop;
	stats->count = 1;
	return stats;
}

void stats_free(struct stats *stats)
{
	loop_timer_stop(&stats->report);
	free(stats);
}

struct stats_row *stats_find(struct stats *stats, const struct host_port *to)
{
	struct stats_row *row;

	if (to == NULL)
		return &stats->rows[0];
	for (size_t i = 1; i < stats->count; i++)
		if (stats->rows[i].to.port == to->port && str_eq(stats->rows[i].to.host, to->host))
			return &stats->rows[i];
	if (stats->count == ARRAY_SIZE(stats->rows))
		return &stats->rows[0];
	row = &stats->rows[stats->count++];
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

static json_t *describe(const struct stats *stats)
{
	json_t *report = json_object();
	json_t *hosts = json_array();

	for (size_t i = 0; i < stats->count; i++) {
		const struct stats_row *row = &stats->rows[i];

		if (row->allowed + row->refused + row->failed > 0)
			json_append(hosts, describe_row(row));
	}
	json_put(report, "hosts", hosts);
	json_put_int(report, "bytes", (json_int_t)stats->bytes);
	return report;
}

static void on_report(struct loop_timer *timer)
{
	struct stats *stats = container_of(timer, struct stats, report);
	json_t *report = describe(stats);
	cleanup_free char *text = json_write_text(report);

	stats->reported_bytes += strlen(text);
	stats->reported_ms = loop_now(stats->loop);
	program_progress(report);
}

void stats_finish(struct stats *stats)
{
	program_result(describe(stats));
}

static uint64_t interval_ms(const struct stats *stats)
{
	size_t doublings = size_min(stats->reported_bytes / REPORT_BYTES, DOUBLINGS_MAX);

	return (uint64_t)REPORT_MS << doublings;
}

static void report_soon(struct stats *stats)
{
	uint64_t due = stats->reported_ms + interval_ms(stats);

	if (loop_timer_active(&stats->report))
		return;
	if (stats->reported_ms == 0 || due < loop_now(stats->loop))
		due = loop_now(stats->loop);
	loop_timer_start(stats->loop, &stats->report, due, on_report);
}

/* ---- counting ---- */

void stats_count(struct stats *stats, struct stats_row *row, enum verdict verdict)
{
	row->last = verdict;
	if (verdict == VERDICT_ALLOWED)
		row->allowed++;
	else if (verdict_is_refusal(verdict))
		row->refused++;
	else
		row->failed++;
	report_soon(stats);
}

void stats_add(struct stats *stats, struct stats_row *row, uint64_t sent, uint64_t received)
{
	row->sent += sent;
	row->received += received;
	stats->bytes += sent + received;
	report_soon(stats);
}

uint64_t stats_bytes(const struct stats *stats)
{
	return stats->bytes;
}
