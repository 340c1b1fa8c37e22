/* SPDX-License-Identifier: MIT */
/* kernel.h - what this kernel offers to a sandbox, asked without changing anything. */
#ifndef SERVER_KERNEL_H
#define SERVER_KERNEL_H

#include <stdbool.h>

bool kernel_has_pidfd(void);
bool kernel_has_openat2(void);

#endif
