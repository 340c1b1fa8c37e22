/* SPDX-License-Identifier: MIT */
/*
 * rescue_fixture.h - a killed server with sessions, and a rescue of what it had not exported.
 *
 * Header only. A server that is closed while it has a session leaves what a killed
 * one leaves: its folder, and no lock.
 */
#ifndef WORKSPACE_RESCUE_FIXTURE_H
#define WORKSPACE_RESCUE_FIXTURE_H

#include "fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>

#include "base/buf.h"
#include "base/crc.h"
#include "base/fd.h"
#include "base/mem.h"
#include "json/make.h"
#include "workspace/home.h"
#include "workspace/lasting.h"
#include "workspace/lostcells.h"
#include "workspace/rescue.h"

#define HELPER TEST_BUILD "/ptycell-files"
#define NOTEBOOK "notebook.ipynb"

enum { ROOM = 1 << 20 };

/* The server that is to be killed, with one session. */
struct server {
	struct home *home;
	struct workspace *session;
	int data;
	int journal;
};

/* What a rescue told. */
struct told {
	int done;
	char *name; /* of the folder */
	int killed;
	size_t cells;
	size_t installed;
	json_int_t cell; /* the first one */
	char *folder;    /* where results are, or NULL */
};

static struct err err;
static struct told told;
static char *root;
static int real_stderr = -1; /* while the log goes to a file */
static int bad_reads;        /* so many of the next reads of a folder fail */
static bool stays;           /* the folder of the server is expected to */

struct dirent *readdir(DIR *dirp)
{
	static struct dirent *(*real)(DIR *);

	if (bad_reads > 0) {
		bad_reads--;
		errno = EIO;
		return NULL;
	}
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	return real(dirp);
}

static inline void forget_told(void)
{
	mem_cleanup(&told.name);
	mem_cleanup(&told.folder);
	told = (struct told){ .done = 0 };
}

static inline int set_up(void **state)
{
	const struct fixture *f;

	(void)fixture_setup(state);
	f = *state;
	root = xasprintf("%s/kept", f->scratch.path);
	return 0;
}

static inline void end_log(void)
{
	if (real_stderr >= 0)
		(void)dup2(real_stderr, STDERR_FILENO);
	fd_close(&real_stderr);
}

static inline int tear_down(void **state)
{
	end_log();
	stays = false;
	forget_told();
	mem_cleanup(&root);
	return fixture_teardown(state);
}

#define RESCUE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- the killed server ---- */

static inline void add_session(struct server *server)
{
	workspace_free(server->session);
	server->session = workspace_new(server->home, &err);
	assert_non_null(server->session);
	server->data = workspace_data_fd(server->session);
	server->journal = workspace_journal_fd(server->session);
}

static inline struct server start_server(const struct fixture *f)
{
	struct server server = { .home = home_open(home_path(f->home), &err) };

	assert_non_null(server.home);
	add_session(&server);
	return server;
}

static inline void kill_server(struct server *server)
{
	workspace_free(server->session);
	home_close(server->home);
}

/* Kills the server and takes its folder. The caller frees the name. */
static inline char *take_killed(const struct fixture *f, struct server *server)
{
	char *name;

	kill_server(server);
	home_look_again(f->home);
	name = home_take_stale(f->home);
	assert_non_null(name);
	return name;
}

/* Kills the server of a session with a record that it lasts. The caller frees its name. */
static inline char *leave_lasting(const struct fixture *f, struct server *server, bool exported)
{
	struct lasting_record record = { .session_id = xstrdup("trip"), .exported = exported };
	char *name = xstrdup(strrchr(workspace_name(server->session), '/') + 1);

	assert_int_equal(lasting_write(server->journal, &record, &err), 0);
	lasting_record_release(&record);
	free(take_killed(f, server));
	return name;
}

static inline bool lasting_has(const struct fixture *f, const char *name, const char *file)
{
	cleanup_fd int journal = -1;
	cleanup_fd int session = lasting_open(f->home, name, &journal);

	assert_true(session >= 0);
	return scratch_exists(journal, file);
}

/* Appends an event as the journal does (lib/journal/FORMAT.md). */
static inline void put_event(struct buf *events, const char *fields, const char *data)
{
	uint32_t crc = crc_32c(crc_32c(0, fields, strlen(fields)), data, strlen(data));

	buf_putf(events, "%08zx %08zx %08x\n%s\n%s\n", strlen(fields), strlen(data), crc, fields,
		 data);
}

/* Writes the journal of a session whose second cell ran when its server was killed. */
static inline void write_events(int journal)
{
	cleanup_buf struct buf events = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&events, "ptycell events 1\n");
	put_event(&events, "{\"event\":\"session\",\"session_id\":\"trip\"}", "");
	put_event(&events, "{\"event\":\"asked\",\"cell\":1,\"language\":\"python\"}", "one = 1");
	put_event(&events, "{\"event\":\"began\",\"cell\":1}", "");
	put_event(&events, "{\"event\":\"ended\",\"cell\":1,\"state\":\"done\",\"ran\":true}", "");
	put_event(&events, "{\"event\":\"audited\",\"cell\":1}", "");
	put_event(&events, "{\"event\":\"asked\",\"cell\":2,\"language\":\"python\"}", "two = 2");
	put_event(&events, "{\"event\":\"began\",\"cell\":2}", "");
	put_event(&events, "{\"event\":\"installed\",\"packages\":[[\"a\",\"1\"]],\"by\":2}", "");
	scratch_write(journal, "events", buf_str(&events));
}

