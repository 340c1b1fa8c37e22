/* SPDX-License-Identifier: MIT */
/*
 * lookout.c - runs ptycell-files over the shared folders, as many at a time as a helper takes
 * descriptors, with a time limit. A request during an inspection starts another one after it,
 * because session code may have written behind the first. Where the limit is met, a whole
 * inspection follows beside the others, which no answer waits for. The last inspection is whole as
 * well, and outlives the session as a job of the home.
 */
#include "workspace/lookout.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "text/percent.h"
#include "text/sanitize.h"
#include "workspace/home.h"

enum { QUIET_AGAIN_MS = 500 /* for a disk that did not answer before */, SHOWN_MAX = 5 };

enum kind { LEARNS, QUICK, WHOLE };

/* An answer waits for a quick inspection. */
static const struct {
	json_int_t entries;
	json_int_t ms;
	uint64_t quiet_ms;
} limits[] = {
	[LEARNS] = { LOOKOUT_ENTRIES, 10000, 5000 },
	[QUICK] = { LOOKOUT_ENTRIES, 1000, 5000 },
	[WHOLE] = { 100000000, 600000, 60000 },
};

/* One inspection of all folders. */
struct look {
	struct lookout *lookout;
	struct helper *helper;
	enum kind kind;
	size_t at; /* the first folder of the current run */
	uint64_t start_ms;
};

struct lookout {
	struct home_job job;
	struct lookout_spec spec;
	const char **paths;
	int *fds;
	char *who;
	int64_t since_ns;
	uint64_t begun; /* number of the last inspection that began */
	uint64_t ended;
	uint64_t wanted;
	struct look look;
	struct look whole; /* beside it, after a limit was met */
	bool whole_wanted;
	uint64_t whole_ms; /* what the last one took, and how long the next one waits after it */
	struct loop_timer whole_timer;
	struct loop_defer defer; /* the end of a last inspection that could not start */
	json_t *known;
	bool hung;
	bool entries_reported;
	bool time_reported;
	bool rest_reported;
	char *stuck; /* the last list of these names that was reported */
	bool last;
	void (*done)(void *data);
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

static void report_text(struct lookout *lookout, const char *text)
{
	if (lookout->last)
		log_warn("lookout", "'%s': %s", lookout->who, text);
	else
		lookout->spec.notice(lookout->spec.data, text);
}

/* Returns a decoded and quoted text, or NULL. The caller frees it. */
static char *show(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));
	cleanup_free char *name = text != NULL ? percent_decode(text, strlen(text)) : NULL;

	return name != NULL ? sanitize_quote(name) : NULL;
}

/* Appends the rows with a new name, or those without. Returns how many there are. */
static size_t list_rows(const json_t *result, bool renamed, struct buf *out)
{
	const json_t *rows = json_object_get(result, "held");
	json_int_t all = json_integer_value(json_object_get(result, "count"));
	size_t listed = json_array_size(rows); /* rows that are listed, of `all` */
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		cleanup_free char *path = show(json_array_get(rows, i), "path");
		cleanup_free char *name = show(json_array_get(rows, i), "name");

		if (path == NULL || (name != NULL) != renamed || count++ >= SHOWN_MAX)
			continue;
		buf_putf(out, "%s'%s'", count > 1 ? ", " : "", path);
		if (renamed && name[0] != '\0')
			buf_putf(out, " to '%s'", name);
		else if (renamed)
			buf_puts(out, " (removed)");
	}
	if (count > 0 && renamed && all > (json_int_t)listed)
		count += (size_t)all - listed;
	if (count > SHOWN_MAX)
		buf_putf(out, " and %zu more", count - SHOWN_MAX);
	return count;
}

static void report_renamed(struct lookout *lookout, const json_t *result)
{
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *text = NULL;

	if (list_rows(result, true, &list) == 0)
		return;
	text = xasprintf("Renamed in the shared folder: %s. The user's git would run what code "
			 "wrote there, or be led out of the folder; tell the user.",
			 buf_str(&list));
	report_text(lookout, text);
}

static void report_stuck(struct lookout *lookout, const json_t *result)
{
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *text = NULL;

	if (list_rows(result, false, &list) == 0 ||
	    (lookout->stuck != NULL && str_eq(lookout->stuck, buf_str(&list))))
		return;
	free(lookout->stuck);
	lookout->stuck = xstrdup(buf_str(&list));
	text = xasprintf("The user's git would run what code wrote into %s, and it could not be "
			 "renamed; tell the user to remove it before calling git there.",
			 buf_str(&list));
	report_text(lookout, text);
}

