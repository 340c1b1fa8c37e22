// SPDX-License-Identifier: MIT
// workspace.mjs - resolves names of files and modules as a file `cell.js` in the workspace
// would.
//
// Relative names begin in the current folder when the code has gone elsewhere. Both loaders know
// a file by its real path, through no link.

import {
  cwd, exec, fileURLToPath, Module, path, pathToFileURL, process, readFileSync, realpathSync, slice,
  URL,
} from './own.mjs';

export const WORKSPACE = process.cwd();
export const anchor = path.join(WORKSPACE, 'cell.js'); // cells require and import as a file of this name
export const requireFromCell = Module.createRequire(anchor);
export const { cache } = requireFromCell;
const IN_PACKAGES = /\/node_modules\//;
export const isOfPackage = (file) => exec(IN_PACKAGES, `${file}`) !== null;

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
