/* SPDX-License-Identifier: MIT */
/* confinement_json.h - how code is confined, as the object `confinement` of session_info. */
#ifndef ANSWER_CONFINEMENT_JSON_H
#define ANSWER_CONFINEMENT_JSON_H

#include <jansson.h>

struct confinement;

/* Returns the object of a settled confinement, as a new reference. */
json_t *confinement_json_make(const struct confinement *confinement);

#endif
