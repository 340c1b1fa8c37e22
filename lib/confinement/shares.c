/* SPDX-License-Identifier: MIT */
/*
 * shares.c - opens shares from the root down and through no link (workspace/beneath.h), and keeps
 * the descriptors. Rights of landlock only add up, so a read-only share must not be within a
 * writable one.
 */
#include "confinement/shares.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/paths.h"
#include "config/settings.h"
#include "confinement/folder_path.h"
#include "confinement/mounts.h"
#include "sandbox/rootfs/mount_source.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"

struct share {
	struct policy_share policy;
	char *path;   /* the memory of policy.path */
	char *mounts; /* those in it that were tried (mounts.h), if code may write */
	int fd;
	bool is_home;
};

struct shares {
	const struct settings *settings;
	char *home; /* the user's, or NULL */
	struct share *items;
	struct policy_share *list;
	size_t count;
	struct buf absent; /* a sentence for each missing share */
};

enum { SHOWN_MAX = 120 /* characters of a path in a sentence */ };

/*
 * Folders that are the same everywhere or the machine's own: sessions have their own or see them.
 */
static const char *const system_folders[] = {
	"/bin",    "/boot", "/dev", "/efi",  "/etc", "/lib", "/lib32",   "/lib64",
	"/libx32", "/proc", "/run", "/sbin", "/sys", "/usr", "/var/run",
};

/* Folders that expose too much; folders in them may be shared. */
static const char *const roots[] = { "/",        "/home",      "/media",  "/mnt", "/opt",
				     "/root",    "/srv",       "/tmp",    "/var", "/var/lib",
				     "/var/log", "/var/spool", "/var/tmp" };

static const char *const session_folders[] = { POLICY_DATA, POLICY_SPOOL, POLICY_PACKAGES };

bool shares_path_within(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	if (len == 1)
		return true;
	return strncmp(folder, path, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static bool overlap(const char *a, const char *b)
{
	return shares_path_within(a, b) || shares_path_within(b, a);
}

/* ---- allowed folders ---- */

/* Returns a path for a sentence. The caller frees the result. */
static char *show_path(const char *path)
{
	struct buf line = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&line, path, strlen(path), SHOWN_MAX);
	return buf_steal(&line);
}

static int refuse(const char *path, const char *why, struct err *err)
{
	cleanup_free char *quoted = show_path(path);

	return err_set(err, ERR_DENIED, "the share '%s' %s", quoted, why);
}

/* A folder directly in /home is a user's home, also when this user's own is elsewhere. */
static bool is_a_home(const char *path)
{
	static const char parent[] = "/home/";
	size_t len = sizeof(parent) - 1;

	return strncmp(path, parent, len) == 0 && strchr(path + len, '/') == NULL;
}

static int check_home(const struct shares *shares, const struct share *share, struct err *err)
{
	static const char whole[] =
		"is a whole home folder, with keys and passwords in it: share a folder in it, or "
		"write :home behind it if you mean it";

	static const char written[] =
		"is a whole home folder: code could write what your shell, ssh and desktop run; "
		"share it without :rw, or a folder in it";
	bool is_home = is_a_home(share->path) ||
		       (shares->home != NULL && str_eq(share->path, shares->home));

	if (is_home && !share->is_home)
		return refuse(share->path, whole, err);
	if (is_home && share->policy.writable)
		return refuse(share->path, written, err);
	if (shares->home == NULL || !shares_path_within(share->path, shares->home))
		return 0;
	if (!str_eq(share->path, shares->home))
		return refuse(share->path, "holds home folders: share a folder in yours", err);
	return 0;
}

static int check_ours(const struct shares *shares, const struct share *share, struct err *err)
{
	const struct settings *settings = shares->settings;

	if (mounts_overlap(share->path, settings->home))
		return refuse(share->path,
			      "holds the folders of other sessions, or lies among them: set "
			      "PTYCELL_HOME to a folder outside of it",
			      err);
	if (share->policy.writable && settings->keep != NULL &&
	    mounts_overlap(share->path, settings->keep))
		return refuse(share->path,
			      "would let code change kept results: share it without :rw, or set "
			      "PTYCELL_KEEP to a folder outside of it",
			      err);
	return 0;
}

static bool is_in_list(const char *const *list, size_t count, const char *path,
		       bool (*matches)(const char *listed, const char *path))
{
	for (size_t i = 0; i < count; i++)
		if (matches(list[i], path))
			return true;
	return false;
}

static int check_place(const struct shares *shares, const struct share *share, struct err *err)
{
	const char *path = share->path;

	if (!str_eq(path, "/") &&
	    (is_in_list(system_folders, ARRAY_SIZE(system_folders), path, overlap) ||
	     is_in_list(system_folders, ARRAY_SIZE(system_folders), path, folder_path_overlaps)))
		return refuse(path, "is a system folder, holds one or lies in one", err);
	if (check_home(shares, share, err) < 0)
		return -1;
	if (!share->is_home && is_in_list(roots, ARRAY_SIZE(roots), path, str_eq))
		return refuse(path, "is too much: share a folder in it", err);
	if (is_in_list(session_folders, ARRAY_SIZE(session_folders), path, overlap))
		return refuse(path, "would lie where each session has folders of its own", err);
	return check_ours(shares, share, err);
}

/* ---- opening ---- */

/* Opens a plain path from the root down, through no link. */
static int open_plain(const char *path, int flags)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return -1;
	if (path[1] == '\0')
		return fd_steal(&root);
	return beneath_open(root, path + 1, flags, 0);
}

