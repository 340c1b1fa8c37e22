/* SPDX-License-Identifier: MIT */
/* redact.h - taking secrets out of all strings and keys of a JSON value. */
#ifndef REDACT_REDACT_JSON_H
#define REDACT_REDACT_JSON_H

#include <jansson.h>

struct redact;

/*
 * Changes `value` itself. `redact` NULL: nothing is done. Bytes in base64 stay: `data` of images
 * and audio, `blob` of resources.
 */
void redact_json(json_t *value, const struct redact *redact);

#endif
