// SPDX-License-Identifier: MIT
// syntax.cjs - what a cell's text becomes before V8 sees it. Lines stay lines, and columns mostly.
//
// V8's console mode lets a later `let` replace an earlier one, but neither a `const` nor anything
// across kinds; and code evaluated through the inspector can neither `import x from` nor `import()`.
// So at the top level of a cell `const` becomes `let` (see constants), an import statement becomes awaited
// declarations, and `import(` anywhere calls a function of ours. A lexer is enough for that: it must
// know strings, templates, regular expressions, comments and brackets, nothing else.
'use strict';

const exec = Function.prototype.call.bind(RegExp.prototype.exec);
const charCode = Function.prototype.call.bind(String.prototype.charCodeAt);
const slice = Function.prototype.call.bind(String.prototype.slice);
const indexOf = Function.prototype.call.bind(String.prototype.indexOf);
const repeat = Function.prototype.call.bind(String.prototype.repeat);
const push = Function.prototype.call.bind(Array.prototype.push);
const pop = Function.prototype.call.bind(Array.prototype.pop);
const join = Function.prototype.call.bind(Array.prototype.join);
const insert = Function.prototype.call.bind(Array.prototype.splice);
const includes = Function.prototype.call.bind(Array.prototype.includes);
const stringify = JSON.stringify;
const { max } = Math;
const { defineProperty } = Object;

// As long as `import`, so that columns stay; what stands in for it in every cell.
const IMPORT = 'imp\u00f8rt';
const CONSTANT = '\u01c2'; // and what cannot be assigned to: no longer than any name
const FIRST = '\u01c1'; // what makes the functions that redeclare() has taken out of the cell
const NOWHERE = '\u01c3'; // what a `var` declares whose own name redeclare() has declared

// ---- the lexer --------------------------------------------------------------------------------

const BEFORE_VALUE = { __proto__: null };
for (const word of ('return typeof case in of delete void throw new else do instanceof await yield ' +
  'extends default').split(' ')) BEFORE_VALUE[word] = true;
const BEFORE_PAREN = { __proto__: null, if: true, while: true, for: true, with: true };

