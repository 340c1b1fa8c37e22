/* SPDX-License-Identifier: MIT */
#include "tools/service.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "proc/sandbox_client.h"
#include "session/table.h"
#include "tools/catalog.h"
#include "tools/resource.h"
#include "workspace/keep.h"
#include "workspace/workspace.h"

struct service {
	struct loop *loop;
	const struct settings *settings;
	struct mcp_features features;
	struct mcp_server *server;
	struct session_host host; /* .home is NULL until the first session */
	struct table *table;
};

struct service *service_new(struct loop *loop, const struct settings *settings)
{
	struct service *service = xcalloc(1, sizeof(*service));

	service->loop = loop;
	service->settings = settings;
	catalog_features(&service->features, settings->results);
	resource_features(&service->features);
	service->features.context = service;
	return service;
}

void service_free(struct service *service)
{
	if (service == NULL)
		return;
	table_free(service->table, "the server ends");
	launcher_free(service->host.launcher);
	home_close(service->host.home);
	free(service->host.files_helper);
	free(service);
}

const struct mcp_features *service_features(const struct service *service)
{
	return &service->features;
}

void service_attach(struct service *service, struct mcp_server *server)
{
	service->server = server;
}

const struct settings *service_settings(const struct service *service)
{
	return service->settings;
}

/* What killed servers left behind goes away in the background. */
static void remove_stale(struct service *service)
{
	char *name;

	while ((name = home_take_stale(service->host.home)) != NULL) {
		log_info("service", "removing what an earlier server left: '%s'", name);
		(void)removal_start(service->loop, service->host.home, service->host.files_helper,
				    name, NULL);
		free(name);
	}
}

static int locate_helpers(struct service *service, struct err *err)
{
	cleanup_free char *launcher = helper_locate("ptycell-launcher", err);

	if (launcher == NULL)
		return -1;
	service->host.files_helper = helper_locate("ptycell-files", err);
	if (service->host.files_helper == NULL)
		return -1;
	service->host.launcher = launcher_new(service->loop, launcher);
	return 0;
}

struct table *service_table(struct service *service, struct err *err)
{
	if (service->table != NULL)
		return service->table;
	service->host.loop = service->loop;
	service->host.settings = service->settings;
	if (service->host.launcher == NULL && locate_helpers(service, err) < 0)
		return NULL;
	service->host.home = home_open(service->settings->home, err);
	if (service->host.home == NULL)
		return NULL;
	service->table = table_new(&service->host);
	remove_stale(service);
	return service->table;
}

struct table *service_table_if_any(struct service *service)
{
	return service->table;
}
