/* SPDX-License-Identifier: MIT */
/* confined.h - what confines code, as the object `confinement` of session_info. */
#ifndef ANSWER_CONFINEMENT_JSON_H
#define ANSWER_CONFINEMENT_JSON_H

#include <jansson.h>

struct confinement;

/* Of a settled one; a new reference. */
json_t *confinement_json_make(const struct confinement *confinement);

#endif
