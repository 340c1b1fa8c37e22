/* SPDX-License-Identifier: MIT */
/*
 * network_options.h - the part of a request that all operations of ptycell-fetch share
 * (cmd/fetch/request.h).
 */
#ifndef TRANSFER_NETWORK_OPTIONS_H
#define TRANSFER_NETWORK_OPTIONS_H

#include <jansson.h>
#include <stdint.h>

enum {
	NETWORK_OPTIONS_STALL_MS =
		30000 /* a transfer that hardly progresses for so long is aborted */
};

/*
 * Returns a new request, which the caller frees, for `operation` ("download") with the deadline,
 * and the proxies and certificate authorities of `environment`. These may hold secrets: the request
 * must reach the program only by its stdin.
 */
json_t *network_options_put(const char *operation, uint64_t deadline_ms, char *const *environment);

#endif
