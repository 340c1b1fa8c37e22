// SPDX-License-Identifier: MIT
// handlers.mjs - keeps the driver's listeners on `process`, and repairs what a cell may have
// broken.
//
// Code that removes all listeners means its own. Removing is therefore followed by adding ours
// again, and each cell begins with prepareProcess(). Lists of listeners are read from Node's own
// `_events`: a copy, as process.listeners() gives, would call the code's Array.

import {
  apply, defineProperty, Error, exec, hasOwn, on, process, push, textOfFunction,
} from './own.mjs';
import { INTERRUPTION } from './callbacks.mjs';
import { cell } from './cells.mjs';
import { breaksOnSigint, endBreaks } from './console.mjs';
import { checkDescriptors } from './descriptors.mjs';
import { say } from './display.mjs';
import { traceback } from './errors.mjs';
import { hasExited } from './exit.mjs';
import { prepareStacks } from './stacks.mjs';
import { leaveUsedInput } from './stdin.mjs';

export const SPARES_WAIT = 1;
export const SPARES_CODE = 2;
let listened = 0; // for SIGINT, when the cell began

function countListeners(name) {
  const there = process._events?.[name];
  return there === undefined ? 0 : typeof there === 'object' ? there.length : 1;
}

// Returns whether user code takes the interrupt itself, as code does that listens for SIGINT since
// its cell began. As in Node alone, the first interrupt then ends neither what the cell awaits nor
// what it computes.
export function isHandled(spares) {
  if (cell.spared & spares) return false;
  if (!cell.handles && countListeners('SIGINT') <= listened) return false;
  cell.handles = true;
  cell.spared |= spares;
  return true;
}

const TEST_RUNNER = /\btestResources\.get\(/;

// Returns whether the code listens beside the driver. The handlers that node:test leaves for good
// do not count: they only note errors for its report.
function codeListens(name) {
  const there = process._events?.[name];
  if (typeof there !== 'object') return false; // no listener, or ours alone
  let count = 0;
  for (let i = 0; i < there.length; i++) count += exec(TEST_RUNNER, textOfFunction(there[i])) === null ? 1 : 0;
  return count > 1;
}

// Shows an error that is not caught; the session lives. Leaves it to the user's code where that
// listens for it.
function onUncaught(error, origin) {
  if (error === INTERRUPTION) return;
  if (codeListens('uncaughtException')) return;
  say(`Uncaught ${origin === 'unhandledRejection' ? '(in promise) ' : ''}${traceback(error)}`);
}

function onRejection(error) {
  if (hasExited(cell) || codeListens('unhandledRejection')) return;
  say(`Uncaught (in promise) ${traceback(error)}`);
}

// The stub's listener calls this, because a listener of the code may be one that is removed as it
// is called, which is after this.
host.interrupted = () => {
  if (cell !== null && countListeners('SIGINT') > listened) cell.handles = true;
};

function onSigusr1() {
  // Node would open its debugger, after which V8 evaluates nothing for our session.
}

const handlers = [['SIGINT', host.onSigint], ['SIGUSR1', onSigusr1], ['uncaughtException', onUncaught], ['unhandledRejection', onRejection]];
const watchers = []; // Node's own, which watch a signal while there is a listener for it

for (const name of ['newListener', 'removeListener']) {
  for (const handler of process.listeners(name)) push(watchers, [name, handler]);
}

// Reads Node's own list: a copy of it, as process.listeners() returns, would call the code's Array.
function isListening(events, name, handler) {
  const there = events?.[name];
  if (there === handler) return true;
  if (typeof there !== 'object') return false;
  for (let i = 0; i < there.length; i++) if (there[i] === handler) return true;
  return false;
}

// Repairs what code may have broken since the last cell, if any `hasRun`; that cell's end checked
// the descriptors.
export function prepareProcess(hasRun) {
  endBreaks();
  if (hasRun) checkDescriptors();
  leaveUsedInput();
  if (!hasOwn(Error, 'prepareStackTrace')) prepareStacks();
  addHandlers();
  listened = countListeners('SIGINT');
}

function addHandlers() {
  addMissing(watchers);
  addMissing(handlers);
}

function addMissing(wanted) {
  for (let i = 0; i < wanted.length; i++) {
    const { 0: name, 1: handler } = wanted[i];
    if (!isListening(process._events, name, handler)) on(process, name, handler);
  }
}

// Code that removes all listeners means its own.
export function keepHandlers() {
  for (const name of ['removeAllListeners', 'removeListener', 'off']) {
    const method = process[name];
    const value = function (...rest) {
      const result = apply(method, this, rest);
      if (breaksOnSigint) addMissing(watchers);
      else addHandlers();
      return result;
    };
    defineProperty(process, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  }
}
