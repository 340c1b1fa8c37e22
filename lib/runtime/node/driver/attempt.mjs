// SPDX-License-Identifier: MIT
// attempt.mjs - turns a cell's text into what V8 can compile, by up to ATTEMPTS attempts.
//
// V8's console mode refuses a name that stands already as something else. Then the text is
// evaluated again with that name declared in another way; TypeScript is evaluated again without
// its types. This is safe because V8 compiles a text as a whole: what was refused has not run.

import {
  defineProperty, deleteProperty, descriptorOf, exec, globals, objectPrototype, process, push,
  reallyExit, stripTypeScriptTypes, syntax, tie, values, vm,
} from './own.mjs';
import { onValue } from './awaiting.mjs';
import { cell, endBy, fail, finish } from './cells.mjs';
import { evaluate, ownValue, unwrap } from './console.mjs';
import { guardConstants, noteConstants } from './constants.mjs';
import { say } from './display.mjs';
import { describeSyntaxError, firstLine, read } from './errors.mjs';
import { interrupted } from './interrupts.mjs';
import { standFor } from './names.mjs';
import { moved } from './stacks.mjs';

const ATTEMPTS = 12; // at names that stand already as something else

// Evaluates `code`, or first `instead`, and then `code` if V8 cannot compile that.
export function attempt(code, instead) {
  syntax.takeMoved();
  const guarded = guardConstants(instead === undefined ? code : instead);
  const text = withFirst(syntax.rewrite(guarded.text, (name) => cell.kinds?.[name], standFor));
  moved[cell.file] = syntax.takeMoved();
  evaluate(text, (error, reply, atOnce) => {
    if (error) {
      onNoAnswer(error);
      return;
    }
    const details = ownValue(reply, 'exceptionDetails');
    if (!atOnce || details === undefined) noteConstants(guarded);
    if (details === undefined && hides('then')) endBy(spoiled());
    else if (details === undefined) onValue(unwrap(reply.result));
    else if (!atOnce) fail(unwrap(details.exception));
    else if (instead !== undefined) attempt(code);
    else onRefused(code, details);
  });
}

// Returns the text in which the names that stand already are declared again. The functions among
// them are made where FIRST is read.
function withFirst(text) {
  if (cell.kinds === undefined) return text;
  const { text: rest, first } = syntax.redeclare(text, kindOf);
  cell.first = [];
  for (let i = 0; i < first.length; i++) {
    const { name, at, line, text: own } = first[i];
    push(cell.first, { name, at, script: new vm.Script(own, { __proto__: null, filename: cell.file, lineOffset: line }) });
  }
  return rest;
}

export const made = new WeakMap(); // functions whose text is without the name: the name, and its place

export function makeFirst() {
  const first = cell?.first;
  if (first === undefined) return;
  cell.first = undefined;
  for (let i = 0; i < first.length; i++) tie(made, first[i].script.runInThisContext(), first[i]);
}

const NO_CONTEXT = /^Inspector error -?\d+: Cannot find (?:default execution )?context\b/;
const ENDED = /\bExecution was terminated\b/;

// Ends a cell for which V8 has no answer. V8 ended the code because the guard asked for it, or V8
// cannot evaluate any more, or the code has spoiled the answer.
function onNoAnswer(error) {
  const message = `${read(error, 'message')}`;
  if (exec(NO_CONTEXT, message) !== null) {
    say('V8 evaluates nothing more in this process, as when a first cell sends SIGINT to itself: the interpreter ends.');
    reallyExit(1);
  }
  if (cell.terminated || cell.wasInterrupted || exec(ENDED, message) !== null) endBy(interrupted());
  else endBy(spoiled(message));
}

export const hides = (name) => descriptorOf(objectPrototype, name) !== undefined;

// Returns the outcome of a cell whose answer user code has spoiled: Node takes a property of
// Object.prototype for a part of V8's answer. Deletes that property, else no later cell would have
// an answer.
export function spoiled(message) {
  const name = hides('error') ? 'error' : hides('then') ? 'then' : undefined;
  const gone = name !== undefined && deleteProperty(objectPrototype, name) ? ', and is deleted' : '';
  const text = name !== undefined ? `The code has run, but whether it failed and what its value is cannot be told: Object.prototype.${name} hides V8's answer${gone}.` :
    `The code has run, but what it answers cannot be told: ${message}`;
  return [['status', 'error'], ['ename', 'NoAnswerError'], ['evalue', text], ['traceback', `${text}\n`]];
}

const DECLARED = /^Identifier '([^']+)' has already been declared$/;

// Tries a text again that V8 could not compile, in another form; nothing of it has run.
function onRefused(code, details) {
  const error = unwrap(details.exception);
  const declared = exec(DECLARED, `${error.message}`);
  if (declared !== null && cell.attempts++ < ATTEMPTS && standsAlready(declared[1])) {
    attempt(code);
    return;
  }
  const stripped = declared === null && !cell.typescript ? stripTypes(code) : undefined;
  if (stripped !== undefined) {
    cell.typescript = true;
    attempt(stripped);
    return;
  }
  cell.outcome = describeSyntaxError(error, details);
  finish();
}

// Returns whether the name can keep the kind in which it is declared already.
function standsAlready(name) {
  const own = descriptorOf(globals, name);
  if (own !== undefined && own.writable !== true && own.set === undefined) return false; // NaN
  if (cell.kinds === undefined) cell.kinds = { __proto__: null };
  if (cell.kinds[name] !== undefined) return false; // twice in this cell
  cell.kinds[name] = kindOf(name) ?? 'let';
  return true;
}

// Returns what a name is declared as: a variable of scripts, or of V8's console; undefined when
// neither is known.
function kindOf(name) {
  const own = descriptorOf(globals, name);
  if (own !== undefined && !own.configurable) return 'var';
  return cell.kinds[name] ?? (values.isLexical(name) ? 'let' : undefined);
}

// Returns JavaScript of the same lines and columns; undefined when the code is no TypeScript or
// Node cannot strip it.
function stripTypes(code) {
  if (typeof stripTypeScriptTypes !== 'function') return undefined;
  const warn = descriptorOf(process, 'emitWarning');
  try {
    process.emitWarning = () => {}; // that this is experimental
    const stripped = stripTypeScriptTypes(code);
    return stripped === code ? undefined : stripped;
  } catch (error) {
    cell.typeProblem = error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' ? firstLine(error) : undefined;
    return undefined;
  } finally {
    if (warn === undefined) delete process.emitWarning;
    else defineProperty(process, 'emitWarning', warn);
  }
}
