// SPDX-License-Identifier: MIT
// signals.mjs - keeps a signal that the code sends to itself from ending the evaluation of
// cells.
//
// Node takes such a signal without a handler for its end, even one like SIGWINCH that ends
// nothing, and lets go of the inspector. A thread's number means the process as well, which Node
// does not know: the signal is sent to one.

import { fs, Number, process } from './own.mjs';

// Signals that end nothing.
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

export function spareOwnProcess() {
  process._kill = function _kill(pid, signal) {
    return killRaw(LIVES_ON[signal] === true && +pid === ownPid ? threadOfOwn() : pid, signal);
  };
}
