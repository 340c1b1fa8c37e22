/* SPDX-License-Identifier: MIT */
/*
 * inspector.c - runs ptycell-files over the shared folders, as many at a time as a helper takes
 * descriptors, with a time limit. A request during an inspection starts another one after it,
 * because session code may have written behind the first. Where the limit is met, a whole
 * inspection follows beside the others, which no answer waits for. The last inspection is whole as
 * well, and outlives the session as a job of the home.
 */
#include "workspace/inspector.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/get.h"
#include "json/make.h"
#include "text/quotation.h"
#include "workspace/home.h"
#include "workspace/unreported.h"

enum { QUIET_AGAIN_MS = 500 /* for a disk that did not answer before */, SHOWN_MAX = 5 };

enum kind { LEARNS, QUICK, WHOLE };

/* An answer waits for a quick inspection. */
static const struct {
	json_int_t entries;
	json_int_t ms;
	uint64_t quiet_ms;
} limits[] = {
	[LEARNS] = { INSPECTOR_ENTRIES, 10000, 5000 },
	[QUICK] = { INSPECTOR_ENTRIES, 1000, 5000 },
	[WHOLE] = { 100000000, 600000, 60000 },
};

/* One inspection of all folders. */
struct inspection {
	struct inspector *inspector;
	struct helper *helper;
	enum kind kind;
	size_t at; /* the first folder of the current run */
	uint64_t start_ms;
	int64_t start_ns; /* the same as times of files */
	bool failed;
	bool cut; /* a limit was met */
};

struct inspector {
	struct home_job job;
	struct list peers; /* the inspectors of this server */
	struct inspector_spec spec;
	const char **paths;
	int *fds;
	char *who;
	int64_t since_ns;
	int64_t inspected_ns; /* when the last inspection that held names, and was whole, began */
	uint64_t begun;       /* number of the last inspection that began */
	uint64_t ended;
	uint64_t wanted;
	struct inspection inspection;
	struct inspection whole; /* beside it, after a limit was met */
	bool whole_wanted;
	uint64_t whole_ms; /* what the last one took, and how long the next one waits after it */
	struct loop_timer whole_timer;
	struct loop_defer defer; /* the end of a last inspection that could not start */
	json_t *known;
	bool knows;                    /* `known` has all that was there before session code ran */
	char *stuck;                   /* the last list of these names that was reported */
	struct unreported *unreported; /* NULL: no session code ran */
	bool hung;
	bool entries_reported;
	bool time_reported;
	bool rest_reported;
	bool unread_reported;
	bool ran; /* session code */
	bool last;
	void (*done)(void *data, bool unreported);
	void *done_data;
};

/* Returns the time of the clock that sets the times of files. */
static int64_t real_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- reports ---- */

static void report_text(struct inspector *inspector, const char *text)
{
	if (inspector->unreported != NULL)
		unreported_add(inspector->unreported, text);
	if (inspector->last)
		log_warn("lookout", "'%s': %s", inspector->who, text);
	else
		inspector->spec.notice(inspector->spec.data, text);
}

/* Returns a decoded and quoted path, or NULL. The caller frees it. */
static char *show(const json_t *row, const char *key)
{
	cleanup_free char *name = json_path_of(json_object_get(row, key));

	return name != NULL ? quotation_of_path(name) : NULL;
}

static bool is_removed(const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "name"));

	return name != NULL && name[0] == '\0';
}

/* Appends the rows with a new name, or those without. Returns how many there are. */
static size_t list_rows(const json_t *result, bool renamed, struct buf *out)
{
	const json_t *rows = json_object_get(result, "held");
	json_int_t all = json_integer_value(json_object_get(result, "count"));
	size_t listed = json_array_size(rows); /* rows that are listed, of `all` */
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		cleanup_free char *path = show(row, "path");
		cleanup_free char *name = show(row, "name");

		if (path == NULL || (name != NULL) != renamed || count++ >= SHOWN_MAX)
			continue;
		buf_putf(out, "%s%s", count > 1 ? ", " : "", path);
		if (is_removed(row))
			buf_puts(out, " (removed)");
		else if (renamed)
			buf_putf(out, " to %s", name);
	}
	if (count > 0 && renamed && all > (json_int_t)listed)
		count += (size_t)all - listed;
	if (count > SHOWN_MAX)
		buf_putf(out, " and %zu more", count - SHOWN_MAX);
	return count;
}

