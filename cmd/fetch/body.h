/* SPDX-License-Identifier: MIT */
/* body.h - hashes of what a request sends, by which the storage finds what changed on the way. */
#ifndef FETCH_BODY_H
#define FETCH_BODY_H

#include "backend.h"

/* Content-MD5's value; "" where there is none. */
int body_md5(const struct sending *sending, struct buf *out, struct err *err) MUST_CHECK;
/* SHA-256 in hexadecimal digits. */
int body_sha256(const struct sending *sending, struct buf *out, struct err *err) MUST_CHECK;

#endif
