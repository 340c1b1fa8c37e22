/* SPDX-License-Identifier: MIT */
/*
 * job_key.c - writes the members of a key as sorted JSON, so that equal members give equal text and
 * the cache can compare keys byte by byte.
 */
#include "install/job_key.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "confinement/confinement.h"
#include "install/job_record.h"
#include "json/make.h"
#include "json/write.h"
#include "policy/policyfile.h"
#include "session/session.h"

enum { NPM_LAYOUT = 2 }; /* of a set's files: 1 had no programs in .bin */

/* Adds the identity of the interpreter to the key, without running it. */
static int put_interpreter(const struct job *job, json_t *key, struct err *err)
{
	struct interpreter_path path;
	struct utsname machine;
	struct stat st = { .st_size = 0 };

	if (confinement_locate(job->broker->host->confinement, job->language, &path, err) < 0)
		return -1;
	json_put_str(key, "interpreter", path.path);
	if (stat(path.path, &st) == 0) {
		json_put_int(key, "size", (json_int_t)st.st_size);
		json_put_int(key, "time", (json_int_t)st.st_mtime);
		json_put_int(key, "inode", (json_int_t)st.st_ino);
	}
	locate_release(&path);
	if (uname(&machine) == 0)
		json_put_str(key, "machine", machine.machine);
	return 0;
}

/* Returns what changes when a folder gets another file. */
static json_t *state_of(int folder_fd)
{
	struct stat st = { .st_size = 0 };

	(void)fstat(folder_fd, &st);
	return json_make_fmt("%jd.%09ld", (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* Returns the members of all keys, or NULL. */
static json_t *key_base(const struct job *job, struct err *err)
{
	const struct policyfile *policy = job->broker->policy;
	json_t *key = json_object();

	json_put_str(key, "language", job->language->name);
	if (str_eq(job->language->name, "javascript"))
		json_put_int(key, "layout", NPM_LAYOUT);
	json_put(key, "policy", json_deep_copy(policyfile_packages(policy, job->language->name)));
	json_put(key, "index", indexes_public(&job->indexes));
	if (job_may_build(job) && !job_resolves(job)) /* of the same files, more is built */
		json_put_bool(key, "builds", true);
	for (size_t i = 0; i < job->indexes.folder_count; i++)
		json_put_bool(key, job->indexes.folders[i], true);
	if (put_interpreter(job, key, err) == 0)
		return key;
	json_decref(key);
	return NULL;
}

static char *write_key(const json_t *key)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	return json_write_sorted(&text, key, &err) == 0 ? buf_steal(&text) : xstrdup("");
}

/* Returns {NAME: VERSION} of what the session has. */
static json_t *versions_of(const json_t *rows)
{
	json_t *versions = json_object();
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row)
		json_put(versions, json_string_value(json_object_get(row, "name")),
			 json_incref(json_object_get(row, "version")));
	return versions;
}

char *job_key_request(const struct job *job, struct err *err)
{
	cleanup_json json_t *key = key_base(job, err);

	if (key == NULL)
		return NULL;
	json_put(key, "wanted", json_incref(job->wanted));
	json_put(key, "asked", job_asks(job));
	if (json_array_size(job->locked) > 0)
		json_put(key, "locked", json_incref(job->locked));
	json_put(key, "have", versions_of(job->have));
	for (size_t i = 0; i < job->indexes.folder_count; i++)
		json_put(key, job->indexes.folders[i], state_of(job->indexes.folder_fds[i]));
	return write_key(key);
}

char *job_key_files(const struct job *job, const json_t *files, struct err *err)
{
	cleanup_json json_t *key = key_base(job, err);

	if (key == NULL)
		return NULL;
	json_put(key, "files", json_deep_copy(files));
	return write_key(key);
}