static void report_renamed(struct inspector *inspector, const json_t *result)
{
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *text = NULL;

	if (list_rows(result, true, &list) == 0)
		return;
	text = xasprintf("Renamed in the shared folder: %s. The user's git might run what is new "
			 "there, or write where it leads. Tell the user, who can rename "
			 "their own files back once all sessions have ended.",
			 buf_str(&list));
	report_text(inspector, text);
}

static void report_stuck(struct inspector *inspector, const json_t *result)
{
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *text = NULL;

	if (list_rows(result, false, &list) == 0 ||
	    (inspector->stuck != NULL && str_eq(inspector->stuck, buf_str(&list))))
		return;
	free(inspector->stuck);
	inspector->stuck = xstrdup(buf_str(&list));
	text = xasprintf("The user's git would run what is new in %s, and it could not be "
			 "renamed; tell the user to remove it before calling git there.",
			 buf_str(&list));
	report_text(inspector, text);
}

/* Reports the first inspection that met this limit. */
static void report_limit(struct inspector *inspector, bool entries)
{
	bool *reported = entries ? &inspector->entries_reported : &inspector->time_reported;
	cleanup_free char *text = NULL;

	if (*reported)
		return;
	*reported = true;
	if (entries)
		text = xasprintf(
			"The shared folder has more than %d entries. Of the others, those deepest "
			"and in folders of packages, names that make programs run something (.git/"
			"hooks, .envrc ...) are not held read-only, and repositories that code "
			"makes there are found later than those before them: they are looked for "
			"in the background.",
			INSPECTOR_ENTRIES);
	else
		text = xstrdup(
			"The shared folder takes long to look through. Repositories that "
			"code makes there are found later than usual: they are looked for in "
			"the background.");
	report_text(inspector, text);
}

/* Reports the first folder that could not be read. */
static void report_unread(struct inspector *inspector)
{
	if (!inspector->unread_reported || inspector->last)
		report_text(inspector,
			    "A folder of the shared folder could not be read to its end; the "
			    "user's git would run what code wrote into a repository there.");
	inspector->unread_reported = true;
}

/* Reports what was not looked at. Returns true when a whole inspection is to follow. */
static bool report_more(struct inspection *inspection, const json_t *result)
{
	const char *more = json_string_value(json_object_get(result, "more"));
	struct inspector *inspector = inspection->inspector;

	if (more == NULL)
		return false;
	inspection->cut = true;
	if (str_eq(more, "unread")) {
		if (inspection->kind != QUICK || inspector->last)
			report_unread(inspector);
		return inspection->kind == QUICK;
	}
	if (inspection->kind != WHOLE) {
		report_limit(inspector, str_eq(more, "entries"));
		return inspection->kind == QUICK;
	}
	if (!inspector->rest_reported || inspector->last)
		report_text(inspector,
			    "The shared folder has too many entries to look at all of them; the "
			    "user's git would run what code wrote into a repository there.");
	inspector->rest_reported = true;
	return false;
}

/* ---- an inspection ---- */

static bool start_inspection(struct inspection *inspection);

/* Starts with the first folders. */
static bool start_first(struct inspection *inspection)
{
	inspection->at = 0;
	inspection->start_ns = real_time_ns();
	inspection->failed = false;
	inspection->cut = false;
	return start_inspection(inspection);
}

static void release_inspector(struct inspector *inspector)
{
	helper_free(inspector->inspection.helper);
	helper_free(inspector->whole.helper);
	list_remove(&inspector->peers);
	loop_timer_stop(&inspector->whole_timer);
	unreported_free(inspector->unreported);
	json_decref(inspector->known);
	free(inspector->stuck);
	free(inspector->paths);
	free(inspector->fds);
	free(inspector->who);
	free(inspector);
}

static void end_last(struct inspector *inspector)
{
	void (*done)(void *data, bool unreported) = inspector->done;
	void *data = inspector->done_data;
	bool unreported;

	/* That a limit was met is among the sentences already. */
	if (inspector->unreported != NULL && !inspector->inspection.failed)
		unreported_complete(inspector->unreported);
	unreported = inspector->unreported != NULL && !unreported_is_empty(inspector->unreported);
	list_remove(&inspector->job.node);
	release_inspector(inspector);
	done(data, unreported);
}

static void on_whole_due(struct loop_timer *timer)
{
	struct inspector *inspector = container_of(timer, struct inspector, whole_timer);

	inspector->whole_wanted = false;
	inspector->whole.start_ms = loop_now(inspector->spec.loop);
	(void)start_first(&inspector->whole);
}