/* Returns whether an error means a missing disk: it was unplugged, or a network server is gone. */
static bool is_absence(int code)
{
	return code == ENOENT || code == ENODEV || code == ENXIO || code == EIO ||
	       code == ENOTCONN || code == ESTALE || code == EHOSTDOWN || code == EHOSTUNREACH ||
	       code == ETIMEDOUT;
}

static int open_failed(const char *path, struct err *err)
{
	char real[PATH_MAX];
	int saved = errno;
	cleanup_free char *quoted = show_path(path);
	cleanup_free char *led = NULL;

	if ((saved == ELOOP || saved == ENOTDIR) && realpath(path, real) != NULL &&
	    !str_eq(real, path)) {
		led = show_path(real);
		return err_set(err, ERR_DENIED,
			       "the share '%s' leads through a symbolic link: share '%s'", quoted,
			       led);
	}
	if (is_absence(saved))
		return err_set(err, ERR_NOT_FOUND, "the share '%s' is not there", quoted);
	if (saved == ENOTDIR)
		return err_set(err, ERR_INVALID,
			       "the share '%s' is no folder: share the one it is in", quoted);
	errno = saved;
	return err_sys(err, "opening the share '%s'", quoted);
}

/* Confined sessions of root write as the folder's owner (sandbox/rootfs/idmap.h). */
static int check_writable(const struct share *share, const struct stat *st, bool as_owner,
			  struct err *err)
{
	if (!as_owner && st->st_uid != geteuid())
		return refuse(share->path, "is not yours: share it without :rw", err);
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return refuse(share->path,
			      "can be written by others: share it without :rw, or take their "
			      "right to write (chmod go-w)",
			      err);
	return 0;
}

/*
 * Sessions of root have users of their own (sandbox/namespaces/uid_map.h), so permissions apply to
 * them.
 */
static int check_for_root(const struct share *share, const struct stat *st, struct err *err)
{
	if ((st->st_mode & S_IXOTH) == 0)
		return refuse(share->path,
			      "lets nobody else in, and sessions of root are users of their own: "
			      "run chmod -R o+rX on it, or start ptycell as its owner",
			      err);
	return 0;
}