static inline void write_lost(int journal, uint64_t first_cell)
{
	cleanup_json json_t *record = json_object();

	json_put_str(record, "who", "me");
	lostcells_record(journal, record, first_cell);
}

/* ---- the rescue ---- */

static inline void on_killed(void *data, const struct lostcells_report *report)
{
	(void)data;
	told.killed++;
	told.cells = json_array_size(report->cells);
	told.installed = json_array_size(report->installed);
	told.cell = json_integer_value(json_object_get(json_array_get(report->cells, 0), "cell"));
	told.folder = report->kept_folder == NULL ? NULL : xstrdup(report->kept_folder);
	assert_string_equal(json_string_value(json_object_get(report->record, "who")), "me");
}

static inline void on_done(void *data, const char *name)
{
	(void)data;
	told.done++;
	told.name = name == NULL ? NULL : xstrdup(name);
}

static inline struct rescue_spec spec_for(const struct fixture *f, const char *name)
{
	return (struct rescue_spec){ .loop = f->loop,
				     .home = f->home,
				     .helper = HELPER,
				     .name = name,
				     .root = root,
				     .quota_bytes = ROOM,
				     .killed = on_killed };
}

static inline void wait_until_done(const struct fixture *f)
{
	while (told.done == 0)
		loop_turn(f->loop, -1);
	assert_int_equal(told.done, 1);
}

static inline void run(const struct fixture *f, const struct rescue_spec *spec)
{
	bool is_left = spec->name == NULL || bad_reads > 0 || stays;

	forget_told();
	assert_non_null(rescue_start(spec, on_done, NULL));
	wait_until_done(f);
	if (is_left)
		assert_null(told.name);
	else
		assert_string_equal(told.name, spec->name);
}

static inline void rescue(const struct fixture *f, const char *name)
{
	const struct rescue_spec spec = spec_for(f, name);

	run(f, &spec);
}

/* Runs a rescue and returns what was logged. The caller frees it. */
static inline char *run_logged(const struct fixture *f, const struct rescue_spec *spec)
{
	cleanup_fd int fd =
		openat(f->scratch.fd, "log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	real_stderr = fd_dup(STDERR_FILENO, &err);
	assert_true(fd >= 0 && real_stderr >= 0);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	run(f, spec);
	end_log();
	return scratch_read(f->scratch.fd, "log");
}

static inline void assert_logged(const char *log, const char *text)
{
	if (strstr(log, text) == NULL)
		fail_msg("no '%s' in '%s'", text, log);
}

/* ---- what is there ---- */

/* Returns the text of a file below the root, or NULL. */
static inline char *read_kept(const char *path)
{
	cleanup_free char *whole = xasprintf("%s/%s", root, path);

	return scratch_read(AT_FDCWD, whole);
}

static inline void assert_kept(const char *path, const char *expected)
{
	cleanup_free char *text = read_kept(path);

	if (expected != NULL && text == NULL)
		fail_msg("no '%s'", path);
	if (expected == NULL && text != NULL)
		fail_msg("there is a '%s'", path);
	if (expected != NULL)
		assert_string_equal(text, expected);
}

static inline void put_kept(const char *folder, const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/%s", root, folder);
	cleanup_free char *file = xasprintf("%s/%s", path, name);

	(void)mkdir(root, 0700);
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	scratch_write(AT_FDCWD, file, text);
}

/* Returns how many entries a folder has whose names begin with `prefix`; -1 without a folder. */
static inline int count_in(const char *path, const char *prefix)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int count = 0;

	if (dir == NULL)
		return -1;
	while ((entry = readdir(dir)) != NULL)
		count += entry->d_name[0] != '.' &&
			 strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	(void)closedir(dir);
	return count;
}

/* Returns the path of the only session in the server's folder `name`. */
static inline char *session_path(const struct fixture *f, const char *name)
{
	cleanup_free char *sessions = xasprintf("%s/%s/" HOME_SESSIONS, home_path(f->home), name);
	DIR *dir = opendir(sessions);
	const struct dirent *entry;
	char *path = NULL;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL && path == NULL)
		if (entry->d_name[0] != '.')
			path = xasprintf("%s/%s", sessions, entry->d_name);
	(void)closedir(dir);
	assert_non_null(path);
	return path;
}

static inline bool session_has(const struct fixture *f, const char *name, const char *file)
{
	cleanup_free char *session = session_path(f, name);
	cleanup_free char *path = xasprintf("%s/%s", session, file);

	return access(path, F_OK) == 0;
}

#endif