/* Reports the first inspection that met this limit. */
static void report_limit(struct lookout *lookout, bool entries)
{
	bool *reported = entries ? &lookout->entries_reported : &lookout->time_reported;
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
			LOOKOUT_ENTRIES);
	else
		text = xstrdup(
			"The shared folder takes long to look through. Repositories that "
			"code makes there are found later than usual: they are looked for in "
			"the background.");
	report_text(lookout, text);
}

/* Reports a limit that was met. Returns true when a whole inspection is to follow. */
static bool report_more(struct look *look, const json_t *result)
{
	const char *more = json_string_value(json_object_get(result, "more"));
	struct lookout *lookout = look->lookout;

	if (more == NULL)
		return false;
	if (look->kind != WHOLE) {
		report_limit(lookout, str_eq(more, "entries"));
		return look->kind == QUICK;
	}
	if (!lookout->rest_reported || lookout->last)
		report_text(lookout,
			    "The shared folder has too many entries to look at all of them; the "
			    "user's git would run what code wrote into a repository there.");
	lookout->rest_reported = true;
	return false;
}

/* ---- an inspection ---- */

static bool start_look(struct look *look);

static void release_lookout(struct lookout *lookout)
{
	helper_free(lookout->look.helper);
	helper_free(lookout->whole.helper);
	loop_timer_stop(&lookout->whole_timer);
	json_decref(lookout->known);
	free(lookout->stuck);
	free(lookout->paths);
	free(lookout->fds);
	free(lookout->who);
	free(lookout);
}

static void end_last(struct lookout *lookout)
{
	void (*done)(void *data) = lookout->done;
	void *data = lookout->done_data;

	list_remove(&lookout->job.node);
	release_lookout(lookout);
	done(data);
}

static void on_whole_due(struct loop_timer *timer)
{
	struct lookout *lookout = container_of(timer, struct lookout, whole_timer);

	lookout->whole_wanted = false;
	lookout->whole.at = 0;
	lookout->whole.start_ms = loop_now(lookout->spec.loop);
	(void)start_look(&lookout->whole);
}

/* It takes no more than half of the time, however large the folder is. */
static void plan_whole(struct lookout *lookout)
{
	uint64_t now = loop_now(lookout->spec.loop);

	if (lookout->whole_wanted && lookout->whole.helper == NULL &&
	    !loop_timer_active(&lookout->whole_timer))
		loop_timer_start(lookout->spec.loop, &lookout->whole_timer, now + lookout->whole_ms,
				 on_whole_due);
}

/* Ends an inspection of all folders. */
static void end_look(struct look *look)
{
	struct lookout *lookout = look->lookout;

	if (look == &lookout->whole) {
		lookout->whole_ms = loop_now(lookout->spec.loop) - look->start_ms;
		plan_whole(lookout);
		return;
	}
	lookout->ended = lookout->begun;
	if (lookout->last) {
		end_last(lookout);
		return;
	}
	plan_whole(lookout);
	if (lookout->wanted > lookout->begun)
		(void)lookout_ask(lookout);
	lookout->spec.inspected(lookout->spec.data);
}

static void on_look_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct look *look = helper_data(helper);
	struct lookout *lookout = look->lookout;

	if (look->kind != WHOLE)
		lookout->hung = err != NULL && err->code == ERR_TIMEOUT;
	if (err != NULL)
		log_warn("lookout", "'%s': looking into shared folders: %s", lookout->who,
			 err->msg);
	if (look->kind == LEARNS)
		json_array_extend(lookout->known, json_object_get(result, "known"));
	report_renamed(lookout, result);
	report_stuck(lookout, result);
	if (report_more(look, result))
		lookout->whole_wanted = true;
	helper_free(helper); /* the result belonged to the helper */
	look->helper = NULL;
	look->at += HELPER_FDS_MAX;
	if (look->at >= lookout->spec.count || !start_look(look))
		end_look(look);
}

