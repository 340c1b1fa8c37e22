/* SPDX-License-Identifier: MIT */
/*
 * keep.h - copying a session's results into the folder where the person finds them.
 *
 * Order {"op": "keep", "root", "folder", "fresh", "room", "files": [{"from", "to", "known",
 * "ino", "mtime", "size"}]}, paths percent-encoded. Below the given data folder each `from` is
 * copied to root/folder/`to`. `fresh`: the folder must be new (ERR_BUSY). `known`: an earlier copy
 * lies at `to` and looks like that; anything else there is the person's, and the copy gets
 * another name ("a-2.png"). `room`: bytes that may still be added.
 *
 * Progress for each file: {"file": INDEX, "to", "ino", "mtime", "size"} or {"file", "problem"};
 * problem "limit" when there was no room. Result {}.
 */
#ifndef FILES_KEEP_H
#define FILES_KEEP_H

#include <jansson.h>

#include "base/err.h"

int keep_run(int data_fd, const json_t *order, struct err *err) MUST_CHECK;

#endif
