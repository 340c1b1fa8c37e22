/* SPDX-License-Identifier: MIT */
/*
 * clock.h - time on the monotonic clock, and the time of day as text. Deadlines are absolute
 * milliseconds of clock_ms().
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_NEVER UINT64_MAX

uint64_t clock_ms(void);
uint64_t clock_us(void);

enum { CLOCK_UTC_LEN = 25 };

/* Writes the time of day in UTC: "2026-11-20T14:03:05.120Z". */
void clock_utc(char text[CLOCK_UTC_LEN]);

enum { CLOCK_AT_LEN = 9 };

/* Writes the user's local time `in_seconds` from now: "14:03:05". */
void clock_at(uint64_t in_seconds, char text[CLOCK_AT_LEN]);

#endif
