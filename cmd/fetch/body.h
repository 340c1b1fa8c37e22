/* SPDX-License-Identifier: MIT */
/* body.h - hashes of request bodies, by which the storage detects changes on the way. */
#ifndef FETCH_BODY_H
#define FETCH_BODY_H

#include "backend.h"

/*
 * Appends the value of Content-MD5, or nothing where MD5 is unavailable. Returns -1 and sets *err.
 */
int body_md5(const struct sending *sending, struct buf *out, struct err *err) MUST_CHECK;
/* Appends the SHA-256 in hexadecimal digits. Returns -1 and sets *err. */
int body_sha256(const struct sending *sending, struct buf *out, struct err *err) MUST_CHECK;

#endif
