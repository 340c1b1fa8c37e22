// SPDX-License-Identifier: MIT
// workspace.mjs - resolves names of files and modules as a file `cell.js` in the workspace
// would.
//
// Relative names begin in the current folder when the code has gone elsewhere. Both loaders know
// a file by its real path, through no link.

import {
  cwd, exec, fileURLToPath, indexOf, Module, path, pathToFileURL, process, readFileSync, realpathSync,
  slice, statSync, URL,
} from './own.mjs';

export const WORKSPACE = process.cwd();
export const PACKAGES = process.env.NODE_PATH; // where the server puts packages
export const anchor = path.join(WORKSPACE, 'cell.js'); // cells require and import as a file of this name
export const requireFromCell = Module.createRequire(anchor);
export const { cache } = requireFromCell;
const IN_PACKAGES = /^(.*?\/node_modules)\//;
const NPMS = '.package-lock.json'; // in the folder of what npm has installed

// Returns whether the file is of a package, which does not change. What the code itself has written
// into a folder node_modules is its own.
export function isOfPackage(file) {
  const found = exec(IN_PACKAGES, `${file}`);
  if (found === null) return false;
  const isOwn = indexOf(found[1], `${WORKSPACE}/`) === 0 && found[1] !== PACKAGES;
  return !isOwn || statSync(`${found[1]}/${NPMS}`, { __proto__: null, throwIfNoEntry: false }) !== undefined;
}

export function fileOfUrl(url) {
  try {
    return slice(url, 0, 5) === 'file:' ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

export function textOfFile(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function isRelative(specifier) {
  return exec(/^(?:\.{1,2}\/|\/|\.{1,2}$)/, specifier) !== null;
}

// Returns the folder where relative names begin: the workspace, or where the code has gone.
export function currentFolder() {
  try {
    return cwd();
  } catch {
    return WORKSPACE; // the code removed it
  }
}

export function inFolder(id) {
  const folder = currentFolder();
  return folder === WORKSPACE || typeof id !== 'string' || id[0] !== '.' || !isRelative(id) ? id : `${folder}/${id}`;
}

export function resolve(id, options) {
  return requireFromCell.resolve(inFolder(id), options);
}

// Returns the file that a specifier names by its path or URL, as both loaders know it: through no
// link. Returns undefined for other specifiers.
export function fileNamed(specifier, folder) {
  if (!isRelative(specifier) && slice(specifier, 0, 5) !== 'file:') return undefined;
  let file;
  try {
    file = fileURLToPath(new URL(specifier, pathToFileURL(`${folder}/`)));
    return realpathSync(file);
  } catch {
    return file;
  }
}

export function queryOf(specifier) {
  return exec(/[?#].*$/s, specifier)?.[0] ?? '';
}
