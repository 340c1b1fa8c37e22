/* SPDX-License-Identifier: MIT */
#include "tools/service.h"

#include <stdlib.h>
#include <string.h>

#include "answer/auditor.h"
#include "answer/history.h"
#include "base/log.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "helper/helper.h"
#include "install/broker.h"
#include "install/cache.h"
#include "policy/rules.h"
#include "pool/pool.h"
#include "proc/launcher.h"
#include "proc/sandbox.h"
#include "query/queries.h"
#include "runner/holdings.h"
#include "runtime/language.h"
#include "session/table.h"
#include "tools/admission.h"
#include "tools/catalog.h"
#include "tools/changed.h"
#include "tools/hosted.h"
#include "tools/notifications.h"
#include "tools/tool.h"
#include "tools/wait_upload.h"
#include "workspace/keeper.h"
#include "workspace/lookout.h"
#include "workspace/rescue.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

struct service {
	struct loop *loop;
	const struct settings *settings;
	const struct policyfile *policy;
	struct mcp_features features;
	struct catalog *catalog;
	struct admission *gate;
	struct mcp_server *server;
	struct session_host host; /* .home is NULL until the first session */
	struct table *table;
	struct queries *queries; /* NULL until the first one */
	struct list sql_calls;
	struct broker *broker;        /* likewise */
	struct wait_upload *arrivals; /* NULL until the first one */
	struct history *history;
	struct notifications *notices;
	struct changed changed;
	size_t removals; /* under way, or waiting in `retired` */
	struct list retired;
	struct loop_defer ahead; /* of the first session */
	struct loop_timer patience;
	struct loop_defer finished;
	void (*closed)(void *data);
	void *closed_data;
};

/* The first interpreter starts while canaries are tried: no code of anybody's is in it yet. */
static void on_code_waits(struct service *service, json_t *arguments)
{
	const struct language *language = language_find(tool_language_name(service, arguments));
	struct err err;

	if (language != NULL && service_table(service, &err) != NULL &&
	    confinement_assume(service->host.confinement))
		pool_start_first(service->host.spares, language);
}

static void on_settled(struct service *service)
{
	const struct confinement *confinement = service->host.confinement;

	confinement_log(confinement);
	if (!confinement_foreseen(confinement))
		pool_drop(service->host.spares);
}

static void on_parent(void *data)
{
	struct service *service = data;

	admission_release(service->gate);
}

/* Only a session in which nothing has run yet can be a copy. */
static uint64_t wait_ms(struct service *service, json_t *arguments)
{
	const char *id = json_string_value(json_object_get(arguments, "session_id"));
	const struct session *session;
	struct err err;

	if (id == NULL || service->table == NULL)
		return 0;
	session = table_find(service->table, id, &err);
	if (session != NULL && session_runner(session, 0) != NULL)
		return 0;
	return pool_wait_ms(service->host.spares,
			    language_find(tool_language_name(service, arguments)));
}

static void on_ahead(struct loop_defer *defer)
{
	struct service *service = container_of(defer, struct service, ahead);
	struct err err;

	if (service_confinement(service) == NULL ||
	    launcher_start(service->host.launcher, &err) == 0)
		return;
	log_info("service", "%s", err.msg); /* the first session tells why */
}

/* A client that asks for the tools is about to call one; its answer goes out first. */
static void on_tools_listed(void *context)
{
	struct service *service = context;

	loop_defer_start(service->loop, &service->ahead, on_ahead);
}

static void on_called(struct service *service, const struct mcp_call *call)
{
	auditor_set_client(history_auditor(service->history), mcp_call_client_name(call),
			   mcp_call_client_version(call));
}

static const struct admission_hooks admission_hooks = { .called = on_called,
							.confinement = service_confinement,
							.code_waits = on_code_waits,
							.settled = on_settled,
							.wait_ms = wait_ms };

struct service *service_new(struct loop *loop, const struct settings *settings,
			    const struct policyfile *policy)
{
	struct service *service = xcalloc(1, sizeof(*service));

	service->loop = loop;
	service->settings = settings;
	service->policy = policy;
	service->host.code_rules = policy != NULL ? rules_lines(policy) : NULL;
	service->history = history_new(settings);
	service->notices = notifications_new(loop);
	service->changed =
		(struct changed){ .notices = service->notices, .redact = settings->redact };
	list_init(&service->retired);
	list_init(&service->sql_calls);
	service->catalog = catalog_new(settings);
	catalog_features(service->catalog, &service->features);
	service->features.context = service;
	service->features.tools_listed = on_tools_listed;
	service->features.redact = settings->redact;
	service->gate = admission_new(service->loop, &service->features, &admission_hooks);
	return service;
}

static void finish_closing(struct service *service)
{
	void (*closed)(void *data) = service->closed;

	if (closed == NULL)
		return;
	service->closed = NULL;
	loop_timer_stop(&service->patience);
	loop_defer_stop(&service->finished);
	closed(service->closed_data);
}

