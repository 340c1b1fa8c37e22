/* SPDX-License-Identifier: MIT */
/*
 * tool_upload.c - upload_file: content of the call, a file of the web, or a file of the user's.
 *
 * Content is written at once. The two others are transfers of helper programs: ptycell-fetch gets a
 * URL, ptycell-files copies a file that this process has opened, so that the copier needs no access
 * to the user's folders. The login and the query of a URL never reach texts or records.
 */
#include <stdlib.h>
#include <string.h>

#include "answer/audit_events.h"
#include "answer/audit_log.h"
#include "answer/history.h"
#include "base/fd.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "helper/helper.h"
#include "json/get.h"
#include "json/make.h"
#include "net/filename.h"
#include "runtime/language.h"
#include "session/restore.h"
#include "session/session.h"
#include "text/base64.h"
#include "text/normal.h"
#include "text/sanitize.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/user_path.h"
#include "tools/wait_import.h"
#include "transfer/imports.h"
#include "workspace/beneath.h"
#include "workspace/original.h"
#include "workspace/workspace.h"

enum {
	FILENAME_BYTES_MAX = 200, /* bytes */
	URL_MAX = 16384,          /* bytes */
	COPY_DEADLINE_MS = 3600 * 1000,
	MS = 1000,
};

/* session_disk_room, as users know it. */
#define ROOM_NAME "what PTYCELL_DISK_MAX leaves for it"

struct incoming {
	const char *filename; /* NULL: the name of the source */
	const char *content;
	size_t len;
	const char *url;
	const char *path;
	struct buf decoded; /* `content`, if that is base64 */
	bool base64;
	bool overwrite;
};

/* ---- arguments ---- */

/* Returns the name below input/ where a model wrote the path that code uses. */
static const char *below_input(const char *name)
{
	static const char *const folders[] = { "/mnt/data/input/", "./input/", "input/" };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (strncmp(name, folders[i], strlen(folders[i])) == 0)
			return name + strlen(folders[i]);
	return name;
}

static int check_filename(const char *name, struct err *err)
{
	if (name[0] == '\0' || strlen(name) > FILENAME_BYTES_MAX)
		return err_set(err, ERR_INVALID,
			       "arguments.filename must have 1 to %d bytes, like data.csv",
			       FILENAME_BYTES_MAX);
	if (!beneath_path_valid(name))
		return err_set(err, ERR_INVALID,
			       "arguments.filename must be a path below input/, like data.csv or "
			       "tables/data.csv");
	return 0;
}

static int check_sources(const struct incoming *incoming, const char *blob_url, struct err *err)
{
	int count = (incoming->content != NULL) + (incoming->url != NULL) + (blob_url != NULL) +
		    (incoming->path != NULL);

	if (count != 1)
		return err_set(err, ERR_INVALID,
			       "arguments must have exactly one of url, path and content");
	if (incoming->content != NULL && incoming->filename == NULL)
		return err_set(err, ERR_INVALID, "arguments.filename is missing");
	return 0;
}

static int check_url(const char *url, struct err *err)
{
	if (strlen(url) > URL_MAX)
		return err_set(err, ERR_INVALID, "arguments.url is longer than %d bytes", URL_MAX);
	for (const char *c = url; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(err, ERR_INVALID, "arguments.url has a control character");
	return 0;
}

static int read_texts(json_t *arguments, struct incoming *ret, struct err *err)
{
	const char *blob_url = NULL; /* another name of `url` */
	const char *encoding = "utf-8";

	if (json_get_text(arguments, "arguments", "filename", &ret->filename, NULL, err) < 0 ||
	    json_get_text(arguments, "arguments", "content", &ret->content, &ret->len, err) < 0 ||
	    json_get_text(arguments, "arguments", "encoding", &encoding, NULL, err) < 0 ||
	    json_get_text(arguments, "arguments", "url", &ret->url, NULL, err) < 0 ||
	    json_get_text(arguments, "arguments", "blob_url", &blob_url, NULL, err) < 0 ||
	    json_get_text(arguments, "arguments", "path", &ret->path, NULL, err) < 0 ||
	    check_sources(ret, blob_url, err) < 0)
		return -1;
	if (blob_url != NULL)
		ret->url = blob_url;
	ret->base64 = strcasecmp(encoding, "base64") == 0;
	if (!ret->base64 && strcasecmp(encoding, "utf-8") != 0 &&
	    strcasecmp(encoding, "utf8") != 0 && strcasecmp(encoding, "text") != 0)
		return err_set(err, ERR_INVALID, "arguments.encoding must be utf-8 or base64");
	return 0;
}

/* Puts the name in the form that the files of `path` and `url` get. */
static const char *put_clean_name(json_t *arguments, const char *name)
{
	cleanup_free char *composed = normal_compose(name);
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	sanitize_name(&clean, composed, strlen(composed));
	json_put_str(arguments, "filename", buf_str(&clean));
	return json_string_value(json_object_get(arguments, "filename"));
}

static int read_incoming(const struct service *service, json_t *arguments, struct incoming *ret,
			 struct err *err)
{
	static const char *const known[] = { "session_id", "url",      "path",      "content",
					     "filename",   "encoding", "overwrite", "blob_url" };

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0 ||
	    json_get_required(arguments, "arguments", "session_id", err) < 0 ||
	    read_texts(arguments, ret, err) < 0 ||
	    json_get_bool(arguments, "arguments", "overwrite", &ret->overwrite, err) < 0)
		return -1;
	if (ret->filename != NULL) {
		ret->filename = below_input(ret->filename);
		if (check_filename(ret->filename, err) < 0)
			return -1;
		ret->filename = put_clean_name(arguments, ret->filename);
	}
	if (ret->base64 && ret->content != NULL &&
	    base64_decode(&ret->decoded, ret->content, ret->len, err) < 0)
		return err_wrap(err, "arguments.content");
	return ret->url != NULL ? check_url(ret->url, err) : 0;
}