/* It takes no more than half of the time, however large the folder is. */
static void plan_whole(struct inspector *inspector)
{
	uint64_t now = loop_now(inspector->spec.loop);

	if (inspector->whole_wanted && inspector->whole.helper == NULL &&
	    !loop_timer_active(&inspector->whole_timer))
		loop_timer_start(inspector->spec.loop, &inspector->whole_timer,
				 now + inspector->whole_ms, on_whole_due);
}

/* Ends an inspection of all folders. */
static void end_inspection(struct inspection *inspection)
{
	struct inspector *inspector = inspection->inspector;

	if (!inspection->failed && !inspection->cut) {
		if (inspection->kind == LEARNS)
			inspector->knows = true;
		else
			inspector->inspected_ns = inspection->start_ns;
	}
	if (inspection == &inspector->whole) {
		inspector->whole_ms = loop_now(inspector->spec.loop) - inspection->start_ms;
		plan_whole(inspector);
		return;
	}
	inspector->ended = inspector->begun;
	if (inspector->last) {
		end_last(inspector);
		return;
	}
	plan_whole(inspector);
	if (inspector->wanted > inspector->begun)
		(void)inspector_request(inspector);
	inspector->spec.inspected(inspector->spec.data);
}

static void on_look_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct inspection *inspection = helper_data(helper);
	struct inspector *inspector = inspection->inspector;

	if (inspection->kind != WHOLE)
		inspector->hung = err != NULL && err->code == ERR_TIMEOUT;
	if (err != NULL) {
		inspection->failed = true;
		log_warn("lookout", "'%s': looking into shared folders: %s", inspector->who,
			 err->msg);
	}
	if (inspection->kind == LEARNS)
		json_array_extend(inspector->known, json_object_get(result, "known"));
	report_renamed(inspector, result);
	report_stuck(inspector, result);
	if (report_more(inspection, result))
		inspector->whole_wanted = true;
	helper_free(helper); /* the result belonged to the helper */
	inspection->helper = NULL;
	inspection->at += HELPER_FDS_MAX;
	if (inspection->at >= inspector->spec.count || !start_inspection(inspection))
		end_inspection(inspection);
}

/*
 * Returns since when session code may have written what was not inspected yet: what is older can be
 * learned as the user's.
 */
static int64_t uninspected_since(const struct inspector *inspector)
{
	int64_t since_ns = inspector->since_ns;

	list_for_each (struct inspector, peer, home_inspectors(inspector->spec.home), peers)
		if (peer->ran && peer->inspected_ns < since_ns)
			since_ns = peer->inspected_ns;
	return since_ns;
}

static json_t *make_request(const struct inspection *inspection, size_t count)
{
	const struct inspector *inspector = inspection->inspector;
	json_t *request = json_object();
	json_t *shares = json_array();

	for (size_t i = 0; i < count; i++)
		json_append(shares, json_make_path(inspector->paths[inspection->at + i]));
	json_put_str(request, "op", "inspect");
	json_put(request, "shares", shares);
	json_put_path(request, "home", home_path(inspector->spec.home));
	json_put_int(request, "since",
		     inspection->kind == LEARNS ? uninspected_since(inspector)
						: inspector->since_ns);
	json_put_int(request, "entries", limits[inspection->kind].entries);
	json_put_int(request, "ms", limits[inspection->kind].ms);
	json_put_bool(request, "learn", inspection->kind == LEARNS);
	json_put(request, "known", json_incref(inspector->known));
	return request;
}

/* Starts the run for the folders from `at` on. */
static bool start_inspection(struct inspection *inspection)
{
	static const struct helper_handlers handlers = { .done = on_look_done };
	struct inspector *inspector = inspection->inspector;
	size_t count = size_min(inspector->spec.count - inspection->at, HELPER_FDS_MAX);
	cleanup_json json_t *request = make_request(inspection, count);
	bool again = inspection->kind != WHOLE && inspector->hung;
	const struct helper_spec spec = { .path = inspector->spec.helper,
					  .request = request,
					  .fds = inspector->fds + inspection->at,
					  .fd_count = count,
					  .quiet_ms = again ? QUIET_AGAIN_MS
							    : limits[inspection->kind].quiet_ms };
	struct err err;

	inspection->helper = helper_start(inspector->spec.loop, &spec, &handlers, inspection, &err);
	if (inspection->helper == NULL) {
		inspection->failed = true;
		log_warn("lookout", "'%s': looking into shared folders: %s", inspector->who,
			 err.msg);
	}
	return inspection->helper != NULL;
}

