// SPDX-License-Identifier: MIT
// kinds.mjs - guesses by its words what a text is: TypeScript, a syntax that no Node runs, a declaration,
// an object, or code that all runs at once.

import { exec } from './own.mjs';
import { walk } from './lexer.mjs';

const DECLARES = /\b(?:let|const|class|import)\b/;

const TYPESCRIPT = new RegExp([
  '\\b(?:let|const|var)\\s+[\\w$]+\\s*[:!]\\s*[\\w${[(]',
  '\\binterface\\s+[\\w$]+[^;(=]*\\{', '\\btype\\s+[\\w$]+(?:<[^>]*>)?\\s*=',
  '\\b(?:enum|namespace)\\s+[\\w$]+\\s*\\{', '\\bimport\\s+type\\b', '\\)\\s*:\\s*[\\w$<>[\\]| ]+\\s*(?:=>|\\{)',
  '[(,]\\s*[\\w$]+\\??\\s*:\\s*(?:string|number|boolean|bigint|symbol|object|any|unknown|never|void)\\b',
  '\\(\\s*[\\w$]+\\??\\s*:\\s*[A-Z][^()]*\\)\\s*(?:=>|\\{|:)', '\\bas\\s+(?:const|any|unknown|string|number|boolean|[A-Z])',
  '\\bsatisfies\\s', '\\babstract\\s+class\\b', '[\\w$)\\]]!\\.[\\w$]',
  '\\b(?:const|let|var)\\s+[\\w$]+\\s*=[^\\n]*[\\w$)\\]]!\\s*(?:[.;,)\\]\\n]|$)', '\\bdeclare\\s+(?:const|let|var|function|class|global|module)\\b',
  '\\b(?:private|public|protected|readonly)\\s+[\\w$]+',
].join('|'));

const DECORATOR = /(?:^|\n)\s*@[\w$.]+(?:\([^\n]*\))?\s*(?:export\s|default\s|abstract\s|\s)*class\b/;
const MARKUP = /(?:^|[=(?:,&|>{]|\breturn)\s*<(?:[A-Za-z][\w.-]*(?:\s[^<>]*)?\/?>|>)/;

const NOT_SIMPLE = /\b(?:await|async|then|catch|Promise|nextTick|queueMicrotask|set(?:Timeout|Interval|Immediate)|display|kill|Symbol|Proxy|class|import|read(?:File)?Sync|worker_threads|SIGINT)\b/;

export const mayDeclare = (text) => exec(DECLARES, text) !== null;

// Whether all of it runs at once, and none of it beneath ours or where Node aborts when a signal ends it, as a read does.
export const isSimple = (text) => exec(NOT_SIMPLE, text) === null;

export const looksLikeTypeScript = (text) => exec(TYPESCRIPT, text) !== null;

// Returns the name of a syntax that no Node runs and that the text looks like; else ''.
export const looksForeign = (text) => (exec(DECORATOR, text) !== null ? 'decorators' : exec(MARKUP, text) !== null ? 'JSX or HTML' : '');

// Returns whether the text is one object literal, which V8 would take for a block.
export const isObjectLiteral = (text) => {
  if (exec(/^\s*\{[^]*\}\s*$/, text) === null) return false;
  let groups = 0;
  walk(text, () => undefined, (index, depth) => { groups += depth === 0 ? 1 : 0; });
  return groups === 1;
};
