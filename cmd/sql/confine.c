/* SPDX-License-Identifier: MIT */
#include "confine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "filter.h"
#include "helper/confine.h"
#include "stop.h"

/* Drivers, their configuration, certificates, name service and local sockets. */
static const char *const driver_folders[] = { "/etc",     "/usr",         "/lib",
					      "/lib64",   "/opt",         "/run",
					      "/var/run", "/var/lib/sss", "/proc/self" };

int confine_local(int dir_fd, const char *path, struct err *err)
{
	struct confine_rule rules[2] = { { .fd = dir_fd, .rights = confine_write } };
	cleanup_free char *folder = NULL;
	cleanup_fd int fd = -1;
	size_t count = 1;

	if (path != NULL) {
		/* Its journal and log lie beside it. */
		cleanup_free char *real = realpath(path, NULL);

		folder = xstrdup(real != NULL ? real : path);
		*(strrchr(folder, '/') + 1) = '\0';
		fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return err_sys(err, "opening the folder of the database");
		rules[count++] = (struct confine_rule){ .fd = fd, .rights = confine_read };
	}
	if (confine_files(rules, count, 0, err) < 0 || stop_watch(err) < 0)
		return -1;
	return filter_local(err);
}

int confine_driver(int dir_fd, struct err *err)
{
	struct confine_rule rules[ARRAY_SIZE(driver_folders) + 1];
	size_t count = 0;
	int result;

	rules[count++] = (struct confine_rule){ .fd = dir_fd, .rights = confine_write };
	for (size_t i = 0; i < ARRAY_SIZE(driver_folders); i++) {
		int fd = open(driver_folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			rules[count++] = (struct confine_rule){ .fd = fd, .rights = confine_read };
	}
	result = confine_files_only(rules, count, err);
	for (size_t i = 1; i < count; i++)
		fd_close(&rules[i].fd);
	if (result < 0 || stop_watch(err) < 0)
		return -1;
	return filter_driver(err);
}
