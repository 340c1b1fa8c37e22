// SPDX-License-Identifier: MIT
// imports.mjs - makes awaited declarations of import statements.

import { exec, indexOf, join, push, repeat, slice, stringify } from './own.mjs';
import { IMPORT } from './stand_ins.mjs';
import { at } from './lexer.mjs';
import { countLines } from './edits.mjs';

const STATIC_IMPORT = new RegExp('\\s*(?:([\\w$\\u0080-\\uffff]+)(?:\\s*,\\s*|\\s+(?=from\\b)))?' +
  '(?:\\*\\s*as\\s+([\\w$\\u0080-\\uffff]+)\\s*|\\{([^}]*)\\}\\s*)?(from\\s*)?' +
  '(["\'])((?:(?!\\5)[^\\\\\\n])+)\\5(?:\\s*(?:with|assert)\\s*(\\{[^}]*\\}))?[ \\t]*;?', 'y');
const NAMED = /^\s*(?:([\w$\u0080-\uffff]+)|(["'])(.*)\2)(?:\s+as\s+([\w$\u0080-\uffff]+))?\s*$/;
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//;
export const CALL = /(?:\s|\/\*[^]*?\*\/)*[(.]/y;

// Returns the match of the import statement whose word ends here; null when it is none.
export function staticImport(text, end) {
  if (at(CALL, text, end) !== '') return null;
  STATIC_IMPORT.lastIndex = end;
  return exec(STATIC_IMPORT, text);
}

// `match`: of STATIC_IMPORT; the default's name, that of all, the named ones, the module. `standFor(name)` says what the
// name becomes: "live", or "var" or "let" with a value of its own, which kindOf(name) knows better.
export function importStatement(match, kindOf, standFor) {
  const { 1: own, 2: all, 3: named, 6: specifier, 7: attributes } = match;
  const options = attributes === undefined ? '' : `,{with:${attributes},assert:${attributes}}`;
  const module = stringify(specifier);
  const standsAs = (name) => kindOf(name) ?? standFor(name);
  let text = '';
  if (all !== undefined) {
    const kind = standsAs(all);
    text = `${kind === 'live' ? 'let' : kind} ${all}=await ${IMPORT}(${module}${options});`;
  }
  const wanted = { live: [], let: [], var: [] };
  addNamed(own, named, (name, local) => push(wanted[standsAs(local)], [name, local]));
  const apart = (kind) => {
    if (wanted[kind].length > 0) text += `${kind} {${fieldsOf(wanted[kind])}}=await ${IMPORT}.names(${module},${namesOf(wanted[kind])}${options});`;
  };
  apart('var');
  apart('let');
  const { live } = wanted;
  if (live.length > 0) {
    // The declaration is for V8, which refuses a second one in this cell: the name stands already.
    text += `var ${join(localsOf(live), ',')};let {}=await ${IMPORT}.live(${module},${namesOf(live)},${listOf(localsOf(live))}${options});`;
  }
  if (text === '') text = `let {}=await ${IMPORT}(${module}${options});`;
  return text + repeat('\n', countLines(match[0]));
}

function namesOf(wanted) {
  const names = [];
  for (let i = 0; i < wanted.length; i++) push(names, wanted[i][0]);
  return listOf(names);
}

// Returns names as JSON has them; JSON itself would ask the list for toJSON.
function listOf(names) {
  const texts = [];
  for (let i = 0; i < names.length; i++) push(texts, stringify(names[i]));
  return `[${join(texts, ',')}]`;
}

function localsOf(wanted) {
  const names = [];
  for (let i = 0; i < wanted.length; i++) push(names, wanted[i][1]);
  return names;
}

function fieldsOf(wanted) {
  const fields = [];
  for (let i = 0; i < wanted.length; i++) push(fields, `${stringify(wanted[i][0])}:${wanted[i][1]}`);
  return join(fields, ',');
}

// Calls add(name, local) for each name that `match` of STATIC_IMPORT makes.
export function eachImported({ 1: own, 2: all, 3: named }, add) {
  if (all !== undefined) add('*', all);
  addNamed(own, named, add);
}

// Calls add(name, local) for the default's name, if there is one, and each name between the braces.
function addNamed(own, named, add) {
  if (own !== undefined) add('default', own);
  let text = named === undefined ? '' : named;
  for (let match = exec(COMMENT, text); match !== null; match = exec(COMMENT, text)) {
    text = `${slice(text, 0, match.index)} ${slice(text, match.index + match[0].length)}`;
  }
  for (let start = 0; start <= text.length;) {
    const comma = indexOf(text, ',', start);
    const end = comma < 0 ? text.length : comma;
    const match = exec(NAMED, slice(text, start, end));
    if (match !== null) {
      const name = match[1] === undefined ? match[3] : match[1];
      add(name, match[4] === undefined ? name : match[4]);
    }
    start = end + 1;
  }
}
