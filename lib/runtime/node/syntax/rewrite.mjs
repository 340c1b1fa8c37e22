// SPDX-License-Identifier: MIT
// rewrite.mjs - gives V8's console a text that it takes: `const` becomes `let`, an import statement
// becomes declarations, `import(` calls a function of ours, and `export` goes.

import { exec, push, slice } from './own.mjs';
import { IMPORT } from './stand_ins.mjs';
import { at, BEFORE_METHOD, GAP, SPACE, walk, WORD } from './lexer.mjs';
import { blank, edited, padded } from './edits.mjs';
import { CALL, importStatement, staticImport } from './imports.mjs';

const NEEDS_WORK = /\b(?:import|const|export)\b/;
const EXPORT = new RegExp('\\s+(?=(?:const|let|var|class|function|async)\\b)|\\s*\\{[^{}]*\\}(?!\\s*from\\b)|' +
  '\\s+default\\s+(?=(?:(?:async\\s+)?function\\b\\s*\\*?|class\\b)\\s*(?!extends\\b)[\\w$\\u0080-\\uffff])', 'y');
const EXPORT_VALUE = /\s+default\b/y;

const METHOD = new RegExp(`${GAP}\\{`, 'y');
const INITIALIZED = new RegExp(`${GAP}(?:[\\w$\\u0080-\\uffff]+${GAP}=|[[{])`, 'y');

// `kindOf`: see redeclare(), which comes after this; `standFor`: see importStatement.
export function rewrite(text, kindOf, standFor) {
  if (exec(NEEDS_WORK, text) === null) return text;
  const edits = [];
  let constant; // the edit of the `const` whose statement this is
  let constantAt = -1;
  const replace = (start, end, by) => {
    const edit = { start, end, by, method: false };
    push(edits, edit);
    return edit;
  };
  walk(text, (word, index, before, depth, stack) => {
    const end = index + word.length;
    if (before === '#' || before === '.') return undefined;
    if (word === 'import') {
      if (at(CALL, text, end) !== '') {
        replace(index, end, IMPORT).method = mayNameMethod(before, stack);
        return undefined;
      }
      const match = depth > 0 ? null : staticImport(text, end);
      if (match === null) return undefined;
      replace(index, end + match[0].length, importStatement(match, kindOf, standFor));
      return end + match[0].length;
    }
    if (depth > 0) return undefined;
    if (word === 'export') {
      const value = at(EXPORT, text, end) === '' ? at(EXPORT_VALUE, text, end) : '';
      const after = end + (value === '' ? at(EXPORT, text, end) : value).length;
      if (after === end) return undefined;
      replace(index, after, (value === '' ? '' : '0,') + slice(blank(slice(text, index, after)), value === '' ? 0 : 2));
      return after;
    }
    if (word === 'const' && isConstant(text, index, before, stack)) {
      constant = replace(index, end, padded('let', word));
      constantAt = stack.statement;
    } else if (before === ',' && constant !== undefined && constantAt === stack.statement && at(INITIALIZED, text, index) === '') {
      constant.by = 'const'; // which V8 refuses, as a name has no value
    }
    return undefined;
  }, (index, depth, c, opened) => {
    if (opened !== undefined && opened.before === 'import' && at(METHOD, text, index + 1) !== '') keepMethod(text, edits, opened.index);
  });
  return edited(text, edits);
}

// Returns whether the `const` begins a declaration whose first name has a value; otherwise V8 must
// refuse it.
function isConstant(text, index, before, stack) {
  const begins = at(WORD, before, 0) === '' || stack.statement === index;
  return begins && at(INITIALIZED, text, index + 'const'.length) !== '';
}

function mayNameMethod(before, stack) {
  const inner = stack[stack.length - 1];
  return inner !== undefined && inner.open === '{' && (inner.fields || inner.value) && BEFORE_METHOD[before] === true;
}

// Keeps the `import` before this parenthesis as a method's name, if it stands where one may.
function keepMethod(text, edits, parenthesis) {
  for (let i = edits.length - 1; i >= 0; i--) {
    const { end, method } = edits[i];
    if (method === true && end + at(SPACE, text, end).length === parenthesis) edits[i].by = 'import';
  }
}