static void on_removed(void *data, bool ok)
{
	struct service *service = data;

	if (!ok)
		log_warn("service", "a session's folder could not be removed completely");
	if (--service->removals == 0)
		finish_closing(service);
}

static void remove_folder(struct service *service, const char *name)
{
	removal_start(service->loop, service->host.home, service->host.files_helper, name,
		      on_removed, service);
}

/* A session's folder that waits until nobody writes in it any more. */
struct retired {
	struct list node;
	struct service *service;
	char *name;
	struct lookout *lookout; /* or NULL */
};

static void retired_free(struct retired *retired)
{
	list_remove(&retired->node);
	lookout_free(retired->lookout);
	free(retired->name);
	free(retired);
}

static void on_looked(void *data)
{
	struct service *service = data;

	on_removed(service, true);
}

/* Nothing of the session runs any more. */
static void on_sandbox_closed(void *data)
{
	struct retired *retired = data;
	struct lookout *lookout = mem_steal(&retired->lookout);

	if (lookout != NULL) {
		retired->service->removals++;
		lookout_last(lookout, on_looked, retired->service);
	}
	remove_folder(retired->service, retired->name);
	retired_free(retired);
}

static void retire(void *owner, struct sandbox *sandbox_own, const char *name,
		   struct lookout *lookout_own)
{
	struct service *service = owner;
	struct retired *retired;

	service->removals++;
	queries_end_folder(service->queries, name);
	broker_end_folder(service->broker, name);
	wait_upload_end_folder(service->arrivals, name);
	if (sandbox_own == NULL) {
		lookout_free(lookout_own); /* no code ran */
		remove_folder(service, name);
		return;
	}
	retired = xcalloc(1, sizeof(*retired));
	list_init(&retired->node);
	list_append(&service->retired, &retired->node);
	retired->service = service;
	retired->name = xstrdup(name);
	retired->lookout = lookout_own;
	sandbox_close(sandbox_own, on_sandbox_closed, retired);
}

static void on_patience(struct loop_timer *timer)
{
	finish_closing(container_of(timer, struct service, patience));
}

static void on_finished(struct loop_defer *defer)
{
	finish_closing(container_of(defer, struct service, finished));
}

void service_close(struct service *service, void (*closed)(void *data), void *data)
{
	service->closed = closed;
	service->closed_data = data;
	service_attach(service, NULL);
	loop_defer_stop(&service->ahead);
	broker_end(service->broker);
	pool_free(service->host.spares);
	service->host.spares = NULL;
	table_free(service->table, "the server ends");
	service->table = NULL;
	if (service->removals > 0)
		loop_timer_start(service->loop, &service->patience,
				 loop_now(service->loop) + SERVICE_CLOSE_MS, on_patience);
	else
		loop_defer_start(service->loop, &service->finished, on_finished);
}

/* Their processes ended with the launcher. The helpers go on when this server is gone. */
static void remove_retired(struct service *service)
{
	while (!list_empty(&service->retired)) {
		struct retired *retired = list_entry(service->retired.next, struct retired, node);

		remove_folder(service, retired->name);
		retired_free(retired);
	}
}

void service_free(struct service *service)
{
	if (service == NULL)
		return;
	launcher_free(service->host.launcher);
	broker_free(service->broker);
	confinement_free(service->host.confinement);
	admission_free(service->gate);
	remove_retired(service);
	home_close(service->host.home);
	holdings_free(service->host.holdings);
	history_free(service->history);
	notifications_free(service->notices);
	tool_sql_forget(&service->sql_calls);
	queries_free(service->queries);
	wait_upload_free(service->arrivals);
	free(service->host.code_rules);
	free(service->host.files_helper);
	free(service->host.proxy_helper);
	free(service->host.parent_library);
	free(service->host.fetch_helper);
	catalog_free(service->catalog);
	free(service);
}

const struct mcp_features *service_features(const struct service *service)
{
	return &service->features;
}

void service_attach(struct service *service, struct mcp_server *server)
{
	service->server = server;
	notifications_attach(service->notices, server);
}

struct history *service_history(const struct service *service)
{
	return service->history;
}

const struct changed *service_changed(const struct service *service)
{
	return &service->changed;
}

struct notifications *service_notices(const struct service *service)
{
	return service->notices;
}

struct mcp_server *service_server(const struct service *service)
{
	return service->server;
}

struct loop *service_loop(const struct service *service)
{
	return service->loop;
}

const struct settings *service_settings(const struct service *service)
{
	return service->settings;
}

void service_file_changed(struct service *service, const char *id, const char *path)
{
	changed_file(&service->changed, id, path);
}

const struct policyfile *service_policy(const struct service *service)
{
	return service->policy;
}

static void on_sessions_changed(void *data)
{
	struct service *service = data;

	notifications_list_changed(service->notices);
	notifications_changed(service->notices, "sessions://");
}

