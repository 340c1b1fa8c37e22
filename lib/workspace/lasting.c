/* SPDX-License-Identifier: MIT */
/*
 * lasting.c - the record of a session, and the folders of ended sessions by the id in it. There is
 * no index that could be wrong: a search opens every folder, which takes some 20 us for each.
 */
#include "workspace/lasting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/random_name.h"

#define EVENTS "events"

enum { RECORD_MAX = 4 << 10, NUMBER_MAX = 1 << 30 };

/* ---- the record ---- */

void lasting_record_release(struct lasting_record *record)
{
	mem_cleanup(&record->session_id);
	mem_cleanup(&record->limits);
	mem_cleanup(&record->why);
}

int lasting_write(int journal_fd, const struct lasting_record *record, struct err *err)
{
	cleanup_json json_t *value = json_object();
	cleanup_free char *text = NULL;

	json_put_str(value, "session_id", record->session_id);
	json_put_int(value, "generation", (json_int_t)record->generation);
	if (record->next_cell > 0)
		json_put_int(value, "next_cell", (json_int_t)record->next_cell);
	json_put_str(value, "limits", record->limits);
	json_put_str(value, "why", record->why);
	json_put_bool(value, "exported", record->exported);
	text = json_write_text(value);
	if (fd_replace_file(journal_fd, LASTING_RECORD, text, err) < 0)
		return err_wrap(err, "the record of a session");
	return 0;
}

/* Reads a regular file of less than `size` bytes, never through a link. */
static ssize_t read_small(int dir_fd, const char *name, char *text, size_t size, struct err *err)
{
	cleanup_fd int fd = beneath_open_regular(dir_fd, name, NULL, err);
	ssize_t len = fd < 0 ? -1 : read(fd, text, size);

	if (fd >= 0 && len < 0)
		(void)err_sys(err, "reading the record of a session");
	return len;
}

static uint64_t take_number(const json_t *value, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(value, key));

	return number > 0 && number < NUMBER_MAX ? (uint64_t)number : 0;
}

static char *take_text(const json_t *value, const char *key)
{
	const char *text = json_string_value(json_object_get(value, key));

	return text != NULL ? xstrdup(text) : NULL;
}

int lasting_read(int journal_fd, struct lasting_record *ret, struct err *err)
{
	char text[RECORD_MAX];
	ssize_t len = read_small(journal_fd, LASTING_RECORD, text, sizeof(text), err);
	cleanup_json json_t *value = NULL;

	*ret = (struct lasting_record){ .session_id = NULL };
	if (len < 0)
		return -1;
	value = json_parse(text, (size_t)len, err);
	if (value == NULL || !json_is_string(json_object_get(value, "session_id")))
		return err_set(err, ERR_INVALID, "the record of a session is none");
	ret->session_id = take_text(value, "session_id");
	ret->generation = take_number(value, "generation");
	ret->next_cell = take_number(value, "next_cell");
	ret->limits = take_text(value, "limits");
	ret->why = take_text(value, "why");
	ret->exported = json_is_true(json_object_get(value, "exported"));
	return 0;
}

/* ---- folders ---- */

static bool is_own(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       (st.st_mode & 077 & ~home_folder_mode()) == 0;
}

/* Opens the folder `name` of a session in `dir_fd`, and its journal's folder. */
static int open_session(int dir_fd, const char *name, int *ret_journal_fd)
{
	cleanup_fd int fd = beneath_open(dir_fd, name, O_RDONLY | O_DIRECTORY, 0);
	cleanup_fd int journal = -1;

	if (fd < 0 || !is_own(fd))
		return -1;
	journal = beneath_open(fd, "journal", O_RDONLY | O_DIRECTORY, 0);
	if (journal < 0 || !is_own(journal))
		return -1;
	*ret_journal_fd = fd_steal(&journal);
	return fd_steal(&fd);
}

