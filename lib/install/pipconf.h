/* SPDX-License-Identifier: MIT */
/*
 * pipconf.h - reads from the user's pip configuration where packages come from.
 *
 * pip itself is not run for it. The sources are, later ones winning: /etc/xdg/pip/pip.conf,
 * /etc/pip.conf, the user's pip.conf (~/.pip, ${XDG_CONFIG_HOME:-~/.config}/pip), that of
 * VIRTUAL_ENV, that of PIP_CONFIG_FILE, then PIP_NAME variables. If PIP_CONFIG_FILE names an
 * existing file, the user's files are not read; if it is /dev/null, no file is read. In files,
 * [install] overrides [global]. References: pip's user guide, "Configuration";
 * pip/_internal/configuration.py, iter_config_files. Files that sessions can change are ignored
 * (install/trusted_config.h).
 */
#ifndef INSTALL_PIPCONF_H
#define INSTALL_PIPCONF_H

#include <jansson.h>
#include <stddef.h>

struct shares;

/*
 * Returns an object of strings, which may be empty, with these options of pip: index-url,
 * extra-index-url, find-links, no-index, trusted-host, cert. `shares` may be NULL. The caller frees
 * it.
 */
json_t *pipconf_read(char *const *environment, const struct shares *shares);
/* Adds the options in a file's text to `sections`, {"global": {...}, "install": {...}}. */
void pipconf_parse(json_t *sections, const char *text, size_t len);

#endif
