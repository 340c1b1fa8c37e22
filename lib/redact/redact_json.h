/* SPDX-License-Identifier: MIT */
/* redact_json.h - removes secrets from all strings and keys of a JSON value. */
#ifndef REDACT_REDACT_JSON_H
#define REDACT_REDACT_JSON_H

#include <jansson.h>

struct redact;

/*
 * Changes `value` itself. `redact` NULL: does nothing. Base64 stays as it is: `data` of images and
 * audio, `blob` of resources.
 */
void redact_json(json_t *value, const struct redact *redact);

#endif
