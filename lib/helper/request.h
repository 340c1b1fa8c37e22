/* SPDX-License-Identifier: MIT */
/* order.h - what a helper program is to do, as helper/helper.h sends it. */
#ifndef HELPER_REQUEST_H
#define HELPER_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* Reads the one line on standard input. The caller's reference; ERR_LIMIT past `max` bytes. */
json_t *request_read(size_t max, struct err *err) MUST_CHECK;

#endif
