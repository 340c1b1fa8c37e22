// SPDX-License-Identifier: MIT
// exit.mjs - makes process.exit() end the cell, and nothing of what is defined is lost.
//
// The code that runs is terminated as by an interrupt: neither `catch` nor `finally` sees it.
// Queued callbacks must not run either, as in a process that is gone; hooks of Node take
// the callbacks away. Those of a cell's own code can be run only once that code is off the
// stack, so dropQueued() is called twice.

import {
  AsyncResource, clearTimeout, compareExchange, createHook, Error, executionAsyncResource,
  listeners, load, noop, Number, process, removeListener, runQueued, soon, store, v8, values,
} from './own.mjs';
import { leaveCallbacks } from './callbacks.mjs';
import { cell, finish } from './cells.mjs';
import { listen, listening } from './channel.mjs';
import { post } from './console.mjs';
import { say } from './display.mjs';
import { traceback } from './errors.mjs';
import { forgetHalves } from './loader.mjs';
import { HELD, shared } from './shared.mjs';

// Ends the cell, or only what runs between two cells, as process.exit().

let leaving; // {cell, due, before} while listeners for the exit run

let ending = false; // hooks of the code see the driver's own steps meanwhile

export function endCell(code = process.exitCode) {
  if (ending) return;
  const running = load(shared, 0);
  if (running === HELD || (running === 0 && cell !== null)) throw new Error(`process.exit(${code}) within the driver`);
  checkCode(code);
  noteExit(codeAfterListeners(Number(code ?? 0) & 255));
  endCode();
}

// Throws what Node throws for a code that it does not accept.
function checkCode(code) {
  const before = process.exitCode;
  process.exitCode = code;
  process.exitCode = before;
}

// Runs the listeners for the exit, which Node runs once in a process. Returns the exit code that
// they leave.
function codeAfterListeners(number) {
  let left = number;
  if (leaving === undefined || leaving.cell !== cell) {
    const due = listeners(process, 'exit');
    if (due.length === 0) return number;
    leaving = { cell, due, before: process.exitCode };
    try {
      process.exitCode = number;
      process.emit('exit', number);
    } catch (error) {
      say(`Uncaught ${traceback(error)}`);
    }
    left = Number(process.exitCode ?? 0) & 255;
  }
  const { due, before } = leaving;
  leaving = undefined;
  for (let i = 0; i < due.length; i++) removeListener(process, 'exit', due[i]);
  process.exitCode = before;
  return left;
}

function noteExit(code) {
  const status = cell === null ? '' : cell.outcome === undefined ? 'ok' : cell.outcome[0][1];
  if (status === 'ok') cell.outcome = [['status', 'exit'], ['code', `${code}`]];
  else if (status !== 'exit') say(`[process.exit(${code}) between cells: the interpreter goes on]`);
}

// Terminates the running code; where the guard has asked already, it does so.
function endCode() {
  const running = load(shared, 0);
  if (running >= 0 && compareExchange(shared, 0, running, HELD) === running) {
    ending = true;
    dropTimers();
    leaveCallbacks();
    forgetHalves();
    if (!listening) soon(listen); // the call that was to do so may be terminated
    if (cell !== null) finish();
    dropQueued();
    terminate(running);
  }
  for (;;); // until V8 looks for the termination
}

function terminate(running) {
  post('Runtime.terminateExecution', { __proto__: null, silent: true }, noop);
  ending = false;
  store(shared, 0, running);
  for (;;); // until V8 looks for it
}

// Keeps what is queued at an exit from running. Callbacks of process.nextTick() and
// queueMicrotask() lose what they call. V8 drops all reactions of promises when one of them is
// terminated. Node 24 has no hook for queueMicrotask(): there only those behind a reaction are
// dropped.
export function dropQueued() {
  values.putMethodsBack(); // for Node's hooks
  stopReactions = v8.promiseHooks.onBefore(dropReactions);
  callbacks.enable();
  runQueued();
  keepQueued();
}

const callbacks = createHook({ before() {
  const queued = executionAsyncResource();
  if (!values.isPromise(queued)) queued.callback = noop;
} });

let stopReactions;

function keepQueued() {
  callbacks.disable();
  stopReactions();
  stopReactions = noop;
  values.replaceMethodsAgain();
}

function dropReactions() {
  keepQueued();
  leaveCallbacks();
  terminate(cell === null ? 0 : cell.number);
}

// Keeps timers and immediates that the cell made from running: those that are due before its
// answer.
function dropTimers() {
  if (cell === null) return;
  cell.lastResource = newResource();
  timersDropped = true;
  timers.enable();
}

export function keepTimers() {
  timersDropped = false;
  timers.disable();
}

export let timersDropped = false;

const timers = createHook({ before(id) {
  const due = executionAsyncResource();
  if (id <= cell.firstResource || id >= cell.lastResource || due === cell.timer) return;
  if (typeof due._onTimeout === 'function') due._onTimeout = clearThis;
  else if (typeof due._onImmediate === 'function') due._onImmediate = noop;
} });

function clearThis() {
  clearTimeout(this);
}

// Returns a number that is lower than that of any resource which Node makes from here on.
export function newResource() {
  return new AsyncResource('ptycell').asyncId();
}

export function hasExited(mine) {
  return mine !== null && mine.outcome !== undefined && mine.outcome[0][1] === 'exit';
}
