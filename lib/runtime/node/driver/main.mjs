// SPDX-License-Identifier: MIT
// main.mjs - runs the cells of one session inside the user's own Node, 18 or later.
//
// The server starts `node -e STUB` with a pty as fds 0-2, the control socket as fd 3 and the
// interrupt pipe as fd 4. The stub reads these programs from the socket. Program text and
// answers travel as frames on the socket; what the code prints goes to the pty as in any
// terminal.
//
// Three rules shape everything here:
//
// * User code shares the process and may replace anything. What is needed after the start is
//   taken before it (own.mjs), and no method of a prototype is called by name.
// * V8 may end the code anywhere (interrupts.mjs). So state is whole before user code runs, and
//   what must not be torn is written at once or finished by the next one.
// * Nothing that costs time is loaded before READY, which the stub has sent.
//
// scripts/pack-node-driver makes one program of these modules when ptycell is built.

import { process, soon, values } from './own.mjs';
import { watchScopes } from './callbacks.mjs';
import { work } from './cells.mjs';
import { listen, readSome, takeFrames, waiting } from './channel.mjs';
import { connect } from './console.mjs';
import { setUpGlobals } from './globals.mjs';
import { prepareProcess } from './handlers.mjs';
import { spareOwnProcess } from './signals.mjs';
import { watchInput } from './stdin.mjs';

// Reads the first cell by hand: `net`, which listening needs, takes 5 ms to load, and is loaded
// behind the answer unless the cell fails.
function begin() {
  takeFrames();
  while (waiting.length === 0) readSome();
  work();
  soon(() => soon(listen));
}

spareOwnProcess();
connect();

watchInput();
watchScopes();
setUpGlobals();
values.hideGlobals();
prepareProcess(true);
process.nextTick(begin);
