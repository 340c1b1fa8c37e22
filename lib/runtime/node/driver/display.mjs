// SPDX-License-Identifier: MIT
// display.mjs - shows text on the terminal, and values as frames with their MIME forms.
//
// A display stands at its place of the output: after the frame the driver waits until the server
// has noted that place. Images beyond IMAGES_PER_CELL are only saved.

import { renameSync, then, values, writeFileSync, writeSync } from './own.mjs';
import { cell } from './cells.mjs';
import { awaitAck, send } from './channel.mjs';
import { hold } from './interrupts.mjs';

const IMAGES_PER_CELL = 20;
const OUTPUT = host.hello.output;

export function say(text) {
  if (text === '') return;
  try {
    writeSync(2, text[text.length - 1] === '\n' ? text : `${text}\n`);
  } catch {
    // The user closed it.
  }
}

export function leftOut({ imagesLeftOut, imagesLost }) {
  const fate = imagesLost > 0 ? `${imagesLost} could not be saved in output/ and are lost` : 'saved in output/';
  return `[images beyond ${IMAGES_PER_CELL} in this cell: ${imagesLeftOut}; ${fate}]`;
}

function saver(mine) {
  return (bytes, extension) => {
    mine.images++;
    const name = saveOutput(bytes, `cell-${mine.id}-figure-${mine.images}.${extension}`);
    if (extension === 'svg' || mine.images <= IMAGES_PER_CELL) return name;
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

export function partsOf(bundle, value) {
  if (bundle === undefined || bundle === null || typeof bundle !== 'object') {
    return [['text/plain', values.plainText(value)]];
  }
  return values.partsOf(bundle, value, saver(cell));
}

function publish(bundle, value) {
  const mine = cell;
  if (mine === null || mine.ended) {
    say(values.plainText(value)); // no cell waits for it any more
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

// Shows values at this place of the output. With {raw: true} as the last argument the others are
// bundles themselves.
export function display(...items) {
  const last = items[items.length - 1];
  const raw = items.length > 1 && last !== null && typeof last === 'object' && last.raw === true;
  let pending;
  for (let i = 0; i < items.length - (raw ? 1 : 0); i++) {
    const value = items[i];
    const bundle = raw ? value : values.ownBundle(value);
    if (!values.isPromise(bundle)) publish(bundle, value);
    else pending = then(bundle, (found) => publish(found, value));
  }
  return pending;
}
