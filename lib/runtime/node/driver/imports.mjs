// SPDX-License-Identifier: MIT
// imports.mjs - runs import() and the import statement of cells, and places their errors.
//
// Node takes a cell's import for one of the stub, and its message names that. It does not say
// where an ES module does not compile: then `node --check` is asked for the place, of the file
// and of those that it imports.

import {
  captureStackTrace, describe, exec, includes, indexOf, isBuiltin, path, pathToFileURL, process,
  push, slice, SyntaxError, values,
} from './own.mjs';
import { look, noteKept } from './changes.mjs';
import { read } from './errors.mjs';
import { esModules, loaderSought } from './loader.mjs';
import { notePackage } from './packages.mjs';
import { placeOf } from './stacks.mjs';
import {
  currentFolder, fileNamed, fileOfUrl, inFolder, isRelative, queryOf, requireFromCell, textOfFile,
  WORKSPACE,
} from './workspace.mjs';

const IMPORTED = /\b(?:from|import|require)\s*\(?\s*(["'])((?:\.{0,2}\/|file:)[^"'\n]+)\1/g;

// Returns the files that an ES module imports by its text, where Node does not report them.
export function importedBy(file) {
  const found = [];
  const text = textOfFile(file);
  IMPORTED.lastIndex = 0;
  for (let match = exec(IMPORTED, text); match !== null; match = exec(IMPORTED, text)) {
    const imported = fileNamed(match[2], path.dirname(file));
    if (imported !== undefined) push(found, imported);
  }
  return found;
}

export function require(id) {
  const loaded = requireFromCell(inFolder(id));
  if (!isRelative(id)) notePackage(id);
  values.noteModule(loaded);
  return loaded;
}

const REFERRER = ` imported from ${path.join(WORKSPACE, '[eval]')}`;

// Gives the error of an import the cell as importer. Node takes the cell's import for one of the
// stub, and shows how it looked for the module.
function placeImport(error, from) {
  const message = values.isNativeError(error) ? read(error, 'message') : undefined;
  const at = message === undefined ? -1 : indexOf(message, REFERRER);
  if (at < 0) return;
  const stack = read(from, 'stack') ?? '';
  const place = placeOf(stack);
  const importer = place === undefined ? '' : ` imported from ${place.file}`;
  error.message = slice(message, 0, at) + importer + slice(message, at + REFERRER.length);
  error.stack = describe(error) + slice(stack, indexOf(`${stack}\n`, '\n'));
}

const OF_NODE = /^\n +at [^\n]*(?:node:internal\/|cell-\d+\.js:)/;
const CHECKED_MAX = 20; // files: each takes a Node

// Adds the place at which Node cannot compile an ES module, which Node keeps to itself. `from` has
// the stack of who loads it.
export function placeRefusal(error, from, file) {
  const stack = values.isNativeError(error) ? read(error, 'stack') : undefined;
  if (stack === undefined || !(error instanceof SyntaxError) || indexOf(stack, describe(error)) !== 0) return;
  const frames = slice(stack, describe(error).length);
  if (frames !== '' && exec(OF_NODE, frames) === null) return;
  const place = refusal(file);
  const own = read(from, 'stack') ?? '';
  if (place !== undefined) error.stack = `${place}\n\n${describe(error)}${slice(own, indexOf(`${own}\n`, '\n'))}`;
}

const OF_CELL = /\/\[eval\d*\]$/; // Node's name of the stub, which imports for cells

// Does so for an import() by a function of a loaded file.
export function placeRefusalFor(error, specifier, parent) {
  const importer = fileOfUrl(parent);
  const file = importer === undefined || exec(OF_CELL, importer) !== null ? undefined : fileNamed(`${specifier}`, path.dirname(importer));
  if (file !== undefined) placeRefusal(error, error, file);
}

const SCRIPT = /\.js$/;
const MODULE_TEXT = /^\s*(?:import|export)\b/m;
const STDIN = '[stdin]'; // Node's name of it

// Returns the file, line and caret of the text that Node refuses in this file; undefined when it
// refuses none.
function refusedIn(file) {
  const place = check([file], '');
  if (place !== undefined || exec(SCRIPT, file) === null) return place;
  const text = textOfFile(file); // that it is a module its text alone may say, which this check does not ask in Node 20 and 22
  if (exec(MODULE_TEXT, text) === null) return undefined;
  const found = check(['--input-type=module', '-'], text);
  return found !== undefined && indexOf(found, STDIN) === 0 ? file + slice(found, STDIN.length) : undefined;
}

function check(what, text) {
  const { status, stderr } = host.require('child_process').spawnSync(process.execPath, ['--check', ...what], { __proto__: null, encoding: 'utf8', input: text });
  return status === 1 ? slice(stderr, 0, indexOf(stderr, '\n\n')) : undefined;
}

// Returns the same for this file, or one of those that it imports.
function refusal(file) {
  const files = [file];
  for (let i = 0; i < files.length && i < CHECKED_MAX; i++) {
    const place = refusedIn(files[i]);
    if (place !== undefined) return place;
    const found = importedBy(files[i]);
    for (let k = 0; k < found.length; k++) if (!includes(files, found[k])) push(files, found[k]);
  }
  return undefined;
}

// Loads a module for import() and the import statement; a file of the session that has changed is
// loaded anew.
export async function importModule(specifier, options) {
  const name = `${specifier}`;
  const file = fileNamed(name, currentFolder());
  const from = {};
  captureStackTrace(from);
  if (!loaderSought && !isBuiltin(name)) look();
  if (esModules === undefined && file !== undefined) {
    look();
    noteKept(file);
  }
  let module;
  try {
    module = await host.import(file === undefined ? name : pathToFileURL(file).href + queryOf(name), options);
  } catch (error) {
    placeImport(error, from);
    if (file !== undefined) placeRefusal(error, from, file);
    throw error;
  }
  if (file === undefined) notePackage(name);
  return module;
}
