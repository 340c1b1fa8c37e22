/* SPDX-License-Identifier: MIT */
/* say.h - a helper's lines to the server, as helper/reply.h expects them. */
#ifndef HELPER_RESPONSE_H
#define HELPER_RESPONSE_H

#include <jansson.h>

#include "base/err.h"

/* The value is taken. A server that is gone does not stop the work. */
void response_progress(json_t *value_own);
/* That it gets on: an empty progress, once a second at most. */
void response_alive(void);
void response_result(json_t *value_own);
void response_error(const struct err *err);

#endif
