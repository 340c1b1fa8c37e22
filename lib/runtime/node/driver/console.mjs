// SPDX-License-Identifier: MIT
// console.mjs - evaluates text by V8's own console mode, through an inspector session within the
// process.
//
// Runtime.evaluate with replMode lets names be declared again and lets `await` stand anywhere.
// V8 answers with descriptions, so a value comes out by a call of the global SECRET. Node's
// inspector makes its messages with JSON.stringify: what user code has given to Object.prototype
// must be out of the way meanwhile.

import {
  BigInt, connectSession, defineProperty, descriptorOf, disconnectSession, hasOwn, indexOf, load,
  Number, objectPrototype, postMessage, push, Session, slice, store, syntax, v8, values, vm,
  withoutPrototype,
} from './own.mjs';
import { hides } from './attempt.mjs';
import { watchAwait } from './awaiting.mjs';
import { cell, finish, firstId, orFail } from './cells.mjs';
import { describeError } from './errors.mjs';
import { dropQueued, hasExited } from './exit.mjs';
import { guard, startGuard } from './guard.mjs';
import { answerGuard, interrupted, onGuard } from './interrupts.mjs';
import { forgetHalves } from './loader.mjs';
import { BOXED, comeBack, HELD, LATER, LAUNCH, shared, SHOWN } from './shared.mjs';

export function onComeBack(what, value) {
  if (what === LAUNCH) launch();
  else if (what === BOXED) box = value;
  else if (what === SHOWN) return shown;
  else if (load(shared, 0) < 0 && load(shared, 0) !== HELD) onGuard();
  else answerGuard(LATER);
  return undefined;
}

let session;
let pinned; // V8 holds the running cell's promise weakly, and Node 22 aborts when it is collected
let launch; // a function that the watched script calls
let box; // where a value comes out
const watched = new vm.Script(comeBack(LAUNCH), { filename: 'ptycell:cell' });
const BOX = `function (value) { ${comeBack(BOXED, 'value')}; }`;

export function connect() {
  values.putMethodsBack();
  try {
    if (session !== undefined) disconnectSession(session);
    session = new Session();
    connectSession(session);
  } finally {
    values.replaceMethodsAgain();
  }
}

// Properties of all objects that disturb Node's inspector while it makes a message: JSON.stringify
// asks for toJSON, and a setter takes the params. It is taken away until the first member of
// `params` is written.
const IN_MESSAGES = ['toJSON', 'params'];

let taken = []; // {name, own} of each

export function takeAway(name) {
  const own = descriptorOf(objectPrototype, name);
  if (own === undefined || !own.configurable) return;
  delete objectPrototype[name];
  push(taken, { name, own });
}

export function putBack() {
  for (let i = 0; i < taken.length; i++) {
    const { name, own } = taken[i];
    if (descriptorOf(objectPrototype, name) === undefined) defineProperty(objectPrototype, name, own);
  }
  taken = [];
}

export function post(method, params, done) {
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

// Evaluates `text` as the cell's, then calls `done(error, reply, atOnce)`; `atOnce` is true when V8
// could not compile the text.
export function evaluate(text, done) {
  const mine = cell;
  mine.answered = false;
  launch = () => {
    let atOnce = true;
    let stop = null;
    if (indexOf(text, 'await') >= 0) { // else its promise is settled when V8 returns, and to watch for it takes long
      stop = v8.promiseHooks.onInit((promise) => {
        pinned = promise;
        stop();
        stop = null;
      });
    }
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

export let breaksOnSigint = false; // Node takes the listeners away meanwhile

function runWatched(mine) {
  breaksOnSigint = true;
  try {
    watched.runInThisContext({ __proto__: null, breakOnSigint: true });
  } catch (error) {
    forgetHalves(mine.number);
    if (cell !== mine || mine.outcome !== undefined) return;
    mine.outcome = error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? interrupted() : describeError(error);
    finish();
  } finally {
    breaksOnSigint = false;
  }
}

// Returns the answer's own property, or undefined: user code may have given all objects any
// property.
export function ownValue(answer, name) {
  return hasOwn(answer, name) ? answer[name] : undefined;
}

// Returns the object of this id.
function unboxed(objectId) {
  const params = { __proto__: null, silent: true, functionDeclaration: BOX, executionContextId: 1,
    arguments: withoutPrototype([{ __proto__: null, objectId }], null) };
  box = undefined;
  post('Runtime.callFunctionOn', params, () => {});
  const value = box;
  box = undefined;
  return value;
}

// Returns the object or value that V8 describes.
export function unwrap(remote) {
  const objectId = ownValue(remote, 'objectId');
  if (objectId !== undefined) {
    cell.held = true;
    return unboxed(objectId);
  }
  const text = ownValue(remote, 'unserializableValue');
  if (text === undefined) return ownValue(remote, 'value');
  return text[text.length - 1] === 'n' ? BigInt(slice(text, 0, -1)) : Number(text);
}

let shown; // to V8
export const IN_LOADER = 'loader'; // V8 keeps its objects of the loader under this name

// Returns the object of variables that a function of Node's sees. Throws where V8 shows none.
export function scopeOf(method) {
  shown = method;
  const { objectId: id } = ask('Runtime.evaluate', { expression: comeBack(SHOWN), objectGroup: IN_LOADER }).result;
  const { internalProperties } = ask('Runtime.getProperties', { objectId: id, ownProperties: true });
  let at = 0;
  while (internalProperties[at].name !== '[[Scopes]]') at++;
  const scopes = ask('Runtime.getProperties', { objectId: internalProperties[at].value.objectId, ownProperties: true }).result;
  return unboxed(scopes[0].value.objectId).object;
}

// Returns the object that a private field of an instance holds. Throws where V8 shows none.
export function privateOf(instance, name) {
  shown = instance;
  const { objectId: id } = ask('Runtime.evaluate', { expression: comeBack(SHOWN), objectGroup: IN_LOADER }).result;
  const { privateProperties } = ask('Runtime.getProperties', { objectId: id, ownProperties: true });
  let at = 0;
  while (privateProperties[at].name !== name) at++;
  return unboxed(privateProperties[at].value.objectId);
}

function ask(method, params) {
  let answer;
  post(method, { __proto__: null, silent: true, ...params }, (error, reply) => { answer = reply; });
  return answer;
}

export function unpin() {
  pinned = undefined;
}

// Clears what runWatched() leaves set when V8 terminates it.
export function endBreaks() {
  breaksOnSigint = false;
}
