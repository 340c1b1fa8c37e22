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
/*
 * Opens a file with the flags, after unlock_open_file. Follows no link, also where session code
 * puts one in the file's place at that moment. Returns -1 and sets errno.
 */
int unlock_and_open_file(int dir_fd, const char *name, int flags);

#endif
