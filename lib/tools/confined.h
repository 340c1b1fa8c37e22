/* SPDX-License-Identifier: MIT */
/* confined.h - what confines code, as the object `confinement` of session_info. */
#ifndef TOOLS_CONFINED_H
#define TOOLS_CONFINED_H

#include <jansson.h>

struct confinement;

/* Of a settled one; a new reference. */
json_t *confined_describe(const struct confinement *confinement);

#endif
