/* SPDX-License-Identifier: MIT */
/*
 * random.c - random bytes from getrandom, which blocks until the kernel's generator is ready, or
 * from its device where a filter forbids that call.
 */
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"

static bool read_device(void *out, size_t len)
{
	cleanup_fd int fd = open(RANDOM_DEVICE, O_RDONLY | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	       read(fd, out, len) == (ssize_t)len;
}

void random_bytes(void *out, size_t len)
{
	int error;

	if (getrandom(out, len, 0) == (ssize_t)len)
		return;
	error = errno;
	if (read_device(out, len))
		return;
	/* A guessable token is worthless, so there is no other source. */
	log_error("random",
		  "the kernel gives no random bytes, without which ptycell does not run: %s",
		  strerrordesc_np(error));
	abort();
}

void random_hex(char *out, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i + 1 < len; i += 2) {
		unsigned char byte;

		random_bytes(&byte, 1);
		out[i] = digits[byte >> 4];
		out[i + 1] = digits[byte & 15];
	}
	out[len] = '\0';
}