/* ---- content ---- */

static int write_content(const struct session *session, const struct incoming *incoming,
			 struct audit_import *file, struct err *err)
{
	uint64_t room = session_disk_room(session);

	if (file->size > room)
		return err_set(err, ERR_LIMIT,
			       "arguments.content: it is larger than %ju bytes (%s)",
			       (uintmax_t)room, ROOM_NAME);
	if (workspace_write(session_workspace(session), file->path, file->content, file->size,
			    incoming->overwrite, err) < 0)
		return imports_explain_name(file->path, err);
	return 0;
}

/* Writes the original first: code may change the file as soon as it is there. */
static struct original *write_original(const struct session *session,
				       const struct audit_import *file, struct err *err)
{
	struct original *original = original_new(session_workspace(session), err);

	if (original != NULL &&
	    fd_write_all(original_fd(original), file->content, file->size, err) < 0) {
		original_free(original);
		return NULL;
	}
	return original;
}

/* Writes the file, and its original where one is wanted. */
static int write_both(struct session *session, const struct incoming *incoming,
		      struct audit_import *file, struct err *err)
{
	bool wanted = file->size <= session_original_room(session);
	struct err why;
	struct original *original = wanted ? write_original(session, file, &why) : NULL;
	int result = write_content(session, incoming, file, err);

	if (result == 0 && wanted &&
	    (original == NULL || original_place(original, file->path, &why) < 0))
		session_miss_original(session, file->path, why.msg);
	original_free(original);
	return result;
}

static void write_incoming(struct mcp_call *call, struct service *service, struct session *session,
			   const struct incoming *incoming)
{
	struct audit_events *events = audit_log_events(history_audit_log(service->history));
	cleanup_free char *path = xasprintf("input/%s", incoming->filename);
	struct audit_import file = {
		.from = "content",
		.path = path,
		.content = incoming->base64 ? buf_str(&incoming->decoded) : incoming->content,
		.size = incoming->base64 ? incoming->decoded.len : incoming->len,
	};
	struct err err;

	if (write_both(session, incoming, &file, &err) < 0) {
		file.problem = err.msg;
		audit_events_import(events, session, &file);
		tool_fail(call, service, &err);
		return;
	}
	audit_events_import(events, session, &file);
	wait_import_report_file(service, session, path);
	tool_answer(call, service, wait_import_answer(session, path, file.size));
}

/* ---- a file that comes from elsewhere ---- */

static void set_size_max(const struct session *session, uint64_t most, const char *name,
			 struct import_web *web)
{
	web->size_max = session_disk_room(session);
	web->size_name = ROOM_NAME;
	if (most >= web->size_max)
		return;
	web->size_max = most;
	web->size_name = name;
}

static int check_downloads(const struct settings *settings, struct err *err)
{
	if (settings->fetch_hosts == NULL || settings->fetch_hosts[0] != '\0')
		return 0;
	return err_set(err, ERR_DENIED,
		       "downloads are off here (PTYCELL_FETCH_HOSTS): use content or path");
}

/* Returns scheme, host and path, without login and query, or NULL. The caller frees it. */
static char *origin_of_url(const char *url)
{
	const char *host = strstr(url, "://");
	const char *login;
	size_t host_len;

	if (host == NULL)
		return NULL;
	host += strlen("://");
	host_len = strcspn(host, "/?#");
	login = memrchr(host, '@', host_len);
	return xasprintf("%.*s%.*s", (int)(host - url), url,
			 (int)strcspn(login != NULL ? login + 1 : host, "?#"),
			 login != NULL ? login + 1 : host);
}

/* Returns the file name in the URL, or NULL. The caller frees it. */
static char *name_of_url(const char *url)
{
	const char *scheme = strstr(url, "://");
	cleanup_free char *path = NULL;

	if (scheme == NULL)
		return NULL;
	url = scheme + strlen("://");
	url += strcspn(url, "/?#");
	path = xmemdup(url, strcspn(url, "?#"));
	return filename_from_path(path);
}

