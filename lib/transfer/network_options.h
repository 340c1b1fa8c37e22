/* SPDX-License-Identifier: MIT */
/* network.h - what every order to ptycell-fetch says (cmd/fetch/order.h). */
#ifndef TRANSFER_NETWORK_OPTIONS_H
#define TRANSFER_NETWORK_OPTIONS_H

#include <jansson.h>
#include <stdint.h>

enum {
	NETWORK_OPTIONS_STALL_MS = 30000 /* a transfer that hardly moves for so long is given up */
};

/*
 * A new order that does `operation` ("download"): deadline, and proxies and authorities of
 * `environment`, which may hold secrets: it goes to the program by its stdin only.
 */
json_t *network_options_put(const char *operation, uint64_t deadline_ms, char *const *environment);

#endif
