/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - asks this kernel which system calls it offers to a sandbox, without changing anything.
 */
#ifndef SERVER_KERNEL_H
#define SERVER_KERNEL_H

#include <stdbool.h>

bool kernel_has_pidfd(void);
bool kernel_has_openat2(void);

#endif
