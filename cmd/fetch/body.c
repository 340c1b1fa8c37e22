/* SPDX-License-Identifier: MIT */
/*
 * body.c - reads a request's body for a hash. A body is a range of a file or a text, and both
 * backends hash both kinds. A file is read again for each hash and for sending: it may be larger
 * than memory.
 */
#include "body.h"

#include "crypto.h"

int body_md5(const struct sending *sending, struct buf *out, struct err *err)
{
	if (sending->fd >= 0)
		return crypto_md5_file(sending->fd, sending->offset, sending->length, out, err);
	crypto_md5_text(buf_str(&sending->text), sending->text.len, out);
	return 0;
}

int body_sha256(const struct sending *sending, struct buf *out, struct err *err)
{
	char hex[2 * STORAGE_HASH_LEN + 1];

	if (sending->fd < 0)
		crypto_hash_text(buf_str(&sending->text), sending->text.len, hex);
	else if (crypto_hash_file(sending->fd, sending->offset, sending->length, hex, err) < 0)
		return -1;
	buf_puts(out, hex);
	return 0;
}
