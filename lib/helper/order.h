/* SPDX-License-Identifier: MIT */
/* order.h - what a helper program is to do, as helper/helper.h sends it. */
#ifndef HELPER_ORDER_H
#define HELPER_ORDER_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* Reads the one line on standard input. The caller's reference; ERR_LIMIT past `max` bytes. */
json_t *order_read(size_t max, struct err *err) MUST_CHECK;

#endif