static int check_owner(const struct shares *shares, const struct share *share, struct err *err)
{
	bool other_user = geteuid() == 0 && !shares->settings->unconfined;
	struct stat st;

	if (fstat(share->fd, &st) < 0)
		return err_sys(err, "looking at the share '%s'", share->path);
	if (share->policy.writable)
		return check_writable(share, &st, other_user, err);
	return other_user ? check_for_root(share, &st, err) : 0;
}

static int open_share(const struct shares *shares, struct share *share, struct err *err)
{
	cleanup_free char *objection = NULL;

	if (check_place(shares, share, err) < 0)
		return -1;
	share->fd = open_plain(share->path, O_RDONLY | O_DIRECTORY);
	if (share->fd < 0)
		return open_failed(share->path, err);
	if (check_owner(shares, share, err) < 0)
		return -1;
	if (!share->policy.writable || shares->settings->unconfined)
		return 0;
	objection = mounts_objection(share->fd, share->path, &share->mounts);
	return objection != NULL ? refuse(share->path, objection, err) : 0;
}

static void share_release(struct share *share)
{
	fd_close(&share->fd);
	free(share->mounts);
	free(share->path);
}

/* Adds a share, or adds the right to write to an equal path. */
static int add_share(struct shares *shares, const struct settings_share *wanted, struct err *err)
{
	struct share share = { .path = folder_path_plain(wanted->path),
			       .fd = -1,
			       .is_home = wanted->is_home };

	if (share.path == NULL)
		return refuse(wanted->path, "must have no . or .. in its path", err);
	for (size_t i = 0; i < shares->count; i++) {
		if (!str_eq(shares->items[i].path, share.path))
			continue;
		share.policy.writable = shares->items[i].policy.writable;
		share_release(&shares->items[i]);
		shares->items[i] = shares->items[--shares->count];
		break;
	}
	share.policy.path = share.path;
	share.policy.writable = share.policy.writable || wanted->writable;
	if (open_share(shares, &share, err) < 0) {
		share_release(&share);
		if (err->code != ERR_NOT_FOUND)
			return -1;
		buf_putf(&shares->absent, "%s%c%s; start ptycell again when it is.",
			 shares->absent.len > 0 ? "\n" : "", err->msg[0] & ~0x20, err->msg + 1);
		log_warn("shares", "%s", err->msg);
		return 0;
	}
	shares->items[shares->count++] = share;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct share *)a)->path, ((const struct share *)b)->path);
}

/* Rights of landlock only add up: a read-only folder cannot be within a writable one. */
static int check_nesting(const struct shares *shares, struct err *err)
{
	for (size_t i = 0; i < shares->count; i++)
		for (size_t j = 0; j < shares->count; j++) {
			const struct share *outer = &shares->items[i];
			const struct share *inner = &shares->items[j];

			if (i != j && outer->policy.writable && !inner->policy.writable &&
			    shares_path_within(outer->path, inner->path))
				return refuse(inner->path,
					      "is to be read only, but lies in one that may be "
					      "written: share only one of them",
					      err);
		}
	return 0;
}

/* A share within another one with the same rights adds nothing. */
static bool is_redundant(const struct shares *shares, size_t index)
{
	const struct share *inner = &shares->items[index];

	for (size_t i = 0; i < index; i++)
		if (shares->items[i].policy.writable == inner->policy.writable &&
		    shares_path_within(shares->items[i].path, inner->path))
			return true;
	return false;
}

static void arrange(struct shares *shares)
{
	size_t kept = 0;

	if (shares->count > 0)
		qsort(shares->items, shares->count, sizeof(*shares->items), by_path);
	for (size_t i = 0; i < shares->count; i++) {
		struct share share = shares->items[i];

		/* the shares before it are final, as outer paths sort first */
		shares->items[kept] = share;
		if (is_redundant(shares, kept))
			share_release(&share);
		else
			kept++;
	}
	shares->count = kept;
	for (size_t i = 0; i < kept; i++)
		shares->list[i] = shares->items[i].policy;
}