static bool begin(struct inspector *inspector, enum kind kind)
{
	inspector->begun++;
	inspector->inspection.kind = kind;
	return start_first(&inspector->inspection);
}

uint64_t inspector_request(struct inspector *inspector)
{
	if (inspector->inspection.helper != NULL) {
		inspector->wanted = inspector->begun + 1;
		return inspector->wanted;
	}
	if (!begin(inspector, inspector->begun == 0 && !inspector->knows ? LEARNS : QUICK))
		inspector->ended = inspector->begun;
	return inspector->begun;
}

bool inspector_has_ended(const struct inspector *inspector, uint64_t number)
{
	return inspector->ended >= number;
}

/* ---- other sessions ---- */

/* Adds those of `from` that are not in `known`. */
static void add_known(json_t *known, struct map *have, const json_t *from)
{
	static char there;

	for (size_t i = 0; i < json_array_size(from); i++) {
		const char *key = json_string_value(json_array_get(from, i));

		if (key == NULL || map_set(have, key, strlen(key), &there) != NULL)
			continue;
		json_append(known, json_make_str(key));
	}
}

/*
 * Adds what was the user's before code of another session ran: it is so still. Where that is all,
 * nothing is learned after it: code can put together from old files what was nothing before.
 */
static void learn_from_peers(struct inspector *inspector)
{
	struct map *have = map_new();

	list_for_each (struct inspector, peer, home_inspectors(inspector->spec.home), peers) {
		if (!peer->ran)
			continue;
		add_known(inspector->known, have, peer->known);
		inspector->knows |= peer->knows;
	}
	map_free(have);
}

/* ---- what answers have ---- */

void inspector_note_run(struct inspector *inspector)
{
	if (!inspector->ran)
		inspector->unreported = unreported_new(inspector->spec.home, inspector->who,
						       inspector->paths, inspector->spec.count);
	inspector->ran = true;
}

void inspector_note_answer(struct inspector *inspector)
{
	if (inspector->unreported != NULL)
		unreported_clear(inspector->unreported);
}

/* ---- start and end ---- */

struct inspector *inspector_new(const struct inspector_spec *spec)
{
	struct inspector *inspector = xcalloc(1, sizeof(*inspector));

	inspector->spec = *spec;
	inspector->inspection.inspector = inspector;
	inspector->whole.inspector = inspector;
	inspector->whole.kind = WHOLE;
	inspector->paths = xcalloc(spec->count, sizeof(*inspector->paths));
	inspector->fds = xcalloc(spec->count, sizeof(*inspector->fds));
	memcpy(inspector->paths, spec->paths, spec->count * sizeof(*inspector->paths));
	memcpy(inspector->fds, spec->fds, spec->count * sizeof(*inspector->fds));
	inspector->who = xstrdup(spec->who);
	inspector->since_ns = real_time_ns();
	inspector->inspected_ns = inspector->since_ns;
	inspector->known = json_array();
	list_init(&inspector->job.node);
	list_init(&inspector->peers);
	learn_from_peers(inspector);
	list_append(home_inspectors(spec->home), &inspector->peers);
	if (!inspector->knows)
		(void)inspector_request(inspector);
	return inspector;
}

void inspector_quiet(struct inspector *inspector)
{
	if (inspector == NULL)
		return;
	helper_free(inspector->inspection.helper);
	helper_free(inspector->whole.helper);
	inspector->inspection.helper = NULL;
	inspector->whole.helper = NULL;
	loop_timer_stop(&inspector->whole_timer);
	inspector->last = true;
}

static void leave_inspector(struct home_job *job, int wait_ms)
{
	struct inspector *inspector = container_of(job, struct inspector, job);

	loop_defer_stop(&inspector->defer);
	(void)helper_leave(inspector->inspection.helper, wait_ms);
	inspector->inspection.helper = NULL;
	release_inspector(inspector);
}

static void on_not_started(struct loop_defer *defer)
{
	end_last(container_of(defer, struct inspector, defer));
}

void inspector_finish(struct inspector *inspector, void (*done)(void *data, bool unreported),
		      void *data)
{
	inspector->done = done;
	inspector->done_data = data;
	inspector->job.leave = leave_inspector;
	home_add_job(inspector->spec.home, &inspector->job);
	if (!begin(inspector, WHOLE))
		loop_defer_start(inspector->spec.loop, &inspector->defer, on_not_started);
}

void inspector_free(struct inspector *inspector)
{
	if (inspector == NULL)
		return;
	loop_defer_stop(&inspector->defer);
	release_inspector(inspector);
}
