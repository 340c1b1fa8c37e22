/* SPDX-License-Identifier: MIT */
/* leads.h - where a path leads that a file of a share names. */
#ifndef FILES_LEADS_H
#define FILES_LEADS_H

#include <stdbool.h>

struct folder_at;
struct look;

/*
 * `to`, as seen from the folder `from` of the share at hand, is a folder of a share, through no
 * link, or nothing at all. `*ret_path`, unless NULL, is its path in this share, NULL in another
 * one; the caller frees it.
 */
bool leads_inside(const struct look *look, const char *from, const char *to, char **ret_path);
/*
 * The link `name` in that folder leads to where sessions have their folders, by whatever links, or
 * by /proc to anywhere.
 */
bool leads_home(const struct look *look, const struct folder_at *folder, const char *name);
/*
 * What a path leads to, as the kernel names it; with O_DIRECTORY a folder only. NULL: nothing. The
 * caller frees it.
 */
char *leads_to(int dir, const char *path, int flags);

/* A folder of a share. */
struct leads_place {
	int fd;
	int share; /* descriptor */
	char *share_path;
	char *path; /* below the share, through no link */
	char *name; /* of the file in it; NULL: the folder itself is meant */
};

/* Where `path` leads from the folder `dir`, by whatever links. False: in no share, or not there. */
bool leads_to_share(const struct look *look, int dir, const char *path, bool is_file,
		    struct leads_place *ret);
void leads_place_release(struct leads_place *place);

#endif
