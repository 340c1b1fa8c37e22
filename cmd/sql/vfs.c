/* SPDX-License-Identifier: MIT */
/*
 * vfs.c - opens below a descriptor, and returns read-only errors for writes.
 *
 * SQLite's own VFS would open by name, follow links and write. Because this one also reports no
 * journal and no log (xAccess), a database that needs one must be refused before: vfs_check()
 * inspects the files beside it. Locks are at the bytes of unixLock, but belong to the open file
 * description (F_OFD_SETLK): closing another descriptor of this process does not drop them.
 */
#include "vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cancel.h"
#include "workspace/beneath.h"

/* The file format's bytes that processes lock. */
enum {
	PENDING_BYTE = 0x40000000,
	RESERVED_BYTE = PENDING_BYTE + 1,
	SHARED_FIRST = PENDING_BYTE + 2,
	SHARED_SIZE = 510,
	HEADER_SIZE = 100,
	WRITE_VERSION = 18, /* 2 in a database with a write-ahead log */
	SECTOR = 4096,
	LOCK_TRIES = 100,
	LOCK_PAUSE_NS = 20000000,
};

static const char magic[16] = "SQLite format 3";

struct file {
	sqlite3_file base;
	int fd;
};

/* Returns the file of its base, which SQLite requires as the first member. */
static struct file *file_of(sqlite3_file *base)
{
	return (struct file *)(void *)base;
}

/* ---- methods of an open file ---- */

static int close_file(sqlite3_file *base)
{
	fd_close(&file_of(base)->fd);
	return SQLITE_OK;
}

static int read_file(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset)
{
	ssize_t got = fd_read_at(file_of(base)->fd, out, (size_t)amount, (uint64_t)offset);

	if (got < 0)
		return SQLITE_IOERR_READ;
	if (got == amount)
		return SQLITE_OK;
	memset((char *)out + got, 0, (size_t)(amount - got));
	return SQLITE_IOERR_SHORT_READ;
}

static int refuse_write(sqlite3_file *base, const void *data, int amount, sqlite3_int64 offset)
{
	(void)base, (void)data, (void)amount, (void)offset;
	return SQLITE_READONLY;
}

static int refuse_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	(void)base, (void)size;
	return SQLITE_READONLY;
}

static int do_nothing(sqlite3_file *base, int flags)
{
	(void)base, (void)flags;
	return SQLITE_OK;
}

static int get_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
	struct stat st;

	if (fstat(file_of(base)->fd, &st) < 0)
		return SQLITE_IOERR_FSTAT;
	*ret_size = st.st_size;
	return SQLITE_OK;
}

static int get_reserved(sqlite3_file *base, int *ret)
{
	(void)base;
	*ret = 0;
	return SQLITE_OK;
}

static int control(sqlite3_file *base, int op, void *data)
{
	(void)base, (void)op, (void)data;
	return SQLITE_NOTFOUND;
}

static int get_sector_size(sqlite3_file *base)
{
	(void)base;
	return SECTOR;
}

static int get_device_traits(sqlite3_file *base)
{
	(void)base;
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = close_file,
	.xRead = read_file,
	.xWrite = refuse_write,
	.xTruncate = refuse_truncate,
	.xSync = do_nothing,
	.xFileSize = get_size,
	.xLock = do_nothing,
	.xUnlock = do_nothing,
	.xCheckReservedLock = get_reserved,
	.xFileControl = control,
	.xSectorSize = get_sector_size,
	.xDeviceCharacteristics = get_device_traits,
};

/* ---- opening ---- */

static int lock_bytes(int fd, short type, off_t start, off_t len)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len
	};

	return fcntl(fd, F_OFD_SETLK, &lock);
}

