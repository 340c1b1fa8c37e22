// SPDX-License-Identifier: MIT
// edits.mjs - applies edits to a text, and finds the written column of a place in the edited one.
//
// An edit replaces the text from `start` to `end` by `by`. With `still` it moves nothing behind it.

import { charCode, indexOf, insert, join, max, push, repeat, slice } from './own.mjs';

// Where columns of edited texts come from: of each edit that moves what is behind it its line, where it begins and ends there, the column
// that it began at, and how far it moves the rest.
let moved = [];

function noteMoved(text, edits) {
  const moves = [];
  let line = 1;
  let lineStart = 0; // of the text
  let newStart = 0; // of what it becomes
  let drift = 0;
  let from = 0;
  for (let i = 0; i < edits.length; i++) {
    const { start, end, by, still } = edits[i];
    if (still) continue; // nothing has moved
    for (let newline = indexOf(text, '\n', from); newline >= 0 && newline < start; newline = indexOf(text, '\n', newline + 1)) {
      line++;
      lineStart = newline + 1;
      newStart = lineStart + drift;
    }
    const begins = start + drift - newStart + 1;
    const column = start - lineStart + 1;
    const lines = countLines(slice(text, start, end));
    if (lines > 0) {
      push(moves, { line, begins, ends: Infinity, column, by: 0 });
      line += lines;
      lineStart = start + lastLine(slice(text, start, end));
      newStart = start + drift + lastLine(by);
    }
    drift += by.length - (end - start);
    const ends = end + drift - newStart + 1;
    push(moves, { line, begins: lines > 0 ? 0 : begins, ends, column, by: ends - (end - lineStart + 1) });
    from = end;
  }
  if (moves.length > 0) push(moved, moves);
}

export function lastLine(text) {
  let start = 0;
  for (let newline = indexOf(text, '\n'); newline >= 0; newline = indexOf(text, '\n', start)) start = newline + 1;
  return start;
}

// Returns the column in the cell's text, by what takeMoved() returned when the cell was edited.
export function writtenColumn(stages, line, column) {
  let found = column;
  for (let i = stages.length - 1; i >= 0; i--) found = unmoved(stages[i], line, found);
  return found;
}

function unmoved(moves, line, column) {
  let by = 0;
  for (let i = 0; i < moves.length; i++) {
    const move = moves[i];
    if (move.line !== line || column <= move.begins) continue;
    if (column < move.ends && (move.by !== 0 || move.ends === Infinity)) return move.column;
    if (column >= move.ends) by = move.by;
  }
  return column - by;
}

export function edited(text, edits) {
  noteMoved(text, edits);
  const out = [];
  let from = 0;
  for (let i = 0; i < edits.length; i++) {
    push(out, slice(text, from, edits[i].start), edits[i].by);
    from = edits[i].end;
  }
  push(out, slice(text, from));
  return join(out, '');
}

export function padded(by, word) {
  return by + repeat(' ', max(0, word.length - by.length));
}

export function blank(text) {
  let lines = '';
  for (let i = 0; i < text.length; i++) lines += text[i] === '\n' ? '\n' : ' ';
  return lines;
}

// Returns where an edit's text begins in the text that the edits make.
export function placeOf(edit, edits) {
  let place = edit.start;
  for (let i = 0; edits[i] !== edit; i++) place += edits[i].by.length - (edits[i].end - edits[i].start);
  return place;
}

// An insertion at the place where a text is replaced comes before it.
export function inOrder(edits) {
  const sorted = [];
  for (let i = 0; i < edits.length; i++) {
    let place = sorted.length;
    while (place > 0 && (sorted[place - 1].start > edits[i].start || (sorted[place - 1].start === edits[i].start && sorted[place - 1].end > edits[i].end))) place--;
    insert(sorted, place, 0, edits[i]);
  }
  return sorted;
}

export function countLines(text) {
  let count = 0;
  for (let i = 0; i < text.length; i++) count += charCode(text, i) === 10 ? 1 : 0;
  return count;
}

export function takeMoved() {
  const was = moved;
  moved = [];
  return was;
}
