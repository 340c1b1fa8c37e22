// SPDX-License-Identifier: MIT
// awaiting.mjs - takes the value of a cell to its outcome: awaits it if it is a promise, and
// shows it.
//
// A cell may await a promise that nothing is left to settle. Node does not say so, hence the
// look every LOOK_MS: when nothing but the driver's own handles is active and no processor time
// is used, the user reads a hint. Compressing and hashing have no active handle, but they do
// take processor time.

import {
  clearInterval, cpuUsage, Emitter, exec, getActiveHandles, getActiveResourcesInfo, setInterval,
  then, values,
} from './own.mjs';
import { hides, spoiled } from './attempt.mjs';
import { cell, endBy, fail, succeed } from './cells.mjs';
import { listening } from './channel.mjs';
import { partsOf, say } from './display.mjs';
import { guard } from './guard.mjs';

const LOOK_MS = 100; // between two looks
const COMPUTES_US = 5000; // of processor time between two looks: something is computed
const IDLE_LOOKS = 10; // after which the hint is shown

// Watches a cell that awaits. A `then` of Object.prototype takes V8's answer, and may leave it
// unsettled: then the cell is ended.
export function watchAwait(mine) {
  hintWhileIdle('[the cell awaits a promise; nothing seems left to settle it]', () => !mine.answered, () => {
    if (!hides('then')) return false;
    endBy(spoiled());
    return true;
  });
}

// Takes the cell's last value. A promise is awaited, so that `main()` at a script's end means its
// outcome.
export function onValue(value) {
  if (!values.isPromise(value)) {
    onFinalValue(value);
    return;
  }
  hintWhileIdle('[the cell waits for the promise that is its last value; nothing seems left to settle it]', () => true);
  awaitOutcome(value, onFinalValue);
}

// Shows `hint` once nothing seems left to settle a promise. `waits()` returns whether that still
// matters; `ends()` returns whether it has ended the cell, and then no hint is shown.
function hintWhileIdle(hint, waits, ends = () => false) {
  const mine = cell;
  let idle = 0;
  let used = 0;
  const watch = setInterval(() => {
    if (cell !== mine || mine.outcome !== undefined || !waits()) {
      clearInterval(watch);
      return;
    }
    const before = used;
    used = cpuUsage().user;
    idle = nothingGoesOn() && used - before < COMPUTES_US ? idle + 1 : 0;
    if (idle < IDLE_LOOKS) return;
    clearInterval(watch);
    if (!ends()) say(hint);
  }, LOOK_MS);
  watch.unref();
}

// Returns whether all these active resources are the driver's: the control channel, the streams,
// the guard.
export function isOurs(active) {
  let pipes = 1;
  let terminals = 2;
  let ports = guard ? 1 : 0;
  let immediates = listening ? 0 : 1;
  for (let i = 0; i < active.length; i++) {
    const type = active[i];
    const ours = type === 'PipeWrap' ? pipes-- : type === 'TTYWrap' ? terminals-- : type === 'MessagePort' ? ports-- : type === 'Immediate' ? immediates-- : 0;
    if (ours <= 0) return false;
  }
  return true;
}

// Returns whether nothing is active but what is the driver's.
function nothingGoesOn() {
  if (!isOurs(getActiveResourcesInfo())) return false;
  const handles = getActiveHandles();
  for (let i = 0; i < handles.length; i++) if (handles[i].fd === 0) return false;
  return listening;
}

// Calls `next` with the promise's outcome, if the cell still waits for it.
function awaitOutcome(promise, next) {
  const mine = cell;
  const still = (act) => (result) => {
    if (cell !== mine || mine.outcome !== undefined) return;
    try {
      act(result);
    } catch (error) {
      fail(error);
    }
  };
  then(promise, still(next), still(fail));
}

function onFinalValue(value) {
  try {
    if (value === undefined || isNoise(value)) {
      succeed(undefined);
      return;
    }
    const bundle = values.ownBundle(value);
    const handle = bundle === undefined ? values.handleText(value) : undefined;
    if (values.isPromise(bundle)) awaitOutcome(bundle, (found) => succeed(partsOf(found, value)));
    else succeed(handle === undefined ? partsOf(bundle, value) : [['text/plain', handle]]);
  } catch (error) {
    fail(error);
  }
}

const QUIET = /;\s*$/;
const WRITES = /(?:^|[\n;])\s*process\.std(?:out|err)\.write\([^\n]*\)\s*;?\s*$/;
const HANDLES = { __proto__: null, Timeout: true, Immediate: true };

// Returns whether the value is one that no user asked for, such as those of
// `process.stdout.write("x")`, `server.listen(0);` and `setTimeout(f, 9);`.
function isNoise(value) {
  if (value === true) return exec(WRITES, cell.code) !== null;
  if (value === null || typeof value !== 'object' || exec(QUIET, cell.code) === null) return false;
  return HANDLES[values.typeName(value)] === true || value instanceof Emitter;
}
