// SPDX-License-Identifier: MIT
// redeclare.mjs - declares anew names that stand already as another kind.
//
// Asked for when V8 has refused a text, for a name that is declared as another kind than it stands as: "var", which is
// a property of globalThis for good, or "let". A declaration gets the keyword of its names; where they stand as both
// kinds it is split, and names of one pattern are assigned to. A `var` of a name that stands as "let" is that at the
// cell's head, and the declaration only assigns to it. A function whose name stands as "let" is made before the
// cell runs, by a text of its own: code above it calls it.

import { exec, insert, push, repeat, slice } from './own.mjs';
import { FIRST, NOWHERE } from './stand_ins.mjs';
import { at, BLOCKS, DECLARATION, GAP, walk } from './lexer.mjs';
import { blank, countLines, edited, inOrder, lastLine, padded, placeOf } from './edits.mjs';
import { isDeclared } from './declared.mjs';

const BINDING = new RegExp(`${GAP}[\\w$\\u0080-\\uffff[{]`, 'y');
const GIVEN = new RegExp(`${GAP}=(?![=>])`, 'y');
const HEAD = new RegExp(`(?:async${GAP})?(?:function\\b${GAP}\\*?|class\\b)${GAP}([\\w$\\u0080-\\uffff]+)`, 'y');
const CELL_HEAD = new RegExp(`(?:#![^\\n]*\\n)?${GAP}(?:(["'])use strict\\1[ \\t]*;?)?`, 'y');
const STRICT = /["']use strict["'][ \t]*;?$/;

function beginsHere(index, before, stack) {
  if (before === ')' && BLOCKS[stack.head] === true) return false;
  return before === '' || before === ';' || before === '}' || stack.statement === index;
}

function isInFunction(stack) {
  for (let i = 0; i < stack.length; i++) {
    const { open, fields, before, head } = stack[i];
    if (open === '{' && (fields || before === '=>' || (before === ')' && (head === 'function' || isMethod(head, stack[i - 1]))))) return true;
  }
  return false;
}

// Returns whether the brace behind a parenthesis with this keyword begins the method of an object.
function isMethod(keyword, around) {
  return BLOCKS[keyword] !== true && around !== undefined && around.open === '{' && around.value;
}

// Returns the text in which the names that stand already are declared as kindOf(name) has them, and
// `first`, the functions that are made before it runs: of each the name, its place in the
// function's text, a text that makes it, and the line where this begins.
export function redeclare(text, kindOf) {
  const edits = [];
  const functions = [];
  const lists = []; // declarations: of these names
  let list;
  let opened; // a class or function: at its last brace it is whole
  walk(text, (word, index, before, depth, stack) => {
    if (before === '#' || before === '.') return undefined;
    if (list !== undefined && list.depth > 0 && depth === list.depth && before === ';') list = undefined;
    if (list !== undefined && isDeclared(text, word, index, before, stack, list.statement, list.depth)) {
      addName(list, word, index, stack);
    } else if (DECLARATION[word] === true && at(BINDING, text, index + word.length) !== '') {
      const outer = depth === 0 && beginsHere(index, before, stack);
      if (!outer && (word !== 'var' || isInFunction(stack))) return undefined;
      list = { word, index, before, depth, outer, statement: stack.statement, parts: [] };
      push(lists, list);
    } else if (depth === 0 && opened === undefined && beginsHere(index, before, stack)) {
      opened = openedBy(text, index, kindOf);
    }
    return undefined;
  }, (index, depth, c) => {
    if (list !== undefined && depth < list.depth) list = undefined;
    if (opened === undefined || depth > 0 || c !== '}') return;
    const { name, nameAt, start } = opened;
    if (opened.isClass) push(edits, { start, end: start, by: `var ${name}=` }, { start: index + 1, end: index + 1, by: ';' });
    else push(functions, { name, nameAt, start, end: index + 1 });
    opened = undefined;
  });
  const head = { __proto__: null }; // names that are declared at the cell's head, and their keywords
  for (let i = 0; i < lists.length; i++) {
    if (lists[i].before === '(') declareForLoop(lists[i], kindOf, edits, head);
    else if (lists[i].word === 'var') declareVar(text, lists[i], kindOf, edits, head);
    else declareOuter(text, lists[i], kindOf, edits);
  }
  return partsOf(text, edits, functions, head);
}

// The class or function that begins here, where its name stands as another kind.
function openedBy(text, start, kindOf) {
  HEAD.lastIndex = start;
  const match = exec(HEAD, text);
  if (match === null) return undefined;
  const { 0: whole, 1: name } = match;
  const isClass = text[start] === 'c';
  return kindOf(name) === (isClass ? 'var' : 'let') ? { name, nameAt: start + whole.length - name.length, start, isClass } : undefined;
}

function addName(list, name, index, stack) {
  const { parts, depth } = list;
  const place = stack.length === depth ? index : stack[depth].index;
  const last = parts[parts.length - 1];
  if (last !== undefined && last.place === place) push(last.names, name);
  else push(parts, { place, comma: stack.comma, pattern: stack.length > depth, names: [name] });
}

// Returns what these names stand as: "let", "var", "both", or undefined when none stands.
function kindsOf(names, kindOf) {
  let found;
  for (let i = 0; i < names.length; i++) {
    const kind = kindOf(names[i]);
    if (kind !== undefined) found = found === undefined || found === kind ? kind : 'both';
  }
  return found;
}

function declareOuter(text, { word, index, parts }, kindOf, edits) {
  const ends = (part) => part.place + part.names[0].length;
  const hasValue = (part) => part.pattern || at(GIVEN, text, ends(part)) !== '';
  for (let i = 0; word === 'const' && i < parts.length; i++) if (!hasValue(parts[i])) return; // V8 is to refuse it
  let present = ''; // what the names are declared by
  for (let i = 0; i < parts.length; i++) {
    const { names, comma } = parts[i];
    const kind = kindsOf(names, kindOf);
    const keyword = kind === 'both' ? `${newOnes(names, kindOf)}let {}=` : kind ?? (present === '' ? word : present);
    const usual = keyword === 'const' ? 'let' : keyword;
    if (i === 0) push(edits, { start: index, end: index + word.length, by: padded(usual, word) });
    else if (usual !== present) push(edits, { start: comma, end: comma + 1, by: `;${usual} ` });
    if (word === 'let' && kind === 'var' && !hasValue(parts[i])) push(edits, { start: ends(parts[i]), end: ends(parts[i]), by: '=void 0' });
    present = kind === 'both' ? 'let' : usual;
  }
}

// Within a block it has its old value until the declaration gives it one.
function declareVar(text, { parts, outer }, kindOf, edits, head) {
  for (let i = 0; i < parts.length; i++) {
    const { names, place, pattern } = parts[i];
    const kind = kindsOf(names, kindOf);
    if (kind !== 'let' && kind !== 'both') continue;
    for (let k = 0; k < names.length; k++) {
      const own = kindOf(names[k]) ?? 'var';
      if (own === 'let' ? outer : kindOf(names[k]) === undefined) head[names[k]] = own;
    }
    const end = pattern || at(GIVEN, text, place + names[0].length) !== '' ? place : place + names[0].length;
    push(edits, { start: place, end, by: end === place ? ` ${NOWHERE}=` : padded(NOWHERE, names[0]) });
  }
}

function newOnes(names, kindOf) {
  let text = '';
  for (let i = 0; i < names.length; i++) if (kindOf(names[i]) === undefined) text += `let ${names[i]};`;
  return text;
}

// The `var` of a loop's head: what is to be declared at the cell's head when one of the names stands as "let".
function declareForLoop({ word, index, parts }, kindOf, edits, head) {
  const names = [];
  for (let i = 0; i < parts.length; i++) {
    for (let k = 0; k < parts[i].names.length; k++) push(names, parts[i].names[k]);
  }
  const kind = kindsOf(names, kindOf);
  if (kind !== 'let' && kind !== 'both') return;
  push(edits, { start: index, end: index + word.length, by: '   ' });
  for (let i = 0; i < names.length; i++) if (kindOf(names[i]) === undefined) head[names[i]] = 'var';
}

function partsOf(text, edits, functions, head) {
  const top = at(CELL_HEAD, text, 0);
  const strict = exec(STRICT, top) !== null;
  for (let i = 0; i < functions.length; i++) {
    const { name, start, end } = functions[i];
    functions[i].edit = { start, end, by: `${blank(slice(text, start, end - 1))};`, still: true }; // which ends the statement before it
    push(edits, functions[i].edit);
    head[name] = 'let';
  }
  let before = '';
  for (const name in head) before += `${head[name]} ${name};`;
  if (functions.length > 0) before += `${FIRST};`;
  if (before !== '') insert(edits, 0, 0, { start: top.length, end: top.length, by: `${strict ? ';' : ''}${before}` }); // before those of a class that begins there
  const sorted = inOrder(edits);
  const rest = edited(text, sorted);
  const first = [];
  for (let i = 0; i < functions.length; i++) push(first, firstOf(text, functions[i], slice(rest, 0, placeOf(functions[i].edit, sorted)), strict));
  return { text: rest, first };
}

// What makes a function: its name is assigned to on the line before it, so that its own places are those of the cell. Its text is
// without the name, which is a variable of the cells within it, too.
function firstOf(text, { name, nameAt, start, end }, above, strict) {
  const column = above.length - lastLine(above);
  const own = slice(text, start, nameAt) + repeat(' ', name.length) + slice(text, nameAt + name.length, end);
  return { name, at: nameAt - start, line: countLines(above) - 1, text: `${strict ? '"use strict";' : ''}${name}=\n${repeat(' ', column)}${own}` };
}
