// SPDX-License-Identifier: MIT
// main.mjs - what a cell's text becomes before V8 sees it. Lines stay lines, and columns mostly.
//
// V8's console mode lets a later `let` replace an earlier one, but neither a `const` nor anything
// across kinds; and code evaluated through the inspector can neither `import x from` nor `import()`.
// So at the top level of a cell `const` becomes `let` (see constants), an import statement becomes awaited
// declarations, and `import(` anywhere calls a function of ours. A lexer is enough for that: it must
// know strings, templates, regular expressions, comments and brackets, nothing else.
//
// scripts/pack-node-driver makes one program of these modules, the part `syntax` of the stub.

import { CONSTANT, FIRST, IMPORT, NOWHERE } from './stand_ins.mjs';
import { takeMoved, writtenColumn } from './edits.mjs';
import { rewrite } from './rewrite.mjs';
import { concernsConstants, guardConstants } from './constants.mjs';
import { redeclare } from './redeclare.mjs';
import { isObjectLiteral, isSimple, looksForeign, looksLikeTypeScript, mayDeclare } from './kinds.mjs';
import { installs } from './packages.mjs';

Object.assign(exports, {
  IMPORT, CONSTANT, FIRST, NOWHERE, guardConstants, installs, redeclare, takeMoved, writtenColumn, rewrite,
  concernsConstants, declares: mayDeclare, isSimple, looksLikeTypeScript, looksForeign, isObjectLiteral,
});
