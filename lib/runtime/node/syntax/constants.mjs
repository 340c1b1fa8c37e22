// SPDX-License-Identifier: MIT
// constants.mjs - keeps code from assigning to constants and imported names.
//
// A `const` that became `let`, and an imported name, is guarded by the text: what assigns to it assigns to CONSTANT instead, which throws.
// Where it is not sure that there is an assignment, as with `name &&= 1`, that is to a field of CONSTANT(name).
// A name that the cell binds anywhere else as well is left alone: which of them is meant, a lexer does not know.

import { exec, indexOf, push, slice } from './own.mjs';
import { CONSTANT } from './stand_ins.mjs';
import { at, CONTROLS, GAP, walk } from './lexer.mjs';
import { edited, padded } from './edits.mjs';
import { eachImported, staticImport } from './imports.mjs';
import { isDeclared } from './declared.mjs';

const OPERATORS = '(?:=(?![=>])|(?:[-+%^]|\\*\\*?|\\/|<<|>>>?|&|\\|)=(?!=))|[ \\t]*(?:\\+\\+|--)';
const ASSIGNED = new RegExp(`${GAP}${OPERATORS}`, 'y');
const ASSIGNED_IN_PARENTHESES = new RegExp(`${GAP}\\)(?:${GAP}${OPERATORS})`, 'y');
const ASSIGNED_PERHAPS = /\s*(?:&&|\|\||\?\?)=/y;
const ASSIGNED_EACH = /\s+(?:of|in)\b/y;
const ASSIGNS = new RegExp(`[\\]}]\\s*=(?![=>])|[\\w$\\u0080-\\uffff]${GAP}(?:\\)${GAP})?(?:[-+*/%^<>&|?]*=(?![=>])|\\+\\+|--)|` +
  '(?:\\+\\+|--)\\s*[\\w$\\u0080-\\uffff]|\\bfor\\b\\s*(?:await\\b\\s*)?\\(\\s*(?:[[{]|[\\w$\\u0080-\\uffff]+\\s+(?:of|in)\\b)');
const REBINDS = /\b(?:let|var|class|function|import)\b/;
const PARAMETERS = new RegExp(`${GAP}(?:=>|\\{)`, 'y');
const ARROW = /\s*=>/y;
const BINDS = { __proto__: null, let: true, const: true, var: true, class: true, function: true, import: true };

// Returns whether the word is the target of an assignment, by the text before and around it.
function isTarget(text, word, index, before, inner) {
  const end = index + word.length;
  if (before === '++' || before === '--') return text[end] !== '.' && text[end] !== '[';
  if (before === '(' && (isHead(text, end, inner) || isGrouped(text, end, inner))) return true;
  if (at(ASSIGNED_PERHAPS, text, end) !== '') return true;
  if (before === ',' || at(ASSIGNED, text, end) === '') return false;
  if (inner === undefined || inner.open === '(' || inner.open === '`') return true;
  if (inner.open === '{' && !inner.value) return !inner.fields;
  return before !== '{' && before !== '[' && before !== ':';
}

// Returns whether a word that ends here, behind a parenthesis, is all of the parentheses that are
// assigned to.
function isGrouped(text, end, inner) {
  return !inner.behindValue && CONTROLS[inner.before] !== true && at(ASSIGNED_IN_PARENTHESES, text, end) !== '';
}

// Returns whether a word that ends here, behind a parenthesis, is assigned to by `for (word of
// list)` or `for (word in object)`.
function isHead(text, end, inner) {
  const each = at(ASSIGNED_EACH, text, end);
  return each !== '' && (inner.before === 'for' || (inner.before === 'await' && slice(each, -2) === 'of'));
}

