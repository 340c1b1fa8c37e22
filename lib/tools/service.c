/* SPDX-License-Identifier: MIT */
/*
 * service.c - makes the parts of the server when they are needed, and ends them in order.
 *
 * The order of service_free matters. The launcher goes first: with it every process of a session
 * ends, so that folders can be removed. The parts that borrow the home folder go before it is
 * closed.
 */
#include "tools/service.h"
#include "tools/prompts.h"

#include <stdlib.h>

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
#include "session/session.h"
#include "session/table.h"
#include "tools/admission.h"
#include "tools/catalog.h"
#include "tools/hosted.h"
#include "tools/notifications.h"
#include "tools/retirement.h"
#include "tools/tool.h"
#include "tools/wait_import.h"
#include "workspace/home.h"
#include "workspace/keeproom.h"
#include "workspace/workspace.h"

/* ---- life ---- */

static void report_ready(const struct service *service)
{
	if (service->observer != NULL && service->observer->ready != NULL)
		service->observer->ready(service->observer->data);
}

static void on_start_launcher(struct loop_defer *defer)
{
	struct service *service = container_of(defer, struct service, start_launcher);
	struct err err;

	if (service_confinement(service) == NULL)
		return;
	if (launcher_start(service->host.launcher, &err) < 0)
		log_info("service", "%s", err.msg); /* the first session reports the reason */
	report_ready(service);
}

/* Starts the launcher after the answer: a client that lists the tools is about to call one. */
static void on_tools_listed(void *context)
{
	struct service *service = context;

	loop_defer_start(service->loop, &service->start_launcher, on_start_launcher);
}

static void finish_closing(struct service *service)
{
	void (*closed)(void *data) = service->closed;

	if (closed == NULL || service->table != NULL) /* sessions still save their variables */
		return;
	service->closed = NULL;
	loop_timer_stop(&service->close_timer);
	loop_defer_stop(&service->close_defer);
	closed(service->closed_data);
}

static void on_folders_removed(void *data)
{
	finish_closing(data);
}

static void on_close_timer(struct loop_timer *timer)
{
	finish_closing(container_of(timer, struct service, close_timer));
}

static void on_close_defer(struct loop_defer *defer)
{
	finish_closing(container_of(defer, struct service, close_defer));
}

struct service *service_new(struct loop *loop, const struct settings *settings,
			    const struct policyfile *policy)
{
	struct service *service = xcalloc(1, sizeof(*service));

	service->loop = loop;
	service->settings = settings;
	service->policy = policy;
	list_init(&service->cell_installs);
	list_init(&service->program_installs);
	list_init(&service->stored);
	service->host.uploads = &service->stored;
	service->host.loop = loop;
	service->host.settings = settings;
	service->host.code_rules = policy != NULL ? rules_lines(policy) : NULL;
	service->history = history_new(settings);
	service->notifications = notifications_new(loop);
	service->changed = (struct changed){ .notifications = service->notifications,
					     .redact = settings->redact };
	service->retirement = retirement_new(&service->host);
	retirement_on_idle(service->retirement, on_folders_removed, service);
	list_init(&service->sql_calls);
	service->catalog = catalog_new(settings);
	catalog_features(service->catalog, &service->features);
	prompts_features(&service->features);
	service->features.context = service;
	service->features.tools_listed = on_tools_listed;
	service->features.redact = settings->redact;
	service->admission = admission_new(service, &service->features);
	return service;
}

static void on_sessions_over(void *data)
{
	struct service *service = data;
	struct loop *loop = service->loop;

	pool_free(service->host.pool);
	service->host.pool = NULL;
	table_free(service->table, table_server_ends);
	service->table = NULL;
	if (retirement_is_idle(service->retirement))
		loop_defer_start(loop, &service->close_defer, on_close_defer);
	else
		loop_timer_start(loop, &service->close_timer, loop_now(loop) + SERVICE_CLOSE_MS,
				 on_close_timer);
}

static void end_sessions(void *data)
{
	struct service *service = data;

	table_close(service->table, table_server_ends, on_sessions_over, service);
}

void service_close(struct service *service, void (*closed)(void *data), void *data)
{
	service->closed = closed;
	service->closed_data = data;
	service_attach(service, NULL);
	loop_defer_stop(&service->start_launcher);
	broker_end(service->broker);
	retirement_end(service->retirement);
	if (service->table != NULL)
		table_save(service->table, end_sessions, service);
	else
		on_sessions_over(service);
}

