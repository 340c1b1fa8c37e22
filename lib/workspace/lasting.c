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
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "workspace/aside.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/random_name.h"

#define EVENTS "events"

enum { RECORD_MAX = 4 << 10, NUMBER_MAX = 1 << 30 };

/* ---- the record ---- */

void lasting_record_release(struct lasting_record *record)
{
	mem_cleanup(&record->session_id);
	mem_cleanup(&record->unread);
	mem_cleanup(&record->limits);
	mem_cleanup(&record->why);
}

int lasting_write(int journal_fd, const struct lasting_record *record, struct err *err)
{
	cleanup_json json_t *value = json_object();

	json_put_str(value, "session_id", record->session_id);
	json_put_int(value, "generation", (json_int_t)record->generation);
	if (record->next_cell > 0)
		json_put_int(value, "next_cell", (json_int_t)record->next_cell);
	json_put_str(value, "limits", record->limits);
	json_put_str(value, "why", record->why);
	json_put_bool(value, "exported", record->exported);
	json_put_bool(value, "cut", record->cut);
	if (record->running > 0)
		json_put_int(value, "running", (json_int_t)record->running);
	if (record->unread != NULL)
		json_put_str(value, "unread", record->unread);
	if (json_write_file(journal_fd, LASTING_RECORD, value, err) < 0)
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
	ret->cut = json_is_true(json_object_get(value, "cut"));
	ret->running = take_number(value, "running");
	ret->unread = take_text(value, "unread");
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
	cleanup_fd int fd = home_open_entry(home_fd(home), LASTING_FOLDER, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return -1;
	if (is_own(fd))
		return fd_steal(&fd);
	log_warn("workspace",
		 "'%s/" LASTING_FOLDER
		 "' is ignored: it is open to others; run: chmod 700 '%s/" LASTING_FOLDER "'",
		 home_path(home), home_path(home));
	errno = EPERM;
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

/* Renames `aside` to `data`, if the server ended while the session's cells ran again. */
static void settle(int from, const char *name)
{
	cleanup_fd int session = beneath_open(from, name, O_RDONLY | O_DIRECTORY, 0);
	struct err err;

	if (session >= 0 && aside_settle(session, &err) < 0)
		log_warn("workspace",
			 "the files of an ended session are in '%s/" ASIDE_FOLDER "': %s", name,
			 err.msg);
}

/* Renames the session's folder `name` in `from` to the lasting ones. */
static bool move_in(const struct home *home, int from, const char *name)
{
	cleanup_fd int all = -1;

	settle(from, name);
	all = make_all(home);
	if (all >= 0 && renameat(from, name, all, name) == 0)
		return true;
	log_warn("workspace", "the folder '%s' of an ended session stays for the next server: %s",
		 name, strerrordesc_np(errno));
	return false;
}

bool lasting_release(const struct home *home, const char *name)
{
	const char *last = strrchr(name, '/');

	return last != NULL && random_name_matches(last + 1, "") &&
	       move_in(home, home_sessions_fd(home), last + 1);
}

/* ---- what is in a folder of sessions ---- */

static struct timespec time_of(int dir_fd, const char *name)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return (struct timespec){ .tv_sec = 0 };
	return st.st_mtim;
}

int lasting_compare_use(const struct timespec *one, const struct timespec *two)
{
	if (one->tv_sec != two->tv_sec)
		return one->tv_sec < two->tv_sec ? -1 : 1;
	return (one->tv_nsec > two->tv_nsec) - (one->tv_nsec < two->tv_nsec);
}

/* Returns the time of the last event, or of the record: a life without a journal writes no event.
 */
static struct timespec last_use(int journal_fd)
{
	struct timespec recorded = time_of(journal_fd, EVENTS);
	struct timespec marked = time_of(journal_fd, LASTING_RECORD);

	return lasting_compare_use(&recorded, &marked) > 0 ? recorded : marked;
}

/* Returns whether an error says nothing about the session's folder: the session may be there. */
static bool hides(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
}

/* Returns false when the session could not be read. */
static bool visit(int sessions_fd, const char *name, lasting_fn *fn, void *data)
{
	struct lasting_session session = { .sessions_fd = sessions_fd, .name = name };
	struct lasting_record record = { .session_id = NULL };
	cleanup_fd int journal = -1;
	cleanup_fd int fd = -1;
	struct err err;

	errno = 0;
	fd = open_session(sessions_fd, name, &journal);
	if (fd < 0)
		return !hides(errno);
	if (lasting_read(journal, &record, &err) < 0)
		return err.code != ERR_SYSTEM || !hides(err.sys);
	session.fd = fd;
	session.journal_fd = journal;
	session.used = last_use(journal);
	fn(data, &session, &record);
	lasting_record_release(&record);
	return true;
}

bool lasting_each(int sessions_fd_own, lasting_fn *fn, void *data)
{
	bool is_there = sessions_fd_own >= 0;
	DIR *dir = fd_list_own(sessions_fd_own);
	const struct dirent *entry;
	bool whole = true;

	if (dir == NULL)
		return !is_there;
	while ((entry = fd_next_entry(dir)) != NULL)
		if (random_name_matches(entry->d_name, ""))
			whole &= visit(dirfd(dir), entry->d_name, fn, data);
	whole &= errno == 0;
	(void)closedir(dir);
	return whole;
}

struct release {
	const struct home *home;
	bool whole;
};

static void release_one(void *data, const struct lasting_session *session,
			struct lasting_record *record)
{
	struct release *release = data;

	(void)record;
	release->whole &= move_in(release->home, session->sessions_fd, session->name);
}

/* Calls `fn` for each session of a server. Returns as lasting_each(). */
static bool each_of_server(int dir_fd, const char *server, lasting_fn *fn, void *data)
{
	cleanup_free char *sessions = xasprintf("%s/" HOME_SESSIONS, server);
	int fd = beneath_open(dir_fd, sessions, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? !hides(errno) : lasting_each(fd, fn, data);
}

bool lasting_release_all(struct home *home, const char *server)
{
	struct release release = { .home = home, .whole = true };

	return each_of_server(home_fd(home), server, release_one, &release) && release.whole;
}

/* ---- sessions that were destroyed ---- */

bool lasting_forget(const struct home *home, const char *name)
{
	cleanup_fd int journal = -1;
	cleanup_fd int session = lasting_open(home, name, &journal);

	if (session < 0)
		return false;
	fd_touch(journal, LASTING_FORGOTTEN);
	return lasting_is_forgotten(journal);
}

bool lasting_is_forgotten(int journal_fd)
{
	return faccessat(journal_fd, LASTING_FORGOTTEN, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- finding ---- */

char *lasting_own_id(const char *session_id, const char *name)
{
	return xasprintf("%.*s-%.*s", LASTING_ID_MAX - LASTING_OWN_LEN - 1, session_id,
			 LASTING_OWN_LEN, name);
}

struct search {
	const struct home *home;
	const char *session_id;
	struct lasting_found *found;
};

static void note_lasting(void *data, const struct lasting_session *session,
			 struct lasting_record *record)
{
	const struct search *search = data;
	struct lasting_found *found = search->found;
	cleanup_free char *own = lasting_own_id(record->session_id, session->name);

	if ((!str_eq(search->session_id, record->session_id) && !str_eq(search->session_id, own)) ||
	    lasting_is_forgotten(session->journal_fd))
		return;
	found->rows = xrealloc(found->rows, (found->count + 1) * sizeof(*found->rows));
	found->rows[found->count++] = (struct lasting){ .name = xstrdup(session->name),
							.used = session->used,
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
	search->found->in_use_at = session->used;
}

static bool look_at_server(void *data, int fd, const char *server)
{
	const struct search *search = data;
	struct lasting_found *found = search->found;
	bool before = found->in_use;
	bool whole = str_eq(server, home_server_name(search->home)) ||
		     each_of_server(fd, server, note_live, data);

	if (found->in_use && !before)
		found->leaving = home_is_leaving(fd, server);
	return whole;
}

static int compare_use(const void *a, const void *b)
{
	const struct lasting *one = a;
	const struct lasting *two = b;

	if (one->empty != two->empty)
		return one->empty ? 1 : -1;
	return lasting_compare_use(&two->used, &one->used);
}

void lasting_sort(struct lasting_found *found)
{
	if (found->count > 1)
		qsort(found->rows, found->count, sizeof(*found->rows), compare_use);
}

void lasting_find(const struct home *home, const char *session_id, struct lasting_found *ret)
{
	struct search search = { .home = home, .session_id = session_id, .found = ret };

	*ret = (struct lasting_found){ .count = 0 };
	ret->cut = !lasting_each(lasting_open_all(home), note_lasting, &search);
	ret->cut |= !home_each_server(home_fd(home), look_at_server, &search);
	lasting_sort(ret);
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
