/* SPDX-License-Identifier: MIT */
/*
 * home.c - the folders of servers, and the search for those of dead servers. A server holds a flock
 * on its lock file as long as it lives, so the kernel releases it even if the server is killed. A
 * new folder has no lock file for an instant: folders without one count as stale only after
 * UNLOCKED_AGE_S.
 */
#include "workspace/home.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "workspace/lasting.h"
#include "workspace/random_name.h"

#define NEW_PREFIX ".new-"
#define LOCK_NAME "lock"

/*
 * STALE_MAX: folders that one start inspects. UNLOCKED_AGE_S: time between making a folder and its
 * lock.
 */
enum { STALE_MAX = 4096, UNLOCKED_AGE_S = 60 };

struct home {
	int fd;
	int lock_fd;
	int sessions_fd;
	char *path; /* absolute */
	char *name; /* name of the server's folder */
	char **candidates;
	size_t candidate_count;
	struct map *taken; /* names that home_take_stale() returned: they are no candidates again */
	/* Allocated separately, because a job or an inspector does not change the home. */
	struct list *jobs;
	struct list *inspectors;
};

/*
 * Sessions of root run as users of their own and must reach their folder, whose random name cannot
 * be guessed.
 */
mode_t home_folder_mode(void)
{
	return geteuid() == 0 ? 0711 : 0700;
}

static int cannot_make(const char *path, struct err *err)
{
	return err_set(err, ERR_SYSTEM,
		       "the folder for sessions '%s' cannot be made (%s); set PTYCELL_HOME to a "
		       "folder where you may write",
		       path, strerrordesc_np(errno));
}

/* Makes a folder. An existing one is no error, even if mkdir reports another one. */
static int make_folder(const char *path, struct err *err)
{
	int saved;

	if (mkdir(path, home_folder_mode()) == 0 || errno == EEXIST)
		return 0;
	saved = errno;
	if (access(path, F_OK) == 0)
		return 0;
	errno = saved;
	return cannot_make(path, err);
}

/* Makes the folders above the last part of `path`. */
static int make_parents(const char *path, struct err *err)
{
	cleanup_free char *copy = xstrdup(path);

	for (char *p = strchr(copy + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (make_folder(copy, err) < 0)
			return -1;
		*p = '/';
	}
	return 0;
}

static int check_owner(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "looking at '%s'", path);
	if (st.st_uid != geteuid())
		return err_set(err, ERR_DENIED,
			       "the folder for sessions belongs to another user (%u); set "
			       "PTYCELL_HOME to a folder of your own, not '%s'",
			       (unsigned int)st.st_uid, path);
	if ((st.st_mode & 077 & ~home_folder_mode()) != 0)
		return err_set(err, ERR_DENIED,
			       "the folder for sessions is open to others (mode %04o); run: "
			       "chmod 700 '%s', or set PTYCELL_HOME",
			       (unsigned int)st.st_mode & 07777, path);
	return 0;
}

/*
 * Lets root's sessions, which are users of their own, pass through an existing folder with a closed
 * mode.
 */
static void let_sessions_through(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (st.st_mode & home_folder_mode()) != home_folder_mode())
		(void)fchmod(fd, (st.st_mode & 0777) | home_folder_mode());
}

int home_open_root(const char *path, struct err *err)
{
	cleanup_fd int fd = -1;

	if (path[0] != '/')
		return err_set(err, ERR_INVALID, "PTYCELL_HOME must be an absolute path, not '%s'",
			       path);
	if (make_parents(path, err) < 0)
		return -1;
	if (mkdir(path, home_folder_mode()) < 0 && errno != EEXIST)
		return cannot_make(path, err);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return err_set(err, ERR_DENIED,
			       "the folder for sessions is a link or a file, not a folder; set "
			       "PTYCELL_HOME to a real folder, not '%s'",
			       path);
	if (fd < 0)
		return err_sys(err, "opening the folder for sessions '%s'", path);
	if (check_owner(fd, path, err) < 0)
		return -1;
	let_sessions_through(fd);
	return fd_steal(&fd);
}

bool home_is_removed(const char *name)
{
	return random_name_matches(name, HOME_REMOVE_PREFIX) ||
	       random_name_matches(name, HOME_SPENT_PREFIX);
}

static bool is_ours(const char *name)
{
	return random_name_matches(name, HOME_SERVER_PREFIX) ||
	       random_name_matches(name, NEW_PREFIX) || home_is_removed(name);
}

