// SPDX-License-Identifier: MIT
// stdin.mjs - reports to the server whether the code reads the terminal, and renews a used
// process.stdin.
//
// A terminal that was read once stays in the set that Node waits for, so the server cannot find
// out by itself. Node makes process.stdin once only; a stream that was read to its end or
// destroyed gives way to a new one.

import {
  apply, defineProperty, descriptorOf, nextTick, on, process, syncBuiltinESMExports,
} from './own.mjs';
import { cell } from './cells.mjs';
import { send } from './channel.mjs';
import { isTerminal } from './descriptors.mjs';
import { hold } from './interrupts.mjs';

export let reads = false;

function tellReads(now, again) {
  if (reads === now && !again) return;
  reads = now;
  hold(() => send('reads', cell === null ? 0 : cell.id, [['now', now ? '1' : '0']]));
}

function watchHandle(handle) {
  const { readStart, readStop } = handle;
  handle.readStart = (...rest) => {
    tellReads(true);
    return apply(readStart, handle, rest);
  };
  handle.readStop = (...rest) => {
    tellReads(false);
    return apply(readStop, handle, rest);
  };
}

const READERS = { __proto__: null, data: true, readable: true, keypress: true, end: true };

// Reports again that the terminal is read when a new listener comes. The listener of an older cell
// is gone, but Node continues to read: now the new cell waits.
function watchListeners(stream) {
  on(stream, 'newListener', (name) => {
    if (reads && READERS[name]) tellReads(true, true);
  });
}

let input; // process.stdin
let nextInput; // makes it

// Watches process.stdin from its first use, at which Node makes it.
export function watchInput() {
  const { get, enumerable } = descriptorOf(process, 'stdin');
  nextInput = () => apply(get, process, []);
  defineProperty(process, 'stdin', {
    __proto__: null,
    get() {
      if (input === undefined) {
        input = nextInput();
        if (input._handle) watchHandle(input._handle);
        watchListeners(input);
      }
      return input;
    },
    enumerable,
    configurable: true,
  });
}

// Readies process.stdin for the next cell: replaces a stream that was read to its end or destroyed.
export function leaveUsedInput() {
  const state = input?._readableState;
  if (state?.flowing === false) state.flowing = null; // as older code has paused it: a new listener reads
  if (!state || !(state.destroyed || (state.ended && state.length === 0)) || !isTerminal(0)) return;
  input = undefined;
  nextInput = newInput;
  syncBuiltinESMExports(); // for code that has imported it of node:process
}

// Makes a stream of the terminal that is not read while it is paused, as Node's own.
function newInput() {
  const stream = new (host.require('tty').ReadStream)(0);
  stream.fd = 0;
  on(stream, 'pause', () => nextTick(() => {
    const handle = stream._handle;
    if (!handle?.reading || stream.readableFlowing) return;
    handle.reading = false;
    stream._readableState.reading = false; // else it never reads again
    handle.readStop();
  }));
  return stream;
}
