// SPDX-License-Identifier: MIT
// callbacks.mjs - readies Node for callbacks that do not return, because V8 terminates them.
//
// Node keeps a stack of callbacks and aborts when one returns to another place than it came
// from. It empties the stack when a listener has taken an uncaught error: leaveCallbacks()
// raises one on purpose, INTERRUPTION. Immediates that wait behind the terminated one have to be
// linked again by hand.

import {
  AsyncResource, captureStackTrace, descriptorOf, Error, executionAsyncResource, fatalException,
  getHeapStatistics, noop, process, replaceProperty, slice, soon,
} from './own.mjs';
import { onComeBack, post } from './console.mjs';

const MACHINERY = { __proto__: null, 'node:internal/timers': true, 'node:internal/process/task_queues': true,
  'node:internal/async_hooks': true };

const FRAMES = 100;
const HEAP_GONE_THROUGH = 500e6;

// Returns whether user code runs, and not Node's own lists of timers and callbacks or its stack of
// callbacks. A termination would leave the lists torn. User code continues until V8 looks for the
// termination, and would push onto the stack that leaveCallbacks() has emptied. A builtin has no
// line: its caller decides.
export function userCodeRuns() {
  const { stackTraceLimit } = Error;
  const own = descriptorOf(Error, 'prepareStackTrace');
  const found = {};
  replaceProperty(Error, 'stackTraceLimit', { __proto__: null, value: FRAMES });
  replaceProperty(Error, 'prepareStackTrace', { __proto__: null, value: (error, trace) => trace, configurable: true });
  captureStackTrace(found, onComeBack);
  const { stack } = found;
  replaceProperty(Error, 'stackTraceLimit', { __proto__: null, value: stackTraceLimit });
  if (own === undefined) delete Error.prepareStackTrace;
  else replaceProperty(Error, 'prepareStackTrace', own);
  for (let i = 1; i < stack.length; i++) { // the first is of what V8 was given to evaluate
    if (stack[i].getLineNumber() === null) continue;
    const file = `${stack[i].getFileName()}`;
    if (MACHINERY[file]) return false;
    if (slice(file, 0, 5) !== 'node:') return true;
  }
  return stack.length > 1;
}

const { prototype: resources } = AsyncResource;
const ENTER = 'runInAsyncScope';
const enter = descriptorOf(resources, ENTER);
let scopesRead = false; // so optimised code may have runInAsyncScope() built in

function readScopes() {
  scopesRead = true;
  replaceProperty(resources, ENTER, enter);
}

// Notes the first time that anything reads AsyncResource.runInAsyncScope(), as each caller does: Node's
// own modules, too. From then on the property is the one that Node made.
export function watchScopes() {
  replaceProperty(resources, ENTER, {
    __proto__: null, configurable: true, enumerable: enter.enumerable,
    get() {
      readScopes();
      return enter.value;
    },
    set(value) {
      readScopes();
      replaceProperty(this, ENTER, { __proto__: null, value, writable: true, configurable: true, enumerable: this !== resources });
    },
  });
}

// Makes V8 drop all optimised code, because that looks for a termination only where it calls what
// it has not inlined. AsyncResource.runInAsyncScope(), which pushes onto Node's stack of callbacks,
// has no such place. V8 drops the code when it begins to count calls, and walks the heap for that:
// 1 ms a MB. Without a reader of that method no code has it inlined.
export function leaveOptimizedCode() {
  if (!scopesRead || getHeapStatistics().used_heap_size > HEAP_GONE_THROUGH) return;
  post('Profiler.enable', { __proto__: null, silent: true }, noop);
  post('Profiler.startPreciseCoverage', { __proto__: null, silent: true, callCount: true }, noop);
  post('Profiler.stopPreciseCoverage', { __proto__: null, silent: true }, noop);
  post('Profiler.disable', { __proto__: null, silent: true }, noop);
}

export const INTERRUPTION = new Error('Interrupted');

// Readies Node for callbacks that do not return. Other listeners for uncaught errors are not asked.
export function leaveCallbacks() {
  const resource = executionAsyncResource();
  if (typeof resource._onImmediate === 'function') leaveImmediate(resource);
  const own = descriptorOf(process, 'emit');
  replaceProperty(process, 'emit', { __proto__: null, value: () => true, configurable: true });
  try {
    fatalException(INTERRUPTION);
  } finally {
    if (own === undefined) delete process.emit;
    else replaceProperty(process, 'emit', own);
  }
}

// Queues the immediates behind this one again, else they are lost and the event loop spins for
// them. Where others ran before it, Node begins with this one the next time, and counts it twice.
function leaveImmediate(immediate) {
  const first = soon(noop);
  const uncounted = soon(noop);
  const last = soon(noop);
  let end = first;
  if (immediate._idlePrev !== null) {
    immediate._onImmediate = noop;
    immediate._destroyed = false;
    uncounted.unref();
  } else {
    end = link(end, uncounted);
  }
  for (let next = immediate._idleNext; next !== null; next = next._idleNext) end = link(end, next);
  link(end, last);
  immediate._idleNext = null;
}

function link(before, after) {
  before._idleNext = after;
  after._idlePrev = before;
  return after;
}