/* The lock file's size says it: other servers can read it without asking. */
void home_show_leaving(const struct home *home, bool leaving)
{
	(void)!ftruncate(home->lock_fd, leaving ? 1 : 0);
}

bool home_is_leaving(int home_fd, const char *server)
{
	cleanup_free char *path = xasprintf("%s/" LOCK_NAME, server);
	struct stat st;

	return fstatat(home_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 0;
}

/* Lists the names of our pattern. Their locks are checked when one is taken. */
static int list_candidates(struct home *home, struct err *err)
{
	DIR *dir = fd_list(home->fd);
	struct dirent *entry;

	if (dir == NULL) {
		(void)err_sys(err, "reading '%s'", home->path);
		return -1;
	}
	while (home->candidate_count < STALE_MAX && (entry = readdir(dir)) != NULL) {
		if (!is_ours(entry->d_name) ||
		    map_get(home->taken, entry->d_name, strlen(entry->d_name)) != NULL)
			continue;
		home->candidates =
			xrealloc(home->candidates, (home->candidate_count + 1) * sizeof(char *));
		home->candidates[home->candidate_count++] = xstrdup(entry->d_name);
	}
	(void)closedir(dir);
	return 0;
}

static int make_locked(struct home *home, const char *name, struct err *err)
{
	cleanup_fd int dir = -1;

	if (mkdirat(home->fd, name, home_folder_mode()) < 0)
		return err_sys(err, "making a folder in '%s'", home->path);
	dir = openat(home->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return err_sys(err, "opening a folder in '%s'", home->path);
	home->lock_fd = openat(dir, LOCK_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (home->lock_fd < 0 || flock(home->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return err_sys(err, "locking a folder in '%s'", home->path);
	if (mkdirat(dir, HOME_SESSIONS, home_folder_mode()) < 0)
		return err_sys(err, "making a folder in '%s'", home->path);
	home->sessions_fd =
		openat(dir, HOME_SESSIONS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (home->sessions_fd < 0)
		return err_sys(err, "opening a folder in '%s'", home->path);
	return 0;
}

/*
 * Makes the server's folder. It gets its final name once it is locked, so no other server ever sees
 * it unlocked.
 */
static int make_server(struct home *home, struct err *err)
{
	cleanup_free char *hidden = random_name_new(NEW_PREFIX);

	home->name = xasprintf(HOME_SERVER_PREFIX "%s", hidden + strlen(NEW_PREFIX));
	if (make_locked(home, hidden, err) < 0)
		return -1;
	if (renameat(home->fd, hidden, home->fd, home->name) < 0)
		return err_sys(err, "renaming a folder in '%s'", home->path);
	return 0;
}

static void home_release(struct home *home)
{
	fd_close(&home->sessions_fd);
	fd_close(&home->lock_fd);
	fd_close(&home->fd);
	for (size_t i = 0; i < home->candidate_count; i++)
		free(home->candidates[i]);
	free(home->candidates);
	map_free(home->taken);
	free(home->jobs);
	free(home->inspectors);
	free(home->name);
	free(home->path);
	free(home);
}

/*
 * Resolves links in the home's path. Sandboxes open folders by path without following links, and
 * /home is a link on some systems.
 */
static int make_canonical(struct home *home, struct err *err)
{
	char *path = realpath(home->path, NULL);

	if (path == NULL)
		return err_sys(err, "looking at '%s'", home->path);
	free(home->path);
	home->path = path;
	return 0;
}

struct home *home_open(const char *path, struct err *err)
{
	struct home *home = xcalloc(1, sizeof(*home));
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	home->path = xmemdup(path, len);
	home->jobs = xcalloc(1, sizeof(*home->jobs));
	home->taken = map_new();
	list_init(home->jobs);
	home->inspectors = xcalloc(1, sizeof(*home->inspectors));
	list_init(home->inspectors);
	home->lock_fd = -1;
	home->sessions_fd = -1;
	home->fd = home_open_root(home->path, err);
	if (home->fd < 0 || make_canonical(home, err) < 0 || list_candidates(home, err) < 0 ||
	    make_server(home, err) < 0) {
		home_release(home);
		return NULL;
	}
	return home;
}

void home_add_job(const struct home *home, struct home_job *job)
{
	list_init(&job->node);
	list_append(home->jobs, &job->node);
}

struct list *home_inspectors(const struct home *home)
{
	return home->inspectors;
}

static void leave_jobs(struct home *home)
{
	uint64_t until = clock_ms() + HOME_CLOSE_WAIT_MS;

	while (!list_empty(home->jobs)) {
		struct home_job *job = list_entry(home->jobs->next, struct home_job, node);
		uint64_t now = clock_ms();

		list_remove(&job->node);
		job->leave(job, now < until ? (int)(until - now) : 0);
	}
}

void home_close(struct home *home)
{
	cleanup_fd int dir = -1;

	if (home == NULL)
		return;
	leave_jobs(home);
	dir = openat(home->fd, home->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/*
	 * The lock file stays while a session's folder is left: the next server recognises the
	 * folder by it.
	 */
	if (dir >= 0 && unlinkat(dir, HOME_SESSIONS, AT_REMOVEDIR) == 0) {
		(void)unlinkat(dir, LOCK_NAME, 0);
		(void)unlinkat(home->fd, home->name, AT_REMOVEDIR);
	}
	home_release(home);
}

/*
 * Returns true if a folder without a lock file is not just being made or closed. A time in the
 * future counts as old: the clock was ahead.
 */
static bool old_enough(const struct home *home, const char *name)
{
	struct stat st;

	return fstatat(home->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	       llabs((long long)time(NULL) - st.st_mtime) > UNLOCKED_AGE_S;
}

int home_open_entry(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

/*
 * Returns true if no living process holds `name`. `*ret_lock` then holds it until the rename, and
 * its sessions can be read. A lock file that cannot be opened is no missing one.
 */
static bool is_stale(const struct home *home, const char *name, int *ret_lock)
{
	cleanup_fd int dir = home_open_entry(home->fd, name, O_RDONLY | O_DIRECTORY);
	cleanup_fd int sessions = -1;
	cleanup_fd int lock = -1;

	if (dir < 0)
		return false;
	if (home_is_removed(name)) {
		/* Removers hold a lock on the folder itself. */
		if (flock(dir, LOCK_EX | LOCK_NB) < 0)
			return false;
		*ret_lock = fd_steal(&dir);
		return true;
	}
	lock = home_open_entry(dir, LOCK_NAME, O_RDWR | O_NONBLOCK);
	if (lock < 0 ? errno != ENOENT || !old_enough(home, name)
		     : flock(lock, LOCK_EX | LOCK_NB) < 0)
		return false;
	sessions = home_open_entry(dir, HOME_SESSIONS, O_RDONLY | O_DIRECTORY);
	*ret_lock = fd_steal(&lock);
	return true;
}

bool home_each_server(int fd, home_server_fn *fn, void *data)
{
	DIR *dir = fd_list(fd);
	const struct dirent *entry;
	bool whole = true;

	if (dir == NULL)
		return false;
	while ((entry = fd_next_entry(dir)) != NULL)
		if (random_name_matches(entry->d_name, HOME_SERVER_PREFIX))
			whole &= fn(data, dirfd(dir), entry->d_name);
	whole &= errno == 0;
	(void)closedir(dir);
	return whole;
}

void home_look_again(struct home *home)
{
	struct err err;

	while (home->candidate_count > 0)
		free(home->candidates[--home->candidate_count]);
	if (list_candidates(home, &err) < 0)
		log_warn("workspace", "%s", err.msg);
}

char *home_take_stale(struct home *home)
{
	while (home->candidate_count > 0) {
		cleanup_free char *name = home->candidates[--home->candidate_count];
		bool spent = random_name_matches(name, HOME_SPENT_PREFIX);
		cleanup_free char *taken =
			random_name_new(spent ? HOME_SPENT_PREFIX : HOME_REMOVE_PREFIX);
		cleanup_fd int lock = -1;

		if (!is_stale(home, name, &lock))
			continue;
		if (random_name_matches(name, HOME_SERVER_PREFIX) &&
		    !lasting_release_all(home, name)) {
			log_warn("workspace",
				 "'%s/%s' stays for now: its sessions could not be read or moved",
				 home->path, name);
			continue;
		}
		if (renameat(home->fd, name, home->fd, taken) < 0)
			continue;
		(void)map_set(home->taken, taken, strlen(taken), home);
		return mem_steal(&taken);
	}
	return NULL;
}

int home_fd(const struct home *home)
{
	return home->fd;
}

const char *home_path(const struct home *home)
{
	return home->path;
}

const char *home_server_name(const struct home *home)
{
	return home->name;
}

int home_sessions_fd(const struct home *home)
{
	return home->sessions_fd;
}
