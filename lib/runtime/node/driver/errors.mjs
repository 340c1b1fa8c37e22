// SPDX-License-Identifier: MIT
// errors.mjs - describes an error for the answer: its name, its text, its traceback and hints.
//
// A thrown value is user code as much as any: its getters, its proxies and its own inspection
// may throw. So properties are read through read() and has(), and what cannot be shown is
// described by its name.

import {
  exec, indexOf, inspect, join, min, process, push, split, statSync, stripTypeScriptTypes, syntax,
  values,
} from './own.mjs';
import { cell } from './cells.mjs';
import { excerpt, moved, placeOf } from './stacks.mjs';
import { requireFromCell } from './workspace.mjs';

const EVALUE_LIMIT = 2000;
const TRACEBACK_LIMIT = 1000000; // on its way to the server, which cuts what is shown

export function firstLine(error) {
  return split(`${error.message}`, '\n')[0];
}

function nameOf(error) {
  if (values.isNativeError(error) || (error !== null && typeof error === 'object' && has(error, 'stack'))) {
    const name = read(error, 'name');
    if (name !== undefined && exec(/^[\w$]{1,80}$/, name) !== null) return name;
  }
  return error !== null && typeof error === 'object' ? values.typeName(error) : 'Uncaught';
}

function textOf(error) {
  try {
    if (error !== null && typeof error === 'object' && has(error, 'message')) {
      return values.shortened(`${error.message}`, EVALUE_LIMIT);
    }
    return values.shortened(inspect(error), EVALUE_LIMIT);
  } catch {
    return '';
  }
}

// Returns whether the object has the property; false when a proxy of the code's throws.
function has(object, name) {
  try {
    return name in object;
  } catch {
    return false;
  }
}

// Returns a property as text; undefined when reading it throws.
export function read(object, name) {
  try {
    return `${object[name]}`;
  } catch {
    return undefined;
  }
}

// Returns the text of an error that cannot be shown in full because its own code threw `reason`.
function withoutStack(error, reason) {
  const name = read(error, 'name') ?? 'Error';
  const message = read(error, 'message');
  const said = message === undefined || message === '' ? name : `${name}: ${message}`;
  const object = reason !== null && typeof reason === 'object';
  const why = object ? read(reason, 'message') : read([reason], 0);
  return `${said}\n    [it cannot be shown in full: its own code threw ${why === undefined ? 'an error' : why}]`;
}

export function traceback(error) {
  let text;
  try {
    text = values.inspectBriefly(error, { __proto__: null, depth: 2, maxStringLength: 2000, maxArrayLength: 20 });
  } catch (reason) {
    text = withoutStack(error, reason);
  }
  const place = values.isNativeError(error) ? placeOf(text) : undefined;
  const where = place === undefined ? '' : excerpt(place.file, place.line, place.column);
  return `${values.shortened(`${where}${text}`, TRACEBACK_LIMIT)}\n`;
}

const FIRST_FRAME = /\n +at [^\n]*/;
const FOREIGN = /\bnode:|\/node_modules\/|<anonymous>\)?$/;

// Returns whether the code of a cell, or of a file of the session, made the error itself, so that no
// call met a limit there. Errors of system calls have a code. A failed allocation is a RangeError
// that is made where the code stands.
function isMadeByCode(error) {
  const isObject = error !== null && typeof error === 'object';
  if (isObject && read(error, 'code') !== 'undefined') return false;
  if (!values.isNativeError(error)) return true;
  if (read(error, 'name') === 'RangeError') return false;
  const first = exec(FIRST_FRAME, read(error, 'stack') ?? '');
  return first !== null && exec(FOREIGN, first[0]) === null;
}

export function describeError(error) {
  const text = asWritten(`${values.isNativeError(error) ? '' : 'Uncaught '}${traceback(error)}${importHint(error)}`);
  const parts = [['status', 'error'], ['ename', nameOf(error)], ['evalue', asWritten(textOf(error))], ['traceback', text]];
  const place = placeOf(text);
  if (place !== undefined && place.file === cell.file) push(parts, ['line', `${place.line}`]);
  const missing = missingModule(error);
  if (missing !== undefined) push(parts, ['missing', missing]);
  if (isMadeByCode(error)) push(parts, ['raised', '1']);
  return parts;
}

// Returns V8's text with `import` for IMPORT, which stands for it in the code.
export function asWritten(text) {
  return indexOf(text, syntax.IMPORT) < 0 ? text : join(split(text, syntax.IMPORT), 'import');
}

function importHint(error) {
  if (!values.isNativeError(error)) return '';
  const refused = read(error, 'code') === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING' || read(error, 'message') === 'Invalid host defined options'; // Node 18
  if (!refused) return '';
  return 'Text that eval(), new Function() or vm runs cannot import() here: write the import() into the cell, or take require().\n';
}

const MISSING = /^Cannot find (?:module|package) '((?:@[\w.-]{1,200}\/)?[\w.-]{1,200})/;

function missingModule(error) {
  if (!values.isNativeError(error)) return undefined;
  const code = read(error, 'code');
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const found = exec(MISSING, `${read(error, 'message')}`);
  return found === null || found[1][0] === '.' || hasFolder(found[1]) ? undefined : found[1];
}

// Returns whether the package is there, and only lacks the file that was asked for.
function hasFolder(name) {
  const folders = requireFromCell.resolve.paths(name) ?? [];
  for (let i = 0; i < folders.length; i++) {
    if (statSync(`${folders[i]}/${name}`, { __proto__: null, throwIfNoEntry: false }) !== undefined) return true;
  }
  return false;
}

export function describeSyntaxError(error, details) {
  const lines = split(cell.code, '\n');
  const line = min(details.lineNumber + 1, lines.length);
  const column = details.lineNumber + 1 > lines.length ? lines[line - 1].length + 1 : syntax.writtenColumn(moved[cell.file], line, details.columnNumber + 1);
  const message = asWritten(firstLine(error));
  const text = `${excerpt(cell.file, line, column)}SyntaxError: ${message}\n${typeScriptHint(message)}`;
  return [['status', 'error'], ['ename', 'SyntaxError'], ['evalue', message], ['traceback', text],
    ['line', `${line}`]];
}

const PLAIN = /already been declared$|^Unexpected end of input$/; // faults that no type causes

function typeScriptHint(message) {
  if (cell.typeProblem !== undefined) {
    return `Node runs TypeScript by taking the types away, which is not enough here: ${cell.typeProblem}\n`;
  }
  const foreign = syntax.looksForeign(cell.code);
  if (foreign !== '') return `This looks like ${foreign}, which Node does not run.\n`;
  if (typeof stripTypeScriptTypes === 'function' || exec(PLAIN, message) !== null || !syntax.looksLikeTypeScript(cell.code)) return '';
  return `This looks like TypeScript, which needs Node 22.13 or later; this is ${process.version}. ` +
    'Leave the types out.\n';
}
