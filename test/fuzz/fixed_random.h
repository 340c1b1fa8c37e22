/* SPDX-License-Identifier: MIT */
/*
 * fixed_random.h - getrandom() in a fuzz target whose code draws lots: the same for each input, in
 * each run, so that a fixed seed explores the same. Include in one file of a program.
 */
#ifndef FUZZ_FIXED_RANDOM_H
#define FUZZ_FIXED_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/types.h>

static uint64_t fixed_random_state;

/* Before each input. */
static inline void fixed_random_restart(void)
{
	fixed_random_state = 0;
}

/* In place of the C library's. */
ssize_t getrandom(void *buffer, size_t len, unsigned int flags) /* NOLINT: names of libc */
{
	uint8_t *bytes = buffer;

	(void)flags;
	for (size_t i = 0; i < len; i++) {
		fixed_random_state =
			fixed_random_state * 6364136223846793005U + 1442695040888963407U;
		bytes[i] = (uint8_t)(fixed_random_state >> 56);
	}
	return (ssize_t)len;
}

#endif