static void import_url(struct service *service, const struct wait_import_request *request)
{
	const struct settings *settings = service->settings;
	const struct session_limits *limits = session_limits(request->session);
	struct err err;
	cleanup_free char *program = helper_locate("ptycell-fetch", &err);
	cleanup_free char *copier = helper_locate("ptycell-files", &err);
	cleanup_free char *name = name_of_url(request->source);
	cleanup_free char *origin = origin_of_url(request->source);
	cleanup_json json_t *helper_request = NULL;
	struct import_web web = { .url = request->source,
				  .hosts = settings->fetch_hosts,
				  .allow_private = settings->allow_private_hosts,
				  .environment = settings->environment,
				  .deadline_ms = limits->download_timeout * MS };
	struct import_spec spec = { .program = program,
				    .argument = "arguments.url",
				    .source_fd = -1,
				    .workspace = session_workspace(request->session),
				    .filename = request->filename,
				    .overwrite = request->overwrite,
				    .deadline_ms = web.deadline_ms,
				    .copier = copier,
				    .original_max = session_original_room(request->session) };

	if (program == NULL || copier == NULL || check_downloads(settings, &err) < 0) {
		tool_fail(request->call, service, &err);
		return;
	}
	set_size_max(request->session, limits->download_max, "PTYCELL_MAX_DOWNLOAD_SIZE", &web);
	helper_request = imports_download_request(&web);
	spec.request = helper_request;
	wait_import_start(
		service_imports(service), request,
		&(struct wait_import_label){ .name = name, .from = "url", .origin = origin },
		&spec);
}

/* Returns NULL and sets *err when no share can be opened. */
static const struct shares *find_shares(struct service *service, struct err *err)
{
	const struct confinement *confinement = service_confinement(service);
	const struct shares *shares = NULL;

	if (confinement != NULL)
		shares = confinement_facts(confinement).shares;
	if (shares == NULL && (confinement == NULL || confinement_check(confinement, err) == 0))
		(void)err_set(err, ERR_DENIED, "no folder is shared here");
	return shares;
}

/* Returns a descriptor of the file that `text` names, and sets *ret_name. Else -1 and *err. */
static int open_shared(struct service *service, const char *text, char **ret_name, struct err *err)
{
	const struct shares *shares = find_shares(service, err);
	struct user_path_machine machine;
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;

	if (shares == NULL)
		return -1;
	user_path_inspect(&machine, service->settings->environment);
	path = user_path_read(&machine, text, err);
	user_path_release(&machine);
	if (path != NULL)
		fd = shares_open_file(shares, path, NULL, err);
	if (fd < 0)
		return err_wrap(err, "arguments.path");
	*ret_name = filename_make_safe(path, strlen(path));
	return fd_steal(&fd);
}

static void import_path(struct service *service, const struct wait_import_request *request)
{
	struct err err;
	cleanup_free char *program = helper_locate("ptycell-files", &err);
	cleanup_free char *name = NULL;
	cleanup_json json_t *helper_request = NULL;
	cleanup_fd int fd = -1;
	struct import_spec spec = { .program = program,
				    .argument = "arguments.path",
				    .workspace = session_workspace(request->session),
				    .filename = request->filename,
				    .overwrite = request->overwrite,
				    .deadline_ms = COPY_DEADLINE_MS,
				    .copier = program,
				    .original_max = session_original_room(request->session) };

	if (program != NULL)
		fd = open_shared(service, request->source, &name, &err);
	if (fd < 0) {
		tool_fail(request->call, service, &err);
		return;
	}
	helper_request = imports_copy_request(name, session_disk_room(request->session), ROOM_NAME);
	spec.request = helper_request;
	spec.source_fd = fd;
	wait_import_start(service_imports(service), request,
			  &(struct wait_import_label){
				  .name = name, .from = "path", .origin = request->source },
			  &spec);
}

static void import_file(struct mcp_call *call, struct service *service, struct session *session,
			const struct incoming *incoming)
{
	const struct wait_import_request request = {
		.call = call,
		.session = session,
		.source = incoming->url != NULL ? incoming->url : incoming->path,
		.filename = incoming->filename,
		.overwrite = incoming->overwrite,
	};

	if (wait_import_join(service_imports(service), &request))
		return;
	if (incoming->url != NULL)
		import_url(service, &request);
	else
		import_path(service, &request);
}

static void take_file(struct mcp_call *call, struct service *service, json_t *arguments,
		      const struct incoming *incoming)
{
	struct err err;
	/* The session is prepared for Python, which reads most files. */
	struct session *session =
		tool_session_for(service, arguments, language_find("python"), &err);

	if (session == NULL || session_restore_check(session, &err) < 0)
		tool_fail(call, service, &err);
	else if (incoming->content != NULL)
		write_incoming(call, service, session, incoming);
	else
		import_file(call, service, session, incoming);
}

void tool_upload_file(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct incoming incoming = { .decoded = BUF_INIT(BUF_UNBOUNDED) };
	struct err err;

	if (read_incoming(service, arguments, &incoming, &err) < 0)
		tool_fail(call, service, &err);
	else if (!tool_audit_refused(call, service))
		take_file(call, service, arguments, &incoming);
	buf_release(&incoming.decoded);
}
