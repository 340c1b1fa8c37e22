// SPDX-License-Identifier: MIT
// channel.mjs - reads and writes the frames of the control socket, file descriptor 3.
//
// V8 may terminate the code between two writes. So an unsent frame stays in `unsent`, and the
// next send finishes it first. Until listen() is called the socket is read by hand, because to
// load `net` costs 5 ms: the first cell is answered before that.

import {
  byteLength, Bytes, copyInto, encode, encoder, findByte, latin1, Number, on, part, push, readSync,
  reallyExit, split, utf8, values, wait, writeSync,
} from './own.mjs';
import { work } from './cells.mjs';
import { putBack, takeAway } from './console.mjs';
import { interruptedByServer } from './interrupts.mjs';
import { packagesCame } from './packages.mjs';

const CONTROL = 3;
let received = new Bytes(host.received);
let unsent = null; // of a frame: the first cell may have been ended between two writes
let unsentFrom = 0;
const nap = new Int32Array(new SharedArrayBuffer(4));

function flush() {
  while (unsent !== null) {
    try {
      unsentFrom += writeSync(CONTROL, unsent, unsentFrom);
    } catch (error) {
      endUnless(error);
    }
    if (unsentFrom >= unsent.length) unsent = null;
  }
}

// Ends the process unless the write may be tried again. A channel that fails means that the server
// is gone, or that the user's code closed it.
function endUnless(error) {
  if (error?.code === undefined) {
    values.putMethodsBack(); // with which Node could not make its error: the next attempt reports it
  } else if (error.code === 'EAGAIN') {
    wait(nap, 0, 0, 0.05);
  } else if (error.code === 'EBADF') {
    writeSync(2, '\nThe code closed the interpreter\'s control channel.\n');
    reallyExit(1);
  } else if (error.code !== 'EINTR') {
    reallyExit(0);
  }
}

function bytesOf(text) {
  return encode(encoder, text);
}

function concat(chunks) {
  let length = 0;
  for (let i = 0; i < chunks.length; i++) length += chunks[i].length;
  const whole = new Bytes(length);
  for (let i = 0, at = 0; i < chunks.length; at += chunks[i].length, i++) copyInto(whole, chunks[i], at);
  return whole;
}

// Adds a frame to `chunks`; texts that follow each other become one chunk.
export function addFrame(chunks, type, id, parts) {
  let text = `${type} ${id} ${parts.length}\n`;
  for (let i = 0; i < parts.length; i++) {
    const data = parts[i][1];
    if (typeof data === 'string') {
      text += `${parts[i][0]} ${byteLength(data)}\n${data}`;
    } else {
      push(chunks, bytesOf(`${text}${parts[i][0]} ${data.length}\n`), data);
      text = '';
    }
  }
  push(chunks, bytesOf(text));
}

export let muted = false; // no frame is sent

export function sendChunks(chunks) {
  if (muted) return;
  flush();
  unsentFrom = 0;
  unsent = chunks.length === 1 ? chunks[0] : concat(chunks);
  flush();
}

export function send(type, id, parts) {
  const chunks = [];
  addFrame(chunks, type, id, parts);
  sendChunks(chunks);
}

// Takes the first whole frame from `received` and returns it as {type, id, idText, parts};
// undefined when there is none yet.
function takeFrame() {
  let end = findByte(received, 10);
  if (end < 0) return undefined;
  const head = split(latin1(received, 0, end), ' ');
  const parts = { __proto__: null };
  for (let count = Number(head[2]); count > 0; count--) {
    const start = end + 1;
    end = findByte(received, 10, start);
    if (end < 0) return undefined;
    const line = split(latin1(received, start, end), ' ');
    const name = line[0];
    const length = line[1];
    if (received.length < end + 1 + Number(length)) return undefined;
    parts[name] = utf8(received, end + 1, end + 1 + Number(length));
    end += Number(length);
  }
  received = part(received, end + 1);
  return { __proto__: null, type: head[0], id: Number(head[1]), idText: head[1], parts };
}

export const waiting = []; // frames to be worked on, between cells

export function takeFrames() {
  for (let frame = takeFrame(); frame !== undefined; frame = takeFrame()) {
    if (frame.type === 'interrupt') interruptedByServer(frame.id);
    else if (frame.type === 'installed') packagesCame(frame);
    else if (frame.type !== 'ack') push(waiting, frame);
    else if (frame.id === ackAwaited) ackAwaited = 0;
  }
}

function onBytes(length, bytes) {
  received = concat([received, part(bytes, 0, length)]);
  takeFrames();
  work();
  return true;
}

export let listening = false; // the channel does not block

// Reads what the channel holds; returns false when it holds nothing yet.
export function readSome() {
  const chunk = new Bytes(4096);
  try {
    const length = readSync(CONTROL, chunk, 0, chunk.length, null);
    if (length === 0) reallyExit(0);
    received = concat([received, part(chunk, 0, length)]);
  } catch (error) {
    if (error?.code === 'EAGAIN') return false;
    endUnless(error);
  }
  takeFrames();
  return true;
}

let ackAwaited = 0;

// Reads the channel within a cell, until the server has noted the place of what was shown.
export function awaitAck(id) {
  ackAwaited = id;
  while (ackAwaited === id) {
    if (!readSome()) wait(nap, 0, 0, 0.05);
  }
}

export let isatty; // of Node's tty, which loads `net`: undefined until listen()

export function listen() {
  if (listening) return;
  const net = host.require('net');
  ({ isatty } = host.require('tty'));
  takeAway('signal'); // Node copies the options into an object of its own
  let control;
  try {
    control = new net.Socket({ __proto__: null, fd: CONTROL, readable: true, writable: false,
      onread: { __proto__: null, buffer: new Bytes(65536), callback: onBytes } });
  } finally {
    putBack();
  }
  on(control, 'end', () => reallyExit(0));
  on(control, 'error', () => reallyExit(0));
  listening = true;
}

// Drops all frames until it is called with false: the server does not expect answers of warm-up
// cells.
export function mute(on) {
  muted = on;
}
