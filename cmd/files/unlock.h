/* SPDX-License-Identifier: MIT */
/* unlock.h - lifts a mode that forbids the owner, this process, to use a folder or file. */
#ifndef FILES_UNLOCK_H
#define FILES_UNLOCK_H

/*
 * Adds all rights of the owner and changes no others. `fd` may be an O_PATH descriptor. Returns -1
 * and sets errno.
 */
int unlock_open_folder(int fd);
/*
 * Lets the owner read and write, and changes no other right. Where `fd` is no regular file, returns
 * -1 and sets errno to EINVAL; a link is not followed.
 */
int unlock_open_file(int fd);

#endif
