/* SPDX-License-Identifier: MIT */
/* normal.h - gives texts that look the same the same bytes. */
#ifndef TEXT_NORMAL_H
#define TEXT_NORMAL_H

/*
 * Returns the text with characters composed (NFC), because macOS writes names of files decomposed.
 * Text that is not UTF-8 stays as it is. The caller frees the result.
 */
char *normal_compose(const char *text);

#endif
