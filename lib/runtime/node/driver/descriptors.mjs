// SPDX-License-Identifier: MIT
// descriptors.mjs - puts the terminal back where the code closed descriptor 0, 1 or 2, and says
// so.
//
// `terminal` is a descriptor of the driver's own, since the code may close all of its own. A
// descriptor that was opened takes the lowest free number, which is the closed one when those
// below it are open.

import { closeSync, fs, fstatSync, openSync, readlinkSync, writeSync } from './own.mjs';
import { isatty } from './channel.mjs';

const STREAMS = ['stdin', 'stdout', 'stderr']; // by their descriptors
const ON_TERMINAL = '';
const redirected = [ON_TERMINAL, ON_TERMINAL, ON_TERMINAL]; // where the code sent them, as last shown
const terminal = openTerminal('/proc/self/fd/2'); // our own: the code may close all of its own
const terminalDevice = terminal < 0 ? 0 : fstatSync(terminal).rdev;

function openTerminal(file) {
  try {
    return openSync(file, fs.constants.O_RDWR | fs.constants.O_NOCTTY);
  } catch {
    return -1;
  }
}

// Puts the terminal back where the code closed a descriptor. Says so, and where the code redirected
// one.
export function checkDescriptors() {
  if (terminal < 0) return;
  for (let fd = 0; fd < STREAMS.length; fd++) {
    let target = ON_TERMINAL;
    try {
      const onTerminal = isatty?.(fd) || fstatSync(fd).rdev === terminalDevice; // fstat() takes ten times as long; a cell hardly has another terminal
      if (!onTerminal) target = targetOf(fd);
    } catch {
      reopen(fd);
    }
    if (target !== ON_TERMINAL && target !== redirected[fd]) tellTerminal(`[${STREAMS[fd]} is redirected to ${target}]\n`);
    redirected[fd] = target;
  }
}

export function isTerminal(fd) {
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

// Opens the terminal as `fd`, which is the lowest free number because those below it are open.
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
