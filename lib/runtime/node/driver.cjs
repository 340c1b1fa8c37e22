// SPDX-License-Identifier: MIT
// driver.cjs - runs the cells of one session inside the user's own Node, 18 or later.
//
// The server starts `node -e STUB` with a pty as fds 0-2, the control socket as fd 3 and the
// interrupt pipe as fd 4. The stub reads these programs from the socket. Program text and answers
// travel as frames on the socket; what the code prints goes to the pty as in any terminal.
//
// A cell is evaluated by V8's own console mode, through an inspector session within the process
// (Runtime.evaluate with replMode): names can be declared again, `await` stands anywhere, and lines
// are the cell's own. Three rules shape everything here:
//
// * The user's code shares the process and may replace anything. What is needed after the start is
//   taken before it, and no method of a prototype is called by name.
// * V8 may end the code anywhere (see Interrupts). So state is whole before user code runs, and
//   what must not be torn is written at once or finished by whoever comes next.
// * Nothing that costs time is loaded before READY, which the stub has sent.
'use strict';

const fs = host.require('fs');
const path = host.require('path');
const util = host.require('util');
const vm = host.require('vm');
const v8 = host.require('v8');
const Emitter = host.require('events');
const Module = host.require('module');
const inspector = host.require('inspector');
const { pathToFileURL, fileURLToPath, URL } = host.require('url');
const syntax = host.load('syntax');
const values = host.load('values');
const output = host.load('output');
const { descriptorOf } = values;

const globals = globalThis; // a cell may declare that name
const { byteLength } = Buffer;
const { process, Number, BigInt, SyntaxError, TypeError, ReferenceError, Error } = globalThis;
const { parse, stringify } = JSON;
const { min, max } = Math;
const call = Function.prototype.call;
const uncurry = (method) => call.bind(method);
const { apply, defineProperty: replaceProperty, deleteProperty } = Reflect;
const { captureStackTrace } = Error;
const { Session } = inspector;
const connectSession = uncurry(Session.prototype.connect);
const disconnectSession = uncurry(Session.prototype.disconnect);
const postMessage = uncurry(Session.prototype.post);
const { stripTypeScriptTypes, syncBuiltinESMExports, _pathCache: pathCache } = Module;
const { load: loadModule } = Module.prototype;
const { createHook, executionAsyncResource, AsyncResource } = host.require('async_hooks');
const { defineProperty, hasOwn, setPrototypeOf: withoutPrototype } = Object;
const { getHeapStatistics } = v8;
const { hrtime, cwd, cpuUsage, reallyExit, exit, _fatalException: fatalException, _tickCallback: runQueued } = process;
const describe = uncurry(Error.prototype.toString);
const textOfFunction = uncurry(Function.prototype.toString);
const { setTimeout, setInterval, clearInterval, clearTimeout } = globalThis;
const { getActiveResourcesInfo, _getActiveHandles: getActiveHandles } = process;
const exec = uncurry(RegExp.prototype.exec);
const slice = uncurry(String.prototype.slice);
const indexOf = uncurry(String.prototype.indexOf);
const split = uncurry(String.prototype.split);
const repeat = uncurry(String.prototype.repeat);
const push = uncurry(Array.prototype.push);
const shift = uncurry(Array.prototype.shift);
const join = uncurry(Array.prototype.join);
const includes = uncurry(Array.prototype.includes);
const then = uncurry(Promise.prototype.then);
const forEach = uncurry(Map.prototype.forEach);
const remove = uncurry(Map.prototype.delete);
const clear = uncurry(Map.prototype.clear);
const { compareExchange, load, store, wait } = Atomics;
const { writeSync, readSync, statSync, readFileSync, writeFileSync, renameSync } = fs;
const { openSync, closeSync, fstatSync, readlinkSync, realpathSync } = fs;
const Bytes = Uint8Array;
const bytesPrototype = Object.getPrototypeOf(Uint8Array.prototype);
const findByte = uncurry(bytesPrototype.indexOf);
const part = uncurry(bytesPrototype.subarray);
const copyInto = uncurry(bytesPrototype.set);
const encoder = new TextEncoder();
const encode = uncurry(TextEncoder.prototype.encode);
const latin1 = uncurry(Buffer.prototype.latin1Slice);
const utf8 = uncurry(Buffer.prototype.utf8Slice);
const { inspect } = util;
const soon = setImmediate;
const { nextTick } = process;
const on = uncurry(process.on);
const listeners = uncurry(process.listeners);
const removeListener = uncurry(process.removeListener);
const JupyterDisplay = Symbol.for('Jupyter.display');

const CONTROL = 3;
const INTERRUPT = 4;
const HELD = -0x80000000;
const GUARD_MS = 30; // that a cell has to end by itself
const GUARD_WAITS_MS = 100; // and a callback, while the cell waits: what is short should not be torn
const GUARD_ASKS_NS = 20e6; // as long as the guard may need to look again, on a busy machine
const LATERS_MAX = 100;
const EVALUE_LIMIT = 2000;
const TRACEBACK_LIMIT = 1000000; // on its way to the server, which cuts what is shown
const IMAGES_PER_CELL = 20;
const SOURCES_KEPT = 1000; // cells whose lines a traceback can show
const LOOK_MS = 100; // between looks at what a cell waits for
const COMPUTES_US = 5000; // of processor time between two looks: something is computed
const IDLE_LOOKS = 10; // after which it is told that this is nothing
const WARM_CELLS = 3; // answered to nobody, ahead of a session
const ATTEMPTS = 12; // at names that stand already as something else
const OUTPUT = host.hello.output;
const WORKSPACE = process.cwd();

