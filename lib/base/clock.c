/* SPDX-License-Identifier: MIT */
/*
 * clock.c - the monotonic clock for deadlines, the real-time clock for text. CLOCK_MONOTONIC stands
 * still while the machine sleeps, so a deadline does not pass during sleep.
 */
#include "base/clock.h"

#include <string.h>
#include <time.h>

uint64_t clock_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000U + (uint64_t)now.tv_nsec / 1000U;
}

uint64_t clock_ms(void)
{
	return clock_us() / 1000U;
}

void clock_utc(char text[CLOCK_UTC_LEN])
{
	static _Thread_local char date[] = "1970-01-01T00:00:00.000Z"; /* of `second` */
	static _Thread_local time_t second;
	struct timespec now = { 0 };
	struct tm utc = { 0 };
	long ms;

	_Static_assert(sizeof(date) == CLOCK_UTC_LEN, "a text has one length");
	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec != second) {
		(void)gmtime_r(&now.tv_sec, &utc);
		(void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S.000Z", &utc);
		second = now.tv_sec;
	}
	ms = now.tv_nsec / 1000000;
	memcpy(text, date, sizeof(date));
	text[CLOCK_UTC_LEN - 5] = (char)('0' + ms / 100);
	text[CLOCK_UTC_LEN - 4] = (char)('0' + ms / 10 % 10);
	text[CLOCK_UTC_LEN - 3] = (char)('0' + ms % 10);
}

void clock_at(uint64_t in_seconds, char text[CLOCK_AT_LEN])
{
	time_t at = time(NULL) + (time_t)in_seconds;
	struct tm local = { 0 };

	text[0] = '\0';
	(void)localtime_r(&at, &local);
	(void)strftime(text, CLOCK_AT_LEN, "%T", &local);
}
