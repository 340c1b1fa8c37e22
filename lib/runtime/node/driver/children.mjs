// SPDX-License-Identifier: MIT
// children.mjs - counts the child processes that live.
//
// Only the main thread has any, unless a worker started them. The kernel lists them in /proc;
// the file is read only once `child_process` was loaded. A child that has ended and was not
// waited for does not count.

import { Number, exec, includes, kill, process, readFileSync, split } from './own.mjs';

// Returns how many child processes live.
export function livingChildren() {
  if (!childrenPossible()) return 0;
  let count = 0;
  try {
    const pids = split(readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1'), ' ');
    for (let i = 0; i < pids.length; i++) count += pids[i] !== '' && isAlive(pids[i]) ? 1 : 0;
  } catch {
    return 0; // a kernel without these files
  }
  return count;
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
    return kill(Number(pid), 0) === 0; // a /proc with hidepid lacks the files of processes that cannot be traced
  }
}
