/* SPDX-License-Identifier: MIT */
/* guide.h - ptycell://guide. */
#ifndef RESOURCES_GUIDE_H
#define RESOURCES_GUIDE_H

#include "base/buf.h"

struct settings;

/* Appends the guide, which names the Python packages that are there. */
void guide_write(struct buf *out, const struct settings *settings);

#endif