// Destructuring that assigns: only where it begins a statement or stands in parentheses, and with nothing nested.
const FOLLOWED = /\s*=(?![=>])/y;
const BEGINS = { __proto__: null, '': true, ';': true, '{': true, '}': true, '(': true, ')': true, else: true, do: true };
const NESTED = /[()[\]{}'"`/\\]/;
const ELEMENT = /(?:^|,)(\s*(?:\.\.\.\s*)?)([\w$\u0080-\uffff]+)(?:(\s*:\s*)([\w$\u0080-\uffff]+))?\s*(?=[,=]|$)/g;

// Calls found(index, shorthand) for each name that the pattern between these brackets assigns to.
function eachTarget(text, opened, end, around, found) {
  const list = opened.open === '[';
  if (!list && (opened.open !== '{' || opened.before !== '(')) return;
  if (opened.behindValue || !BEGINS[opened.before]) return;
  if (at(FOLLOWED, text, end + 1) === '' && !(opened.before === '(' && isHead(text, end + 1, around))) return;
  if (around !== undefined && around.open !== '(' && (around.open !== '{' || around.value || around.fields)) return;
  const inner = slice(text, opened.index + 1, end);
  if (exec(NESTED, inner) !== null) return;
  ELEMENT.lastIndex = 0;
  for (let match; (match = exec(ELEMENT, inner)) !== null;) {
    const { 0: whole, 1: lead, 2: name, 3: colon } = match;
    const start = opened.index + 1 + match.index + (whole[0] === ',' ? 1 : 0) + lead.length;
    if (colon !== undefined) found(start + name.length + colon.length, false);
    else found(start, !list && indexOf(lead, '.') < 0);
  }
}

// Returns how a word binds a name here: 'top' for the cell, 'inner', or undefined.
function bindingOf(text, word, index, before, stack) {
  const outer = stack.length === 0;
  if (BINDS[before]) return outer ? 'top' : 'inner';
  if (before === ',' && (outer || !stack[stack.length - 1].value)) return outer ? 'top' : 'inner';
  for (let i = stack.length - 1; i >= 0 && stack[i].open !== '(' && !stack[i].assigned; i--) {
    if (BINDS[stack[i].before]) return i === 0 ? 'top' : 'inner';
  }
  return at(ARROW, text, index + word.length) === '' ? undefined : 'inner';
}

// Returns the text in which no constant is assigned to, the names that the cell makes constants,
// and those that it binds as something else. `known` holds the constants of older cells.
export function guardConstants(text, known) {
  const own = { __proto__: null };
  const bound = { __proto__: null };
  const words = []; // that may be constants: the word, its place, and what it becomes where it is assigned to
  let statement = -1; // of the last `const`
  const note = (word, index, before, depth, stack) => {
    if (before === '#' || before === '.') return undefined;
    if (word === 'const' && depth === 0) statement = stack.statement;
    if (word === 'import' && depth === 0) {
      const match = staticImport(text, index + word.length);
      if (match === null) return undefined;
      eachImported(match, (_, local) => { own[local] = true; });
      return index + word.length + match[0].length;
    }
    if (isDeclared(text, word, index, before, stack, statement, 0)) {
      own[word] = true;
      return undefined;
    }
    if (known[word] !== true && own[word] !== true) return undefined;
    const how = bindingOf(text, word, index, before, stack);
    const target = how === undefined && isTarget(text, word, index, before, stack[stack.length - 1]);
    const perhaps = target && at(ASSIGNED_PERHAPS, text, index + word.length) !== '';
    push(words, { word, index, by: perhaps ? `${CONSTANT}(${word}).value` : target ? padded(CONSTANT, word) : undefined });
    if (how !== undefined && bound[word] !== 'top') bound[word] = how;
    return undefined;
  };
  walk(text, note, (index, depth, c, opened, around) => {
    if (opened !== undefined) {
      eachTarget(text, opened, index, around, (place, shorthand) => {
        for (let i = words.length - 1; i >= 0 && words[i].index >= place; i--) {
          const { word } = words[i];
          if (words[i].index === place) words[i].by = `${shorthand ? `${word}:` : ''}${padded(CONSTANT, word)}`;
        }
      });
    }
    if (c !== ')' || opened === undefined || CONTROLS[opened.keyword] || at(PARAMETERS, text, index + 1) === '') return;
    for (let i = words.length - 1; i >= 0 && words[i].index > opened.index; i--) {
      if (bound[words[i].word] === undefined) bound[words[i].word] = 'inner';
    }
  });
  const edits = [];
  for (let i = 0; i < words.length; i++) {
    const { word, index, by } = words[i];
    if (by !== undefined && bound[word] === undefined) push(edits, { start: index, end: index + word.length, by });
  }
  return { text: edited(text, edits), own, bound };
}

// Whether constants may be made, as imported names are, or bound or assigned to if there are some.
export const concernsConstants = (text, some) => indexOf(text, 'const') >= 0 || indexOf(text, 'import') >= 0 ||
  (some && (exec(ASSIGNS, text) !== null || exec(REBINDS, text) !== null));
