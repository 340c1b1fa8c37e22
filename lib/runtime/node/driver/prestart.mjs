// SPDX-License-Identifier: MIT
// prestart.mjs - readies a Node that is prestarted for a session.
//
// It runs WARM_CELLS cells whose answers are muted, so that V8 has compiled what they run
// through and the guard is there. Then it answers the `preload` frame, and the first cell of the
// user has the number 1 again.

import { push, store } from './own.mjs';
import { mute, send, waiting } from './channel.mjs';
import { shared } from './shared.mjs';
import { sources } from './stacks.mjs';

const WARM_CELLS = 3; // whose answers are muted

// Queues the warm-up cells, and the report behind them.
export function getReady(frame) {
  mute(true);
  for (let i = 0; i < WARM_CELLS; i++) push(waiting, { __proto__: null, type: 'exec', id: 1, idText: '1', parts: { code: '1+1' } });
  push(waiting, { type: 'prepared', idText: frame.idText });
}

export function tellReady(frame) {
  mute(false);
  store(shared, 1, 0); // the user's first cell has this number, and has not begun to wait
  delete sources['cell-1.js'];
  send('done', frame.idText, [['status', 'ok']]);
}
