/* SPDX-License-Identifier: MIT */
/* unlock.h - lifts a mode that forbids the owner, this process, to use a folder. */
#ifndef FILES_UNLOCK_H
#define FILES_UNLOCK_H

/*
 * Adds all rights of the owner and changes no others. `fd` may be an O_PATH descriptor. Returns -1
 * and sets errno.
 */
int unlock_open_folder(int fd);

#endif
