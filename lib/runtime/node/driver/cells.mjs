// SPDX-License-Identifier: MIT
// cells.mjs - takes a cell from its frame to its `done` frame, one cell at a time.
//
// Exactly one way leads through finish(), which ends the cell, and from there through
// conclude(), which answers. Between the two the code's own callbacks run that were put off for
// no time: their output belongs to the cell. V8 may terminate user code anywhere, so all that must
// happen at the end happens in conclude(), outside of user code.

import {
  exit, getActiveResourcesInfo, includes, join, Number, output, process, push, setTimeout, shift,
  slice, soon, store, syntax, values,
} from './own.mjs';
import { attempt } from './attempt.mjs';
import { isOurs } from './awaiting.mjs';
import {
  addFrame, awaitAck, listen, listening, muted, readSome, send, sendChunks, waiting,
} from './channel.mjs';
import { livingChildren } from './children.mjs';
import { connect, post, unpin } from './console.mjs';
import { checkDescriptors } from './descriptors.mjs';
import { leftOut, say } from './display.mjs';
import { describeError } from './errors.mjs';
import { keepTimers, newResource, timersDropped } from './exit.mjs';
import { startGuard } from './guard.mjs';
import { prepareProcess } from './handlers.mjs';
import { holdBack, interrupted, leaveUserCode } from './interrupts.mjs';
import { forgetHalves } from './loader.mjs';
import { askLexical, dropStandIns, refreshNames } from './names.mjs';
import { installFirst, olderLoaded } from './packages.mjs';
import { getReady, tellReady } from './prestart.mjs';
import { shared } from './shared.mjs';
import { rememberSource } from './stacks.mjs';
import { reads } from './stdin.mjs';
import { currentFolder, WORKSPACE } from './workspace.mjs';

let mayWrite = false; // something of the code was active at the last cell's end

// Reports to the server, if there may be earlier output, that this is not the cell's: it was
// written while the cell was on its way.
function tellBegun(id) {
  const written = output.takeWritten();
  if (muted || !(written || mayWrite)) return;
  send('begun', id, []);
  awaitAck(id);
}

export let cell = null;
export let firstId = 0; // of a cell

export function work() {
  while (cell === null && waiting.length > 0) {
    if (waiting[0].type === 'exec') holdBack();
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
  process.exit = exit; // the listeners may call it
  exit(0);
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

// Starts a cell, or ends it at once when its interrupt came first.
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
  prepareProcess(mayWrite);
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

export function runCode() {
  attempt(cell.code, syntax.isObjectLiteral(cell.code) ? `(${cell.code})` : undefined);
}

// Runs `act`, and ends the cell with the error at which the driver itself fails.
export function orFail(act) {
  const mine = cell;
  try {
    act();
  } catch (error) {
    if (cell === mine && mine.outcome === undefined) fail(error);
  }
}

export function endBy(outcome) {
  cell.outcome = outcome;
  finish();
}

export function succeed(parts) {
  cell.value = parts;
  cell.outcome = [['status', 'ok']];
  finish();
}

export function fail(error) {
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
  finish();
}

function behindTimers(act) {
  const timer = setTimeout(act, 1);
  if (listening) timer.unref(); // and not counted itself
  return timer;
}

// Ends the cell; the answer follows the reports of rejections that are not handled, and what the
// code put off.
export function finish() {
  const mine = cell;
  if (mine.ended) return;
  holdBack(); // and not leaveUserCode(): the guard would not ask again, and what the code put off may have no end
  mine.ended = true;
  // Output that the code put off for no time is the cell's own: timers of one length fire in their order.
  const active = getActiveResourcesInfo();
  mayWrite = !isOurs(active);
  const later = mayWrite && includes(active, 'Timeout') ? behindTimers : soon;
  mine.timer = later(() => conclude(mine));
  store(shared, 0, mine.number);
}

export function conclude(mine) {
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
  unpin();
  checkDescriptors(); // before anything of ours is opened in the place of one
  if (mine.imagesLeftOut > 0) say(leftOut(mine));
  if (output.takeOpenLine() && reads && mine.outcome[0][1] === 'ok') say(UNANSWERED);
  if (mine.declares) askLexical();
  refreshNames();
  dropStandIns();
  const names = values.changedNames();
  if (names !== undefined) push(mine.outcome, ['names', names]);
  const folder = currentFolder();
  if (folder !== WORKSPACE) push(mine.outcome, ['cwd', folder]);
  if (mayWrite) push(mine.outcome, ['active', '1']);
  const children = livingChildren();
  if (children === 0) return;
  mayWrite = true;
  push(mine.outcome, ['children', `${children}`]);
}
