// SPDX-License-Identifier: MIT
// bundles.mjs - makes the MIME bundle of a value into parts of a frame.

import { base64Write, Bytes, display, encode, encoder, exec, floor, isPromise, isProxy, isUint8Array, keys,
  OwnRangeError, push, stringify, subarray } from './own.mjs';
import { bounded, plainText } from './text.mjs';
import { textOfHtml } from './html.mjs';

// The server takes no larger frame (FRAME_UP_PART_MAX of runtime/frame.h): what is too large is refused here.
const PICTURE_MAX = 8 * 1024 * 1024; // bytes of the pictures of a value
const NAMED_MAX = 16000; // characters of a form that answers only name: longer ones go without what is in them
const FORMS_MAX = 40; // such forms of a value

// Returns the value's own bundle, or a promise of it, or undefined. Runs the user's code.
export function ownBundle(value) {
  if (value === null || typeof value !== 'object' || isProxy(value)) return undefined;
  if (isUint8Array(value)) {
    const type = imageType(value);
    return type === undefined ? undefined : { [type]: value };
  }
  if (typeof value[display] === 'function') return value[display]();
  if (typeof value.toDataURL === 'function') {
    if (typeof value.toBufferSync === 'function') return { 'image/png': value.toBufferSync('png') };
    if (typeof value.toBuffer === 'function') {
      const data = value.toBuffer('image/png');
      return isPromise(data) ? data.then((bytes) => ({ 'image/png': bytes })) : { 'image/png': data };
    }
  }
  return undefined;
}

function imageType(bytes) {
  if (bytes[0] === 0x89 && bytes[1] === 0x50 && bytes[2] === 0x4e && bytes[3] === 0x47) return 'image/png';
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'image/jpeg';
  return undefined;
}

const MIME = /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/;

// Returns a bundle as parts of a frame, [[type, data], ...]. `save(bytes, ending)` keeps a picture
// as a file and returns its name. text/plain is always present.
export function partsOf(bundle, value, save) {
  const parts = [];
  let text;
  const types = keys(bundle);
  let forms = 0;
  for (let i = 0; i < types.length; i++) {
    const type = types[i];
    const data = bundle[type];
    if (data === undefined || data === null || type.length > 64 || exec(MIME, type) === null) continue;
    if (type === 'text/plain') text = bounded(`${data}`);
    else if (type === 'image/png' || type === 'image/jpeg') addImage(parts, type, data, save);
    else if (forms++ < FORMS_MAX) push(parts, [type, dataOf(data)]);
  }
  refuseLarge(parts);
  if (text === undefined) text = textFor(bundle, value, save);
  push(parts, ['text/plain', text]);
  return parts;
}

function dataOf(data) {
  const text = typeof data === 'string' || isUint8Array(data) ? data : stringify(data) ?? plainText(data);
  return text.length <= NAMED_MAX ? text : '';
}

function refuseLarge(parts) {
  let size = 0;
  let saved = '';
  for (let i = 0; i < parts.length; i++) {
    if (parts[i][0] === 'image/png' || parts[i][0] === 'image/jpeg') size += parts[i][1].length;
    else if (parts[i][0] === 'file') saved = `; it is saved as output/${parts[i][1]}`;
  }
  if (size <= PICTURE_MAX) return;
  throw new OwnRangeError(`a picture of ${size} bytes is too large to be shown: at most ${PICTURE_MAX} are${saved}`);
}

function bytesOfBase64(text) {
  const bytes = new Bytes(floor(text.length * 3 / 4));
  return subarray(bytes, 0, base64Write(bytes, text, 0, bytes.length));
}

function addImage(parts, type, data, save) {
  const bytes = typeof data === 'string' ? bytesOfBase64(data) : isUint8Array(data) ? data : undefined;
  if (bytes === undefined || bytes.length === 0) return;
  const name = save(bytes, type === 'image/png' ? 'png' : 'jpg');
  if (name === null) return;
  push(parts, [type, bytes]);
  if (name !== undefined) push(parts, ['file', name]);
}

function textFor(bundle, value, save) {
  if (typeof bundle['text/markdown'] === 'string') return bounded(bundle['text/markdown']);
  if (typeof bundle['image/svg+xml'] === 'string') {
    const name = save(encode(encoder, bundle['image/svg+xml']), 'svg');
    return name ? `[drawing: output/${name}]` : '[a drawing as SVG: it could not be kept in output/]';
  }
  if (typeof bundle['text/html'] === 'string') return bounded(textOfHtml(bundle['text/html']));
  return plainText(value);
}
