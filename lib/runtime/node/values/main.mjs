// SPDX-License-Identifier: MIT
// main.mjs - values as text and MIME bundles, and the names that cells make.
//
// What a name holds is looked at without running anything of the user's: no getter, no proxy trap,
// no custom inspect. A value that is shown may run its own code; then it is as if the cell did.
//
// scripts/pack-node-driver makes one program of these modules, the part `values` of the stub.

import { descriptorOf, isNativeError, isPromise } from './own.mjs';
import { plainText, shortened } from './text.mjs';
import { handleText, inspectBriefly, stopBrevity } from './handles.mjs';
import { putMethodsBack, replaceMethodsAgain } from './methods.mjs';
import { ownBundle, partsOf } from './bundles.mjs';
import { typeName } from './types.mjs';
import { addLexical, changedNames, hideGlobals, isImport, isLexical, LIST_MAX, noteImport, noteModule,
  variables } from './names.mjs';

Object.assign(exports, {
  descriptorOf, LIST_MAX, plainText, handleText, inspectBriefly, putMethodsBack, replaceMethodsAgain, stopBrevity,
  shortened, ownBundle, partsOf, typeName, hideGlobals, addLexical, changedNames, variables, isNativeError, isPromise,
  noteModule, noteImport, isImport, isLexical,
});
