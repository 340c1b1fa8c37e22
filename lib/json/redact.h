/* SPDX-License-Identifier: MIT */
/* redact.h - taking secrets out of all strings and keys of a JSON value. */
#ifndef JSON_REDACT_H
#define JSON_REDACT_H

#include <jansson.h>

struct redact;

/*
 * Changes `value` itself. `redact` NULL: nothing is done. Bytes in base64 stay: `data` of images
 * and audio, `blob` of resources.
 */
void json_redact(json_t *value, const struct redact *redact);

#endif