static bool is_busy(void *owner)
{
	const struct service *service = owner;

	return table_busy(service->table);
}

static void on_rescued(void *data, const char *name)
{
	remove_folder(data, name);
}

/* What killed servers left behind goes away in the background, once its results are kept. */
static void remove_stale(struct service *service)
{
	bool found = false;
	struct err err;
	char *name;

	while ((name = home_take_stale(service->host.home)) != NULL) {
		found = true;
		log_info("service", "removing what an earlier server left: '%s'", name);
		service->removals++;
		rescue_start(
			&(struct rescue_spec){ .loop = service->loop,
					       .home = service->host.home,
					       .helper = service->host.files_helper,
					       .name = name,
					       .quota_bytes = service->settings->limits.keep_max },
			on_rescued, service);
		free(name);
	}
	/* A new one begins with looking for what installers of earlier servers left. */
	if (found && cache_exists(service->host.home) && service_broker(service, &err) == NULL)
		log_warn("service", "%s", err.msg);
}

/* Sandboxes are given it by a path without links; without it sessions start by themselves. */
static char *locate_library(void)
{
	struct err err;
	cleanup_free char *path = helper_locate("ptycell-parent.so", &err);

	return path != NULL ? realpath(path, NULL) : NULL;
}

/* Those that may be wanted later, of which another version may lie there then. */
static void hold_others(void)
{
	static const char *const programs[] = { "ptycell-sql", "ptycell-fetch" };
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		free(helper_locate(programs[i], &err)); /* who wants it tells that it is missing */
}

static int locate_helpers(struct service *service, struct err *err)
{
	cleanup_free char *launcher = helper_locate("ptycell-launcher", err);

	if (launcher == NULL)
		return -1;
	service->host.files_helper = helper_locate("ptycell-files", err);
	if (service->host.files_helper == NULL)
		return -1;
	/* Without it sessions that may reach hosts are not what the person asked for. */
	service->host.proxy_helper = helper_locate("ptycell-proxy", err);
	if (service->host.proxy_helper == NULL && service->settings->hosts != NULL)
		return -1;
	service->host.parent_library = locate_library();
	hold_others();
	if (service->settings->storage.kind != STORAGE_NONE) {
		service->host.fetch_helper = helper_locate("ptycell-fetch", err);
		if (service->host.fetch_helper == NULL)
			return -1;
	}
	service->host.launcher = launcher_new(service->loop, launcher);
	service->host.confinement =
		confinement_new(service->loop, service->host.launcher, service->settings);
	return 0;
}

struct queries *service_queries(struct service *service, struct err *err)
{
	cleanup_free char *program = NULL;

	if (service->queries != NULL)
		return service->queries;
	program = helper_locate("ptycell-sql", err);
	if (program != NULL)
		service->queries = queries_new(service->loop, program);
	return service->queries;
}

struct list *service_sql_calls(struct service *service)
{
	return &service->sql_calls;
}

struct broker *service_broker(struct service *service, struct err *err)
{
	if (service->broker == NULL)
		service->broker = broker_new(&service->host, service->policy, err);
	if (service->broker != NULL)
		broker_on_over(service->broker, hosted_installed, service);
	return service->broker;
}

const struct broker *service_broker_if_any(const struct service *service)
{
	return service->broker;
}

struct wait_upload *service_arrivals(struct service *service)
{
	if (service->arrivals == NULL)
		service->arrivals = wait_upload_new(service);
	return service->arrivals;
}

const struct wait_upload *service_arrivals_if_any(const struct service *service)
{
	return service->arrivals;
}

struct admission *service_gate(const struct service *service)
{
	return service->gate;
}

struct confinement *service_confinement(struct service *service)
{
	struct err err;

	/* Both are what every call is answered with: nothing is to be found out. */
	if (service->settings->problem != NULL)
		return NULL;
	if (service->host.launcher == NULL && locate_helpers(service, &err) < 0)
		return NULL;
	return service->host.confinement;
}

struct table *service_table(struct service *service, struct err *err)
{
	if (service->table != NULL)
		return service->table;
	service->host.loop = service->loop;
	service->host.settings = service->settings;
	if (service->host.holdings == NULL)
		service->host.holdings = holdings_new(service->loop);
	service->host.retire = retire;
	service->host.busy = is_busy;
	hosted_listen(&service->host, service);
	if (service->host.launcher == NULL && locate_helpers(service, err) < 0)
		return NULL;
	service->host.home = home_open(service->settings->home, err);
	if (service->host.home == NULL)
		return NULL;
	if (service->settings->spares > 0)
		service->host.spares =
			pool_new(&service->host, language_find("python"), "/proc/meminfo");
	pool_on_zygote(service->host.spares, on_parent, service);
	service->table = table_new(&service->host);
	table_on_change(service->table, on_sessions_changed, service);
	remove_stale(service);
	return service->table;
}

struct table *service_table_if_any(struct service *service)
{
	return service->table;
}
