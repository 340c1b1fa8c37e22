/* SPDX-License-Identifier: MIT */
/* normal.h - texts that look the same as the same bytes. */
#ifndef TEXT_NORMAL_H
#define TEXT_NORMAL_H

/*
 * The text with characters composed (NFC): macOS writes names of files decomposed. What is not
 * UTF-8 stays as it is. The caller frees it.
 */
char *normal_compose(const char *text);

#endif