/* Changes by code to such a file would take effect at the next start. */
static int check_file(const struct shares *shares, const char *what, const char *path,
		      struct err *err)
{
	cleanup_free char *quoted = show_path(path != NULL ? path : "");

	if (path == NULL || !shares_may_change(shares, path))
		return 0;
	return err_set(err, ERR_DENIED,
		       "the %s '%s' lies in a folder that is shared with :rw: code could "
		       "change it. Put it elsewhere, or share the folder without :rw",
		       what, quoted);
}

/*
 * Checks the path by which the program was called, which may be a link, and where it is. The
 * helpers are beside it, and the server starts them outside of the sandbox.
 */
static int check_program(const struct shares *shares, struct err *err)
{
	const char *called = (const char *)getauxval(AT_EXECFN);
	char program[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[len > 0 ? len : 0] = '\0';
	if (called != NULL && check_file(shares, "program", called, err) < 0)
		return -1;
	return len > 0 ? check_file(shares, "program", program, err) : 0;
}

static int check_files(const struct shares *shares, struct err *err)
{
	char *const *env_files = shares->settings->env_files;
	const char *audit = shares->settings->audit; /* a path, or one behind "syslog:" */

	if (check_file(shares, "policy file", shares->settings->policy, err) < 0 ||
	    check_file(shares, "audit file", audit != NULL ? strchr(audit, '/') : NULL, err) < 0)
		return -1;
	for (size_t i = 0; env_files != NULL && env_files[i] != NULL; i++)
		if (check_file(shares, "--env-file", env_files[i], err) < 0)
			return -1;
	return check_program(shares, err);
}

struct shares *shares_open(const struct settings *settings, struct err *err)
{
	struct shares *shares = xcalloc(1, sizeof(*shares));
	size_t room = settings->share_count + 1;
	int rc = 0;

	shares->settings = settings;
	buf_init(&shares->absent, BUF_UNBOUNDED);
	shares->home = paths_user_home(settings->environment, geteuid());
	shares->items = xcalloc(room, sizeof(*shares->items));
	shares->list = xcalloc(room, sizeof(*shares->list));
	for (size_t i = 0; rc == 0 && i < settings->share_count; i++)
		rc = add_share(shares, &settings->shares[i], err);
	if (rc == 0)
		rc = check_nesting(shares, err);
	if (rc == 0) {
		arrange(shares);
		rc = check_files(shares, err);
	}
	if (rc < 0) {
		shares_free(shares);
		return NULL;
	}
	return shares;
}

void shares_free(struct shares *shares)
{
	if (shares == NULL)
		return;
	for (size_t i = 0; i < shares->count; i++)
		share_release(&shares->items[i]);
	free(shares->items);
	free(shares->list);
	buf_release(&shares->absent);
	free(shares->home);
	free(shares);
}

/* ---- queries ---- */

/* Tries what was mounted meanwhile where code may write. Returns as mounts_objection. */
static char *object_to_mounts(struct share *share)
{
	return share->mounts == NULL ? NULL
				     : mounts_objection(share->fd, share->path, &share->mounts);
}

bool shares_there(const struct shares *shares, size_t index)
{
	struct share *share = &shares->items[index];
	cleanup_free char *objection = object_to_mounts(share);
	struct err err;
	cleanup_fd int fd =
		objection != NULL ? -1 : mount_source_open(share->path, share->fd, &err);

	return fd >= 0;
}

static void put_lost(struct share *share, struct buf *out)
{
	cleanup_free char *quoted = show_path(share->path);
	cleanup_free char *objection = object_to_mounts(share);
	struct stat st;

	if (objection != NULL)
		buf_putf(out, "The share '%s' is left out: it %s.", quoted, objection);
	else if (lstat(share->path, &st) < 0)
		buf_putf(out,
			 "The share '%s' is not there any more; start ptycell again when it is.",
			 quoted);
	else
		buf_putf(
			out,
			"The share '%s' is another folder than the one that was there when ptycell "
			"started, and is left out; start ptycell again to share it.",
			quoted);
}

char *shares_absent(const struct shares *shares)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (shares == NULL)
		return NULL;
	buf_puts(&out, buf_str(&shares->absent));
	for (size_t i = 0; i < shares->count; i++) {
		if (shares_there(shares, i))
			continue;
		buf_puts(&out, out.len > 0 ? "\n" : "");
		put_lost(&shares->items[i], &out);
	}
	return out.len > 0 ? buf_steal(&out) : NULL;
}

