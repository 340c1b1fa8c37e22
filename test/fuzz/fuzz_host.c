/* SPDX-License-Identifier: MIT */
/* layers: net */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/host.h"
#include "net/host_list.h"
#include "net/upstream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A canonical name is canonical, and no resolver takes it for an address. */
static void check_host(const char *text, size_t len)
{
	char found[HOST_MAX + 1];
	char copy[HOST_MAX + 1];
	struct in_addr address;
	struct err err;

	if (host_canonicalise(text, len, found, &err) < 0)
		return;
	if (strlen(found) + 1 < len || strlen(found) > len || inet_aton(found, &address) != 0 ||
	    host_canonicalise(found, strlen(found), copy, &err) < 0 || !str_eq(found, copy))
		abort();
}

static void check_written(const struct host_list *hosts)
{
	cleanup_free char *text = host_list_write(hosts);
	struct err err;
	struct host_list *again = host_list_parse(text, &err);
	cleanup_free char *same = again != NULL ? host_list_write(again) : NULL;

	if (same == NULL || !str_eq(text, same))
		abort();
	host_list_free(again);
}

/* Who is allowed was named by an entry that allows. */
static void check_list(const char *text)
{
	struct host_port to = { .host = "a.example", .port = 443 };
	struct upstream upstream;
	struct err err;
	struct host_list *hosts = host_list_parse(text, &err);
	uint16_t ports[4];

	(void)!upstream_parse(text, &upstream, &err);
	(void)upstream_excepted(text, to.host);
	if (hosts == NULL)
		return;
	if (host_list_check(hosts, &to) == HOST_LIST_ALLOWED &&
	    (host_list_empty(hosts) || host_list_ports(hosts, ports, 4) == 0))
		abort();
	check_written(hosts);
	host_list_free(hosts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xmemdup(data, size);
	struct host_port to;
	struct err err;

	check_host(text, size);
	(void)!host_parse_authority(text, size, 80, &to, &err);
	check_list(text);
	return 0;
}
