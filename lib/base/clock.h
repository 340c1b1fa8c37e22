/* SPDX-License-Identifier: MIT */
/* clock.h - time on the monotonic clock. Deadlines are absolute milliseconds of clock_ms(). */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_NEVER UINT64_MAX

uint64_t clock_ms(void);
uint64_t clock_us(void);

#endif
