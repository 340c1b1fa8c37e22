// SPDX-License-Identifier: MIT
// declared.mjs - tells by the text which names a declaration makes.

import { at, DECLARATION, GAP } from './lexer.mjs';

const NO_KEY = new RegExp(`${GAP}[,=}\\]]`, 'y');
const BEFORE_ELEMENT = { __proto__: null, '[': true, ',': true, '...': true };
const BEFORE_FIELD = { __proto__: null, '{': true, ',': true, '...': true, ':': true };

// Returns whether the word is a name that a declaration within `depth` brackets makes, whose
// statement began at `statement`.
export function isDeclared(text, word, index, before, stack, statement, depth) {
  if (statement !== stack.statement || stack.length < depth) return false;
  const first = stack.length === depth ? before : stack[depth].before;
  if (first !== ',' && DECLARATION[first] !== true) return false;
  if (stack.length === depth) return true;
  for (let i = depth; i < stack.length; i++) {
    const { open, assigned, before: lead } = stack[i];
    if (assigned || (open !== '{' && open !== '[')) return false;
    if (i > depth && (stack[i - 1].open === '{' ? lead !== ':' : BEFORE_ELEMENT[lead] !== true)) return false;
  }
  const places = stack[stack.length - 1].open === '{' ? BEFORE_FIELD : BEFORE_ELEMENT;
  return places[before] === true && at(NO_KEY, text, index + word.length) !== '';
}