void service_free(struct service *service)
{
	if (service == NULL)
		return;
	launcher_free(service->host.launcher);
	broker_free(service->broker);
	confinement_free(service->host.confinement);
	admission_free(service->admission);
	retirement_free(service->retirement);
	home_close(service->host.home); /* ends exports */
	keeproom_free(service->host.keeproom);
	holdings_free(service->host.holdings);
	history_free(service->history);
	notifications_free(service->notifications);
	tool_sql_forget(&service->sql_calls);
	queries_free(service->queries);
	wait_import_free(service->imports);
	free(service->host.code_rules);
	free(service->host.files_helper);
	free(service->host.proxy_helper);
	free(service->host.zygote_library);
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
	notifications_attach(service->notifications, server);
}

void service_observe(struct service *service, const struct service_observer *observer)
{
	service->observer = observer;
}

bool service_has_sessions(const struct service *service)
{
	return service->table != NULL && table_any(service->table);
}

void service_outlives_client(struct service *service, uint64_t (*written)(void *data), void *data)
{
	service->written = written;
	service->written_data = data;
}

void service_client_gone(struct service *service, uint64_t read)
{
	struct session *session;

	for (size_t i = 0;
	     service->table != NULL && (session = table_at(service->table, i)) != NULL; i++)
		session_report_again(session, read);
}

/* ---- helper programs ---- */

/* Sandboxes get the library by a path without links. Without it no session is forked. */
static char *locate_library(void)
{
	struct err err;
	cleanup_free char *path = helper_locate("ptycell-parent.so", &err);

	return path != NULL ? realpath(path, NULL) : NULL;
}

/* Opens the programs that may be needed later: an update could replace them meanwhile. */
static void hold_others(void)
{
	static const char *const programs[] = { "ptycell-sql", "ptycell-fetch" };
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		free(helper_locate(programs[i], &err)); /* the call that needs it reports a lack */
}

static int locate_helpers(struct service *service, struct err *err)
{
	cleanup_free char *launcher = helper_locate("ptycell-launcher", err);

	if (launcher == NULL)
		return -1;
	service->host.files_helper = helper_locate("ptycell-files", err);
	if (service->host.files_helper == NULL)
		return -1;
	/* Sessions that cannot reach the hosts which the user named must not start. */
	service->host.proxy_helper = helper_locate("ptycell-proxy", err);
	if (service->host.proxy_helper == NULL && service->settings->hosts != NULL)
		return -1;
	service->host.zygote_library = locate_library();
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

/* ---- parts ---- */

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

struct broker *service_broker(struct service *service, struct err *err)
{
	if (service->broker == NULL)
		service->broker = broker_new(&service->host, service->policy, err);
	if (service->broker != NULL)
		broker_on_over(service->broker, hosted_installed, service);
	return service->broker;
}

struct wait_import *service_imports(struct service *service)
{
	if (service->imports == NULL)
		service->imports = wait_import_new(service);
	return service->imports;
}

struct confinement *service_confinement(struct service *service)
{
	struct err err;

	/* Every tool answers with the problem, and with a missing helper: nothing runs. */
	if (service->settings->problem != NULL)
		return NULL;
	if (service->host.launcher == NULL && locate_helpers(service, &err) < 0)
		return NULL;
	return service->host.confinement;
}

static void on_zygote(void *data)
{
	struct service *service = data;

	admission_release(service->admission);
}

static void remove_stale(struct service *service)
{
	struct err err;

	/* A new broker begins with a search for what installers of killed servers left. */
	if (retirement_add_stale(service->retirement) && cache_exists(service->host.home) &&
	    service_broker(service, &err) == NULL)
		log_warn("service", "%s", err.msg);
	retirement_look_after(service->retirement);
}

int service_open_home(struct service *service, struct err *err)
{
	struct session_host *host = &service->host;

	if (host->home != NULL)
		return 0;
	if (host->holdings == NULL)
		host->holdings = holdings_new(service->loop);
	hosted_listen(host, service);
	if (host->launcher == NULL && locate_helpers(service, err) < 0)
		return -1;
	host->home = home_open(service->settings->home, err);
	if (host->home == NULL)
		return -1;
	if (service->settings->keep != NULL)
		host->keeproom =
			keeproom_new(service->loop, host->home, host->files_helper,
				     service->settings->keep, service->settings->keep_total);
	if (service->settings->spares > 0)
		host->pool = pool_new(host, language_find("python"), "/proc/meminfo");
	pool_on_zygote(host->pool, on_zygote, service);
	return 0;
}

struct table *service_table(struct service *service, struct err *err)
{
	if (service->table != NULL)
		return service->table;
	if (service_open_home(service, err) < 0)
		return NULL;
	report_ready(service);
	service->table = table_new(&service->host);
	table_on_change(service->table, hosted_table_changed, service);
	remove_stale(service);
	return service->table;
}
