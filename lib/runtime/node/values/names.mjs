// SPDX-License-Identifier: MIT
// names.mjs - finds the names that cells make, what they hold, and which of them a cell changed.

import { deref, getOwnPropertyDescriptor, globals, hasOwn, is, isModuleNamespaceObject, join, keys,
  mapDelete, mapEach, mapGet, mapSet, OwnMap, OwnWeakRef, OwnWeakSet, push, split, vm, weakAdd, weakHas } from './own.mjs';
import { bytesOf, isPlain, preview, shapeOf, typeName } from './types.mjs';

export const LIST_MAX = 50000; // characters of names and packages
const NAMES_KEPT = 20;

// Remembers a name's value weakly, so that what the user releases can be collected.
function remember(value) {
  return isPlain(value) ? { value, ref: undefined, shape: '' } :
    { value: undefined, ref: new OwnWeakRef(value), shape: shapeOf(value) };
}

function isUnchanged(before, value) {
  if (isPlain(value)) return before.ref === undefined && is(before.value, value);
  return before.ref !== undefined && deref(before.ref) === value && before.shape === shapeOf(value);
}

const known = new OwnMap(); // name -> what it held after the last cell
const readers = new OwnMap(); // let, const and class: name -> function that returns its value
const hidden = { __proto__: null }; // names of globalThis that are not the user's
const imported = new OwnWeakSet(); // functions by which globalThis reads names of modules

export function hideGlobals() {
  const names = Object.getOwnPropertyNames(globals);
  for (let i = 0; i < names.length; i++) hidden[names[i]] = true;
}

export function addLexical(names) {
  for (let i = 0; i < names.length; i++) {
    if (mapGet(readers, names[i]) !== undefined) continue;
    try {
      mapSet(readers, names[i], vm.runInThisContext(`() => ${names[i]}`));
    } catch {
      // Not a name that a script can say.
    }
  }
}

// Calls each(name, value) for every name of the user's.
function eachName(each) {
  const names = keys(globals);
  for (let i = 0; i < names.length; i++) {
    if (hidden[names[i]] === true || mapGet(readers, names[i]) !== undefined) continue;
    const property = getOwnPropertyDescriptor(globals, names[i]);
    if (property === undefined) continue;
    if (hasOwn(property, 'value')) each(names[i], property.value);
    else if (isImport(property)) eachRead(property.get, names[i], each);
  }
  mapEach(readers, (read, name) => eachRead(read, name, each));
}

function eachRead(read, name, each) {
  let value;
  try {
    value = read();
  } catch {
    return; // declared, and its value never came
  }
  each(name, value);
}

// Notes the function that reads an imported name. `read` must run no code of the user's.
export function noteImport(read) {
  weakAdd(imported, read);
}

export function isImport(property) {
  return property.get !== undefined && weakHas(imported, property.get);
}

// Returns the names that this cell changed, as frame.h has them; undefined when there are none.
export function changedNames() {
  const lines = [];
  const seen = { __proto__: null };
  eachName((name, value) => {
    seen[name] = true;
    const before = mapGet(known, name);
    if (before !== undefined && isUnchanged(before, value)) return;
    mapSet(known, name, remember(value));
    if (lines.length >= NAMES_KEPT || isModule(value)) return;
    const shape = shapeOf(value);
    push(lines, `${nameField(name)} ${typeName(value)}${shape === '' ? '' : ` ${shape}`}`);
  });
  mapEach(known, (_, name) => {
    if (seen[name] === true) return;
    mapDelete(known, name);
    push(lines, `-${nameField(name)}`);
  });
  return lines.length === 0 ? undefined : join(linesWithin(lines), '\n');
}

// Returns the first of these lines, as many as a frame has room for.
function linesWithin(lines) {
  const kept = [];
  let room = LIST_MAX;
  for (let i = 0; i < lines.length && room >= 0; i++) {
    room -= lines[i].length + 1;
    if (room >= 0) push(kept, lines[i]);
  }
  return kept;
}

// What a cell has got by require or import is a module, whatever else it may be.
const loaded = new OwnWeakSet();

export function noteModule(value) {
  if (!isPlain(value)) weakAdd(loaded, value);
}

function isModule(value) {
  return !isPlain(value) && (weakHas(loaded, value) || isModuleNamespaceObject(value));
}

// Replaces a part without a pattern: replacing by one calls RegExp.prototype.exec, which may be the
// code's.
function replaceAll(text, part, by) {
  return join(split(text, part), by);
}

function field(text) {
  return replaceAll(replaceAll(replaceAll(replaceAll(text, '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), '\r', '\\r');
}

// Returns a name as `names` of frame.h has it.
function nameField(name) {
  const text = replaceAll(field(name), ' ', '\\s');
  return text[0] === '-' ? `\\${text}` : text;
}

// Returns the answer to `vars`, at most `limit` names.
export function variables(limit) {
  const lines = [];
  let total = 0;
  eachName((name, value) => {
    if (isModule(value)) return;
    total++;
    if (lines.length >= limit) return;
    push(lines, join([field(name), typeName(value), shapeOf(value), bytesOf(value), field(preview(value))], '\t'));
  });
  const kept = linesWithin(lines);
  const parts = [['status', 'ok'], ['vars', join(kept, '\n')]];
  if (total > kept.length) push(parts, ['total', `${total}`]);
  return parts;
}

export const isLexical = (name) => mapGet(readers, name) !== undefined;