// Node takes a signal that nobody handles, sent to itself, for its end, and lets go of what evaluates cells. These
// end nothing. A thread's number means the process as well, which Node does not know.
const LIVES_ON = { __proto__: null };
const { _kill: killRaw, pid: ownPid } = process;
const { readdirSync } = fs;
const { signals } = host.require('os').constants;
for (const name of ['SIGCHLD', 'SIGCONT', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGWINCH']) {
  LIVES_ON[signals[name]] = true;
}

function threadOfOwn() {
  try {
    const threads = readdirSync('/proc/self/task');
    for (let i = 0; i < threads.length; i++) if (threads[i] !== `${ownPid}`) return Number(threads[i]);
  } catch {
    // Without /proc, or a descriptor for it.
  }
  return ownPid;
}

process._kill = function _kill(pid, signal) {
  return killRaw(LIVES_ON[signal] === true && +pid === ownPid ? threadOfOwn() : pid, signal);
};

// ---- the control channel ----------------------------------------------------------------------

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

// A channel that fails means that the server is gone, or that the user closed it.
function endUnless(error) {
  if (error?.code === undefined) {
    values.putMethodsBack(); // with which Node could not make its error: the next attempt tells
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

// Adds a frame to `chunks`; texts that follow each other become one.
function addFrame(chunks, type, id, parts) {
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

let muted = false; // nobody is to be told

function sendChunks(chunks) {
  if (muted) return;
  flush();
  unsentFrom = 0;
  unsent = chunks.length === 1 ? chunks[0] : concat(chunks);
  flush();
}

function send(type, id, parts) {
  const chunks = [];
  addFrame(chunks, type, id, parts);
  sendChunks(chunks);
}

// The first whole frame in `received` as {type, id, parts}; undefined when there is none yet.
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

const waiting = []; // frames to be worked on, between cells

function takeFrames() {
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

let listening = false; // the channel does not block

// Reads what is there; false when there is nothing yet.
function readSome() {
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
let mayWrite = false; // what went on at the last cell's end

// Tells the server that what was written until now is not the cell's, where there may be something: the cell was
// sent meanwhile.
function tellBegun(id) {
  const written = output.takeWritten();
  if (muted || !(written || mayWrite)) return;
  send('begun', id, []);
  awaitAck(id);
}

// Reads the channel within a cell, until the server has noted the place of what was shown.
function awaitAck(id) {
  ackAwaited = id;
  while (ackAwaited === id) {
    if (!readSome()) wait(nap, 0, 0, 0.05);
  }
}

// ---- interrupts -------------------------------------------------------------------------------
//
// A cell that waits is ended by the `interrupt` frame. One that computes is ended by the guard, a
// thread that reads the number of the cell from the interrupt pipe and has V8 terminate the code,
// if that cell still runs a little later. To start the guard costs 3 ms; so a session's first cell
// goes without when it is simple and the process was not made ahead. SIGINT itself ends that one
// (vm's breakOnSigint), which leaves moments in which SIGINT kills.
//
// `running` says who does: 0 nobody, a cell's number, HELD while it must not be torn, or a cell's number
// negative while the guard asks. It asks by having V8 run onGuard() on top of what runs, which says whether
// that may be terminated, and if so waits for it.

const shared = new Int32Array(new SharedArrayBuffer(20)); // [running, cell that has begun to wait, answer, last cell, asked for]
const ASKED = 0;
const LATER = 1;
const READY = 2;
const REQUESTED = 3;
const HANDLED = 4;
const SECRET = 'ptyc\u00e9ll'; // the global by which code of V8's comes back here
const LAUNCH = 0;
const BOXED = 1;
const GUARDED = 2;
const SHOWN = 3;
const comeBack = (what, value) => `${SECRET}(${what}, ${value})`;
const GUARD = `
const { parentPort, workerData: [shared, fd] } = require('worker_threads');
const { Session } = require('inspector');
const { load, store, compareExchange } = Atomics;
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

let guard = null;

function startGuard() {
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

// V8's limit of this heap would hold for workers, too, whatever they are given. So it is theirs where they are given
// none: a worker that comes to its limit ends alone, and the process at none.
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

// What the guard asked before a call of these is answered with LATER.

// No user code runs from here on.
function leaveUserCode() {
  store(shared, 0, 0);
}

// Callbacks of older cells that run from here on are not terminated for the one that begins.
function enterCell() {
  store(shared, 0, HELD);
}

let holding = false;

// Runs `act`, which must not be torn, within user code.
function hold(act) {
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

// A cell that shows value after value could be held whenever the guard looks, each millisecond.
function letGuardAsk() {
  if (load(shared, 4) !== cell.number) return;
  const begun = hrtime();
  while (load(shared, 0) === cell.number && hrtime(begun)[1] < GUARD_ASKS_NS);
  store(shared, 4, 0);
}

let laters = 0; // LATER answered in a row
let latersFor = 0; // this cell

// Whether the code never is where it may be terminated, as in a loop that V8 has built into a function of Node's.
function neverUserCode(number) {
  laters = latersFor === number ? laters + 1 : 1;
  latersFor = number;
  return laters > LATERS_MAX;
}

// Answers the guard.
function onGuard() {
  const number = -load(shared, 0);
  const mine = cell !== null && cell.number === number;
  if (mine && isHandled(SPARES_CODE)) {
    store(shared, 0, number);
    store(shared, 4, 0);
    store(shared, 2, HANDLED);
    return;
  }
  if (!userCodeRuns() && !neverUserCode(number)) {
    store(shared, 0, mine ? number : 0);
    store(shared, 2, LATER);
    return;
  }
  if (mine) cell.terminated = true;
  leaveOptimizedCode();
  leaveCallbacks();
  store(shared, 2, READY);
  while (load(shared, 2) === READY); // Atomics.wait() cannot be nested, and may be what runs below
}

const MACHINERY = { __proto__: null, 'node:internal/timers': true, 'node:internal/process/task_queues': true,
  'node:internal/async_hooks': true };
const FRAMES = 100;
const HEAP_GONE_THROUGH = 500e6;

// Whether Node is not in the midst of its own lists of timers and callbacks, which it would find torn, nor of its
// stack of callbacks: code goes on until V8 looks for a termination, and would push onto what leaveCallbacks()
// emptied. A builtin has no line: its caller decides.
function userCodeRuns() {
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

// Optimised code looks for a termination only where it calls what it has not inlined: not within
// AsyncResource.runInAsyncScope(), which pushes onto Node's stack of callbacks. V8 drops all optimised code when it
// begins to count calls, and goes through the heap for that: 1 ms a MB.
function leaveOptimizedCode() {
  if (getHeapStatistics().used_heap_size > HEAP_GONE_THROUGH) return;
  post('Profiler.enable', { __proto__: null, silent: true }, noop);
  post('Profiler.startPreciseCoverage', { __proto__: null, silent: true, callCount: true }, noop);
  post('Profiler.stopPreciseCoverage', { __proto__: null, silent: true }, noop);
  post('Profiler.disable', { __proto__: null, silent: true }, noop);
}

const INTERRUPTION = new Error('Interrupted');
const noop = () => {};

// Readies Node for callbacks that do not return. It keeps a stack of them, aborts when one returns to
// another place than it came from, and empties that when a listener has taken an uncaught error; other
// listeners are not asked.
function leaveCallbacks() {
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

// The immediates behind this one are lost unless they are queued again, and the loop spins for them. Where
// others ran before it Node begins with this one the next time, and counts it twice.
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

function onComeBack(what, value) {
  if (what === LAUNCH) launch();
  else if (what === BOXED) box = value;
  else if (what === SHOWN) return shown;
  else if (load(shared, 0) < 0 && load(shared, 0) !== HELD) onGuard();
  else store(shared, 2, LATER);
  return undefined;
}

// Comes when V8 has terminated the code.
function terminated(number) {
  listen(); // what was to do so may be what was terminated
  forgetHalves();
  if (cell === null) {
    work();
  } else if (cell.number === number) {
    if (cell.outcome === undefined) cell.outcome = interrupted();
    if (cell.ended) conclude(cell);
    else finish();
  }
}

function interruptedByServer(id) {
  for (let i = 0; i < waiting.length; i++) {
    if (waiting[i].type === 'exec' && waiting[i].id === id) waiting[i].interrupted = true;
  }
  if (cell === null || cell.id !== id || cell.ended || cell.outcome !== undefined || isHandled(SPARES_WAIT)) return;
  cell.wasInterrupted = true;
  if (cell.computes || holding) return; // its code is on the stack, which the guard ends
  const waits = compareExchange(shared, 0, cell.number, 0) === cell.number;
  cell.outcome = interrupted(waits ? 'what it waited for may still go on' : undefined);
  leaveUserCode();
  finish();
}

const SPARES_WAIT = 1;
const SPARES_CODE = 2;
let listened = 0; // for SIGINT, when the cell began

function countListeners(name) {
  const there = process._events?.[name];
  return there === undefined ? 0 : typeof there === 'object' ? there.length : 1;
}

// Code that listens for SIGINT since its cell began reacts to an interrupt itself: neither what it awaits nor what it
// computes ends by the first, as in Node alone.
function isHandled(spares) {
  if (cell.spared & spares) return false;
  if (!cell.handles && countListeners('SIGINT') <= listened) return false;
  cell.handles = true;
  cell.spared |= spares;
  return true;
}

function interrupted(why) {
  const text = `Interrupted${why === undefined ? '' : `: ${why}`}`;
  return [['status', 'interrupted'], ['ename', 'Interrupted'], ['evalue', ''], ['traceback', `${text}\n`]];
}

// ---- V8's console -----------------------------------------------------------------------------

let session;
let pinned; // V8 holds the running cell's promise weakly, and Node 22 aborts when it is collected
let launch; // what the watched script calls
let box; // where a value comes out

const watched = new vm.Script(comeBack(LAUNCH), { filename: 'ptycell:cell' });
const BOX = `function (value) { ${comeBack(BOXED, 'value')}; }`;

function connect() {
  values.putMethodsBack();
  try {
    if (session !== undefined) disconnectSession(session);
    session = new Session();
    connectSession(session);
  } finally {
    values.replaceMethodsAgain();
  }
}

const objectPrototype = Object.prototype;

// What Node's inspector may find on every object while it makes a message: JSON.stringify asks for toJSON, and a
// setter takes the params. Code may have given it to all; it is out of the way until the first member of `params` is written.
const IN_MESSAGES = ['toJSON', 'params'];
let taken = []; // what was there

function takeAway(name) {
  const own = descriptorOf(objectPrototype, name);
  if (own === undefined || !own.configurable) return;
  delete objectPrototype[name];
  push(taken, { name, own });
}

function putBack() {
  for (let i = 0; i < taken.length; i++) {
    const { name, own } = taken[i];
    if (descriptorOf(objectPrototype, name) === undefined) defineProperty(objectPrototype, name, own);
  }
  taken = [];
}

function post(method, params, done) {
  for (let i = 0; i < IN_MESSAGES.length; i++) takeAway(IN_MESSAGES[i]);
  if (taken.length > 0) {
    const { silent } = params;
    defineProperty(params, 'silent', { __proto__: null, enumerable: true, get() {
      putBack();
      return silent;
    } });
  }
  try {
    postMessage(session, method, params, done);
  } finally {
    if (taken.length > 0) putBack(); // where V8 has been asked to terminate, it does so at the next call
  }
}

// Evaluates text as the cell's; `done(error, reply, atOnce)`, atOnce when V8 could not compile it.
function evaluate(text, done) {
  const mine = cell;
  mine.answered = false;
  launch = () => {
    let atOnce = true;
    let stop = v8.promiseHooks.onInit((promise) => {
      pinned = promise;
      stop();
      stop = null;
    });
    post('Runtime.evaluate', {
      __proto__: null, silent: true, expression: `${text}\n//# sourceURL=${mine.file}`, replMode: true,
      awaitPromise: true, objectGroup: 'cell',
    }, (error, reply) => {
      mine.answered = true;
      if (cell === mine && mine.outcome === undefined) orFail(() => done(error, reply, atOnce));
    });
    atOnce = false;
    if (stop !== null) stop();
  };
  if (guard === null && (mine.id > firstId || !syntax.isSimple(mine.code))) startGuard();
  store(shared, 0, mine.number);
  if (guard) launch();
  else runWatched(mine);
  store(shared, 1, mine.number);
  if (hasExited(mine)) dropQueued();
  else if (cell === mine && !mine.answered && (hides('then') || indexOf(mine.code, 'await') >= 0)) watchAwait(mine);
}

let breaksOnSigint = false; // Node takes the listeners away meanwhile

function runWatched(mine) {
  breaksOnSigint = true;
  try {
    watched.runInThisContext({ __proto__: null, breakOnSigint: true });
  } catch (error) {
    forgetHalves(mine.number);
    if (cell !== mine || mine.outcome !== undefined) return;
    mine.outcome = error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? interrupted() : describeError(error);
    leaveUserCode();
    finish();
  } finally {
    breaksOnSigint = false;
  }
}

// What an answer has itself: the code may have given all objects any property.
function ownValue(answer, name) {
  return hasOwn(answer, name) ? answer[name] : undefined;
}

// The object of this id.
function unboxed(objectId) {
  const params = { __proto__: null, silent: true, functionDeclaration: BOX, executionContextId: 1,
    arguments: withoutPrototype([{ __proto__: null, objectId }], null) };
  box = undefined;
  post('Runtime.callFunctionOn', params, () => {});
  const value = box;
  box = undefined;
  return value;
}

// The object or value that V8 describes.
function unwrap(remote) {
  const objectId = ownValue(remote, 'objectId');
  if (objectId !== undefined) {
    cell.held = true;
    return unboxed(objectId);
  }
  const text = ownValue(remote, 'unserializableValue');
  if (text === undefined) return ownValue(remote, 'value');
  return text[text.length - 1] === 'n' ? BigInt(slice(text, 0, -1)) : Number(text);
}

// ---- cells ------------------------------------------------------------------------------------

let cell = null;
let firstId = 0; // of a cell
const sources = { __proto__: null }; // file name -> lines
const moved = { __proto__: null }; // file name -> what became of its columns

function work() {
  while (cell === null && waiting.length > 0) {
    if (waiting[0].type === 'exec') enterCell();
    const frame = shift(waiting);
    if (frame.type === 'exec') startCell(frame);
    else if (frame.type === 'preload') getReady(frame);
    else if (frame.type === 'prepared') tellReady(frame);
    else if (frame.type === 'vars') answerVariables(frame);
    else if (frame.type === 'imported') send('done', frame.idText, [['status', 'ok'], ['vars', join(olderLoaded(frame.parts.packages), '\n')]]);
    else if (frame.type === 'quit') quit();
    else send('log', 0, [['text', 'unknown frame']]);
  }
}

function quit() {
  process.exit = exit; // for what listens for it
  exit(0);
}

// Answers cells to nobody, so that V8 has compiled what they run through, and the guard is there.
function getReady(frame) {
  muted = true;
  for (let i = 0; i < WARM_CELLS; i++) push(waiting, { __proto__: null, type: 'exec', id: 1, idText: '1', parts: { code: '1+1' } });
  push(waiting, { type: 'prepared', idText: frame.idText });
}

function tellReady(frame) {
  muted = false;
  store(shared, 1, 0); // the person's first cell has this number, and has not begun to wait
  delete sources['cell-1.js'];
  send('done', frame.idText, [['status', 'ok']]);
}

function answerVariables(frame) {
  let parts;
  try {
    refreshNames();
    parts = values.variables(Number(frame.parts.limit) || 1000);
  } catch (error) {
    parts = [['status', 'error'], ['vars', '']];
  }
  send('done', frame.idText, parts);
}

// A cell from its frame to `done`; exactly one way leads through finish().
function startCell(frame) {
  if (firstId === 0) firstId = frame.id;
  const number = frame.id % 0x7fffffff;
  cell = {
    id: frame.id, number, file: `cell-${frame.id}.js`, code: frame.parts.code, kinds: undefined, first: undefined, attempts: 0,
    declares: syntax.declares(frame.parts.code), outcome: undefined, value: undefined, ended: false,
    images: 0, imagesLeftOut: 0, imagesLost: 0, typescript: false, typeProblem: undefined, held: false,
    wasInterrupted: false, handles: false, spared: 0, terminated: false, computes: false, asks: false, answered: false,
    firstResource: newResource(), lastResource: 0, timer: undefined,
  };
  if (cell.code[0] === '\ufeff') cell.code = slice(cell.code, 1);
  store(shared, 3, number);
  rememberSource(cell.file, cell.code);
  tellBegun(cell.id);
  output.takeOpenLine(); // older code began it
  if (cell.ended) return; // interrupted
  prepareProcess();
  if (frame.interrupted === true) {
    cell.outcome = interrupted();
    finish();
    return;
  }
  orFail(() => {
    const wanted = syntax.installs(cell.code);
    if (wanted === undefined) runCode();
    else installFirst(wanted);
  });
}

function runCode() {
  attempt(cell.code, syntax.isObjectLiteral(cell.code) ? `(${cell.code})` : undefined);
}

// ---- packages ---------------------------------------------------------------------------------

// A session has no network: the server brings what comes from the registry, npm itself the rest.
function installFirst({ packages, commands, rest }) {
  cell.code = rest;
  for (let i = 0; i < commands.length; i++) {
    const env = { ...process.env, npm_config_offline: 'true', npm_config_audit: 'false' };
    const done = host.require('child_process').spawnSync('npm', ['install', ...commands[i]], { __proto__: null, stdio: 'inherit', env });
    if (done.status !== 0) {
      notInstalled('npm could not install it.');
      return;
    }
  }
  if (packages.length === 0) {
    runCode();
    return;
  }
  const names = join(packages, '\n');
  if (names.length > values.LIST_MAX) {
    notInstalled(`The names of all these packages have ${names.length} characters: ask for fewer at once.`);
    return;
  }
  cell.asks = true;
  say(`Asking ptycell to install ${join(packages, ' ')}; the session itself has no network.`);
  send('install', cell.id, [['language', 'javascript'], ['packages', names]]);
}

function notInstalled(text) {
  cell.outcome = [['status', 'error'], ['ename', 'InstallError'], ['evalue', text], ['traceback', `${text}\n`]];
  finish();
}

function packagesCame({ id, parts }) {
  if (cell === null || cell.id !== id || !cell.asks || cell.ended) return;
  cell.asks = false;
  if (parts.ok !== '1') {
    notInstalled(parts.text);
    return;
  }
  say(parts.text);
  say(join(olderLoaded(parts.packages), '\n'));
  orFail(runCode);
}

const PACKAGES = process.env.NODE_PATH; // where the server puts them
const loadedAs = { __proto__: null }; // package -> its version when a cell loaded it first; '' is none of ours

function notePackage(specifier) {
  const found = exec(/^(?:@[^/]+\/)?[^/@:]+/, specifier);
  if (found === null || loadedAs[found[0]] !== undefined) return;
  loadedAs[found[0]] = '';
  try {
    loadedAs[found[0]] = `${parse(readFileSync(`${PACKAGES}/${found[0]}/package.json`, 'utf8')).version}`;
  } catch {
    // Node's own, or the session's.
  }
}

// A sentence for each of these (lines NAME, VERSION, MODULE) of which another version is loaded.
function olderLoaded(packages) {
  const told = [];
  const lines = split(packages, '\n');
  for (let i = 0; i < lines.length; i++) {
    const row = split(lines[i], '\t');
    const have = loadedAs[row[2]];
    if (have === undefined || have === '' || have === row[1]) continue;
    push(told, `${row[2]} is loaded already in version ${have}: this interpreter goes on with that, and a new one (interact with action terminate) loads ${row[1]}.`);
  }
  return told;
}

const constants = { __proto__: null }; // names that are constants for the cells
let someConstants = false;

function guardConstants(text) {
  return syntax.concernsConstants(text, someConstants) ? syntax.guardConstants(text, constants) : { text, own: undefined, bound: undefined };
}

function noteConstants({ own, bound }) {
  if (own === undefined) return;
  for (const name in bound) if (bound[name] === 'top') delete constants[name];
  for (const name in own) {
    if (bound[name] !== 'top') constants[name] = someConstants = true;
  }
}

function assignToConstant() {
  throw new TypeError('Assignment to constant variable.');
}

// What CONSTANT is where it is read; see guardConstants() of syntax.
const constantOf = (held) => ({ __proto__: null, get value() { return held; }, set value(_) { assignToConstant(); } });
constantOf[Symbol.toPrimitive] = assignToConstant;

// Ends the cell with the error at which the driver itself fails.
function orFail(act) {
  const mine = cell;
  try {
    act();
  } catch (error) {
    if (cell === mine && mine.outcome === undefined) fail(error);
  }
}

// Evaluates `code`, or first `instead` of it.
function attempt(code, instead) {
  syntax.takeMoved();
  const guarded = guardConstants(instead === undefined ? code : instead);
  const text = withFirst(syntax.rewrite(guarded.text, (name) => cell.kinds?.[name], standFor));
  moved[cell.file] = syntax.takeMoved();
  evaluate(text, (error, reply, atOnce) => {
    if (error) {
      onNoAnswer(error);
      return;
    }
    const details = ownValue(reply, 'exceptionDetails');
    if (!atOnce || details === undefined) noteConstants(guarded);
    if (details === undefined && hides('then')) endBy(spoiled());
    else if (details === undefined) onValue(unwrap(reply.result));
    else if (!atOnce) fail(unwrap(details.exception));
    else if (instead !== undefined) attempt(code);
    else onRefused(code, details);
  });
}

// The text in which the names are declared that stand already; the functions among them are made where FIRST is read.
function withFirst(text) {
  if (cell.kinds === undefined) return text;
  const { text: rest, first } = syntax.redeclare(text, kindOf);
  cell.first = [];
  for (let i = 0; i < first.length; i++) {
    const { name, at, line, text: own } = first[i];
    push(cell.first, { name, at, script: new vm.Script(own, { __proto__: null, filename: cell.file, lineOffset: line }) });
  }
  return rest;
}

const tie = uncurry(WeakMap.prototype.set);
const tiedTo = uncurry(WeakMap.prototype.get);
const made = new WeakMap(); // functions whose text is without the name: the name, and its place

function makeFirst() {
  const first = cell?.first;
  if (first === undefined) return;
  cell.first = undefined;
  for (let i = 0; i < first.length; i++) tie(made, first[i].script.runInThisContext(), first[i]);
}

const NO_CONTEXT = /^Inspector error -?\d+: Cannot find (?:default execution )?context\b/;

const ENDED = /\bExecution was terminated\b/;

// V8 ended the code, which only the guard asks for; or it cannot evaluate any more; or the code has spoiled the answer.
function onNoAnswer(error) {
  const message = `${read(error, 'message')}`;
  if (exec(NO_CONTEXT, message) !== null) {
    say('V8 evaluates nothing more in this process, as when a first cell sends SIGINT to itself: the interpreter ends.');
    reallyExit(1);
  }
  if (cell.terminated || cell.wasInterrupted || exec(ENDED, message) !== null) endBy(interrupted());
  else endBy(spoiled(message));
}

function endBy(outcome) {
  cell.outcome = outcome;
  leaveUserCode();
  finish();
}

const hides = (name) => descriptorOf(objectPrototype, name) !== undefined;

// Node takes what all objects have got for a part of V8's answer. What is in the way goes, else no cell had an answer.
function spoiled(message) {
  const name = hides('error') ? 'error' : hides('then') ? 'then' : undefined;
  const gone = name !== undefined && deleteProperty(objectPrototype, name) ? ', and is deleted' : '';
  const text = name !== undefined ? `The code has run, but whether it failed and what its value is cannot be told: Object.prototype.${name} hides V8's answer${gone}.` :
    `The code has run, but what it answers cannot be told: ${message}`;
  return [['status', 'error'], ['ename', 'NoAnswerError'], ['evalue', text], ['traceback', `${text}\n`]];
}

const DECLARED = /^Identifier '([^']+)' has already been declared$/;

