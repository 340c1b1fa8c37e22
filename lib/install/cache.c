/* SPDX-License-Identifier: MIT */
/*
 * cache.c - records below index/, found by a hash of their key. A record is written to a temporary
 * file and renamed. Only one process of ptycell-files trims the cache at a time; a request during
 * that time runs after it.
 */
#include "install/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "workspace/home.h"
#include "workspace/random_name.h"
#include "workspace/workspace.h"

#define FOLDER "packages"
#define INDEX "index"
#define SETS "sets"
#define WHEELS "wheels"

enum { RECORD_MAX = 8 << 20, HASH_LEN = 32 };

/* A request of cache_trim. */
struct trim_request {
	struct loop *loop;
	const char *helper;
	uint64_t bytes_max;
};

struct cache {
	int folder_fd;
	struct helper *trimmer;    /* NULL: none runs */
	struct trim_request again; /* the request that came meanwhile; no helper: none */
	int index_fd;
	int sets_fd;
	int wheels_fd;
	char *wheels_path;
};

static int open_folder(int dir_fd, const char *name, struct err *err)
{
	int fd;

	if (mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "making the folder '%s' for packages", name);
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(err, "opening the folder '%s' for packages", name) : fd;
}

bool cache_exists(const struct home *home)
{
	return faccessat(home_fd(home), FOLDER, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

struct cache *cache_open(const struct home *home, struct err *err)
{
	int folder = open_folder(home_fd(home), FOLDER, err);
	struct cache *cache;

	if (folder < 0)
		return NULL;
	cache = xcalloc(1, sizeof(*cache));
	cache->folder_fd = folder;
	cache->sets_fd = cache->wheels_fd = -1;
	cache->wheels_path = xasprintf("%s/" FOLDER "/" WHEELS, home_path(home));
	cache->index_fd = open_folder(folder, INDEX, err);
	if (cache->index_fd >= 0)
		cache->sets_fd = open_folder(folder, SETS, err);
	if (cache->sets_fd >= 0)
		cache->wheels_fd = open_folder(folder, WHEELS, err);
	/* An installer of another user reads it; the folder above keeps others out. */
	if (cache->wheels_fd >= 0 && fchmod(cache->wheels_fd, 0755) < 0)
		(void)err_sys(err, "opening the folder '" WHEELS "' for packages");
	else if (cache->wheels_fd >= 0)
		return cache;
	cache_free(cache);
	return NULL;
}

void cache_free(struct cache *cache)
{
	if (cache == NULL)
		return;
	helper_free(cache->trimmer);
	fd_close(&cache->index_fd);
	fd_close(&cache->sets_fd);
	fd_close(&cache->wheels_fd);
	fd_close(&cache->folder_fd);
	free(cache->wheels_path);
	free(cache);
}

int cache_sets_fd(const struct cache *cache)
{
	return cache->sets_fd;
}

int cache_wheels_fd(const struct cache *cache)
{
	return cache->wheels_fd;
}

const char *cache_wheels_path(const struct cache *cache)
{
	return cache->wheels_path;
}

/* Writes two FNV-1a hashes of the key. They are only a name: the key itself is compared. */
static void hash_key(const char *key, char ret_name[HASH_LEN + 1])
{
	uint64_t one = UINT64_C(0xcbf29ce484222325);
	uint64_t two = UINT64_C(0x84222325cbf29ce4);

	for (; *key != '\0'; key++) {
		one = (one ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
		two = (two + (unsigned char)*key) * UINT64_C(0x100000001b3);
	}
	(void)snprintf(ret_name, HASH_LEN + 1, "%016" PRIx64 "%016" PRIx64, one, two);
}

static bool is_fresh(const json_t *record, uint64_t max_age_s)
{
	const json_t *own = json_object_get(record, "fresh");
	json_int_t made = json_integer_value(json_object_get(record, "made"));
	json_int_t age = (json_int_t)time(NULL) - made;
	json_int_t max = (json_int_t)max_age_s;

	if (json_is_integer(own) && json_integer_value(own) < max)
		max = json_integer_value(own);
	return age >= 0 && age <= max && max > 0;
}

static bool is_usable(const struct cache *cache, const json_t *record, const char *key,
		      uint64_t max_age_s)
{
	const char *stored = json_string_value(json_object_get(record, "key"));
	const char *entry = json_string_value(json_object_get(record, "entry"));

	if (stored == NULL || entry == NULL || !str_eq(stored, key) ||
	    !random_name_matches(entry, ""))
		return false;
	if (max_age_s > 0 && !is_fresh(record, max_age_s))
		return false;
	return faccessat(cache->sets_fd, entry, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

json_t *cache_find(const struct cache *cache, const char *key, uint64_t max_age_s)
{
	char name[HASH_LEN + 1];
	struct err err;
	json_t *record;

	hash_key(key, name);
	record = json_parse_file(cache->index_fd, name, RECORD_MAX, &err);
	if (record == NULL || is_usable(cache, record, key, max_age_s))
		return record;
	json_decref(record);
	return NULL;
}

static int write_record(const struct cache *cache, const char *name, const char *text,
			struct err *err)
{
	cleanup_free char *hidden = random_name_new(".new-");
	cleanup_fd int fd = openat(cache->index_fd, hidden,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, "making a file");
	if (fd_write_all(fd, text, strlen(text), err) == 0 &&
	    renameat(cache->index_fd, hidden, cache->index_fd, name) == 0)
		return 0;
	(void)err_sys(err, "writing a file");
	(void)unlinkat(cache->index_fd, hidden, 0);
	return -1;
}

void cache_put(const struct cache *cache, const char *key, const json_t *record)
{
	cleanup_json json_t *whole = json_copy((json_t *)(uintptr_t)record);
	cleanup_free char *text = NULL;
	char name[HASH_LEN + 1];
	struct err err;

	json_put_str(whole, "key", key);
	json_put_int(whole, "made", (json_int_t)time(NULL));
	text = json_write_text(whole);
	hash_key(key, name);
	if (write_record(cache, name, text, &err) < 0)
		log_warn("packages", "not remembered: %s", err.msg);
}

char *cache_entry_path(const char *entry)
{
	return xasprintf(FOLDER "/" SETS "/%s", entry);
}

/* ---- trimming ---- */

static void on_trimmed(struct helper *helper, const json_t *result, const struct err *err)
{
	struct cache *cache = helper_data(helper);
	const struct trim_request again = cache->again;
	json_int_t removed = json_integer_value(json_object_get(result, "removed"));

	if (err != NULL)
		log_warn("packages", "not cleaned: %s", err->msg);
	else if (removed > 0)
		log_info("packages", "%jd sets and wheels removed, unused for longest",
			 (intmax_t)removed);
	helper_free(cache->trimmer);
	cache->trimmer = NULL;
	cache->again.helper = NULL;
	if (again.helper != NULL)
		cache_trim(cache, again.loop, again.helper, again.bytes_max);
}

void cache_trim(struct cache *cache, struct loop *loop, const char *helper, uint64_t bytes_max)
{
	static const struct helper_handlers handlers = { .done = on_trimmed };
	cleanup_json json_t *request = json_object();
	const struct helper_spec spec = {
		.path = helper, .request = request, .fds = &cache->folder_fd, .fd_count = 1
	};
	struct err err;

	if (cache->trimmer != NULL) {
		cache->again = (struct trim_request){ loop, helper, bytes_max };
		return;
	}
	json_put_str(request, "op", "trim");
	json_put_int(request, "bytes_max", (json_int_t)bytes_max);
	cache->trimmer = helper_start(loop, &spec, &handlers, cache, &err);
	if (cache->trimmer == NULL)
		log_warn("packages", "not cleaned: %s", err.msg);
}