size_t shares_count(const struct shares *shares)
{
	return shares->count;
}

const struct policy_share *shares_at(const struct shares *shares, size_t index)
{
	return index < shares->count ? &shares->list[index] : NULL;
}

int shares_fd(const struct shares *shares, size_t index)
{
	return shares->items[index].fd;
}

const char *shares_find_writable(const struct shares *shares)
{
	for (size_t i = 0; shares != NULL && i < shares->count; i++)
		if (shares->items[i].policy.writable)
			return shares->items[i].path;
	return NULL;
}

bool shares_overlap(const struct shares *shares, const char *path, bool only_writable)
{
	for (size_t i = 0; i < shares->count; i++)
		if ((!only_writable || shares->items[i].policy.writable) &&
		    (overlap(shares->items[i].path, path) ||
		     mounts_overlap(shares->items[i].path, path)))
			return true;
	return false;
}

/* Returns the innermost share that contains `path`; NULL when there is none. */
static const struct share *find_share(const struct shares *shares, const char *path)
{
	const struct share *found = NULL;

	for (size_t i = 0; i < shares->count; i++)
		if (shares_path_within(shares->items[i].path, path))
			found = &shares->items[i];
	return found;
}

/* Sets *err. It names a command only where that would help. */
static int not_shared(const struct shares *shares, const char *path, struct err *err)
{
	size_t len = (size_t)(strrchr(path, '/') - path);
	cleanup_free char *folder = xmemdup(path, len > 0 ? len : 1);
	cleanup_free char *quoted = show_path(folder);
	const struct share wanted = { .path = folder };
	struct err why;

	if (is_in_list(session_folders, ARRAY_SIZE(session_folders), path, shares_path_within))
		return err_set(err, ERR_DENIED,
			       "it lies in the session's own folder: code finds it there already");
	if (check_place(shares, &wanted, &why) < 0)
		return err_set(
			err, ERR_DENIED,
			"that file's folder cannot be shared (%s); the user can copy the file into a folder that can be shared, and start ptycell with --share for that one",
			why.msg);
	return err_set(
		err, ERR_DENIED,
		"that file lies in no shared folder; pass an attached file to upload_file as content, with filename; the user can share a folder by starting ptycell with --share '%s' (or a line in PTYCELL_SHARE)",
		quoted);
}

/* `rest` is "" for the share itself, else begins with a slash. */
static int open_in_share(const struct share *share, const char *rest, off_t *ret_size,
			 struct err *err)
{
	cleanup_fd int folder = -1;

	if (rest[0] != '\0')
		folder = beneath_open(share->fd, rest + 1, O_PATH | O_DIRECTORY, 0);
	if (rest[0] == '\0' || folder >= 0)
		return err_set(err, ERR_DENIED,
			       "it is a folder: code reads what is in it by the same path");
	return beneath_open_regular(share->fd, rest + 1, ret_size, err);
}

int shares_open_file(const struct shares *shares, const char *path, off_t *ret_size,
		     struct err *err)
{
	cleanup_free char *plain = path[0] == '/' ? folder_path_plain(path) : NULL;
	const struct share *share;

	if (plain == NULL)
		return err_set(err, ERR_INVALID, "the path must be absolute, without . and ..");
	share = find_share(shares, plain);
	if (share == NULL)
		return not_shared(shares, plain, err);
	return open_in_share(share, plain + strlen(share->path), ret_size, err);
}
