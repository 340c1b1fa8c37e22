/* SPDX-License-Identifier: MIT */
/* unlock.h - lifts a mode that forbids its owner, us, to use a folder. */
#ifndef FILES_UNLOCK_H
#define FILES_UNLOCK_H

/* All rights for us, none else changed; an O_PATH descriptor will do. -1 with errno. */
int unlock_open_folder(int fd);

#endif
