// SPDX-License-Identifier: MIT
// output.cjs - process.stdout and process.stderr that write at once.
//
// Node's own streams promise that on a terminal, and break it when a signal cuts a write short or
// when a child makes the terminal non-blocking: the rest then waits in memory for an event loop that
// a computing cell does not reach, comes in a later cell, or never when V8 ended the code within the
// stream. Here a call of write() has no state that could be torn, and the cell's end has all output.
'use strict';

const { writeSync } = host.require('fs');
const { emit } = host.require('events').prototype;

const { from } = Buffer;
const encoder = new TextEncoder();
const encode = Function.prototype.call.bind(TextEncoder.prototype.encode);
const { isView } = ArrayBuffer;
const { process, Uint8Array, Int32Array, SharedArrayBuffer } = globalThis;
const { nextTick } = process;
const { wait } = Atomics;
const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
const PAUSE_MS = 1;
const clock = new Int32Array(new SharedArrayBuffer(4));

function bytesOf(chunk, encoding) {
  if (typeof chunk === 'string' && encoding === 'utf8') return encode(encoder, chunk);
  if (typeof chunk === 'string') return from(chunk, encoding);
  return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

const NEWLINE = 10;
let open = false; // the last line has no end yet
let written = false; // since somebody asked

// Writes all bytes, and waits while the terminal takes nothing. Returns the error, or null.
function writeAll(fd, bytes) {
  written = true;
  if (bytes.length > 0) open = bytes[bytes.length - 1] !== NEWLINE;
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') return error;
      wait(clock, 0, 0, PAUSE_MS);
    }
  }
  return null;
}

function writesAtOnce(stream, fd) {
  const { write } = stream;
  const own = function (chunk, encoding, callback) {
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof chunk !== 'string' && !isView(chunk)) return apply(write, stream, [chunk, encoding, callback]);
    const error = writeAll(fd, bytesOf(chunk, typeof encoding === 'string' ? encoding : 'utf8'));
    if (typeof done === 'function') nextTick(done, error);
    return true;
  };
  defineProperty(stream, 'write', { __proto__: null, value: own, writable: true, configurable: true, enumerable: false });
  // A pipe that ends must not close the session's terminal; who waits for the end must learn of it.
  const end = function (chunk, encoding, callback) {
    if (typeof chunk === 'function') own('', chunk);
    else own(chunk === undefined || chunk === null ? '' : chunk, encoding, callback);
    nextTick(() => apply(emit, stream, ['finish']));
    return stream;
  };
  defineProperty(stream, 'end', { __proto__: null, value: end, writable: true, configurable: true, enumerable: false });
  // Nor must one that fails mark the stream: Node takes it for destroyed for good, and the next pipe never ends.
  let destroyed = false;
  const destroy = function (error) {
    destroyed = true;
    nextTick(() => {
      destroyed = false;
      if (error) apply(emit, stream, ['error', error]);
      apply(emit, stream, ['close']);
    });
    return stream;
  };
  defineProperty(stream, 'destroy', { __proto__: null, value: destroy, writable: true, configurable: true, enumerable: false });
  defineProperty(stream, 'destroyed', { __proto__: null, get: () => destroyed, configurable: true, enumerable: false });
  return stream;
}

// Replaces a stream at its first use, which is when Node makes it.
function replace(name, fd) {
  const { get, enumerable } = getOwnPropertyDescriptor(process, name);
  let stream;
  defineProperty(process, name, {
    get: () => stream ?? (stream = writesAtOnce(apply(get, process, []), fd)),
    enumerable,
    configurable: true,
  });
}

replace('stdout', 1);
replace('stderr', 2);
// Returns whether anything was written since the last call.
exports.takeWritten = () => {
  const was = written;
  written = false;
  return was;
};
// Returns whether the last line has no end yet; the caller then writes one.
exports.takeOpenLine = () => {
  const was = open;
  open = false;
  return was;
};
