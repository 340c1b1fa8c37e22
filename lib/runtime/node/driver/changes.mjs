// SPDX-License-Identifier: MIT
// changes.mjs - loads a file of the session anew when it has changed, with all files that have
// loaded it.
//
// Each load comes through Module._load() or the ES loader's import(), whichever code asks, and
// begins with look(). A file is compared by time, size and inode. Importers are forgotten with
// it, as no two versions of a file may stand side by side. What has changed is noted only after
// all is forgotten, so that an interrupted look begins again.

import {
  apply, clear, isBuiltin, loadByName, Module, parse, path, pathCache, push, readFileSync, stringify,
  tiedTo,
} from './own.mjs';
import { say } from './display.mjs';
import { importedBy, placeRefusal } from './imports.mjs';
import { hold } from './interrupts.mjs';
import {
  esModules, EVALUATED, findLoader, forgetFailed, forgetRecords, linkedOf, manifestTexts, realPaths,
  recordOf, records, recordsMade, relativePaths, resolvedNames, statusOf,
} from './loader.mjs';
import { fingerprint, lookAtManifests, noteManifests } from './manifests.mjs';
import { cache, isOfPackage } from './workspace.mjs';

const seen = { __proto__: null }; // file of the session -> what it was when it was loaded
const kept = { __proto__: null }; // file -> true, of those that cannot be loaded anew
const importsOf = { __proto__: null }; // file -> the files that its import() or createRequire() has loaded

// Loads by name, as Node's Module._load(). The session's own files that have changed are loaded
// anew. What a file loads while it is itself being loaded belongs to that load.
Module._load = function _load(request, parent) {
  if (typeof request !== 'string' || isBuiltin(request) || isOfPackage(parent?.filename)) return apply(loadByName, this, arguments);
  const isOfLoad = parent && !parent.loaded && cache[parent.filename] === parent; // of one that is under way
  if (parent && !isOfLoad) look();
  const file = noteRequested(request, parent);
  const before = recordsMade;
  let loaded = false;
  try {
    const exports = apply(loadByName, this, arguments);
    loaded = true;
    return exports;
  } catch (error) {
    if (!isOfLoad && file !== undefined) placeRefusal(error, error, file);
    throw error;
  } finally {
    if (recordsMade > before) settleSince(before, loaded);
  }
};

function noteRequested(request, parent) {
  let file;
  try {
    file = Module._resolveFilename(request, parent, false);
  } catch {
    return undefined; // the load itself reports it
  }
  if (seen[file] !== undefined && hasChanged(file)) hold(() => forgetFiles(withImporters([file]), [file]));
  noteFile(file);
  if (cache[parent?.filename] !== parent) noteImporter(parent?.filename, file); // by createRequire(): Node does not note it
  return file;
}

export function noteImporter(importer, file) {
  if (seen[importer] === undefined) return;
  importsOf[importer] ??= { __proto__: null };
  importsOf[importer][file] = true;
}

export function noteFile(file) {
  if (seen[file] !== undefined || !path.isAbsolute(file) || isOfPackage(file)) return;
  seen[file] = fingerprint(file);
  noteManifests(file);
}

// Marks the ES modules that require() has loaded as whole, or forgets them so that they are loaded
// anew the next time.
function settleSince(before, loaded) {
  if (loaded) {
    for (let i = 0; i < records.length; i++) if (records[i].number > before && statusOf(records[i]) === EVALUATED) records[i].whole = true;
  } else {
    forgetRecords((record) => record.number > before && statusOf(record) !== EVALUATED);
  }
}

// Makes both loaders forget the files that have changed since one of them loaded them. Runs before
// something is loaded.
export function look() {
  findLoader();
  forgetFailed();
  forgetPaths(pathCache);
  forgetPaths(relativePaths);
  if (realPaths !== undefined) clear(realPaths);
  if (resolvedNames !== undefined) clear(resolvedNames);
  if (manifestTexts !== undefined) clear(manifestTexts);
  else lookAtManifests();
  const changed = [];
  for (const file in seen) if (hasChanged(file)) push(changed, file);
  if (changed.length > 0) hold(() => forgetFiles(withImporters(changed), changed));
}

function hasChanged(file) {
  const now = fingerprint(file);
  if (now !== seen[file] && holdsAllOf(file)) seen[file] = now;
  return now !== seen[file];
}

// Returns whether a JSON file says what the object that require() returned already holds, as when
// the code has written it back.
function holdsAllOf(file) {
  if (path.extname(file) !== '.json' || cache[file] === undefined) return false;
  try {
    return stringify(cache[file].exports) === stringify(parse(readFileSync(file, 'utf8')));
  } catch {
    return false;
  }
}

// Makes Node resolve names anew, where they mean files of the session.
function forgetPaths(paths) {
  for (const key in paths) if (!isOfPackage(paths[key])) delete paths[key];
}

// Returns these files, the session's own files that have loaded them, and their importers in turn.
function withImporters(files) {
  const importers = importersOfAll();
  const found = [...files];
  const known = { __proto__: null };
  for (let i = 0; i < found.length; i++) {
    if (known[found[i]]) continue;
    known[found[i]] = true;
    const by = importers[found[i]] ?? [];
    for (let k = 0; k < by.length; k++) push(found, by[k]);
  }
  return known;
}

function importersOfAll() {
  const importers = { __proto__: null };
  const add = (file, by) => {
    importers[file] ??= [];
    push(importers[file], by);
  };
  for (const file in seen) {
    const children = cache[file]?.children;
    for (let i = 0; i < (children?.length ?? 0); i++) add(children[i]?.filename, file);
    for (const other in importsOf[file]) add(other, file);
  }
  for (let i = 0; i < records.length; i++) {
    const linked = seen[records[i].file] === undefined ? [] : linkedOf(records[i]) ?? [];
    for (let k = 0; k < linked.length; k++) add(tiedTo(recordOf, linked[k])?.file, records[i].file);
  }
  return importers;
}

// Forgets the files in `gone`. What has changed is noted when it is loaded: an interrupted look
// then begins again.
function forgetFiles(gone, changed) {
  for (const file in gone) {
    delete cache[file];
    delete importsOf[file];
  }
  forgetRecords((record) => gone[record.file]);
  for (let i = 0; i < changed.length; i++) {
    const file = changed[i];
    delete seen[file];
    if (esModules === undefined && kept[file]) tellKept(file);
  }
}

function tellKept(file) {
  noteFile(file);
  say(`[${path.basename(file)} has changed, but this Node keeps what an import has loaded: give it another name, or start a new interpreter (interact with action terminate)]`);
}

// Notes a file that this Node keeps once it is imported, and the files that it imports.
export function noteKept(file) {
  kept[file] = true;
  noteFile(file);
  const found = importedBy(file);
  for (let i = 0; i < found.length; i++) if (!kept[found[i]]) noteKept(found[i]);
}