int lasting_open_all(const struct home *home)
{
	cleanup_fd int fd = beneath_open(home_fd(home), LASTING_FOLDER, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return -1;
	if (is_own(fd))
		return fd_steal(&fd);
	log_warn("workspace", "'%s/" LASTING_FOLDER "' is ignored: it is open to others",
		 home_path(home));
	return -1;
}

int lasting_open(const struct home *home, const char *name, int *ret_journal_fd)
{
	cleanup_fd int all = lasting_open_all(home);

	return all < 0 ? -1 : open_session(all, name, ret_journal_fd);
}

static int make_all(const struct home *home)
{
	(void)mkdirat(home_fd(home), LASTING_FOLDER, 0700);
	return lasting_open_all(home);
}

/* Renames the session's folder `name` in `from` to the lasting ones. */
static bool move_in(const struct home *home, int from, const char *name)
{
	cleanup_fd int all = make_all(home);

	if (all >= 0 && renameat(from, name, all, name) == 0)
		return true;
	log_warn("workspace", "the folder of an ended session cannot be kept: %s",
		 strerrordesc_np(errno));
	return false;
}

bool lasting_release(const struct home *home, const char *name)
{
	const char *last = strrchr(name, '/');

	return last != NULL && random_name_matches(last + 1, "") &&
	       move_in(home, home_sessions_fd(home), last + 1);
}

/* ---- what is in a folder of sessions ---- */

static int64_t time_of(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mtim.tv_sec : 0;
}

/* Returns the time of the last event, or of the record: a life without a journal writes no event.
 */
static int64_t last_use(int journal_fd)
{
	int64_t recorded = time_of(journal_fd, EVENTS);
	int64_t marked = time_of(journal_fd, LASTING_RECORD);

	return recorded > marked ? recorded : marked;
}

void lasting_each(int sessions_fd_own, lasting_fn *fn, void *data)
{
	DIR *dir = sessions_fd_own < 0 ? NULL : fdopendir(sessions_fd_own);
	const struct dirent *entry;

	if (dir == NULL) {
		fd_close(&sessions_fd_own);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		struct lasting_session session = { .sessions_fd = dirfd(dir),
						   .name = entry->d_name };
		struct lasting_record record = { .session_id = NULL };
		cleanup_fd int journal = -1;
		cleanup_fd int fd = -1;
		struct err ignored;

		if (!random_name_matches(entry->d_name, ""))
			continue;
		fd = open_session(dirfd(dir), entry->d_name, &journal);
		if (fd < 0 || lasting_read(journal, &record, &ignored) < 0)
			continue;
		session.fd = fd;
		session.journal_fd = journal;
		session.used_s = last_use(journal);
		fn(data, &session, &record);
		lasting_record_release(&record);
	}
	(void)closedir(dir);
}

static void release_one(void *data, const struct lasting_session *session,
			struct lasting_record *record)
{
	(void)record;
	(void)move_in(data, session->sessions_fd, session->name);
}

void lasting_release_all(struct home *home, const char *server)
{
	cleanup_free char *sessions = xasprintf("%s/" HOME_SESSIONS, server);

	lasting_each(beneath_open(home_fd(home), sessions, O_RDONLY | O_DIRECTORY, 0), release_one,
		     home);
}

/* ---- finding ---- */

struct search {
	const char *session_id;
	struct lasting_found *found;
};

static void note_lasting(void *data, const struct lasting_session *session,
			 struct lasting_record *record)
{
	const struct search *search = data;
	struct lasting_found *found = search->found;

	if (!str_eq(record->session_id, search->session_id))
		return;
	found->rows = xrealloc(found->rows, (found->count + 1) * sizeof(*found->rows));
	found->rows[found->count++] = (struct lasting){ .name = xstrdup(session->name),
							.used_s = session->used_s,
							.record = *record };
	*record = (struct lasting_record){ .session_id = NULL };
}

static void note_live(void *data, const struct lasting_session *session,
		      struct lasting_record *record)
{
	const struct search *search = data;

	if (!str_eq(record->session_id, search->session_id))
		return;
	search->found->in_use = true;
	search->found->in_use_s = session->used_s;
}

static void look_at_servers(const struct home *home, struct search *search)
{
	int fd = openat(home_fd(home), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (dir == NULL) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		cleanup_free char *sessions = xasprintf("%s/" HOME_SESSIONS, entry->d_name);

		if (random_name_matches(entry->d_name, HOME_SERVER_PREFIX) &&
		    !str_eq(entry->d_name, home_server_name(home)))
			lasting_each(beneath_open(dirfd(dir), sessions, O_RDONLY | O_DIRECTORY, 0),
				     note_live, search);
	}
	(void)closedir(dir);
}

static int compare_use(const void *a, const void *b)
{
	const struct lasting *one = a;
	const struct lasting *two = b;

	return (one->used_s < two->used_s) - (one->used_s > two->used_s);
}

void lasting_find(const struct home *home, const char *session_id, struct lasting_found *ret)
{
	struct search search = { .session_id = session_id, .found = ret };

	*ret = (struct lasting_found){ .count = 0 };
	lasting_each(lasting_open_all(home), note_lasting, &search);
	look_at_servers(home, &search);
	if (ret->count > 1)
		qsort(ret->rows, ret->count, sizeof(*ret->rows), compare_use);
}

void lasting_found_release(struct lasting_found *found)
{
	for (size_t i = 0; i < found->count; i++) {
		free(found->rows[i].name);
		lasting_record_release(&found->rows[i].record);
	}
	free(found->rows);
	*found = (struct lasting_found){ .count = 0 };
}