// V8 could not compile the text: nothing of it has run.
function onRefused(code, details) {
  const error = unwrap(details.exception);
  const taken = exec(DECLARED, `${error.message}`);
  if (taken !== null && cell.attempts++ < ATTEMPTS && standsAlready(taken[1])) {
    attempt(code);
    return;
  }
  const stripped = taken === null && !cell.typescript ? stripTypes(code) : undefined;
  if (stripped !== undefined) {
    cell.typescript = true;
    attempt(stripped);
    return;
  }
  cell.outcome = describeSyntaxError(error, details);
  leaveUserCode();
  finish();
}

// Whether the name can be taken as what it stands already.
function standsAlready(name) {
  const own = descriptorOf(globals, name);
  if (own !== undefined && own.writable !== true && own.set === undefined) return false; // NaN
  if (cell.kinds === undefined) cell.kinds = { __proto__: null };
  if (cell.kinds[name] !== undefined) return false; // twice in this cell
  cell.kinds[name] = kindOf(name) ?? 'let';
  return true;
}

// What a name stands as: a variable of scripts, or of V8's console; undefined when neither is known.
function kindOf(name) {
  const own = descriptorOf(globals, name);
  if (own !== undefined && !own.configurable) return 'var';
  return cell.kinds[name] ?? (values.isLexical(name) ? 'let' : undefined);
}

