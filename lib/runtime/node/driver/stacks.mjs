// SPDX-License-Identifier: MIT
// stacks.mjs - gives stacks as they would be without the driver, with places as the cell's text
// has them.
//
// The frames that run a cell are below its code, and the rest of the driver's beside it. Node
// asks Error.prepareStackTrace when a stack is first read; a function of the user's there is
// given the same places. The rewriting of a cell moves columns: `moved` says where.

import {
  apply, defineProperty, describe, Error, exec, join, min, Number, push, repeat, slice, split,
  syntax, uncurry,
} from './own.mjs';

const SOURCES_KEPT = 1000; // cells whose lines a traceback can show
export const sources = { __proto__: null }; // file name -> lines
export const moved = { __proto__: null }; // file name -> what became of its columns

export function rememberSource(file, code) {
  sources[file] = code;
  const number = Number(slice(file, 5, -3)) - SOURCES_KEPT;
  if (number <= 0) return;
  const old = `cell-${number}.js`;
  delete sources[old];
  delete moved[old];
}

// Frames of these files, and what is below them, are the driver's.
const BELOW = /^(?:node:inspector|ptycell:cell)$/;

const OWN = /^ptycell:/;
const isPrepared = uncurry(WeakSet.prototype.has);
const notePrepared = uncurry(WeakSet.prototype.add);
const prepared = new WeakSet(); // functions that get no place of ours
let prepare = stackOf;

function placesOf(trace) {
  const remaining = [];
  for (let i = 0; i < trace.length; i++) {
    const file = `${trace[i].getFileName()}`;
    if (exec(BELOW, file) !== null) break;
    if (exec(OWN, file) === null) push(remaining, trace[i]);
  }
  return remaining;
}

// Returns the text with a place in a cell as the cell's own text has it.
function asPlaced(text) {
  const place = exec(CELL_PLACE, text);
  if (place === null || moved[place[1]] === undefined) return text;
  const column = syntax.writtenColumn(moved[place[1]], Number(place[2]), Number(place[3]));
  return `${slice(text, 0, place.index)}${place[1]}:${place[2]}:${column}${slice(text, place.index + place[0].length)}`;
}

function stackOf(error, trace) {
  const lines = [];
  const places = placesOf(trace);
  for (let i = 0; i < places.length; i++) push(lines, `\n    at ${asPlaced(`${places[i]}`)}`);
  return describe(error) + join(lines, '');
}

function setPrepare(own) {
  prepare = typeof own === 'function' && own !== stackOf ? preparedBy(own) : stackOf;
}

function preparedBy(own) {
  if (isPrepared(prepared, own)) return own;
  const ours = function (error, trace) {
    return apply(own, this, [error, placesOf(trace)]);
  };
  notePrepared(prepared, ours);
  return ours;
}

export function prepareStacks() {
  prepare = stackOf;
  defineProperty(Error, 'prepareStackTrace', { __proto__: null, get: () => prepare, set: setPrepare, configurable: true, enumerable: false });
}

export const CELL_PLACE = /(cell-\d+\.js):(\d+):(\d+)/;

// "cell-3.js:2", the line and a caret, as Node shows where an error was thrown.
export function excerpt(file, line, column) {
  const source = sources[file];
  const text = source === undefined ? undefined : split(source, '\n')[line - 1];
  if (text === undefined || text.length > 200) return '';
  const caret = column > 0 ? `${repeat(' ', min(column - 1, text.length))}^\n` : '';
  return `${file}:${line}\n${text}\n${caret}`;
}

export function placeOf(text) {
  const place = exec(CELL_PLACE, text);
  return place === null ? undefined : { file: place[1], line: Number(place[2]), column: Number(place[3]) };
}