static json_t *make_request(const struct look *look, size_t count)
{
	const struct lookout *lookout = look->lookout;
	json_t *request = json_object();
	json_t *shares = json_array();
	cleanup_free char *home = percent_encode(home_path(lookout->spec.home));

	for (size_t i = 0; i < count; i++) {
		cleanup_free char *path = percent_encode(lookout->paths[look->at + i]);

		json_append(shares, json_make_str(path));
	}
	json_put_str(request, "op", "inspect");
	json_put(request, "shares", shares);
	json_put_str(request, "home", home);
	json_put_int(request, "since", lookout->since_ns);
	json_put_int(request, "entries", limits[look->kind].entries);
	json_put_int(request, "ms", limits[look->kind].ms);
	json_put_bool(request, "learn", look->kind == LEARNS);
	json_put(request, "known", json_incref(lookout->known));
	return request;
}

/* Starts the run for the folders from `at` on. */
static bool start_look(struct look *look)
{
	static const struct helper_handlers handlers = { .done = on_look_done };
	struct lookout *lookout = look->lookout;
	size_t count = size_min(lookout->spec.count - look->at, HELPER_FDS_MAX);
	cleanup_json json_t *request = make_request(look, count);
	bool again = look->kind != WHOLE && lookout->hung;
	const struct helper_spec spec = { .path = lookout->spec.helper,
					  .request = request,
					  .fds = lookout->fds + look->at,
					  .fd_count = count,
					  .quiet_ms = again ? QUIET_AGAIN_MS
							    : limits[look->kind].quiet_ms };
	struct err err;

	look->helper = helper_start(lookout->spec.loop, &spec, &handlers, look, &err);
	if (look->helper == NULL)
		log_warn("lookout", "'%s': looking into shared folders: %s", lookout->who, err.msg);
	return look->helper != NULL;
}

static bool begin(struct lookout *lookout, enum kind kind)
{
	lookout->begun++;
	lookout->look.kind = kind;
	lookout->look.at = 0;
	return start_look(&lookout->look);
}

uint64_t lookout_ask(struct lookout *lookout)
{
	if (lookout->look.helper != NULL) {
		lookout->wanted = lookout->begun + 1;
		return lookout->wanted;
	}
	if (!begin(lookout, lookout->begun == 0 ? LEARNS : QUICK))
		lookout->ended = lookout->begun;
	return lookout->begun;
}

bool lookout_has_ended(const struct lookout *lookout, uint64_t number)
{
	return lookout->ended >= number;
}

/* ---- start and end ---- */

struct lookout *lookout_new(const struct lookout_spec *spec)
{
	struct lookout *lookout = xcalloc(1, sizeof(*lookout));

	lookout->spec = *spec;
	lookout->look.lookout = lookout;
	lookout->whole.lookout = lookout;
	lookout->whole.kind = WHOLE;
	lookout->paths = xcalloc(spec->count, sizeof(*lookout->paths));
	lookout->fds = xcalloc(spec->count, sizeof(*lookout->fds));
	memcpy(lookout->paths, spec->paths, spec->count * sizeof(*lookout->paths));
	memcpy(lookout->fds, spec->fds, spec->count * sizeof(*lookout->fds));
	lookout->who = xstrdup(spec->who);
	lookout->since_ns = real_time_ns();
	lookout->known = json_array();
	list_init(&lookout->job.node);
	(void)lookout_ask(lookout);
	return lookout;
}

void lookout_quiet(struct lookout *lookout)
{
	if (lookout == NULL)
		return;
	helper_free(lookout->look.helper);
	helper_free(lookout->whole.helper);
	lookout->look.helper = NULL;
	lookout->whole.helper = NULL;
	loop_timer_stop(&lookout->whole_timer);
	lookout->last = true;
}

static void leave_lookout(struct home_job *job, int wait_ms)
{
	struct lookout *lookout = container_of(job, struct lookout, job);

	loop_defer_stop(&lookout->defer);
	helper_leave(lookout->look.helper, wait_ms);
	lookout->look.helper = NULL;
	release_lookout(lookout);
}

static void on_not_started(struct loop_defer *defer)
{
	end_last(container_of(defer, struct lookout, defer));
}

void lookout_last(struct lookout *lookout, void (*done)(void *data), void *data)
{
	lookout->done = done;
	lookout->done_data = data;
	lookout->job.leave = leave_lookout;
	home_add_job(lookout->spec.home, &lookout->job);
	if (!begin(lookout, WHOLE))
		loop_defer_start(lookout->spec.loop, &lookout->defer, on_not_started);
}

void lookout_free(struct lookout *lookout)
{
	if (lookout == NULL)
		return;
	loop_defer_stop(&lookout->defer);
	release_lookout(lookout);
}
