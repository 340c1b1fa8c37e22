/* SPDX-License-Identifier: MIT */
/*
 * keep.h - copying a session's results into the folder where the person finds them.
 *
 * Order {"op": "keep", "root", "folder", "fresh", "folds", "moves": [{"move": ID, "at", "to",
 * "known", "ino", "mtime", "size"}], "room", "seen", "durable", "sync": [PATH], "files": [{"from",
 * "to", "known", "ino", "mtime", "size"}]}, paths percent-encoded. Below the given data folder each
 * `from` is copied to root/folder/`to`. `fresh`: the folder must be new (ERR_BUSY). `known`: an
 * earlier copy lies at `to` and looks like that; anything else there is the person's, and the copy
 * gets another name
 * ("a-2.png"). `room`: bytes that may still be added. `folds`: the names given take two that differ
 * in case for the same; where the folder does and they do not, nothing is done but
 * {"folds": true} said. `moves` come first: what lies at `at`, a folder, or a file that looks so,
 * gets the name `to` or the first free one after it.
 *
 * `seen` is the data folder's path in the session: a link in output/ to a file in it is copied as
 * the file, and told as "linked".
 *
 * `durable`: a file is on the disk before it has its name; nobody waits for the answer. What is to
 * be `sync`ed was put there by orders that somebody waited for.
 *
 * Progress for each move: {"move": ID, "to"} or {"move", "problem"}; for each file: {"file": INDEX,
 * "to", "ino", "mtime", "size"}, {"file", "unchanged": true} for what a link led to before, or
 * {"file", "problem"}; problem "limit" when there was no room. Result {}.
 */
#ifndef FILES_KEEP_H
#define FILES_KEEP_H

#include <jansson.h>

#include "base/err.h"

int keep_run(int data_fd, const json_t *order, struct err *err) MUST_CHECK;

#endif