// JavaScript of the same lines and columns; undefined when it is no TypeScript or Node cannot.
function stripTypes(code) {
  if (typeof stripTypeScriptTypes !== 'function') return undefined;
  const warn = descriptorOf(process, 'emitWarning');
  try {
    process.emitWarning = () => {}; // that this is experimental
    const stripped = stripTypeScriptTypes(code);
    return stripped === code ? undefined : stripped;
  } catch (error) {
    cell.typeProblem = error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' ? firstLine(error) : undefined;
    return undefined;
  } finally {
    if (warn === undefined) delete process.emitWarning;
    else defineProperty(process, 'emitWarning', warn);
  }
}

// A `then` that all objects have takes V8's answer, and may leave it unsettled.
function watchAwait(mine) {
  hintWhileIdle('[the cell awaits a promise; nothing seems left to settle it]', () => !mine.answered, () => {
    if (!hides('then')) return false;
    endBy(spoiled());
    return true;
  });
}

// A promise as last value is awaited: `main()` at a script's end means its outcome.
function onValue(value) {
  if (!values.isPromise(value)) {
    onFinalValue(value);
    return;
  }
  hintWhileIdle('[the cell waits for the promise that is its last value; nothing seems left to settle it]', () => true);
  awaitOutcome(value, onFinalValue);
}

// Of a promise that nothing is left to settle, as far as Node tells: it does not of compressing and hashing, which
// take processor time. `waits()`: whether it still matters; `ends()`: whether the cell was ended in place of the hint.
function hintWhileIdle(hint, waits, ends = () => false) {
  const mine = cell;
  let idle = 0;
  let used = 0;
  const look = setInterval(() => {
    if (cell !== mine || mine.outcome !== undefined || !waits()) {
      clearInterval(look);
      return;
    }
    const before = used;
    used = cpuUsage().user;
    idle = nothingGoesOn() && used - before < COMPUTES_US ? idle + 1 : 0;
    if (idle < IDLE_LOOKS) return;
    clearInterval(look);
    if (!ends()) say(hint);
  }, LOOK_MS);
  look.unref();
}

