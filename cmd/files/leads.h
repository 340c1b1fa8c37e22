/* SPDX-License-Identifier: MIT */
/* leads.h - finds where the paths lead that files of a share name. */
#ifndef FILES_LEADS_H
#define FILES_LEADS_H

#include <stdbool.h>

struct folder_at;
struct inspection;

/*
 * Returns true when `to` is a folder of a share reached through no link, or does not exist. It is
 * seen from the folder `from` of the current share. Sets *ret_path, unless it is NULL, to its path
 * in this share, or to NULL for another share. The caller frees it.
 */
bool leads_inside(const struct inspection *inspection, const char *from, const char *to,
		  char **ret_path);
/*
 * Returns true when the link `name` in that folder leads to the sessions' folders, through any
 * links, or through /proc to anywhere.
 */
bool leads_home(const struct inspection *inspection, const struct folder_at *folder,
		const char *name);
/*
 * Returns true if a relative link may lead out of the share from where its folder is now. Links on
 * its way are judged themselves.
 */
bool leads_out(const struct inspection *inspection, const struct folder_at *folder,
	       const char *name);
/*
 * Returns the path that the kernel gives to what `path` leads to; with O_DIRECTORY only of a
 * folder. The caller frees it. Returns NULL when there is nothing.
 */
char *leads_to(int dir, const char *path, int flags);

/* A folder of a share, or a file in it. */
struct leads_place {
	int fd;
	int share; /* its descriptor */
	char *share_path;
	char *path; /* below the share, through no link */
	char *name; /* the file's name in the folder; NULL when the folder itself is meant */
};

/*
 * Finds where `path` leads from the folder `dir`, through any links. Returns false when that is in
 * no share, or missing. leads_place_release() frees *ret.
 */
bool leads_to_share(const struct inspection *inspection, int dir, const char *path, bool is_file,
		    struct leads_place *ret);
void leads_place_release(struct leads_place *place);

#endif
