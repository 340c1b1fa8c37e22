// SPDX-License-Identifier: MIT
// lexer.mjs - walks the words and brackets of a cell. It knows strings, templates, regular expressions
// and comments, and whether a slash divides.

import { defineProperty, exec, pop, push } from './own.mjs';

const BEFORE_VALUE = { __proto__: null };
for (const word of ('return typeof case in of delete void throw new else do instanceof await yield ' +
  'extends default').split(' ')) BEFORE_VALUE[word] = true;
const BEFORE_PAREN = { __proto__: null, if: true, while: true, for: true, with: true };

export const WORD = /\d[\d_]*\.\w*|[\w$\u0080-\uffff]+/y; // or a number
export const SPACE = /(?:\s+|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;
export const GAP = '(?:\\s|\\/\\/[^\\n]*(?:\\n|$)|\\/\\*(?:[^*]|\\*(?!\\/))*\\*\\/)*'; // between two tokens
const BLANK = /\s/;
const BREAK = /[\n\r\u2028\u2029]/;
const STRING = /"(?:[^"\\\n]+|\\[^])*"?|'(?:[^'\\\n]+|\\[^])*'?/y;
const TEMPLATE = /(?:[^`\\$]+|\\[^]|\$(?!\{))*(?:`|\$\{|\\?$)/y;
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[\w$]*/y;

export function at(pattern, text, index) {
  pattern.lastIndex = index;
  const match = exec(pattern, text);
  return match === null ? '' : match[0];
}

// Returns whether a statement ends at the line break before the token here, which follows a whole
// value.
function beginsStatement(text, index) {
  const c = text[index];
  if (exec(CONTINUES, c) === null) return at(OPERATOR_WORD, text, index) === '';
  return (c === '+' || c === '-') && text[index + 1] === c;
}

const CONTINUES = /[-,.([`*\/%&|^<>=?:+;)\]}]/;
const OPERATOR_WORD = /(?:in|instanceof)\b|!=/y;

// Calls onWord(word, index, before, depth, stack), onClose(index, depth, bracket, opened, around) as it walks; `before`
// is the token before the word, depth counts open brackets. onWord may return an index to go on from.
// stack.statement is where the last statement outside of all brackets began that a semicolon or a line's end tells,
// stack.comma the place of the last comma outside of them, stack.head the keyword before the parenthesis that was closed last.
export function walk(text, onWord, onClose) {
  // Open brackets: the bracket, what a slash means after its end, the token before, its keyword, the keyword of the parentheses
  // before, its place, whether that ends a value, whether `=` stood in its present element.
  const stack = [];
  defineProperty(stack, 'statement', { __proto__: null, value: 0, writable: true });
  defineProperty(stack, 'comma', { __proto__: null, value: 0, writable: true });
  defineProperty(stack, 'head', { __proto__: null, value: '', writable: true });
  const classes = []; // depths at which the next brace is a class's
  const loops = []; // depths at which the next `while` is that of a `do`
  let index = 0;
  let before = '';
  let lead = ''; // the token before the last word
  let valueEnded = false; // a slash now divides
  while (index < text.length) {
    const space = at(SPACE, text, index);
    if (space !== '') {
      index += space.length;
      const ends = stack.length === 0 && (valueEnded || before === ')' || before === '}') && exec(BREAK, space) !== null;
      const declares = DECLARATION[before] === true && lead !== '.';
      if (ends && !declares && index < text.length && beginsStatement(text, index)) stack.statement = index;
      continue;
    }
    const c = text[index];
    const word = at(WORD, text, index);
    if (word !== '') {
      const next = onWord(word, index, before, stack.length, stack);
      if (word === 'class' && before !== '.') push(classes, stack.length);
      if (word === 'do' && before !== '.') push(loops, stack.length);
      const ends = word === 'while' && before !== 'do' && loops[loops.length - 1] === stack.length;
      if (ends) pop(loops);
      index = next === undefined ? index + word.length : next;
      valueEnded = next === undefined && (BEFORE_VALUE[word] !== true || before === '.' || (word === 'of' && !valueEnded));
      lead = before;
      before = next !== undefined ? ';' : ends ? '' : word;
      continue;
    }
    if (c === '"' || c === "'") {
      index += at(STRING, text, index).length;
      valueEnded = true;
    } else if (c === '`' || (c === '}' && stack.length > 0 && stack[stack.length - 1].open === '`')) {
      if (c === '}') pop(stack);
      const part = at(TEMPLATE, text, index + 1);
      index += 1 + part.length;
      valueEnded = part[part.length - 1] !== '{';
      if (!valueEnded) push(stack, { open: '`', value: true, before, index, fields: false, assigned: false });
    } else if (c === '/' && !valueEnded && at(REGEX, text, index) !== '') {
      index += at(REGEX, text, index).length;
      valueEnded = true;
    } else if ((c === '+' || c === '-') && text[index + 1] === c) {
      valueEnded = valueEnded && !beginsLine(text, index);
      before = valueEnded ? c : c + c; // behind a value it counts that one, else what follows
      index += 2;
      continue;
    } else if (c === '.' && text[index + 1] === '.') {
      valueEnded = false;
      before = '...';
      index += before.length;
      continue;
    } else {
      if (c === '(' || c === '[' || c === '{') {
        const keyword = c === '(' ? keywordOf(before, lead, stack) : '';
        const value = c === '(' ? BEFORE_PAREN[keyword] !== true : c === '[' || (!valueEnded && opensObject(before));
        const fields = c === '{' && classes[classes.length - 1] === stack.length;
        if (fields) pop(classes);
        push(stack, { open: c, value, before, keyword, head: stack.head, index, fields, behindValue: valueEnded, assigned: false });
      } else if (stack.length > 0 && (c === ',' || c === '=')) {
        stack[stack.length - 1].assigned = c === '=';
      } else if (c === ',') {
        stack.comma = index;
      } else if (c === ';' && stack.length === 0) {
        stack.statement = index + 1;
      }
      if (c === ')' || c === ']' || c === '}') {
        const opened = pop(stack);
        if (opened !== undefined && c === ')') stack.head = opened.keyword;
        while (classes[classes.length - 1] > stack.length) pop(classes);
        while (loops[loops.length - 1] > stack.length) pop(loops);
        valueEnded = opened === undefined || opened.value;
        if (onClose !== undefined) onClose(index, stack.length, c, opened, stack[stack.length - 1]);
      } else {
        valueEnded = false;
      }
      index++;
      if (c === '*' && before === 'function') continue;
      if (c === '>' && before === '=') {
        before = '=>';
        continue;
      }
    }
    before = c;
  }
}

function beginsLine(text, index) {
  let end = index;
  while (end > 0 && exec(BLANK, text[end - 1]) !== null) if (exec(BREAK, text[--end]) !== null) return true;
  return false;
}

// Returns the word before a parenthesis if it is a statement's, and no property's or method's name;
// 'function' before the parameters of a function; else ''.
function keywordOf(word, lead, stack) {
  if (word === 'function' || lead === 'function') return lead === '.' ? '' : 'function';
  if (BLOCKS[word] !== true || lead === '.' || lead === '#') return '';
  if (word === 'await') return lead === 'for' ? word : '';
  const around = stack[stack.length - 1];
  if (around === undefined || around.open !== '{' || BEFORE_METHOD[lead] !== true) return word;
  if (around.fields) return '';
  if (!around.value || lead === '}' || lead === ';') return word;
  return mayBeLabelled(stack) && lead !== ',' && word !== 'catch' ? word : '';
}

// Returns whether the last brace may be a block behind a label or a case, which looks like a
// property's value.
function mayBeLabelled(stack) {
  const outer = stack[stack.length - 2];
  return stack[stack.length - 1].before === ':' && (outer === undefined || (outer.open === '{' && !outer.value));
}

function opensObject(before) {
  return before !== '' && before !== ';' && before !== '}' && before !== '{' && before !== '=>' &&
    before !== ')' && before !== 'else' && before !== 'do';
}
export const BEFORE_METHOD = { __proto__: null, '{': true, '}': true, ',': true, ';': true, '*': true, async: true, static: true, get: true, set: true };
export const CONTROLS = { __proto__: null, if: true, while: true, for: true, with: true, switch: true };

export const DECLARATION = { __proto__: null, let: true, const: true, var: true };
export const BLOCKS = { __proto__: null, ...CONTROLS, await: true, catch: true }; // before the parenthesis before a block