/* Locks as SQLite's unixLock does for a reader: after a writer that waits for readers to end. */
static int lock_shared(int fd)
{
	struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };

	for (int i = 0; i < LOCK_TRIES && !cancel_requested(); i++) {
		if (lock_bytes(fd, F_RDLCK, PENDING_BYTE, 1) == 0) {
			int result = lock_bytes(fd, F_RDLCK, SHARED_FIRST, SHARED_SIZE);

			(void)lock_bytes(fd, F_UNLCK, PENDING_BYTE, 1);
			if (result == 0)
				return SQLITE_OK;
		}
		(void)nanosleep(&pause, NULL);
	}
	return SQLITE_BUSY;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
		     int *ret_flags)
{
	struct file *file = file_of(base);
	struct err err;
	int result;

	base->pMethods = NULL;
	if (name == NULL || (flags & SQLITE_OPEN_MAIN_DB) == 0)
		return SQLITE_CANTOPEN;
	file->fd = beneath_open_regular(*(const int *)vfs->pAppData, name, NULL, &err);
	if (file->fd < 0)
		return SQLITE_CANTOPEN;
	result = lock_shared(file->fd);
	if (result != SQLITE_OK) {
		fd_close(&file->fd);
		return result;
	}
	base->pMethods = &methods;
	if (ret_flags != NULL)
		*ret_flags = SQLITE_OPEN_READONLY;
	return SQLITE_OK;
}

static int refuse_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs, (void)name, (void)sync;
	return SQLITE_READONLY;
}

static int deny_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	(void)vfs, (void)name, (void)flags;
	*ret = 0;
	return SQLITE_OK;
}

static int keep_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	if (strlen(name) >= (size_t)size)
		return SQLITE_CANTOPEN;
	memcpy(out, name, strlen(name) + 1);
	return SQLITE_OK;
}

int vfs_register(int dir_fd, struct err *err)
{
	static int folder;
	static sqlite3_vfs vfs;

	folder = dir_fd;
	vfs = *sqlite3_vfs_find(NULL); /* keeps clock, sleep and randomness */
	vfs.iVersion = 2;
	vfs.szOsFile = sizeof(struct file);
	vfs.mxPathname = BENEATH_PATH_MAX;
	vfs.zName = VFS_NAME;
	vfs.pAppData = &folder;
	vfs.pNext = NULL;
	vfs.xOpen = open_file;
	vfs.xDelete = refuse_delete;
	vfs.xAccess = deny_access;
	vfs.xFullPathname = keep_path;
	vfs.xDlOpen = NULL;
	vfs.xDlError = NULL;
	vfs.xDlSym = NULL;
	vfs.xDlClose = NULL;
	if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK)
		return err_set(err, ERR_INTERNAL, "SQLite takes no file system");
	return 0;
}

/* ---- databases that would need writing ---- */

/* Returns the size of PATH with this ending, 0 when it is missing, and its first byte. */
static off_t side_size(int dir_fd, const char *path, const char *ending, char *ret_first)
{
	cleanup_free char *side = xasprintf("%s%s", path, ending);
	struct err err;
	off_t size = 0;
	cleanup_fd int fd = beneath_open_regular(dir_fd, side, &size, &err);

	*ret_first = '\0';
	if (fd < 0 || pread(fd, ret_first, 1, 0) <= 0)
		return 0;
	return size;
}

static bool is_being_written(int fd)
{
	struct flock lock = {
		.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = RESERVED_BYTE, .l_len = 1
	};

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int vfs_check(int dir_fd, const char *path, struct err *err)
{
	off_t size = 0;
	cleanup_fd int fd = beneath_open_regular(dir_fd, path, &size, err);
	char header[HEADER_SIZE] = { 0 };
	char first;

	if (fd < 0)
		return -1;
	if (size > 0 && (pread(fd, header, sizeof(header), 0) != sizeof(header) ||
			 memcmp(header, magic, sizeof(magic)) != 0))
		return err_set(err, ERR_INVALID,
			       "it is no SQLite database; a CSV file is a table, by its name, of "
			       "the database 'files'");
	if (header[WRITE_VERSION] == 2 && side_size(dir_fd, path, "-wal", &first) > 0)
		return err_set(err, ERR_BUSY,
			       "what was last written is still in its log; run PRAGMA "
			       "wal_checkpoint(TRUNCATE) where it was written, and commit");
	/* A finished journal has its first bytes zeroed. */
	if (side_size(dir_fd, path, "-journal", &first) > 0 && first != '\0' &&
	    !is_being_written(fd))
		return err_set(err, ERR_BUSY,
			       "a transaction was cut off; open it with code once, which rolls "
			       "that back");
	return 0;
}
