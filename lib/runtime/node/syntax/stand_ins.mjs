// SPDX-License-Identifier: MIT
// stand_ins.mjs - names that an edited cell uses in place of what V8 would not take. User code cannot
// guess them, and they are no longer than what they replace.

// As long as `import`, so that columns stay; what stands in for it in every cell.
export const IMPORT = 'imp\u00f8rt';
export const CONSTANT = '\u01c2'; // and what cannot be assigned to: no longer than any name
export const FIRST = '\u01c1'; // what makes the functions that redeclare() has taken out of the cell
export const NOWHERE = '\u01c3'; // what a `var` declares whose own name redeclare() has declared
