/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.c - turns the leak check off in helpers that lock themselves down: it reads /proc and
 * attaches to the process, which seccomp ends.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_SANITIZER
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define WITH_SANITIZER
#endif

#ifdef WITH_SANITIZER
const char *__asan_default_options(void); /* NOLINT: the sanitizer's name */

const char *__asan_default_options(void) /* NOLINT */
{
	return "detect_leaks=0:quarantine_size_mb=1"; /* tests measure memory */
}
#else
_Static_assert(1, "a source needs a declaration");
#endif
