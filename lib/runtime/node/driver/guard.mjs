// SPDX-License-Identifier: MIT
// guard.mjs - starts the guard, a thread that has V8 terminate a cell that computes.
//
// The server writes the number of the cell to the interrupt pipe. The guard reads it there and
// waits GUARD_MS, so that the cell may end by itself. It then has V8 run onGuard() on top of the
// running code, which says whether that code may be terminated here. To start the guard costs 3
// ms, so a simple first cell goes without it.

import { exec, max, Number, on, process, v8 } from './own.mjs';
import { terminated } from './interrupts.mjs';
import { ASKED, comeBack, GUARDED, HANDLED, LATER, REQUESTED, shared } from './shared.mjs';

const INTERRUPT = 4;
const GUARD_MS = 30; // that a cell has to end by itself
const GUARD_WAITS_MS = 100; // that a callback has while the cell waits, so that a short one is not torn

const ANSWER_MS = 5; // that the guard waits for an answer before it looks at its pipe

const GUARD = `
  const { parentPort, workerData: [shared, fd] } = require('worker_threads');
  const { Session } = require('inspector');
  const { load, store, compareExchange, wait } = Atomics;
  const end = (cell, again) => {
    const running = load(shared, 0);
    const begun = load(shared, 3) >= cell; // else callbacks of older code hold it up
    if (running >= 0 && running !== (begun ? cell : 0)) return;
    if (running >= 0 && !again && (!begun || load(shared, 1) === cell)) {
      setTimeout(end, ${GUARD_WAITS_MS}, cell, true);
    } else if (running < 0 || compareExchange(shared, 0, running, -cell) !== running) {
      store(shared, 4, cell);
      setTimeout(end, 1, cell, again);
    } else {
      store(shared, 2, ${ASKED});
      const session = new Session();
      session.connectToMainThread(); // not before: Node says so at its exit
      session.post('Runtime.evaluate', { silent: true, expression: ${JSON.stringify(comeBack(GUARDED))} });
      terminate(cell, session);
    }
  };
  const terminate = (cell, session) => {
    wait(shared, 2, ${ASKED}, ${ANSWER_MS});
    const answer = load(shared, 2);
    if (answer === ${ASKED}) {
      setTimeout(terminate, 1, cell, session);
    } else if (answer === ${LATER} || answer === ${HANDLED}) {
      session.disconnect();
      if (answer === ${LATER}) setTimeout(end, 1, cell, true);
    } else {
      session.post('Runtime.terminateExecution', () => {
        session.disconnect();
        compareExchange(shared, 0, -cell, 0);
        parentPort.postMessage(cell);
      });
      store(shared, 2, ${REQUESTED});
    }
  };
  let text = '';
  const pipe = new (require('net').Socket)({ fd, readable: true, writable: false });
  pipe.on('error', () => {});
  pipe.on('data', (data) => {
    text += data;
    const lines = text.split('\\n');
    text = lines.pop();
    lines.forEach((line) => setTimeout(end, ${GUARD_MS}, Number(line)));
  });
`;

export let guard = null;

export function startGuard() {
  if (guard !== null) return;
  try {
    const threads = host.require('worker_threads');
    guard = new threads.Worker(GUARD, { eval: true, workerData: [shared, INTERRUPT], env: {}, execArgv: [], stdin: false,
      trackUnmanagedFds: false, name: 'ptycell', __proto__: null });
  } catch {
    guard = false; // no thread to be had
    return;
  }
  limitWorkers(host.require('worker_threads'));
  guard.unref();
  on(guard, 'message', terminated);
  on(guard, 'error', () => {});
  on(guard, 'exit', () => { guard = false; });
}

const WORKER_MB = 64; // that a worker takes beside the objects that it keeps

// Moves V8's limit of the heap from this process to its workers that have no limit of their own.
// V8's limit would hold for workers, too, whatever limit they are given. A worker that comes to its
// limit ends alone; the process has none.
function limitWorkers(threads) {
  const limit = exec(/--max-old-space-size=([0-9]+)/, `${process.env.NODE_OPTIONS}`);
  if (limit === null) return;
  const maxOldGenerationSizeMb = max(Number(limit[1]) - WORKER_MB, Number(limit[1]) / 2);
  v8.setFlagsFromString('--max-old-space-size=0');
  threads.Worker = class Worker extends threads.Worker {
    constructor(file, options) {
      super(file, { ...options, resourceLimits: { maxOldGenerationSizeMb, ...options?.resourceLimits } });
    }
  };
}