// Whether none of these resources is the code's.
function isOurs(active) {
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

// But for our own: the control channel, the streams, the guard.
function nothingGoesOn() {
  if (!isOurs(getActiveResourcesInfo())) return false;
  const handles = getActiveHandles();
  for (let i = 0; i < handles.length; i++) if (handles[i].fd === 0) return false;
  return listening;
}

// Goes on with the promise's outcome, if the cell still waits for it.
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

// What `process.stdout.write("x")`, `server.listen(0);` and `setTimeout(f, 9);` return nobody asked for.
function isNoise(value) {
  if (value === true) return exec(WRITES, cell.code) !== null;
  if (value === null || typeof value !== 'object' || exec(QUIET, cell.code) === null) return false;
  return HANDLES[values.typeName(value)] === true || value instanceof Emitter;
}

function succeed(parts) {
  cell.value = parts;
  cell.outcome = [['status', 'ok']];
  leaveUserCode();
  finish();
}

// ---- process.exit -----------------------------------------------------------------------------

// As in the other languages it ends the cell, and nothing of what is defined is lost. The code that runs is
// terminated, as by an interrupt: neither `catch` nor `finally` sees it.

let leaving; // {cell, due, before}: what listens for the exit runs
let ending = false; // and hooks of the code see what that takes

function endCell(code = process.exitCode) {
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
function dropQueued() {
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

function keepTimers() {
  timersDropped = false;
  timers.disable();
}

let timersDropped = false;

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
function newResource() {
  return new AsyncResource('ptycell').asyncId();
}

function hasExited(mine) {
  return mine !== null && mine.outcome !== undefined && mine.outcome[0][1] === 'exit';
}

function fail(error) {
  let outcome;
  cell.computes = true;
  listen();
  while (readSome()); // an interrupt also ends children, by which the code fails
  try {
    outcome = describeError(error);
  } catch {
    outcome = [['status', 'error'], ['ename', 'Error'], ['evalue', 'the error cannot be shown'], ['traceback', 'The code has thrown what cannot be shown.\n']];
  }
  if (cell.wasInterrupted) outcome[0][1] = 'interrupted';
  cell.outcome = outcome;
  leaveUserCode();
  finish();
}

function behindTimers(act) {
  const timer = setTimeout(act, 1);
  if (listening) timer.unref(); // and not counted itself
  return timer;
}

// Tells the outcome; after rejections that nobody handles have been told, and after what the code put off.
function finish() {
  const mine = cell;
  if (mine.ended) return;
  mine.ended = true;
  // What the code put off for no time is its own output: timers of one length fire in their order.
  const active = getActiveResourcesInfo();
  mayWrite = !isOurs(active);
  const later = mayWrite && includes(active, 'Timeout') ? behindTimers : soon;
  mine.timer = later(() => conclude(mine));
  store(shared, 0, mine.number);
}

function conclude(mine) {
  if (cell !== mine) return;
  if (timersDropped) keepTimers();
  leaveUserCode();
  if (mayWrite) mayWrite = !isOurs(getActiveResourcesInfo());
  if (mine.terminated && mine.outcome[0][1] === 'ok') mine.outcome = interrupted();
  try {
    tidy(mine);
  } catch (error) {
    send('log', 0, [['text', `${error}`]]);
  }
  const chunks = [];
  if (mine.value !== undefined) addFrame(chunks, 'result', mine.id, mine.value);
  addFrame(chunks, 'done', mine.id, mine.outcome);
  sendChunks(chunks); // at once: each is a wake of the server's
  cell = null;
  output.takeWritten();
  startGuard();
  work();
}

const UNANSWERED = '\n[no answer comes once the cell is over: await it, as in `await rl.question(...)` of readline/promises]';

function tidy(mine) {
  values.stopBrevity();
  if (mine.terminated || mine.outcome[0][1] === 'interrupted') forgetHalves(mine.number);
  if (mine.outcome[0][1] === 'interrupted' || !mine.answered) {
    connect(); // so that no answer to abandoned code comes, nor one to a promise that is collected
  } else if (mine.held) {
    post('Runtime.releaseObjectGroup', { __proto__: null, silent: true, objectGroup: 'cell' });
  }
  pinned = undefined;
  checkDescriptors(); // before anything of ours is opened in the place of one
  if (mine.imagesLeftOut > 0) say(leftOut(mine));
  if (output.takeOpenLine() && reads && mine.outcome[0][1] === 'ok') say(UNANSWERED);
  if (mine.declares) lexicalAsked = true;
  refreshNames();
  dropStandIns();
  const names = values.changedNames();
  if (names !== undefined) push(mine.outcome, ['names', names]);
  addChildren(mine.outcome);
}

let lexicalAsked = true;

function refreshNames() {
  if (!lexicalAsked) return;
  lexicalAsked = false;
  post('Runtime.globalLexicalScopeNames', { __proto__: null, silent: true }, (error, reply) => {
    if (reply) values.addLexical(reply.names);
  });
}

// How many child processes live. Only this thread has any, unless a worker started them.
function addChildren(parts) {
  if (!childrenPossible()) return;
  let count = 0;
  try {
    const pids = split(readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1'), ' ');
    for (let i = 0; i < pids.length; i++) count += pids[i] !== '' && isAlive(pids[i]) ? 1 : 0;
  } catch {
    return; // a kernel without these files
  }
  if (count === 0) return;
  mayWrite = true;
  push(parts, ['children', `${count}`]);
}

let childProcess = false;
let modulesLoaded = 0;

function childrenPossible() {
  const { length } = process.moduleLoadList;
  if (!childProcess && length !== modulesLoaded) {
    modulesLoaded = length;
    childProcess = includes(process.moduleLoadList, 'NativeModule child_process');
  }
  return childProcess;
}

function isAlive(pid) {
  try {
    return exec(/\) Z /, readFileSync(`/proc/${pid}/stat`, 'latin1')) === null;
  } catch {
    return false;
  }
}

// ---- showing ----------------------------------------------------------------------------------

function say(text) {
  if (text === '') return;
  try {
    writeSync(2, text[text.length - 1] === '\n' ? text : `${text}\n`);
  } catch {
    // The user closed it.
  }
}

function leftOut({ imagesLeftOut, imagesLost }) {
  const kept = imagesLost > 0 ? `${imagesLost} could not be saved in output/ and are lost` : 'saved in output/';
  return `[${imagesLeftOut} more images are not named: ${IMAGES_PER_CELL} a cell are; ${kept}]`;
}

function saver(mine) {
  return (bytes, ending) => {
    mine.images++;
    const name = saveOutput(bytes, `cell-${mine.id}-figure-${mine.images}.${ending}`);
    if (ending === 'svg' || mine.images <= IMAGES_PER_CELL) return name;
    mine.imagesLeftOut++;
    if (name === undefined) mine.imagesLost++;
    return null;
  };
}

function saveOutput(bytes, name) {
  if (!OUTPUT) return undefined;
  try {
    const temporary = `${OUTPUT}/.${name}.part`;
    writeFileSync(temporary, bytes);
    renameSync(temporary, `${OUTPUT}/${name}`);
    return name;
  } catch {
    return undefined;
  }
}

function partsOf(bundle, value) {
  if (bundle === undefined || bundle === null || typeof bundle !== 'object') {
    return [['text/plain', values.plainText(value)]];
  }
  return values.partsOf(bundle, value, saver(cell));
}

function publish(bundle, value) {
  const mine = cell;
  if (mine === null || mine.ended) {
    say(values.plainText(value)); // nobody waits for it any more
    return;
  }
  const parts = partsOf(bundle, value);
  for (let i = 0; i < parts.length; i++) {
    if (parts[i][0] === 'text/plain' && parts[i][1] !== '') parts[i][1] += '\n';
  }
  hold(() => {
    send('display', mine.id, parts);
    awaitAck(mine.id);
  });
}

// Shows values at this place of the output. With {raw: true} last they are bundles themselves.
function display(...shown) {
  const last = shown[shown.length - 1];
  const raw = shown.length > 1 && last !== null && typeof last === 'object' && last.raw === true;
  let pending;
  for (let i = 0; i < shown.length - (raw ? 1 : 0); i++) {
    const value = shown[i];
    const bundle = raw ? value : values.ownBundle(value);
    if (!values.isPromise(bundle)) publish(bundle, value);
    else pending = then(bundle, (found) => publish(found, value));
  }
  return pending;
}

// ---- errors -----------------------------------------------------------------------------------

function rememberSource(file, code) {
  sources[file] = code;
  const old = `cell-${Number(slice(file, 5, -3)) - SOURCES_KEPT}.js`;
  delete sources[old];
  delete moved[old];
}

// A stack is as it would be without us: what runs a cell is below it, the rest of ours beside it. Node
// asks Error.prepareStackTrace when an error's stack is first read; a function of the code's gets the same places.
const BELOW = /^(?:node:inspector|ptycell:cell)$/;
const OWN = /^ptycell:/;
const isPrepared = uncurry(WeakSet.prototype.has);
const notePrepared = uncurry(WeakSet.prototype.add);
const prepared = new WeakSet(); // functions that get no place of ours
let prepare = stackOf;

function placesOf(trace) {
  const kept = [];
  for (let i = 0; i < trace.length; i++) {
    const file = `${trace[i].getFileName()}`;
    if (exec(BELOW, file) !== null) break;
    if (exec(OWN, file) === null) push(kept, trace[i]);
  }
  return kept;
}

// A place in a cell is where its text has it.
function asPlaced(text) {
  const place = exec(CELL_PLACE, text);
  if (place === null || moved[place[1]] === undefined) return text;
  const column = syntax.writtenColumn(moved[place[1]], Number(place[2]), Number(place[3]));
  return `${slice(text, 0, place.index)}${place[1]}:${place[2]}:${column}${slice(text, place.index + place[0].length)}`;
}

function stackOf(error, trace) {
  const lines = [];
  const places = placesOf(trace);
  for (let i = 0; i < places.length; i++) push(lines, `\n    at ${asPlaced(`${places[i]}`)}`);
  return describe(error) + join(lines, '');
}

function setPrepare(own) {
  prepare = typeof own === 'function' && own !== stackOf ? preparedBy(own) : stackOf;
}

function preparedBy(own) {
  if (isPrepared(prepared, own)) return own;
  const ours = function (error, trace) {
    return apply(own, this, [error, placesOf(trace)]);
  };
  notePrepared(prepared, ours);
  return ours;
}

function prepareStacks() {
  prepare = stackOf;
  defineProperty(Error, 'prepareStackTrace', { __proto__: null, get: () => prepare, set: setPrepare, configurable: true, enumerable: false });
}

const CELL_PLACE = /(cell-\d+\.js):(\d+):(\d+)/;

function firstLine(error) {
  return split(`${error.message}`, '\n')[0];
}

// "cell-3.js:2", the line and a caret, as Node shows where an error was thrown.
function excerpt(file, line, column) {
  const source = sources[file];
  const text = source === undefined ? undefined : split(source, '\n')[line - 1];
  if (text === undefined || text.length > 200) return '';
  const caret = column > 0 ? `${repeat(' ', min(column - 1, text.length))}^\n` : '';
  return `${file}:${line}\n${text}\n${caret}`;
}

function placeOf(text) {
  const place = exec(CELL_PLACE, text);
  return place === null ? undefined : { file: place[1], line: Number(place[2]), column: Number(place[3]) };
}

function nameOf(error) {
  if (values.isNativeError(error) || (error !== null && typeof error === 'object' && has(error, 'stack'))) {
    const name = read(error, 'name');
    if (name !== undefined && exec(/^[\w$]{1,80}$/, name) !== null) return name;
  }
  return error !== null && typeof error === 'object' ? values.typeName(error) : 'Uncaught';
}

function textOf(error) {
  try {
    if (error !== null && typeof error === 'object' && has(error, 'message')) {
      return values.shortened(`${error.message}`, EVALUE_LIMIT);
    }
    return values.shortened(inspect(error), EVALUE_LIMIT);
  } catch {
    return '';
  }
}

// Whether the object has it, where a proxy may have made that throw.
function has(object, name) {
  try {
    return name in object;
  } catch {
    return false;
  }
}

// A property that the code may have made throw.
function read(object, name) {
  try {
    return `${object[name]}`;
  } catch {
    return undefined;
  }
}

// What an error says whose own code fails at showing it, for the `reason`.
function withoutStack(error, reason) {
  const name = read(error, 'name') ?? 'Error';
  const message = read(error, 'message');
  const said = message === undefined || message === '' ? name : `${name}: ${message}`;
  const object = reason !== null && typeof reason === 'object';
  const why = object ? read(reason, 'message') : read([reason], 0);
  return `${said}\n    [it cannot be shown in full: its own code threw ${why === undefined ? 'an error' : why}]`;
}

function traceback(error) {
  let text;
  try {
    text = values.inspectBriefly(error, { __proto__: null, depth: 2, maxStringLength: 2000, maxArrayLength: 20 });
  } catch (reason) {
    text = withoutStack(error, reason);
  }
  const place = values.isNativeError(error) ? placeOf(text) : undefined;
  const where = place === undefined ? '' : excerpt(place.file, place.line, place.column);
  return `${values.shortened(`${where}${text}`, TRACEBACK_LIMIT)}\n`;
}

// Whether the code of a cell made it: whatever it says, no call met a limit there. Those that the system
// answered have a code; an allocation that failed is a RangeError, made where the code stands.
function isMadeByCell(error) {
  if (!values.isNativeError(error)) return typeof error === 'string';
  if (read(error, 'code') !== 'undefined' || read(error, 'name') === 'RangeError') return false;
  const first = exec(/\n +at [^\n]*/, read(error, 'stack') ?? '');
  return first !== null && exec(CELL_PLACE, first[0]) !== null;
}

function describeError(error) {
  const text = asWritten(`${values.isNativeError(error) ? '' : 'Uncaught '}${traceback(error)}${importHint(error)}`);
  const parts = [['status', 'error'], ['ename', nameOf(error)], ['evalue', asWritten(textOf(error))], ['traceback', text]];
  const place = placeOf(text);
  if (place !== undefined && place.file === cell.file) push(parts, ['line', `${place.line}`]);
  const missing = missingModule(error);
  if (missing !== undefined) push(parts, ['missing', missing]);
  if (isMadeByCell(error)) push(parts, ['raised', '1']);
  return parts;
}

// Text of V8's about code in which IMPORT stands for `import`.
function asWritten(text) {
  return indexOf(text, syntax.IMPORT) < 0 ? text : join(split(text, syntax.IMPORT), 'import');
}

function importHint(error) {
  if (!values.isNativeError(error)) return '';
  const refused = read(error, 'code') === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING' || read(error, 'message') === 'Invalid host defined options'; // Node 18
  if (!refused) return '';
  return 'Text that eval(), new Function() or vm runs cannot import() here: write the import() into the cell, or take require().\n';
}

const MISSING = /^Cannot find (?:module|package) '((?:@[\w.-]{1,200}\/)?[\w.-]{1,200})/;

function missingModule(error) {
  if (!values.isNativeError(error)) return undefined;
  const code = read(error, 'code');
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const found = exec(MISSING, `${read(error, 'message')}`);
  return found === null || found[1][0] === '.' || hasFolder(found[1]) ? undefined : found[1];
}

// Whether the package is there, and only lacks the file that was asked for.
function hasFolder(name) {
  const folders = requireFromCell.resolve.paths(name) ?? [];
  for (let i = 0; i < folders.length; i++) {
    if (statSync(`${folders[i]}/${name}`, { __proto__: null, throwIfNoEntry: false }) !== undefined) return true;
  }
  return false;
}

function describeSyntaxError(error, details) {
  const lines = split(cell.code, '\n');
  const line = min(details.lineNumber + 1, lines.length);
  const column = details.lineNumber + 1 > lines.length ? lines[line - 1].length + 1 : syntax.writtenColumn(moved[cell.file], line, details.columnNumber + 1);
  const message = asWritten(firstLine(error));
  const text = `${excerpt(cell.file, line, column)}SyntaxError: ${message}\n${typeScriptHint(message)}`;
  return [['status', 'error'], ['ename', 'SyntaxError'], ['evalue', message], ['traceback', text],
    ['line', `${line}`]];
}

const PLAIN = /already been declared$|^Unexpected end of input$/; // what is wrong with the text is no type

function typeScriptHint(message) {
  if (cell.typeProblem !== undefined) {
    return `Node runs TypeScript by taking the types away, which is not enough here: ${cell.typeProblem}\n`;
  }
  const foreign = syntax.looksForeign(cell.code);
  if (foreign !== '') return `This looks like ${foreign}, which Node does not run.\n`;
  if (typeof stripTypeScriptTypes === 'function' || exec(PLAIN, message) !== null || !syntax.looksLikeTypeScript(cell.code)) return '';
  return `This looks like TypeScript, which needs Node 22.13 or later; this is ${process.version}. ` +
    'Leave the types out.\n';
}

const TEST_RUNNER = /\btestResources\.get\(/;

// Whether the code listens beside us. The handlers that node:test leaves for good only note errors for its report.
function codeListens(name) {
  const there = process._events?.[name];
  if (typeof there !== 'object') return false; // nobody, or we alone
  let count = 0;
  for (let i = 0; i < there.length; i++) count += exec(TEST_RUNNER, textOfFunction(there[i])) === null ? 1 : 0;
  return count > 1;
}

// What nobody catches is shown, and the session lives, unless the user listens for it.
function onUncaught(error, origin) {
  if (error === INTERRUPTION) return;
  if (codeListens('uncaughtException')) return;
  say(`Uncaught ${origin === 'unhandledRejection' ? '(in promise) ' : ''}${traceback(error)}`);
}

function onRejection(error) {
  if (hasExited(cell) || codeListens('unhandledRejection')) return;
  say(`Uncaught (in promise) ${traceback(error)}`);
}

// What the stub's listener calls: a listener of the code may be one that
// leaves as it is called, which is after this.
host.interrupted = () => {
  if (cell !== null && countListeners('SIGINT') > listened) cell.handles = true;
};

function onSigusr1() {
  // Node would open its debugger, after which V8 evaluates nothing for our session.
}

const handlers = [['SIGINT', host.onSigint], ['SIGUSR1', onSigusr1], ['uncaughtException', onUncaught], ['unhandledRejection', onRejection]];
const watchers = []; // Node's own, which watch a signal while somebody listens for it
for (const name of ['newListener', 'removeListener']) {
  for (const handler of process.listeners(name)) push(watchers, [name, handler]);
}

// By Node's own list: a copy of it, as process.listeners() gives, asks the code's Array.
function isListening(events, name, handler) {
  const there = events?.[name];
  if (there === handler) return true;
  if (typeof there !== 'object') return false;
  for (let i = 0; i < there.length; i++) if (there[i] === handler) return true;
  return false;
}

// What the last cell may have broken.
function prepareProcess() {
  breaksOnSigint = false; // what was terminated left it
  checkDescriptors();
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
function keepHandlers() {
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

// ---- the standard descriptors -----------------------------------------------------------------

const STREAMS = ['stdin', 'stdout', 'stderr']; // by their descriptors
const ON_TERMINAL = '';
const redirected = [ON_TERMINAL, ON_TERMINAL, ON_TERMINAL]; // where the code sent them, as last told
const terminal = openTerminal('/proc/self/fd/2'); // our own: the code may close all of its own
const terminalDevice = terminal < 0 ? 0 : fstatSync(terminal).rdev;

function openTerminal(file) {
  try {
    return openSync(file, fs.constants.O_RDWR | fs.constants.O_NOCTTY);
  } catch {
    return -1;
  }
}

// Puts the terminal back where the code closed a descriptor; says so, and what it redirected.
function checkDescriptors() {
  if (terminal < 0) return;
  for (let fd = 0; fd < STREAMS.length; fd++) {
    let target = ON_TERMINAL;
    try {
      if (fstatSync(fd).rdev !== terminalDevice) target = targetOf(fd);
    } catch {
      reopen(fd);
    }
    if (target !== ON_TERMINAL && target !== redirected[fd]) tellTerminal(`[${STREAMS[fd]} is redirected to ${target}]\n`);
    redirected[fd] = target;
  }
}

function isTerminal(fd) {
  try {
    return terminal >= 0 && fstatSync(fd).rdev === terminalDevice;
  } catch {
    return false;
  }
}

function targetOf(fd) {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '?';
  }
}

// What is opened has the lowest number that is free, which is this one: those below it are open.
function reopen(fd) {
  const opened = openTerminal(`/proc/self/fd/${terminal}`);
  if (opened === fd) tellTerminal(`[the code closed ${STREAMS[fd]}; it is open again]\n`);
  else if (opened >= 0) closeSync(opened);
}

function tellTerminal(text) {
  try {
    writeSync(terminal, text);
  } catch {
    // The user closed it.
  }
}

// ---- reading the terminal ---------------------------------------------------------------------
//
// A terminal that was read once stays in the set that Node waits for. So the server learns from here
// whether somebody reads it.

let reads = false;

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

// What an older cell read the stream with is gone, and Node goes on reading: the cell that listens anew waits.
function watchListeners(stream) {
  on(stream, 'newListener', (name) => {
    if (reads && READERS[name]) tellReads(true, true);
  });
}

let input; // process.stdin
let nextInput; // makes it

// Node makes the stream at its first use.
function watchInput() {
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

// Nothing comes from a stream that was read to its end or destroyed, and Node makes one only: the terminal is there for
// the next cell.
function leaveUsedInput() {
  const state = input?._readableState;
  if (state?.flowing === false) state.flowing = null; // as older code has paused it: who listens now reads
  if (!state || !(state.destroyed || (state.ended && state.length === 0)) || !isTerminal(0)) return;
  input = undefined;
  nextInput = newInput;
  syncBuiltinESMExports(); // for who has imported it of node:process
}

// As Node's own, which is not read while it is paused.
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

// ---- modules ----------------------------------------------------------------------------------

const anchor = path.join(WORKSPACE, 'cell.js'); // cells require and import as a file of this name
const requireFromCell = Module.createRequire(anchor);
const { cache } = requireFromCell;
const seen = { __proto__: null }; // file of the session -> what it was when it was loaded
const kept = { __proto__: null }; // file -> true, of those that cannot be loaded anew
const importsOf = { __proto__: null }; // file -> the files that its import() or createRequire() has loaded
const { _load: loadByName, isBuiltin } = Module;
const recordOf = new WeakMap(); // of a job of Node's ES loader, which loads one module
let records = []; // of all of its jobs
let recordsMade = 0;
let esModules; // what Node's ES loader has loaded: URL -> its jobs by their type
let relativePaths; // what Node knows of relative names
let realPaths; // and of links
let shown; // to V8
let loaderSought = false;

const EVALUATED = 4; // V8's Module::Status
const ERRORED = 5;
const IN_LOADER = 'loader'; // the group of what V8 shows of it
const IN_PACKAGES = /\/node_modules\//;
const isOfPackage = (file) => exec(IN_PACKAGES, `${file}`) !== null;

// Each load, whoever asks for it, comes through here: the session's own files that have changed are loaded anew. What
// a file loads while it is itself being loaded belongs to that load.
Module._load = function _load(request, parent) {
  if (typeof request !== 'string' || isBuiltin(request) || isOfPackage(parent?.filename)) return apply(loadByName, this, arguments);
  if (parent && (parent.loaded || cache[parent.filename] !== parent)) look();
  noteRequested(request, parent);
  const before = recordsMade;
  let loaded = false;
  try {
    const exports = apply(loadByName, this, arguments);
    loaded = true;
    return exports;
  } finally {
    if (recordsMade > before) settleSince(before, loaded);
  }
};

function noteRequested(request, parent) {
  let file;
  try {
    file = Module._resolveFilename(request, parent, false);
  } catch {
    return; // which the load itself tells
  }
  if (seen[file] !== undefined && hasChanged(file)) hold(() => forgetFiles(withImporters([file]), [file]));
  noteFile(file);
  if (cache[parent?.filename] !== parent) noteImporter(parent?.filename, file); // by createRequire(): Node does not tell
}

function noteImporter(importer, file) {
  if (seen[importer] === undefined) return;
  importsOf[importer] ??= { __proto__: null };
  importsOf[importer][file] = true;
}

function noteFile(file) {
  if (seen[file] === undefined && path.isAbsolute(file) && !isOfPackage(file)) seen[file] = fingerprint(file);
}

// What require() loaded of ES modules is whole, or is loaded anew the next time.
function settleSince(before, loaded) {
  if (loaded) {
    for (let i = 0; i < records.length; i++) if (records[i].number > before && statusOf(records[i]) === EVALUATED) records[i].whole = true;
  } else {
    forgetRecords((record) => record.number > before && statusOf(record) !== EVALUATED);
  }
}

// The function of Node's ES loader that each import() calls.
function watchImports(loader) {
  const { import: load } = loader;
  const { set } = esModules;
  esModules.set = function (url, type, job) {
    const result = apply(set, this, arguments);
    noteJob(url, job);
    return result;
  };
  loader.import = function (specifier, parent) {
    if (isBuiltin(specifier)) return apply(load, this, arguments);
    if (!isOfPackage(parent)) look();
    return settleImport(apply(load, this, arguments), parent);
  };
}

async function settleImport(importing, parent) {
  try {
    const module = await importing;
    noteImported(module, parent);
    return module;
  } catch (error) {
    await watchLinks();
    forgetFailed();
    throw error;
  }
}

function fileOfUrl(url) {
  try {
    return slice(url, 0, 5) === 'file:' ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

function noteJob(url, job) {
  if (typeof job !== 'object' || tiedTo(recordOf, job) !== undefined) return;
  const file = fileOfUrl(url);
  const record = { __proto__: null, url, file, job, linked: undefined, failed: false, whole: false, watched: false,
    number: ++recordsMade, cell: cell === null ? 0 : cell.number };
  tie(recordOf, job, record);
  push(records, record);
  if (file !== undefined) noteFile(file);
  watchLink(record, job.linked, (linked) => { record.linked = linked; });
}

function watchLink(record, promise, done) {
  if (util.types.isPromise(promise)) then(promise, done, () => { record.failed = true; });
}

// Returns once it is known whose names do not fit.
async function watchLinks() {
  for (let i = 0; i < records.length; i++) {
    const record = records[i];
    if (record.watched || !util.types.isPromise(record.job.instantiated)) continue;
    record.watched = true;
    watchLink(record, record.job.instantiated, noop);
  }
  await undefined;
}

// The jobs of what a module imports; undefined while Node looks for them.
function linkedOf(record) {
  if (record.linked !== undefined) return record.linked;
  const { linked } = record.job;
  return typeof linked?.length === 'number' ? linked : undefined;
}

function statusOf({ job }) {
  return job.module?.getStatus();
}

function noteImported(module, parent) {
  const record = recordOfModule(module);
  if (record === undefined) return;
  noteWhole(record);
  if (record.file !== undefined) noteImporter(fileOfUrl(parent), record.file);
}

function recordOfModule(module) {
  for (let i = records.length - 1; i >= 0; i--) {
    if (statusOf(records[i]) === EVALUATED && records[i].job.module.getNamespace() === module) return records[i];
  }
  return undefined;
}

function noteWhole(first) {
  const found = [first];
  for (let i = 0; i < found.length; i++) {
    if (found[i] === undefined || found[i].whole) continue;
    found[i].whole = true;
    const linked = linkedOf(found[i]) ?? [];
    for (let k = 0; k < linked.length; k++) push(found, tiedTo(recordOf, linked[k]));
  }
}

function forgetRecords(isMeant) {
  const rest = [];
  for (let i = 0; i < records.length; i++) {
    if (isMeant(records[i])) remove(esModules, records[i].url);
    else push(rest, records[i]);
  }
  records = rest;
}

// What failed is loaded anew the next time.
function forgetFailed() {
  forgetRecords((record) => record.failed || statusOf(record) === ERRORED);
}

// What was being loaded by a cell that was interrupted is loaded anew the next time.
function forgetHalves(number) {
  for (const file in cache) if (cache[file].loaded === false) delete cache[file];
  forgetRecords((record) => record.cell === number && !record.whole);
}

// Node keeps each ES module for good, also one that failed, and has no call that forgets it. V8 shows what a function of
// Node's sees, which is all of its modules.
function findLoader() {
  if (loaderSought) return;
  loaderSought = true;
  try {
    const { require: requireOfNode, relativeResolveCache } = scopeOf(loadModule);
    relativePaths = relativeResolveCache;
    const loader = loaderOf(requireOfNode);
    forEach(loader.loadCache, noop);
    esModules = loader.loadCache;
    watchImports(loader);
    realPaths = scopeOf(requireOfNode('internal/modules/helpers').toRealPath).realpathCache;
    forEach(esModules, (jobs, url) => { for (const type in jobs) noteJob(url, jobs[type]); });
  } catch {
    // This Node has it elsewhere.
  }
  post('Runtime.releaseObjectGroup', { __proto__: null, silent: true, objectGroup: IN_LOADER }, noop);
}

// The variables that a function of Node's sees.
function scopeOf(method) {
  shown = method;
  const { objectId: id } = ask('Runtime.evaluate', { expression: comeBack(SHOWN), objectGroup: IN_LOADER }).result;
  const { internalProperties } = ask('Runtime.getProperties', { objectId: id, ownProperties: true });
  let at = 0;
  while (internalProperties[at].name !== '[[Scopes]]') at++;
  const scopes = ask('Runtime.getProperties', { objectId: internalProperties[at].value.objectId, ownProperties: true }).result;
  return unboxed(scopes[0].value.objectId).object;
}

function loaderOf(requireOfNode) {
  const { getOrInitializeCascadedLoader: get } = requireOfNode('internal/modules/esm/loader');
  return get === undefined ? requireOfNode('internal/process/esm_loader').esmLoader : get(); // Node 18
}

function ask(method, params) {
  let answer;
  post(method, { __proto__: null, silent: true, ...params }, (error, reply) => { answer = reply; });
  return answer;
}

function fingerprint(file) {
  const stat = statSync(file, { __proto__: null, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
}

// Before something is loaded: has both loaders take anew what has changed since one of them loaded it.
function look() {
  findLoader();
  forgetFailed();
  forgetPaths(pathCache);
  forgetPaths(relativePaths);
  if (realPaths !== undefined) clear(realPaths);
  const changed = [];
  for (const file in seen) if (hasChanged(file)) push(changed, file);
  if (changed.length > 0) hold(() => forgetFiles(withImporters(changed), changed));
}

function hasChanged(file) {
  const now = fingerprint(file);
  if (now !== seen[file] && holdsAllOf(file)) seen[file] = now;
  return now !== seen[file];
}

// Whether a file of data says what the object holds already that require() gave: the code has written it back.
function holdsAllOf(file) {
  if (path.extname(file) !== '.json' || cache[file] === undefined) return false;
  try {
    return stringify(cache[file].exports) === stringify(parse(readFileSync(file, 'utf8')));
  } catch {
    return false;
  }
}

// What a name means is asked anew, where that is a file of the session.
function forgetPaths(paths) {
  for (const key in paths) if (!isOfPackage(paths[key])) delete paths[key];
}

// These files, the session's own files that have loaded them, and theirs: no two versions of a file stand side by side.
function withImporters(files) {
  const importers = importersOfAll();
  const found = [...files];
  const known = { __proto__: null };
  for (let i = 0; i < found.length; i++) {
    if (known[found[i]]) continue;
    known[found[i]] = true;
    const by = importers[found[i]] ?? [];
    for (let k = 0; k < by.length; k++) push(found, by[k]);
  }
  return known;
}

function importersOfAll() {
  const importers = { __proto__: null };
  const add = (file, by) => {
    importers[file] ??= [];
    push(importers[file], by);
  };
  for (const file in seen) {
    const children = cache[file]?.children;
    for (let i = 0; i < (children?.length ?? 0); i++) add(children[i]?.filename, file);
    for (const other in importsOf[file]) add(other, file);
  }
  for (let i = 0; i < records.length; i++) {
    const linked = seen[records[i].file] === undefined ? [] : linkedOf(records[i]) ?? [];
    for (let k = 0; k < linked.length; k++) add(tiedTo(recordOf, linked[k])?.file, records[i].file);
  }
  return importers;
}

// What has changed is noted when it is loaded, after all is forgotten: who is interrupted before begins again.
function forgetFiles(gone, changed) {
  for (const file in gone) {
    delete cache[file];
    delete importsOf[file];
  }
  forgetRecords((record) => gone[record.file]);
  for (let i = 0; i < changed.length; i++) {
    const file = changed[i];
    delete seen[file];
    if (esModules === undefined && kept[file]) tellKept(file);
  }
}

function tellKept(file) {
  noteFile(file);
  say(`[${path.basename(file)} has changed, but this Node keeps what an import has loaded: give it another name, or start a new interpreter (interact with action terminate)]`);
}

const IMPORTED = /\b(?:from|import|require)\s*\(?\s*(["'])((?:\.{0,2}\/|file:)[^"'\n]+)\1/g;

// The file is imported by a Node that keeps it, and what it imports.
function noteKept(file) {
  kept[file] = true;
  noteFile(file);
  const found = importedBy(file);
  for (let i = 0; i < found.length; i++) if (!kept[found[i]]) noteKept(found[i]);
}

function textOfFile(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

// The files that an ES module imports by its text, where Node does not tell.
function importedBy(file) {
  const found = [];
  const text = textOfFile(file);
  IMPORTED.lastIndex = 0;
  for (let match = exec(IMPORTED, text); match !== null; match = exec(IMPORTED, text)) {
    const imported = fileNamed(match[2], path.dirname(file));
    if (imported !== undefined) push(found, imported);
  }
  return found;
}

function isRelative(specifier) {
  return exec(/^(?:\.{1,2}\/|\/|\.{1,2}$)/, specifier) !== null;
}

// Where relative names begin: the workspace, or where the code has gone.
function currentFolder() {
  try {
    return cwd();
  } catch {
    return WORKSPACE; // the code removed it
  }
}

function inFolder(id) {
  const folder = currentFolder();
  return folder === WORKSPACE || typeof id !== 'string' || id[0] !== '.' || !isRelative(id) ? id : `${folder}/${id}`;
}

function resolve(id, options) {
  return requireFromCell.resolve(inFolder(id), options);
}

function require(id) {
  const loaded = requireFromCell(inFolder(id));
  if (!isRelative(id)) notePackage(id);
  values.noteModule(loaded);
  return loaded;
}

// The file that a specifier names by its path or URL, as both loaders know it: through no link.
function fileNamed(specifier, folder) {
  if (!isRelative(specifier) && slice(specifier, 0, 5) !== 'file:') return undefined;
  let file;
  try {
    file = fileURLToPath(new URL(specifier, pathToFileURL(`${folder}/`)));
    return realpathSync(file);
  } catch {
    return file;
  }
}

const REFERRER = ` imported from ${path.join(WORKSPACE, '[eval]')}`;

// Node takes a cell's import for one of the stub, and shows how it looked for the module.
function placeImport(error, from) {
  const message = values.isNativeError(error) ? read(error, 'message') : undefined;
  const at = message === undefined ? -1 : indexOf(message, REFERRER);
  if (at < 0) return;
  const stack = read(from, 'stack') ?? '';
  const place = placeOf(stack);
  const importer = place === undefined ? '' : ` imported from ${place.file}`;
  error.message = slice(message, 0, at) + importer + slice(message, at + REFERRER.length);
  error.stack = describe(error) + slice(stack, indexOf(`${stack}\n`, '\n'));
}

const PLACED = /\n +at (?!.*(?:node:|cell-\d+\.js:))/;
const CHECKED_MAX = 20; // files: each takes a Node

// Where Node cannot compile an ES module it keeps the place to itself.
function placeRefusal(error, from, file) {
  const stack = values.isNativeError(error) ? read(error, 'stack') : undefined;
  if (stack === undefined || !(error instanceof SyntaxError) || indexOf(stack, describe(error)) !== 0 || exec(PLACED, stack) !== null) return;
  const place = refusal(file);
  const own = read(from, 'stack') ?? '';
  if (place !== undefined) error.stack = `${place}\n\n${describe(error)}${slice(own, indexOf(`${own}\n`, '\n'))}`;
}

const SCRIPT = /\.js$/;
const MODULE_TEXT = /^\s*(?:import|export)\b/m;
const STDIN = '[stdin]'; // what Node calls it

// The file, line and caret of what Node refuses in this file.
function refusedIn(file) {
  const place = check([file], '');
  if (place !== undefined || exec(SCRIPT, file) === null) return place;
  const text = textOfFile(file); // that it is a module its text alone may say, which this check does not ask in Node 20 and 22
  if (exec(MODULE_TEXT, text) === null) return undefined;
  const found = check(['--input-type=module', '-'], text);
  return found !== undefined && indexOf(found, STDIN) === 0 ? file + slice(found, STDIN.length) : undefined;
}

function check(what, text) {
  const { status, stderr } = host.require('child_process').spawnSync(process.execPath, ['--check', ...what], { __proto__: null, encoding: 'utf8', input: text });
  return status === 1 ? slice(stderr, 0, indexOf(stderr, '\n\n')) : undefined;
}

// The file, line and caret of what Node refuses in this file, or in one that it imports.
function refusal(file) {
  const files = [file];
  for (let i = 0; i < files.length && i < CHECKED_MAX; i++) {
    const place = refusedIn(files[i]);
    if (place !== undefined) return place;
    const found = importedBy(files[i]);
    for (let k = 0; k < found.length; k++) if (!includes(files, found[k])) push(files, found[k]);
  }
  return undefined;
}

// import() and the import statement; a file of the session that has changed is loaded anew.
async function importModule(specifier, options) {
  const name = `${specifier}`;
  const file = fileNamed(name, currentFolder());
  const from = {};
  captureStackTrace(from);
  if (!loaderSought && !isBuiltin(name)) look();
  if (esModules === undefined && file !== undefined) {
    look();
    noteKept(file);
  }
  let module;
  try {
    module = await host.import(file === undefined ? name : pathToFileURL(file).href + queryOf(name), options);
  } catch (error) {
    placeImport(error, from);
    if (file !== undefined) placeRefusal(error, from, file);
    throw error;
  }
  if (file === undefined) notePackage(name);
  return module;
}

function queryOf(specifier) {
  return exec(/[?#].*$/s, specifier)?.[0] ?? '';
}

// ---- imported names ---------------------------------------------------------------------------
//
// A module may change what it exports, and who has imported the name sees it. So the name is a property of globalThis
// that reads the module's, where no older declaration hides that; such a name keeps a value of its own.

const standIns = { __proto__: null }; // name -> the function that reads it until the import has come

// What an imported name becomes; see importStatement() of syntax.
function standFor(name) {
  if (values.isLexical(name)) return 'let';
  const own = descriptorOf(globals, name);
  if (own === undefined) {
    standIns[name] = () => { throw new ReferenceError(`Cannot access '${name}' before initialization`); };
    return defineImport(name, standIns[name]) ? 'live' : 'let';
  }
  if (own.get !== undefined && (values.isImport(own) || own.get === standIns[name])) return 'live';
  return own.configurable ? 'let' : 'var';
}

// False when globalThis is frozen.
function defineImport(name, get) {
  const set = (value) => defineProperty(globals, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  return replaceProperty(globals, name, { __proto__: null, get, set, enumerable: true, configurable: true });
}

function dropStandIns() {
  for (const name in standIns) {
    if (descriptorOf(globals, name)?.get === standIns[name]) {
      delete globals[name];
      if (!values.isLexical(name)) delete constants[name];
    }
    delete standIns[name];
  }
}

// For `import own, {a, b as c} from`: makes the `locals` read these names of the module.
async function importLive(specifier, names, locals, options) {
  const module = await importNames(specifier, names, options);
  for (let i = 0; i < names.length; i++) {
    const read = () => module[names[i]];
    values.noteImport(read);
    defineImport(locals[i], read);
  }
  return module;
}

// The module, which must have these names.
async function importNames(specifier, names, options) {
  const from = {};
  captureStackTrace(from);
  const module = await importModule(specifier, options);
  for (let i = 0; i < names.length; i++) {
    if (names[i] in module) continue;
    const error = new SyntaxError(`The requested module '${specifier}' does not provide an export named '${names[i]}'`);
    const stack = read(from, 'stack') ?? '';
    error.stack = describe(error) + slice(stack, indexOf(`${stack}\n`, '\n'));
    throw error;
  }
  values.noteModule(module.default);
  return module;
}

// ---- text of functions ------------------------------------------------------------------------

// The text of a function is as the cell has it: code hands it to workers and pages, or writes it to files.
function showFunctionsAsWritten() {
  const { toString } = Function.prototype;
  const value = new Proxy(toString, { __proto__: null, apply: (method, self) => asWritten(withName(self, textOfFunction(self))) });
  defineProperty(Function.prototype, 'toString', { __proto__: null, value });
}

function withName(own, text) {
  const found = tiedTo(made, own);
  return found === undefined ? text : slice(text, 0, found.at) + found.name + slice(text, found.at + found.name.length);
}

// ---- start ------------------------------------------------------------------------------------

function hide(name, value, fixed) {
  defineProperty(globals, name, { __proto__: null, value, writable: !fixed, configurable: !fixed, enumerable: false });
}

function setUpGlobals() {
  const module = new Module(anchor, null);
  module.filename = anchor;
  module.paths = requireFromCell.resolve.paths('x');
  for (const name of ['cache', 'extensions']) require[name] = requireFromCell[name];
  resolve.paths = requireFromCell.resolve.paths;
  require.resolve = resolve;
  require.main = module;
  importModule.names = importNames;
  importModule.live = importLive;
  importModule.meta = { __proto__: null, url: pathToFileURL(anchor).href, dirname: WORKSPACE, filename: anchor,
    resolve: (specifier) => pathToFileURL(resolve(specifier)).href };
  hide('require', require);
  process.nextTick(() => hide('module', module)); // Node puts its own back when the stub ends
  hide('exports', module.exports);
  hide('__filename', anchor);
  hide('__dirname', WORKSPACE);
  hide('display', display);
  hide('Jupyter', { display, symbol: JupyterDisplay });
  hide(syntax.IMPORT, importModule, true);
  hide(SECRET, onComeBack, true);
  defineProperty(globals, syntax.CONSTANT, { __proto__: null, get: () => constantOf, set: assignToConstant, enumerable: false });
  defineProperty(globals, syntax.FIRST, { __proto__: null, get: makeFirst, enumerable: false });
  defineProperty(globals, syntax.NOWHERE, { __proto__: null, get: () => undefined, set: () => {}, enumerable: false });
  process.execArgv = []; // the stub is not for children
  process.exit = endCell;
  keepHandlers();
  showFunctionsAsWritten();
  prepareStacks();
}

// The first cell is read by hand: what it takes to listen (5 ms) is loaded behind its answer, unless
// it fails.
function begin() {
  takeFrames();
  while (waiting.length === 0) readSome();
  work();
  soon(() => soon(listen));
}

function listen() {
  if (listening) return;
  const net = host.require('net');
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

connect();
watchInput();
setUpGlobals();
values.hideGlobals();
prepareProcess();
process.nextTick(begin);
