/* SPDX-License-Identifier: MIT */
/* guide.h - ptycell://guide: the text of guide.md, then what this server has and allows. */
#ifndef RESOURCES_GUIDE_H
#define RESOURCES_GUIDE_H

#include "base/buf.h"

struct settings;

/* Appends the guide with the Python packages, the shares and the network of these settings. */
void guide_write(struct buf *out, const struct settings *settings);

#endif