const WORD = /\d[\d_]*\.\w*|[\w$\u0080-\uffff]+/y; // or a number
const SPACE = /(?:\s+|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;
const GAP = '(?:\\s|\\/\\/[^\\n]*(?:\\n|$)|\\/\\*(?:[^*]|\\*(?!\\/))*\\*\\/)*'; // between two tokens
const BLANK = /\s/;
const BREAK = /[\n\r\u2028\u2029]/;
const STRING = /"(?:[^"\\\n]+|\\[^])*"?|'(?:[^'\\\n]+|\\[^])*'?/y;
const TEMPLATE = /(?:[^`\\$]+|\\[^]|\$(?!\{))*(?:`|\$\{|\\?$)/y;
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[\w$]*/y;

function at(pattern, text, index) {
  pattern.lastIndex = index;
  const match = exec(pattern, text);
  return match === null ? '' : match[0];
}

// Returns whether a statement ends at the line break before the token here, which follows a whole
// value.
function beginsStatement(text, index) {
  const c = text[index];
  if (exec(CONTINUES, c) === null) return at(OPERATOR_WORD, text, index) === '';
  return (c === '+' || c === '-') && text[index + 1] === c;
}

const CONTINUES = /[-,.([`*\/%&|^<>=?:+;)\]}]/;
const OPERATOR_WORD = /(?:in|instanceof)\b|!=/y;

// Calls onWord(word, index, before, depth, stack), onClose(index, depth, bracket, opened, around) as it walks; `before`
// is the token before the word, depth counts open brackets. onWord may return an index to go on from.
// stack.statement is where the last statement outside of all brackets began that a semicolon or a line's end tells,
// stack.comma the place of the last comma outside of them, stack.head the keyword before the parenthesis that was closed last.
function walk(text, onWord, onClose) {
  // Open brackets: the bracket, what a slash means after its end, the token before, its keyword, the keyword of the parentheses
  // before, its place, whether that ends a value, whether `=` stood in its present element.
  const stack = [];
  defineProperty(stack, 'statement', { __proto__: null, value: 0, writable: true });
  defineProperty(stack, 'comma', { __proto__: null, value: 0, writable: true });
  defineProperty(stack, 'head', { __proto__: null, value: '', writable: true });
  const classes = []; // depths at which the next brace is a class's
  const loops = []; // depths at which the next `while` is that of a `do`
  let index = 0;
  let before = '';
  let lead = ''; // the token before the last word
  let valueEnded = false; // a slash now divides
  while (index < text.length) {
    const space = at(SPACE, text, index);
    if (space !== '') {
      index += space.length;
      const ends = stack.length === 0 && (valueEnded || before === ')' || before === '}') && exec(BREAK, space) !== null;
      const declares = DECLARATION[before] === true && lead !== '.';
      if (ends && !declares && index < text.length && beginsStatement(text, index)) stack.statement = index;
      continue;
    }
    const c = text[index];
    const word = at(WORD, text, index);
    if (word !== '') {
      const next = onWord(word, index, before, stack.length, stack);
      if (word === 'class' && before !== '.') push(classes, stack.length);
      if (word === 'do' && before !== '.') push(loops, stack.length);
      const ends = word === 'while' && before !== 'do' && loops[loops.length - 1] === stack.length;
      if (ends) pop(loops);
      index = next === undefined ? index + word.length : next;
      valueEnded = next === undefined && (BEFORE_VALUE[word] !== true || before === '.' || (word === 'of' && !valueEnded));
      lead = before;
      before = next !== undefined ? ';' : ends ? '' : word;
      continue;
    }
    if (c === '"' || c === "'") {
      index += at(STRING, text, index).length;
      valueEnded = true;
    } else if (c === '`' || (c === '}' && stack.length > 0 && stack[stack.length - 1].open === '`')) {
      if (c === '}') pop(stack);
      const part = at(TEMPLATE, text, index + 1);
      index += 1 + part.length;
      valueEnded = part[part.length - 1] !== '{';
      if (!valueEnded) push(stack, { open: '`', value: true, before, index, fields: false, assigned: false });
    } else if (c === '/' && !valueEnded && at(REGEX, text, index) !== '') {
      index += at(REGEX, text, index).length;
      valueEnded = true;
    } else if ((c === '+' || c === '-') && text[index + 1] === c) {
      valueEnded = valueEnded && !beginsLine(text, index);
      before = valueEnded ? c : c + c; // behind a value it counts that one, else what follows
      index += 2;
      continue;
    } else if (c === '.' && text[index + 1] === '.') {
      valueEnded = false;
      before = '...';
      index += before.length;
      continue;
    } else {
      if (c === '(' || c === '[' || c === '{') {
        const keyword = c === '(' ? keywordOf(before, lead, stack) : '';
        const value = c === '(' ? BEFORE_PAREN[keyword] !== true : c === '[' || (!valueEnded && opensObject(before));
        const fields = c === '{' && classes[classes.length - 1] === stack.length;
        if (fields) pop(classes);
        push(stack, { open: c, value, before, keyword, head: stack.head, index, fields, behindValue: valueEnded, assigned: false });
      } else if (stack.length > 0 && (c === ',' || c === '=')) {
        stack[stack.length - 1].assigned = c === '=';
      } else if (c === ',') {
        stack.comma = index;
      } else if (c === ';' && stack.length === 0) {
        stack.statement = index + 1;
      }
      if (c === ')' || c === ']' || c === '}') {
        const opened = pop(stack);
        if (opened !== undefined && c === ')') stack.head = opened.keyword;
        while (classes[classes.length - 1] > stack.length) pop(classes);
        while (loops[loops.length - 1] > stack.length) pop(loops);
        valueEnded = opened === undefined || opened.value;
        if (onClose !== undefined) onClose(index, stack.length, c, opened, stack[stack.length - 1]);
      } else {
        valueEnded = false;
      }
      index++;
      if (c === '*' && before === 'function') continue;
      if (c === '>' && before === '=') {
        before = '=>';
        continue;
      }
    }
    before = c;
  }
}

function beginsLine(text, index) {
  let end = index;
  while (end > 0 && exec(BLANK, text[end - 1]) !== null) if (exec(BREAK, text[--end]) !== null) return true;
  return false;
}

// Returns the word before a parenthesis if it is a statement's, and no property's or method's name;
// 'function' before the parameters of a function; else ''.
function keywordOf(word, lead, stack) {
  if (word === 'function' || lead === 'function') return lead === '.' ? '' : 'function';
  if (BLOCKS[word] !== true || lead === '.' || lead === '#') return '';
  if (word === 'await') return lead === 'for' ? word : '';
  const around = stack[stack.length - 1];
  if (around === undefined || around.open !== '{' || BEFORE_METHOD[lead] !== true) return word;
  if (around.fields) return '';
  if (!around.value || lead === '}' || lead === ';') return word;
  return mayBeLabelled(stack) && lead !== ',' && word !== 'catch' ? word : '';
}

// Returns whether the last brace may be a block behind a label or a case, which looks like a
// property's value.
function mayBeLabelled(stack) {
  const outer = stack[stack.length - 2];
  return stack[stack.length - 1].before === ':' && (outer === undefined || (outer.open === '{' && !outer.value));
}

function opensObject(before) {
  return before !== '' && before !== ';' && before !== '}' && before !== '{' && before !== '=>' &&
    before !== ')' && before !== 'else' && before !== 'do';
}

// ---- the rewriting ----------------------------------------------------------------------------

const NEEDS_WORK = /\b(?:import|const|export)\b/;
const DECLARES = /\b(?:let|const|class|import)\b/;
const STATIC_IMPORT = new RegExp('\\s*(?:([\\w$\\u0080-\\uffff]+)(?:\\s*,\\s*|\\s+(?=from\\b)))?' +
  '(?:\\*\\s*as\\s+([\\w$\\u0080-\\uffff]+)\\s*|\\{([^}]*)\\}\\s*)?(from\\s*)?' +
  '(["\'])((?:(?!\\5)[^\\\\\\n])+)\\5(?:\\s*(?:with|assert)\\s*(\\{[^}]*\\}))?[ \\t]*;?', 'y');
const EXPORT = new RegExp('\\s+(?=(?:const|let|var|class|function|async)\\b)|\\s*\\{[^{}]*\\}(?!\\s*from\\b)|' +
  '\\s+default\\s+(?=(?:(?:async\\s+)?function\\b\\s*\\*?|class\\b)\\s*(?!extends\\b)[\\w$\\u0080-\\uffff])', 'y');
const EXPORT_VALUE = /\s+default\b/y;
const NAMED = /^\s*(?:([\w$\u0080-\uffff]+)|(["'])(.*)\2)(?:\s+as\s+([\w$\u0080-\uffff]+))?\s*$/;
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//;
const CALL = /(?:\s|\/\*[^]*?\*\/)*[(.]/y;

const METHOD = new RegExp(`${GAP}\\{`, 'y');
const BEFORE_METHOD = { __proto__: null, '{': true, '}': true, ',': true, ';': true, '*': true, async: true, static: true, get: true, set: true };
const INITIALIZED = new RegExp(`${GAP}(?:[\\w$\\u0080-\\uffff]+${GAP}=|[[{])`, 'y');

// `kindOf`: see redeclare(), which comes after this; `standFor`: see importStatement.
function rewrite(text, kindOf, standFor) {
  if (exec(NEEDS_WORK, text) === null) return text;
  const edits = [];
  let constant; // the edit of the `const` whose statement this is
  let constantAt = -1;
  const replace = (start, end, by) => {
    const edit = { start, end, by, method: false };
    push(edits, edit);
    return edit;
  };
  walk(text, (word, index, before, depth, stack) => {
    const end = index + word.length;
    if (before === '#' || before === '.') return undefined;
    if (word === 'import') {
      if (at(CALL, text, end) !== '') {
        replace(index, end, IMPORT).method = mayNameMethod(before, stack);
        return undefined;
      }
      const match = depth > 0 ? null : staticImport(text, end);
      if (match === null) return undefined;
      replace(index, end + match[0].length, importStatement(match, kindOf, standFor));
      return end + match[0].length;
    }
    if (depth > 0) return undefined;
    if (word === 'export') {
      const value = at(EXPORT, text, end) === '' ? at(EXPORT_VALUE, text, end) : '';
      const after = end + (value === '' ? at(EXPORT, text, end) : value).length;
      if (after === end) return undefined;
      replace(index, after, (value === '' ? '' : '0,') + slice(blank(slice(text, index, after)), value === '' ? 0 : 2));
      return after;
    }
    if (word === 'const' && isConstant(text, index, before, stack)) {
      constant = replace(index, end, padded('let', word));
      constantAt = stack.statement;
    } else if (before === ',' && constant !== undefined && constantAt === stack.statement && at(INITIALIZED, text, index) === '') {
      constant.by = 'const'; // which V8 refuses, as a name has no value
    }
    return undefined;
  }, (index, depth, c, opened) => {
    if (opened !== undefined && opened.before === 'import' && at(METHOD, text, index + 1) !== '') keepMethod(text, edits, opened.index);
  });
  return edited(text, edits);
}

// Returns the match of the import statement whose word ends here; null when it is none.
function staticImport(text, end) {
  if (at(CALL, text, end) !== '') return null;
  STATIC_IMPORT.lastIndex = end;
  return exec(STATIC_IMPORT, text);
}

// Where columns of edited texts come from: of each edit that moves what is behind it its line, where it begins and ends there, the column
// that it began at, and how far it moves the rest.
let moved = [];

function noteMoved(text, edits) {
  const moves = [];
  let line = 1;
  let lineStart = 0; // of the text
  let newStart = 0; // of what it becomes
  let drift = 0;
  let from = 0;
  for (let i = 0; i < edits.length; i++) {
    const { start, end, by, still } = edits[i];
    if (still) continue; // nothing has moved
    for (let at = indexOf(text, '\n', from); at >= 0 && at < start; at = indexOf(text, '\n', at + 1)) {
      line++;
      lineStart = at + 1;
      newStart = lineStart + drift;
    }
    const begins = start + drift - newStart + 1;
    const column = start - lineStart + 1;
    const lines = countLines(slice(text, start, end));
    if (lines > 0) {
      push(moves, { line, begins, ends: Infinity, column, by: 0 });
      line += lines;
      lineStart = start + lastLine(slice(text, start, end));
      newStart = start + drift + lastLine(by);
    }
    drift += by.length - (end - start);
    const ends = end + drift - newStart + 1;
    push(moves, { line, begins: lines > 0 ? 0 : begins, ends, column, by: ends - (end - lineStart + 1) });
    from = end;
  }
  if (moves.length > 0) push(moved, moves);
}

function lastLine(text) {
  let start = 0;
  for (let at = indexOf(text, '\n'); at >= 0; at = indexOf(text, '\n', start)) start = at + 1;
  return start;
}

// Returns the column in the cell's text, by what takeMoved() returned when the cell was edited.
function writtenColumn(stages, line, column) {
  let found = column;
  for (let i = stages.length - 1; i >= 0; i--) found = unmoved(stages[i], line, found);
  return found;
}

function unmoved(moves, line, column) {
  let by = 0;
  for (let i = 0; i < moves.length; i++) {
    const move = moves[i];
    if (move.line !== line || column <= move.begins) continue;
    if (column < move.ends && (move.by !== 0 || move.ends === Infinity)) return move.column;
    if (column >= move.ends) by = move.by;
  }
  return column - by;
}

function edited(text, edits) {
  noteMoved(text, edits);
  const out = [];
  let from = 0;
  for (let i = 0; i < edits.length; i++) {
    push(out, slice(text, from, edits[i].start), edits[i].by);
    from = edits[i].end;
  }
  push(out, slice(text, from));
  return join(out, '');
}

// Returns whether the `const` begins a declaration whose first name has a value; otherwise V8 must
// refuse it.
function isConstant(text, index, before, stack) {
  const begins = at(WORD, before, 0) === '' || stack.statement === index;
  return begins && at(INITIALIZED, text, index + 'const'.length) !== '';
}

function mayNameMethod(before, stack) {
  const inner = stack[stack.length - 1];
  return inner !== undefined && inner.open === '{' && (inner.fields || inner.value) && BEFORE_METHOD[before] === true;
}

// Keeps the `import` before this parenthesis as a method's name, if it stands where one may.
function keepMethod(text, edits, parenthesis) {
  for (let i = edits.length - 1; i >= 0; i--) {
    const { end, method } = edits[i];
    if (method === true && end + at(SPACE, text, end).length === parenthesis) edits[i].by = 'import';
  }
}

function padded(by, word) {
  return by + repeat(' ', max(0, word.length - by.length));
}

function blank(text) {
  let lines = '';
  for (let i = 0; i < text.length; i++) lines += text[i] === '\n' ? '\n' : ' ';
  return lines;
}

// ---- constants --------------------------------------------------------------------------------
//
// A `const` that became `let`, and an imported name, is guarded by the text: what assigns to it assigns to CONSTANT instead, which throws.
// Where it is not sure that there is an assignment, as with `name &&= 1`, that is to a field of CONSTANT(name).
// A name that the cell binds anywhere else as well is left alone: which of them is meant, a lexer does not know.

const OPERATORS = '(?:=(?![=>])|(?:[-+%^]|\\*\\*?|\\/|<<|>>>?|&|\\|)=(?!=))|[ \\t]*(?:\\+\\+|--)';
const ASSIGNED = new RegExp(`${GAP}${OPERATORS}`, 'y');
const ASSIGNED_IN_PARENTHESES = new RegExp(`${GAP}\\)(?:${GAP}${OPERATORS})`, 'y');
const ASSIGNED_PERHAPS = /\s*(?:&&|\|\||\?\?)=/y;
const ASSIGNED_EACH = /\s+(?:of|in)\b/y;
const ASSIGNS = new RegExp(`[\\]}]\\s*=(?![=>])|[\\w$\\u0080-\\uffff]${GAP}(?:\\)${GAP})?(?:[-+*/%^<>&|?]*=(?![=>])|\\+\\+|--)|` +
  '(?:\\+\\+|--)\\s*[\\w$\\u0080-\\uffff]|\\bfor\\b\\s*(?:await\\b\\s*)?\\(\\s*(?:[[{]|[\\w$\\u0080-\\uffff]+\\s+(?:of|in)\\b)');
const REBINDS = /\b(?:let|var|class|function|import)\b/;
const PARAMETERS = new RegExp(`${GAP}(?:=>|\\{)`, 'y');
const ARROW = /\s*=>/y;
const NO_KEY = new RegExp(`${GAP}[,=}\\]]`, 'y');
const BEFORE_ELEMENT = { __proto__: null, '[': true, ',': true, '...': true };
const BEFORE_FIELD = { __proto__: null, '{': true, ',': true, '...': true, ':': true };
const BINDS = { __proto__: null, let: true, const: true, var: true, class: true, function: true, import: true };
const CONTROLS = { __proto__: null, if: true, while: true, for: true, with: true, switch: true };

// Returns whether the word is a name that a declaration within `depth` brackets makes, whose
// statement began at `statement`.
function isDeclared(text, word, index, before, stack, statement, depth) {
  if (statement !== stack.statement || stack.length < depth) return false;
  const first = stack.length === depth ? before : stack[depth].before;
  if (first !== ',' && DECLARATION[first] !== true) return false;
  if (stack.length === depth) return true;
  for (let i = depth; i < stack.length; i++) {
    const { open, assigned, before: lead } = stack[i];
    if (assigned || (open !== '{' && open !== '[')) return false;
    if (i > depth && (stack[i - 1].open === '{' ? lead !== ':' : BEFORE_ELEMENT[lead] !== true)) return false;
  }
  const places = stack[stack.length - 1].open === '{' ? BEFORE_FIELD : BEFORE_ELEMENT;
  return places[before] === true && at(NO_KEY, text, index + word.length) !== '';
}

// Returns whether the word is the target of an assignment, by the text before and around it.
function isTarget(text, word, index, before, inner) {
  const end = index + word.length;
  if (before === '++' || before === '--') return text[end] !== '.' && text[end] !== '[';
  if (before === '(' && (isHead(text, end, inner) || isGrouped(text, end, inner))) return true;
  if (at(ASSIGNED_PERHAPS, text, end) !== '') return true;
  if (before === ',' || at(ASSIGNED, text, end) === '') return false;
  if (inner === undefined || inner.open === '(' || inner.open === '`') return true;
  if (inner.open === '{' && !inner.value) return !inner.fields;
  return before !== '{' && before !== '[' && before !== ':';
}

// Returns whether a word that ends here, behind a parenthesis, is all of the parentheses that are
// assigned to.
function isGrouped(text, end, inner) {
  return !inner.behindValue && CONTROLS[inner.before] !== true && at(ASSIGNED_IN_PARENTHESES, text, end) !== '';
}

// Returns whether a word that ends here, behind a parenthesis, is assigned to by `for (word of
// list)` or `for (word in object)`.
function isHead(text, end, inner) {
  const each = at(ASSIGNED_EACH, text, end);
  return each !== '' && (inner.before === 'for' || (inner.before === 'await' && slice(each, -2) === 'of'));
}

// Destructuring that assigns: only where it begins a statement or stands in parentheses, and with nothing nested.
const FOLLOWED = /\s*=(?![=>])/y;
const BEGINS = { __proto__: null, '': true, ';': true, '{': true, '}': true, '(': true, ')': true, else: true, do: true };
const NESTED = /[()[\]{}'"`/\\]/;
const ELEMENT = /(?:^|,)(\s*(?:\.\.\.\s*)?)([\w$\u0080-\uffff]+)(?:(\s*:\s*)([\w$\u0080-\uffff]+))?\s*(?=[,=]|$)/g;

// Calls found(index, shorthand) for each name that the pattern between these brackets assigns to.
function eachTarget(text, opened, end, around, found) {
  const list = opened.open === '[';
  if (!list && (opened.open !== '{' || opened.before !== '(')) return;
  if (opened.behindValue || !BEGINS[opened.before]) return;
  if (at(FOLLOWED, text, end + 1) === '' && !(opened.before === '(' && isHead(text, end + 1, around))) return;
  if (around !== undefined && around.open !== '(' && (around.open !== '{' || around.value || around.fields)) return;
  const inner = slice(text, opened.index + 1, end);
  if (exec(NESTED, inner) !== null) return;
  ELEMENT.lastIndex = 0;
  for (let match; (match = exec(ELEMENT, inner)) !== null;) {
    const { 0: whole, 1: lead, 2: name, 3: colon } = match;
    const start = opened.index + 1 + match.index + (whole[0] === ',' ? 1 : 0) + lead.length;
    if (colon !== undefined) found(start + name.length + colon.length, false);
    else found(start, !list && indexOf(lead, '.') < 0);
  }
}

// Returns how a word binds a name here: 'top' for the cell, 'inner', or undefined.
function bindingOf(text, word, index, before, stack) {
  const outer = stack.length === 0;
  if (BINDS[before]) return outer ? 'top' : 'inner';
  if (before === ',' && (outer || !stack[stack.length - 1].value)) return outer ? 'top' : 'inner';
  for (let i = stack.length - 1; i >= 0 && stack[i].open !== '(' && !stack[i].assigned; i--) {
    if (BINDS[stack[i].before]) return i === 0 ? 'top' : 'inner';
  }
  return at(ARROW, text, index + word.length) === '' ? undefined : 'inner';
}

// Returns the text in which no constant is assigned to, the names that the cell makes constants,
// and those that it binds as something else. `known` holds the constants of older cells.
function guardConstants(text, known) {
  const own = { __proto__: null };
  const bound = { __proto__: null };
  const words = []; // that may be constants: the word, its place, and what it becomes where it is assigned to
  let statement = -1; // of the last `const`
  const note = (word, index, before, depth, stack) => {
    if (before === '#' || before === '.') return undefined;
    if (word === 'const' && depth === 0) statement = stack.statement;
    if (word === 'import' && depth === 0) {
      const match = staticImport(text, index + word.length);
      if (match === null) return undefined;
      eachImported(match, (_, local) => { own[local] = true; });
      return index + word.length + match[0].length;
    }
    if (isDeclared(text, word, index, before, stack, statement, 0)) {
      own[word] = true;
      return undefined;
    }
    if (known[word] !== true && own[word] !== true) return undefined;
    const how = bindingOf(text, word, index, before, stack);
    const target = how === undefined && isTarget(text, word, index, before, stack[stack.length - 1]);
    const perhaps = target && at(ASSIGNED_PERHAPS, text, index + word.length) !== '';
    push(words, { word, index, by: perhaps ? `${CONSTANT}(${word}).value` : target ? padded(CONSTANT, word) : undefined });
    if (how !== undefined && bound[word] !== 'top') bound[word] = how;
    return undefined;
  };
  walk(text, note, (index, depth, c, opened, around) => {
    if (opened !== undefined) {
      eachTarget(text, opened, index, around, (place, shorthand) => {
        for (let i = words.length - 1; i >= 0 && words[i].index >= place; i--) {
          const { word } = words[i];
          if (words[i].index === place) words[i].by = `${shorthand ? `${word}:` : ''}${padded(CONSTANT, word)}`;
        }
      });
    }
    if (c !== ')' || opened === undefined || CONTROLS[opened.keyword] || at(PARAMETERS, text, index + 1) === '') return;
    for (let i = words.length - 1; i >= 0 && words[i].index > opened.index; i--) {
      if (bound[words[i].word] === undefined) bound[words[i].word] = 'inner';
    }
  });
  const edits = [];
  for (let i = 0; i < words.length; i++) {
    const { word, index, by } = words[i];
    if (by !== undefined && bound[word] === undefined) push(edits, { start: index, end: index + word.length, by });
  }
  return { text: edited(text, edits), own, bound };
}

// ---- declarations of names that stand already -------------------------------------------------
//
// Asked for when V8 has refused a text, for a name that is declared as another kind than it stands as: "var", which is
// a property of globalThis for good, or "let". A declaration gets the keyword of its names; where they stand as both
// kinds it is split, and names of one pattern are assigned to. A `var` of a name that stands as "let" is that at the
// cell's head, and the declaration only assigns to it. A function whose name stands as "let" is made before the
// cell runs, by a text of its own: code above it calls it.

const DECLARATION = { __proto__: null, let: true, const: true, var: true };
const BINDING = new RegExp(`${GAP}[\\w$\\u0080-\\uffff[{]`, 'y');
const GIVEN = new RegExp(`${GAP}=(?![=>])`, 'y');
const HEAD = new RegExp(`(?:async${GAP})?(?:function\\b${GAP}\\*?|class\\b)${GAP}([\\w$\\u0080-\\uffff]+)`, 'y');
const BLOCKS = { __proto__: null, ...CONTROLS, await: true, catch: true }; // before the parenthesis before a block
const CELL_HEAD = new RegExp(`(?:#![^\\n]*\\n)?${GAP}(?:(["'])use strict\\1[ \\t]*;?)?`, 'y');
const STRICT = /["']use strict["'][ \t]*;?$/;

function beginsHere(index, before, stack) {
  if (before === ')' && BLOCKS[stack.head] === true) return false;
  return before === '' || before === ';' || before === '}' || stack.statement === index;
}

function isInFunction(stack) {
  for (let i = 0; i < stack.length; i++) {
    const { open, fields, before, head } = stack[i];
    if (open === '{' && (fields || before === '=>' || (before === ')' && (head === 'function' || isMethod(head, stack[i - 1]))))) return true;
  }
  return false;
}

// Returns whether the brace behind a parenthesis with this keyword begins the method of an object.
function isMethod(keyword, around) {
  return BLOCKS[keyword] !== true && around !== undefined && around.open === '{' && around.value;
}

// Returns the text in which the names that stand already are declared as kindOf(name) has them, and
// `first`, the functions that are made before it runs: of each the name, its place in the
// function's text, a text that makes it, and the line where this begins.
function redeclare(text, kindOf) {
  const edits = [];
  const functions = [];
  const lists = []; // declarations: of these names
  let list;
  let opened; // a class or function: at its last brace it is whole
  walk(text, (word, index, before, depth, stack) => {
    if (before === '#' || before === '.') return undefined;
    if (list !== undefined && list.depth > 0 && depth === list.depth && before === ';') list = undefined;
    if (list !== undefined && isDeclared(text, word, index, before, stack, list.statement, list.depth)) {
      addName(list, word, index, stack);
    } else if (DECLARATION[word] === true && at(BINDING, text, index + word.length) !== '') {
      const outer = depth === 0 && beginsHere(index, before, stack);
      if (!outer && (word !== 'var' || isInFunction(stack))) return undefined;
      list = { word, index, before, depth, outer, statement: stack.statement, parts: [] };
      push(lists, list);
    } else if (depth === 0 && opened === undefined && beginsHere(index, before, stack)) {
      opened = openedBy(text, index, kindOf);
    }
    return undefined;
  }, (index, depth, c) => {
    if (list !== undefined && depth < list.depth) list = undefined;
    if (opened === undefined || depth > 0 || c !== '}') return;
    const { name, nameAt, start } = opened;
    if (opened.isClass) push(edits, { start, end: start, by: `var ${name}=` }, { start: index + 1, end: index + 1, by: ';' });
    else push(functions, { name, nameAt, start, end: index + 1 });
    opened = undefined;
  });
  const head = { __proto__: null }; // names that are declared at the cell's head, and their keywords
  for (let i = 0; i < lists.length; i++) {
    if (lists[i].before === '(') declareForLoop(lists[i], kindOf, edits, head);
    else if (lists[i].word === 'var') declareVar(text, lists[i], kindOf, edits, head);
    else declareOuter(text, lists[i], kindOf, edits);
  }
  return partsOf(text, edits, functions, head);
}

// The class or function that begins here, where its name stands as another kind.
function openedBy(text, start, kindOf) {
  HEAD.lastIndex = start;
  const match = exec(HEAD, text);
  if (match === null) return undefined;
  const { 0: whole, 1: name } = match;
  const isClass = text[start] === 'c';
  return kindOf(name) === (isClass ? 'var' : 'let') ? { name, nameAt: start + whole.length - name.length, start, isClass } : undefined;
}

function addName(list, name, index, stack) {
  const { parts, depth } = list;
  const place = stack.length === depth ? index : stack[depth].index;
  const last = parts[parts.length - 1];
  if (last !== undefined && last.place === place) push(last.names, name);
  else push(parts, { place, comma: stack.comma, pattern: stack.length > depth, names: [name] });
}

// Returns what these names stand as: "let", "var", "both", or undefined when none stands.
function kindsOf(names, kindOf) {
  let found;
  for (let i = 0; i < names.length; i++) {
    const kind = kindOf(names[i]);
    if (kind !== undefined) found = found === undefined || found === kind ? kind : 'both';
  }
  return found;
}

function declareOuter(text, { word, index, parts }, kindOf, edits) {
  const ends = (part) => part.place + part.names[0].length;
  const hasValue = (part) => part.pattern || at(GIVEN, text, ends(part)) !== '';
  for (let i = 0; word === 'const' && i < parts.length; i++) if (!hasValue(parts[i])) return; // V8 is to refuse it
  let present = ''; // what the names are declared by
  for (let i = 0; i < parts.length; i++) {
    const { names, comma } = parts[i];
    const kind = kindsOf(names, kindOf);
    const keyword = kind === 'both' ? `${newOnes(names, kindOf)}let {}=` : kind ?? (present === '' ? word : present);
    const usual = keyword === 'const' ? 'let' : keyword;
    if (i === 0) push(edits, { start: index, end: index + word.length, by: padded(usual, word) });
    else if (usual !== present) push(edits, { start: comma, end: comma + 1, by: `;${usual} ` });
    if (word === 'let' && kind === 'var' && !hasValue(parts[i])) push(edits, { start: ends(parts[i]), end: ends(parts[i]), by: '=void 0' });
    present = kind === 'both' ? 'let' : usual;
  }
}

// Within a block it has its old value until the declaration gives it one.
function declareVar(text, { parts, outer }, kindOf, edits, head) {
  for (let i = 0; i < parts.length; i++) {
    const { names, place, pattern } = parts[i];
    const kind = kindsOf(names, kindOf);
    if (kind !== 'let' && kind !== 'both') continue;
    for (let k = 0; k < names.length; k++) {
      const own = kindOf(names[k]) ?? 'var';
      if (own === 'let' ? outer : kindOf(names[k]) === undefined) head[names[k]] = own;
    }
    const end = pattern || at(GIVEN, text, place + names[0].length) !== '' ? place : place + names[0].length;
    push(edits, { start: place, end, by: end === place ? ` ${NOWHERE}=` : padded(NOWHERE, names[0]) });
  }
}

function newOnes(names, kindOf) {
  let text = '';
  for (let i = 0; i < names.length; i++) if (kindOf(names[i]) === undefined) text += `let ${names[i]};`;
  return text;
}

// The `var` of a loop's head: what is to be declared at the cell's head when one of the names stands as "let".
function declareForLoop({ word, index, parts }, kindOf, edits, head) {
  const names = [];
  for (let i = 0; i < parts.length; i++) {
    for (let k = 0; k < parts[i].names.length; k++) push(names, parts[i].names[k]);
  }
  const kind = kindsOf(names, kindOf);
  if (kind !== 'let' && kind !== 'both') return;
  push(edits, { start: index, end: index + word.length, by: '   ' });
  for (let i = 0; i < names.length; i++) if (kindOf(names[i]) === undefined) head[names[i]] = 'var';
}

function partsOf(text, edits, functions, head) {
  const top = at(CELL_HEAD, text, 0);
  const strict = exec(STRICT, top) !== null;
  for (let i = 0; i < functions.length; i++) {
    const { name, start, end } = functions[i];
    functions[i].edit = { start, end, by: `${blank(slice(text, start, end - 1))};`, still: true }; // which ends the statement before it
    push(edits, functions[i].edit);
    head[name] = 'let';
  }
  let before = '';
  for (const name in head) before += `${head[name]} ${name};`;
  if (functions.length > 0) before += `${FIRST};`;
  if (before !== '') insert(edits, 0, 0, { start: top.length, end: top.length, by: `${strict ? ';' : ''}${before}` }); // before those of a class that begins there
  const sorted = inOrder(edits);
  const rest = edited(text, sorted);
  const first = [];
  for (let i = 0; i < functions.length; i++) push(first, firstOf(text, functions[i], slice(rest, 0, placeOf(functions[i].edit, sorted)), strict));
  return { text: rest, first };
}

// Returns where an edit's text begins in the text that the edits make.
function placeOf(edit, edits) {
  let place = edit.start;
  for (let i = 0; edits[i] !== edit; i++) place += edits[i].by.length - (edits[i].end - edits[i].start);
  return place;
}

// What makes a function: its name is assigned to on the line before it, so that its own places are those of the cell. Its text is
// without the name, which is a variable of the cells within it, too.
function firstOf(text, { name, nameAt, start, end }, above, strict) {
  const column = above.length - lastLine(above);
  const own = slice(text, start, nameAt) + repeat(' ', name.length) + slice(text, nameAt + name.length, end);
  return { name, at: nameAt - start, line: countLines(above) - 1, text: `${strict ? '"use strict";' : ''}${name}=\n${repeat(' ', column)}${own}` };
}

// An insertion at the place where a text is replaced comes before it.
function inOrder(edits) {
  const sorted = [];
  for (let i = 0; i < edits.length; i++) {
    let place = sorted.length;
    while (place > 0 && (sorted[place - 1].start > edits[i].start || (sorted[place - 1].start === edits[i].start && sorted[place - 1].end > edits[i].end))) place--;
    insert(sorted, place, 0, edits[i]);
  }
  return sorted;
}

// ---- import statements ------------------------------------------------------------------------

// `match`: of STATIC_IMPORT; the default's name, that of all, the named ones, the module. `standFor(name)` says what the
// name becomes: "live", or "var" or "let" with a value of its own, which kindOf(name) knows better.
function importStatement(match, kindOf, standFor) {
  const { 1: own, 2: all, 3: named, 6: specifier, 7: attributes } = match;
  const options = attributes === undefined ? '' : `,{with:${attributes},assert:${attributes}}`;
  const module = stringify(specifier);
  const standsAs = (name) => kindOf(name) ?? standFor(name);
  let text = '';
  if (all !== undefined) {
    const kind = standsAs(all);
    text = `${kind === 'live' ? 'let' : kind} ${all}=await ${IMPORT}(${module}${options});`;
  }
  const wanted = { live: [], let: [], var: [] };
  addNamed(own, named, (name, local) => push(wanted[standsAs(local)], [name, local]));
  const apart = (kind) => {
    if (wanted[kind].length > 0) text += `${kind} {${fieldsOf(wanted[kind])}}=await ${IMPORT}.names(${module},${namesOf(wanted[kind])}${options});`;
  };
  apart('var');
  apart('let');
  const { live } = wanted;
  if (live.length > 0) {
    // The declaration is for V8, which refuses a second one in this cell: the name stands already.
    text += `var ${join(localsOf(live), ',')};let {}=await ${IMPORT}.live(${module},${namesOf(live)},${listOf(localsOf(live))}${options});`;
  }
  if (text === '') text = `let {}=await ${IMPORT}(${module}${options});`;
  return text + repeat('\n', countLines(match[0]));
}

function namesOf(wanted) {
  const names = [];
  for (let i = 0; i < wanted.length; i++) push(names, wanted[i][0]);
  return listOf(names);
}

// Returns names as JSON has them; JSON itself would ask the list for toJSON.
function listOf(names) {
  const texts = [];
  for (let i = 0; i < names.length; i++) push(texts, stringify(names[i]));
  return `[${join(texts, ',')}]`;
}

function localsOf(wanted) {
  const names = [];
  for (let i = 0; i < wanted.length; i++) push(names, wanted[i][1]);
  return names;
}

function fieldsOf(wanted) {
  const fields = [];
  for (let i = 0; i < wanted.length; i++) push(fields, `${stringify(wanted[i][0])}:${wanted[i][1]}`);
  return join(fields, ',');
}

// Calls add(name, local) for each name that `match` of STATIC_IMPORT makes.
function eachImported({ 1: own, 2: all, 3: named }, add) {
  if (all !== undefined) add('*', all);
  addNamed(own, named, add);
}

// Calls add(name, local) for the default's name, if there is one, and each name between the braces.
function addNamed(own, named, add) {
  if (own !== undefined) add('default', own);
  let text = named === undefined ? '' : named;
  for (let match = exec(COMMENT, text); match !== null; match = exec(COMMENT, text)) {
    text = `${slice(text, 0, match.index)} ${slice(text, match.index + match[0].length)}`;
  }
  for (let start = 0; start <= text.length;) {
    const comma = indexOf(text, ',', start);
    const end = comma < 0 ? text.length : comma;
    const match = exec(NAMED, slice(text, start, end));
    if (match !== null) {
      const name = match[1] === undefined ? match[3] : match[1];
      add(name, match[4] === undefined ? name : match[4]);
    }
    start = end + 1;
  }
}

function countLines(text) {
  let count = 0;
  for (let i = 0; i < text.length; i++) count += charCode(text, i) === 10 ? 1 : 0;
  return count;
}

// ---- TypeScript -------------------------------------------------------------------------------

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

// ---- packages ---------------------------------------------------------------------------------

// `npm install x` is a syntax error wherever it stands. It is taken at a cell's head only, before
// the first line of code, where it cannot be within a string or a template.
const INSTALL = /^((?:[ \t]*(?:\/\/[^\n]*)?\r?\n)*)[ \t]*[!%]?[ \t]*npm[ \t]+(?:install|i|add)([ \t][^\n;|&$`<>(){}]*)(?=\n|$)/;
const NPM_OPTION = /^(?:-[gsSDE]|--(?:global|save|save-dev|save-exact|silent|no-audit|no-fund|no-save|yes))$/;
const LOCAL = /^(?:[./~]|file:)/;

function wordsOf(line) {
  const words = [];
  const word = /"[^"]*"|'[^']*'|[^ \t\r]+/y;
  const space = /[ \t\r]*/y;
  for (let index = at(space, line, 0).length; index < line.length;) {
    const text = at(word, line, index);
    if (text === '') return words;
    index += text.length;
    index += at(space, line, index).length;
    push(words, exec(/^["']/, text) === null ? text : slice(text, 1, -1));
  }
  return words;
}

// Returns what the lines at a cell's head install, and the cell without them: `packages` that are
// wanted by name, and `commands` of npm whose packages are stored in the session. Returns undefined
// when there are none.
function installs(code) {
  const found = { packages: [], commands: [], rest: code };
  for (let line = exec(INSTALL, found.rest); line !== null; line = exec(INSTALL, found.rest)) {
    const words = wordsOf(line[2]);
    const names = [];
    let local = false;
    for (let i = 0; i < words.length; i++) {
      local = local || exec(LOCAL, words[i]) !== null;
      if (exec(NPM_OPTION, words[i]) === null) push(names, words[i]);
    }
    if (names.length === 0) break;
    if (local) push(found.commands, words);
    for (let i = 0; !local && i < names.length; i++) push(found.packages, names[i]);
    found.rest = line[1] + slice(found.rest, line[0].length);
  }
  return found.rest === code ? undefined : found;
}

exports.IMPORT = IMPORT;
exports.CONSTANT = CONSTANT;
exports.FIRST = FIRST;
exports.NOWHERE = NOWHERE;
exports.guardConstants = guardConstants;
exports.installs = installs;
exports.redeclare = redeclare;
exports.takeMoved = () => {
  const was = moved;
  moved = [];
  return was;
};
exports.writtenColumn = writtenColumn;
exports.rewrite = rewrite;
// Whether constants may be made, as imported names are, or bound or assigned to if there are some.
exports.concernsConstants = (text, some) => indexOf(text, 'const') >= 0 || indexOf(text, 'import') >= 0 ||
  (some && (exec(ASSIGNS, text) !== null || exec(REBINDS, text) !== null));
exports.declares = (text) => exec(DECLARES, text) !== null;
// Whether all of it runs at once, and none of it beneath ours or where Node aborts when a signal ends it, as a read does.
exports.isSimple = (text) => exec(NOT_SIMPLE, text) === null;
exports.looksLikeTypeScript = (text) => exec(TYPESCRIPT, text) !== null;
// Returns the name of a syntax that no Node runs and that the text looks like; else ''.
exports.looksForeign = (text) => (exec(DECORATOR, text) !== null ? 'decorators' : exec(MARKUP, text) !== null ? 'JSX or HTML' : '');
// Returns whether the text is one object literal, which V8 would take for a block.
exports.isObjectLiteral = (text) => {
  if (exec(/^\s*\{[^]*\}\s*$/, text) === null) return false;
  let groups = 0;
  walk(text, () => undefined, (index, depth) => { groups += depth === 0 ? 1 : 0; });
  return groups === 1;
};
