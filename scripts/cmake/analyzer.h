/* SPDX-License-Identifier: MIT */
/*
 * analyzer.h - what scripts/lint puts in front of every file.
 *
 * clang's analyzer does not see into err.c. It has to be told that these return -1, or it takes
 * every failed call for one that may have succeeded and its results for garbage.
 */
#ifndef ANALYZER_H
#define ANALYZER_H

#include "base/err.h"

static inline int analyzer_failed(int result)
{
	(void)result;
	return -1;
}

#define err_set(...) analyzer_failed((err_set)(__VA_ARGS__))
#define err_sys(...) analyzer_failed((err_sys)(__VA_ARGS__))
#define err_wrap(...) analyzer_failed((err_wrap)(__VA_ARGS__))

#endif
