// SPDX-License-Identifier: MIT
// exit.mjs - makes process.exit() end the cell, and nothing of what is defined is lost.
//
// The code that runs is terminated as by an interrupt: neither `catch` nor `finally` sees it.
// What the code has queued must not run either, as in a process that is gone; hooks of Node take
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

// As in the other languages it ends the cell, and nothing of what is defined is lost. The code that runs is
// terminated, as by an interrupt: neither `catch` nor `finally` sees it.

let leaving; // {cell, due, before}: what listens for the exit runs

let ending = false; // and hooks of the code see what that takes

export function endCell(code = process.exitCode) {
  if (ending) return;
  const running = load(shared, 0);
  if (running === HELD || (running === 0 && cell !== null)) throw new Error(`process.exit(${code}) within the driver`);
  checkCode(code);
  noteExit(codeAfterListeners(Number(code ?? 0) & 255));
  endCode();
}

// Throws what Node does where it takes no such code.
function checkCode(code) {
  const before = process.exitCode;
  process.exitCode = code;
  process.exitCode = before;
}

// Runs what listens for the exit, which Node does once in a process; the code that it leaves.
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

// The guard terminates the code where it has asked already.
function endCode() {
  const running = load(shared, 0);
  if (running >= 0 && compareExchange(shared, 0, running, HELD) === running) {
    ending = true;
    dropTimers();
    leaveCallbacks();
    forgetHalves();
    if (!listening) soon(listen); // what was to do so may be what is terminated
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

// What is queued at an exit does not run, as in a process that is gone. Callbacks of process.nextTick() and
// queueMicrotask() lose what they call; V8 drops all reactions of promises when one of them is terminated. Node 24
// has no hook for queueMicrotask(): there only those behind a reaction go.
// Those of a cell's own code can only be run once that is off the stack: it comes here twice.
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

// Nor do timers and immediates that the cell made: those that are due before its answer.
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

// Node numbers what it makes: what is made from here on has a higher number.
export function newResource() {
  return new AsyncResource('ptycell').asyncId();
}

export function hasExited(mine) {
  return mine !== null && mine.outcome !== undefined && mine.outcome[0][1] === 'exit';
}
