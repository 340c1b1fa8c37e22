/* SPDX-License-Identifier: MIT */
/*
 * lookout.c - runs ptycell-files over the shared folders, as many at a time as a helper takes
 * descriptors, with a time limit. A request during an inspection starts another one after it,
 * because session code may have written behind the first. The last inspection outlives the session
 * as a job of the home.
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

enum {
	LOOK_MS = 1000, /* an answer waits for the inspection */
	LEARN_MS = 10000,
	LAST_MS = 600000,
	LAST_ENTRIES = 100000000,
	QUIET_MS = 5000,
	LAST_QUIET_MS = 60000,
	QUIET_AGAIN_MS = 500, /* for a disk that did not answer before */
	SHOWN_MAX = 5,        /* names in a sentence */
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
	struct helper *helper;
	struct loop_defer defer; /* the end of a last inspection that could not start */
	size_t at;               /* the first folder of the current run */
	json_t *known;
	bool hung;
	bool more_reported;
	bool stuck_reported;
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

	if (lookout->stuck_reported || list_rows(result, false, &list) == 0)
		return;
	lookout->stuck_reported = true;
	text = xasprintf("The user's git would run what code wrote into %s, and it could not be "
			 "renamed; tell the user to remove it before calling git there.",
			 buf_str(&list));
	report_text(lookout, text);
}

static void report_more(struct lookout *lookout, const json_t *result)
{
	cleanup_free char *text = NULL;

	if (!json_is_true(json_object_get(result, "more")) ||
	    (lookout->more_reported && !lookout->last))
		return;
	if (lookout->last) {
		report_text(lookout,
			    "The shared folder has too many entries to look at all of them; the "
			    "user's git would run what code wrote into a repository there.");
		return;
	}
	lookout->more_reported = true;
	text = xasprintf("The shared folder has more than %d entries. Of the others, those deepest "
			 "and in folders of packages, names that make programs run something (.git/"
			 "hooks, .envrc ...) are not held read-only, and repositories that code "
			 "makes there are looked for when the session ends, not after each cell.",
			 LOOKOUT_ENTRIES);
	report_text(lookout, text);
}

/* ---- an inspection ---- */

static bool start_look(struct lookout *lookout);

static void release_lookout(struct lookout *lookout)
{
	helper_free(lookout->helper);
	json_decref(lookout->known);
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

/* Ends an inspection of all folders. */
static void end_look(struct lookout *lookout)
{
	lookout->ended = lookout->begun;
	if (lookout->last) {
		end_last(lookout);
		return;
	}
	if (lookout->wanted > lookout->begun)
		(void)lookout_ask(lookout);
	lookout->spec.inspected(lookout->spec.data);
}

static void on_look_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct lookout *lookout = helper_data(helper);

	lookout->hung = err != NULL && err->code == ERR_TIMEOUT;
	if (err != NULL)
		log_warn("lookout", "'%s': looking into shared folders: %s", lookout->who,
			 err->msg);
	if (lookout->begun == 1)
		json_array_extend(lookout->known, json_object_get(result, "known"));
	report_renamed(lookout, result);
	report_stuck(lookout, result);
	report_more(lookout, result);
	helper_free(helper); /* the result belonged to the helper */
	lookout->helper = NULL;
	lookout->at += HELPER_FDS_MAX;
	if (lookout->at >= lookout->spec.count || !start_look(lookout))
		end_look(lookout);
}

static json_t *make_request(const struct lookout *lookout, size_t count)
{
	json_t *request = json_object();
	json_t *shares = json_array();
	cleanup_free char *home = percent_encode(home_path(lookout->spec.home));
	bool learns = lookout->begun == 1;

	for (size_t i = 0; i < count; i++) {
		cleanup_free char *path = percent_encode(lookout->paths[lookout->at + i]);

		json_append(shares, json_make_str(path));
	}
	json_put_str(request, "op", "inspect");
	json_put(request, "shares", shares);
	json_put_str(request, "home", home);
	json_put_int(request, "since", lookout->since_ns);
	json_put_int(request, "entries", lookout->last ? LAST_ENTRIES : LOOKOUT_ENTRIES);
	json_put_int(request, "ms", lookout->last ? LAST_MS : learns ? LEARN_MS : LOOK_MS);
	json_put_bool(request, "learn", learns);
	json_put(request, "known", json_incref(lookout->known));
	return request;
}

/* Starts the run for the folders from `at` on. */
static bool start_look(struct lookout *lookout)
{
	static const struct helper_handlers handlers = { .done = on_look_done };
	size_t count = size_min(lookout->spec.count - lookout->at, HELPER_FDS_MAX);
	cleanup_json json_t *request = make_request(lookout, count);
	const struct helper_spec spec = { .path = lookout->spec.helper,
					  .request = request,
					  .fds = lookout->fds + lookout->at,
					  .fd_count = count,
					  .quiet_ms = lookout->last   ? LAST_QUIET_MS
						      : lookout->hung ? QUIET_AGAIN_MS
								      : QUIET_MS };
	struct err err;

	lookout->helper = helper_start(lookout->spec.loop, &spec, &handlers, lookout, &err);
	if (lookout->helper == NULL)
		log_warn("lookout", "'%s': looking into shared folders: %s", lookout->who, err.msg);
	return lookout->helper != NULL;
}

static bool begin(struct lookout *lookout)
{
	lookout->begun++;
	lookout->at = 0;
	return start_look(lookout);
}

uint64_t lookout_ask(struct lookout *lookout)
{
	if (lookout->helper != NULL) {
		lookout->wanted = lookout->begun + 1;
		return lookout->wanted;
	}
	if (!begin(lookout))
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
	helper_free(lookout->helper);
	lookout->helper = NULL;
	lookout->last = true;
}

static void leave_lookout(struct home_job *job, int wait_ms)
{
	struct lookout *lookout = container_of(job, struct lookout, job);

	loop_defer_stop(&lookout->defer);
	helper_leave(lookout->helper, wait_ms);
	lookout->helper = NULL;
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
	lookout->begun++; /* no configs are learned */
	home_add_job(lookout->spec.home, &lookout->job);
	if (!begin(lookout))
		loop_defer_start(lookout->spec.loop, &lookout->defer, on_not_started);
}

void lookout_free(struct lookout *lookout)
{
	if (lookout == NULL)
		return;
	loop_defer_stop(&lookout->defer);
	release_lookout(lookout);
}
