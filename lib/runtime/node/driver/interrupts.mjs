// SPDX-License-Identifier: MIT
// interrupts.mjs - ends the running cell when the server asks for it, unless that would tear
// something.
//
// A cell that waits is ended by the `interrupt` frame. A cell that computes is ended by the
// guard, which asks onGuard() here. A session's first cell may run without a guard: there SIGINT
// itself ends it, by vm's breakOnSigint, and there are moments in which SIGINT kills the
// process.
//
// V8 looks for a termination only at calls and loops. So onGuard() answers LATER within Node's
// own lists of timers and callbacks, and the guard asks again; within hold() it does not ask at
// all.

import { compareExchange, hrtime, load, notify, store } from './own.mjs';
import { leaveCallbacks, leaveOptimizedCode, userCodeRuns } from './callbacks.mjs';
import { cell, conclude, finish, work } from './cells.mjs';
import { listen, waiting } from './channel.mjs';
import { isHandled, SPARES_CODE, SPARES_WAIT } from './handlers.mjs';
import { forgetHalves } from './loader.mjs';
import { HANDLED, HELD, LATER, READY, shared } from './shared.mjs';

const GUARD_ASKS_NS = 20e6; // as long as the guard may need to look again, on a busy machine
const LATERS_MAX = 100;

// Notes that no user code runs from here on. A question that the guard asked before is answered
// with LATER.
export function leaveUserCode() {
  store(shared, 0, 0);
}

// Notes that a cell begins or ends: the driver's own code runs from here on, and must not be torn.
// A question that the guard asked before is answered with LATER, and the guard asks again.
export function holdBack() {
  store(shared, 0, HELD);
}

// JavaScript has no way to end a function that awaits.
const GOES_ON = 'the cell no longer waits. Code behind its await still runs once that is settled, and a loop around it goes on ' +
  'in the background until its own condition ends it, or action terminate ends the interpreter with its variables';

let holding = false;

// Runs `act`, which must not be torn, within user code.
export function hold(act) {
  const running = load(shared, 0) !== 0;
  if (running) store(shared, 0, HELD);
  holding = true;
  try {
    act();
  } finally {
    holding = false;
    if (running) {
      store(shared, 0, cell.number);
      letGuardAsk();
    }
  }
}

// Waits for the guard if it wants to ask. A cell that shows value after value could be held
// whenever the guard looks, each millisecond.
function letGuardAsk() {
  if (load(shared, 4) !== cell.number) return;
  const begun = hrtime();
  while (load(shared, 0) === cell.number && hrtime(begun)[1] < GUARD_ASKS_NS);
  store(shared, 4, 0);
}

let laters = 0; // LATER answered in a row
let latersFor = 0; // this cell

// Returns whether the code never is where it may be terminated, as in a loop that V8 has built into
// a function of Node's.
function neverUserCode(number) {
  laters = latersFor === number ? laters + 1 : 1;
  latersFor = number;
  return laters > LATERS_MAX;
}

// The guard's thread sleeps until the answer is there.
export function answerGuard(what) {
  store(shared, 2, what);
  notify(shared, 2);
}

// Answers the guard; returns once the code is terminated, or may continue.
export function onGuard() {
  const number = -load(shared, 0);
  const mine = cell !== null && cell.number === number;
  if (mine && isHandled(SPARES_CODE)) {
    store(shared, 0, number);
    store(shared, 4, 0);
    answerGuard(HANDLED);
    return;
  }
  if (!userCodeRuns() && !neverUserCode(number)) {
    store(shared, 0, mine ? number : 0);
    answerGuard(LATER);
    return;
  }
  if (mine) cell.terminated = true;
  leaveOptimizedCode();
  leaveCallbacks();
  answerGuard(READY);
  while (load(shared, 2) === READY); // Atomics.wait() cannot be nested, and may be what runs below
}

// Ends the cell whose code V8 has terminated.
export function terminated(number) {
  listen(); // the call that was to do so may be terminated
  forgetHalves();
  if (cell === null) {
    work();
  } else if (cell.number === number) {
    if (cell.outcome === undefined) cell.outcome = interrupted();
    if (cell.ended) conclude(cell);
    else finish();
  }
}

export function interruptedByServer(id) {
  for (let i = 0; i < waiting.length; i++) {
    if (waiting[i].type === 'exec' && waiting[i].id === id) waiting[i].interrupted = true;
  }
  if (cell === null || cell.id !== id || cell.ended || cell.outcome !== undefined || isHandled(SPARES_WAIT)) return;
  cell.wasInterrupted = true;
  if (cell.computes || holding) return; // its code is on the stack, which the guard ends
  const waits = compareExchange(shared, 0, cell.number, 0) === cell.number;
  cell.outcome = interrupted(waits ? GOES_ON : undefined);
  finish();
}

export function interrupted(why) {
  const text = `Interrupted${why === undefined ? '' : `: ${why}`}`;
  return [['status', 'interrupted'], ['ename', 'Interrupted'], ['evalue', ''], ['traceback', `${text}\n`]];
}
