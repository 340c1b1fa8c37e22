// SPDX-License-Identifier: MIT
// handles.mjs - shows streams, processes and timers in a short form: values that stand for something
// that goes on.

import { create, defineProperty, descriptorOf, Emitter, emitterPrototype, exec, getPrototypeOf, inspect,
  isProxy, mapGet, mapSet, mapSize, ownKeys, OwnMap, symbolText, tryDefine } from './own.mjs';
import { plainText } from './text.mjs';
import { putMethodsBack, replaceMethodsAgain } from './methods.mjs';
import { typeName } from './types.mjs';

const HANDLE_LIMIT = 200; // characters in which a stream or process may show itself

// Node's own emitters, by the class next to EventEmitter. Any other class is the code's, with data
// of the code's.
const BASES = new RegExp('^(?:Stream|Server|Socket|ChildProcess|Worker|Interface|InterfaceConstructor|FSWatcher|StatWatcher|' +
  'FileHandle|Agent|Http2Session|process)$');

// The names of these classes and of all that Node derives from them.
const NODES_OWN = { __proto__: null };
for (const name of ('Agent BrotliCompress BrotliDecompress ChildProcess Cipher Cipheriv ClientHttp2Session ClientHttp2Stream ' +
  'ClientRequest Decipher Decipheriv Deflate DeflateRaw Duplex Duplexify FSWatcher FileHandle Gunzip Gzip Hash Hmac ' +
  'Http2SecureServer Http2Server Http2ServerRequest Http2ServerResponse IncomingMessage Inflate InflateRaw Interface ' +
  'InterfaceConstructor JSStreamSocket LazyTransform OutgoingMessage PassThrough REPLServer ReadStream Readable Server ' +
  'ServerHttp2Session ServerHttp2Stream ServerResponse Sign Socket StatWatcher Stream SyncWriteStream TLSSocket TestsStream ' +
  'Transform Unzip Utf8Stream Verify Worker Writable WriteStream ZstdCompress ZstdDecompress process').split(' ')) NODES_OWN[name] = true;

function isHandle(value) {
  if (!(value instanceof Emitter)) return false;
  let at = value;
  for (let next = getPrototypeOf(at); next !== emitterPrototype; next = getPrototypeOf(at)) {
    if (next === null || isProxy(next)) return false;
    at = next;
  }
  return exec(BASES, typeName(at)) !== null;
}

// Returns the short text of a process, a stream, a server or a timer; undefined for other values.
// As a cell's value their fields are of no use; fields that a class of the code's adds are.
export function handleText(value) {
  if (value === null || typeof value !== 'object' || isProxy(value)) return undefined;
  const name = typeName(value);
  if (name !== 'Timeout' && name !== 'Immediate' && !isHandle(value)) return undefined;
  if (plainText(value).length <= HANDLE_LIMIT) return undefined;
  const short = shortForm(value);
  return typeof short === 'string' ? short : plainText(short);
}

function shortForm(value) {
  const name = typeName(value);
  if (name !== 'Timeout' && name !== 'Immediate' && !NODES_OWN[name]) return ownFields(value);
  if (typeof value.pid !== 'number') return `[${name}]`;
  return name === 'process' ? `[process ${value.pid}]` : `[${name}, process ${value.pid}]`;
}

const NODES_FIELD = /^(?:_events|_eventsCount|_maxListeners|_readableState|_writableState|allowHalfOpen|domain|Symbol\((?:k[A-Z]\w*|shapeMode|async_id_symbol)\))$/;
let likes = new OwnMap(); // a handle, or its like -> its like, which has the fields of the code's

function ownFields(value) {
  const made = mapGet(likes, value);
  if (made !== undefined) return made;
  const like = create(getPrototypeOf(value));
  mapSet(likes, value, like);
  mapSet(likes, like, like);
  const names = ownKeys(value);
  for (let i = 0; i < names.length; i++) {
    const name = typeof names[i] === 'symbol' ? symbolText(names[i]) : names[i];
    if (exec(NODES_FIELD, name) === null) defineProperty(like, names[i], descriptorOf(value, names[i]));
  }
  return like;
}

let whole; // a handle that is shown with all that it holds

// Returns what inspect() does, with handles within the value in their short form.
export function inspectBriefly(value, options) {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function';
  if (!holds) return `${inspect(value, options)}`;
  putMethodsBack();
  if (descriptorOf(emitterPrototype, inspect.custom) === undefined) {
    whole = value;
    tryDefine(emitterPrototype, inspect.custom, { __proto__: null, value: briefly, configurable: true }); // it may be frozen
  }
  try {
    return `${inspect(value, options)}`;
  } finally {
    stopBrevity();
  }
}

function briefly() {
  return this === whole || isProxy(this) || !isHandle(this) ? this : shortForm(this);
}

// Ends the short form of handles, also after a cell that was ended meanwhile.
export function stopBrevity() {
  replaceMethodsAgain();
  if (descriptorOf(emitterPrototype, inspect.custom)?.value === briefly) delete emitterPrototype[inspect.custom];
  whole = undefined;
  if (mapSize(likes) > 0) likes = new OwnMap();
}
