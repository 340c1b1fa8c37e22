/* SPDX-License-Identifier: MIT */
/* inspector_fixture.h - shares, an inspector over them, and what it reported. */
#ifndef WORKSPACE_INSPECTOR_FIXTURE_H
#define WORKSPACE_INSPECTOR_FIXTURE_H

#include "fixture.h"

#include "base/buf.h"
#include "base/mem.h"
#include "workspace/home.h"
#include "workspace/inspector.h"

#define HELPER TEST_BUILD "/ptycell-files"
#define HELD ".held-by-ptycell"
#define SCRIPT "#!/bin/sh\nread -r order\n"

enum { SHARES_MAX = 10, LONG_NAME = 250 /* too long for a new name */ };

/* Some shares and what an inspector said of them. */
struct watch {
	struct fixture *f;
	struct loop *loop;
	struct inspector *inspector;
	char *paths[SHARES_MAX];
	int fds[SHARES_MAX];
	size_t count;
	struct buf notices;
	size_t notice_count;
	size_t ended;
	bool hook_at_end; /* what there was when an inspection ended */
	size_t notices_at_end;
	bool last_is_done;
	bool unreported;
};

static inline void on_notice(void *data, const char *text)
{
	struct watch *w = data;

	w->notice_count++;
	buf_putf(&w->notices, "%s\n", text);
}

static inline void on_last_done(void *data, bool unreported)
{
	struct watch *w = data;

	w->last_is_done = true;
	w->unreported = unreported;
}

/* ---- the shares ---- */

static inline void make_shares(struct watch *w, struct fixture *f, size_t count)
{
	*w = (struct watch){ .f = f, .loop = f->loop, .count = count };
	buf_init(&w->notices, BUF_UNBOUNDED);
	for (size_t i = 0; i < count; i++) {
		w->paths[i] = xasprintf("%s/share-%zu", f->scratch.path, i);
		assert_int_equal(mkdir(w->paths[i], 0700), 0);
		w->fds[i] = open(w->paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(w->fds[i] >= 0);
	}
}

static inline void release(struct watch *w)
{
	inspector_free(w->inspector);
	buf_release(&w->notices);
	for (size_t i = 0; i < w->count; i++) {
		(void)close(w->fds[i]);
		free(w->paths[i]);
	}
}

static inline void wait_for(struct watch *w, uint64_t number)
{
	while (!inspector_has_ended(w->inspector, number))
		loop_turn(w->loop, -1);
}

static inline void look(struct watch *w)
{
	wait_for(w, inspector_request(w->inspector));
}

static inline void look_for_the_last_time(struct watch *w)
{
	struct inspector *inspector = w->inspector;

	w->inspector = NULL;
	w->last_is_done = false;
	inspector_quiet(inspector);
	inspector_finish(inspector, on_last_done, w);
	assert_false(w->last_is_done);
	while (!w->last_is_done)
		loop_turn(w->loop, -1);
}

static inline void make_repository(int share)
{
	assert_int_equal(mkdirat(share, "repo", 0700), 0);
	assert_int_equal(mkdirat(share, "repo/.git", 0700), 0);
	assert_int_equal(mkdirat(share, "repo/.git/refs", 0700), 0);
	assert_int_equal(mkdirat(share, "repo/.git/hooks", 0700), 0);
	scratch_write(share, "repo/.git/HEAD", "ref: refs/heads/main\n");
}

static inline void make_hook(int share, const char *name)
{
	cleanup_free char *path = xasprintf("repo/.git/hooks/%s", name);

	scratch_write(share, path, "#!/bin/sh\n");
	assert_int_equal(fchmodat(share, path, 0700, 0), 0);
}

static inline bool has_hook(int share, const char *name)
{
	cleanup_free char *path = xasprintf("repo/.git/hooks/%s", name);

	return scratch_exists(share, path);
}

/* A whole inspection that follows begins later, from the loop. */
static inline void on_inspected(void *data)
{
	struct watch *w = data;

	w->ended++;
	w->hook_at_end = has_hook(w->fds[0], "post-commit");
	w->notices_at_end = w->notice_count;
}

static inline void start(struct watch *w, const char *helper)
{
	w->inspector =
		inspector_new(&(struct inspector_spec){ .loop = w->loop,
							.home = w->f->home,
							.helper = helper,
							.paths = (const char *const *)w->paths,
							.fds = w->fds,
							.count = w->count,
							.who = "sales",
							.notice = on_notice,
							.inspected = on_inspected,
							.data = w });
}

static inline void start_and_learn(struct watch *w, const char *helper)
{
	start(w, helper);
	wait_for(w, 1);
}

static inline void assert_held(int share)
{
	assert_false(has_hook(share, "post-commit"));
	assert_true(has_hook(share, "post-commit" HELD));
}

static inline void assert_noticed(struct watch *w, const char *text)
{
	if (strstr(buf_str(&w->notices), text) == NULL)
		fail_msg("no '%s' in '%s'", text, buf_str(&w->notices));
}

/* ---- a script in place of the helper ---- */

static inline char *write_script(struct watch *w, const char *text)
{
	char *path = xasprintf("%s/helper", w->f->scratch.path);

	scratch_write(AT_FDCWD, path, text);
	assert_int_equal(chmod(path, 0700), 0);
	return path;
}

/* Where `pattern` is in the request, the script answers with the limit, else the helper answers. */
static inline char *write_limited(struct watch *w, const char *pattern, const char *limit)
{
	cleanup_free char *text = xasprintf(
		SCRIPT "case \"$order\" in\n"
		       "*'%s'*) echo '{\"result\":{\"held\":[],\"count\":0,\"more\":\"%s\"}}';;\n"
		       "*) printf '%%s\\n' \"$order\" | " HELPER " \"$@\";;\n"
		       "esac\n",
		pattern, limit);

	return write_script(w, text);
}

#endif
