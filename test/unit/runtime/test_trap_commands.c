/* SPDX-License-Identifier: MIT */
/* Which commands of a shell's cell get a word before them, and which text only looks like them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "runtime/bash/trap_commands.h"

static char *marked(const char *code)
{
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	trap_commands_mark(code, strlen(code), &out);
	return buf_steal(&out);
}

/* `@` stands where the word of installs is expected, a bell where that of traps is, a vertical
 * tab where that of their lists is; a carriage return and a form feed where a group begins and
 * ends, and the characters 1 and 2 where that of an `exit` does. */
static void expect(const char *want)
{
	struct buf code;
	struct buf whole;
	cleanup_free char *got = NULL;

	buf_init(&code, BUF_UNBOUNDED);
	buf_init(&whole, BUF_UNBOUNDED);
	for (const char *c = want; *c != '\0'; c++) {
		if (*c == '@')
			buf_puts(&whole, NOTEBOOK_WORD);
		else if (*c == '\a')
			buf_puts(&whole, TRAPS_WORD);
		else if (*c == '\v')
			buf_puts(&whole, LISTS_WORD);
		else if (*c == '\r')
			buf_puts(&whole, SETTLING_START);
		else if (*c == '\f')
			buf_puts(&whole, SETTLING_END);
		else if (*c == '\1')
			buf_puts(&whole, EXIT_START);
		else if (*c == '\2')
			buf_puts(&whole, EXIT_END);
		else
			buf_put(&whole, c, 1);
		if (strchr("@\a\v\r\f\1\2", *c) == NULL)
			buf_put(&code, c, 1);
	}
	got = marked(buf_str(&code));
	assert_string_equal(got, buf_str(&whole));
	buf_release(&code);
	buf_release(&whole);
}

static void commands_are_found_wherever_one_begins(void **state)
{
	static const char *const cells[] = {
		"@!pip install x; @%pip -q install y && @%npm i z",
		"cd /tmp && \atrap x EXIT || echo no",
		"\atrap x EXIT 2>&1 | tail -1",
		"A=1 B='2 3' \atrap x EXIT",
		"if ! python3 -c 'import x'; then \atrap x EXIT; fi",
		"for p in a b; do \atrap $p EXIT; done",
		"while read -r p; do \atrap \"$p\" EXIT; done < list",
		"( cd x; \atrap y EXIT )",
		"{ \atrap x EXIT; } > log 2>&1",
		"> log \atrap x EXIT",
		"f() { \atrap x EXIT; }\nf",
		"f ()\n{\n\t\atrap x EXIT\n}",
		"function g {\n\atrap x EXIT\n}",
		"cat <<EOF\ntrap no EXIT\nEOF\n\atrap yes EXIT",
		"cat <<-'EOF' > a\n\ttrap no EXIT\n\tEOF\n\atrap yes EXIT",
		"cat <<A <<\\B\nx\nA\ntrap no EXIT\nB\n\atrap yes EXIT",
		"cat <<< 'trap no EXIT' && \atrap yes EXIT",
		"x=(trap no EXIT); \atrap yes EXIT",
		"echo \"$(date) ${x:-y} \\\" trap no EXIT\"; \atrap yes EXIT",
		"echo $'it\\'s' trap no EXIT\n\atrap yes EXIT",
		"echo a \\\n  trap no EXIT\n\atrap \\\n  yes EXIT",
		"# it's trap no EXIT\n\atrap yes EXIT",
		"[[ $x =~ ^(a|trap x EXIT)$ && -n $y ]] && \atrap yes EXIT",
		"time \atrap x EXIT &> log",
		"true & \atrap x EXIT",
		"((echo x) | (cat; \atrap y EXIT)) && ((1)) && ((\atrap x EXIT; ls) 2>&1)",
		"case $x in\na | 'b c') \atrap x EXIT ;;\n(c) ls;& *) \atrap x EXIT;;&\n# it's\nd) esac && \atrap y EXIT",
		"for ((i=0; i<<2; i++)); do \atrap x EXIT; done; if (( x << 2 )) then \atrap y EXIT; fi",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		expect(cells[i]);
}

/* No false hits: what is text, another command, or cannot be followed stays as it is. */
static void what_only_looks_like_it_stays_as_it_is(void **state)
{
	static const char *const cells[] = {
		"echo trap x EXIT; echo !pip %pip; ! pip; fg %1",
		"echo 'x\ntrap no\n'",
		"echo \"x\ntrap no\n\"",
		"cat > a <<EOF\ntrap no\nEOF",
		"cat > a <<EOF\ntrap no",
		"cat > a <<EOF\n\tEOF\ntrap no\nEOF\n",
		"cat > a <<EOF\nx \\\nEOF\ntrap no\nEOF\n",
		"cat > a <<'E'OF\ntrap no\nEOF\n",
		"cat > a <<$E\ntrap no\n$E\n",
		"# trap no",
		"case $x in\ntrap) echo;;\nesac",
		"case $x\ntrap unknown",
		"(( x = 1 << pip ))\nEOF\n",
		"x=$(cat <<EOF\ntrap no\nEOF\n)",
		"x=$(cat <<EOF)\ntrap unknown\nEOF",
		"cat <<EOF $(\nls)\ntrap unknown\nEOF",
		"cat <<$'E'\n$'E'\ntrap unknown\nE\n",
		"echo \"${x:-it's}\"\ntrap unknown '",
		"echo \"${x#'}'}\"\ntrap unknown",
		"echo ${x:-{}\ncat <<A\n}\ntrap no\nA\n",
		"a=(\ntrap no\n)",
		"ls !(trap) x",
		"alias p='trap no'",
		"eval trap no; bash -c 'trap no'; xargs trap no",
		"echo \\",
		"echo \"\\",
		"$(",
		"",
		"!pi",
		"))\ntrap no",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		cleanup_free char *got = marked(cells[i]);

		assert_string_equal(got, cells[i]);
	}
}

static void traps_are_found_but_those_of_debug_and_return(void **state)
{
	static const char *const cells[] = {
		"\atrap 'rm -f \"$tmp\"' EXIT; ls",
		"tmp=$(mktemp)\n\atrap \"rm $tmp\" 0 INT && echo",
		"if true; then \atrap cleanup EXIT; fi",
		"f() { \atrap - EXIT; }",
		"(\atrap x EXIT; echo)",
		"\vtrap; \vtrap -p EXIT; \vtrap -p ERR; \vtrap -p",
		"old=$(\vtrap -p EXIT); x=\"$(\vtrap -p)\"; y='$(trap -p)'; z=\"\\$(trap -p)\"",
		"\atrap \"$(\vtrap -p EXIT); echo\" USR1; echo $(\vtrap -p)",
		"trap 'echo $BASH_COMMAND' DEBUG; \atrap x EXIT",
		"f() { trap 'rm x' RETURN; }",
		"\atrap x ERR; trap - ERR; trap ERR; \atrap - USR1; \atrap 'y' ERR",
		"\atrap x EXIT; @!pip install y",
		"echo trap x EXIT; x='trap y EXIT' # trap z EXIT",
		"mousetrap x EXIT; \"trap\" x EXIT",
		"\a\\trap x EXIT; \abuiltin trap x EXIT && \acommand trap x 0",
		"builtin trap x RETURN; builtin echo trap x EXIT; command trap - ERR",
		"2>/dev/null \atrap x EXIT; \atrap 2>/dev/null - USR1",
		"trap() { :; }; trap () { :; }; \atrap x EXIT",
		"x=$(\vtrap); y=\"`\vtrap -p`\"; cat <(\vtrap) <( ls; \vtrap ) `echo \\`; trap`",
		"if x; then trap - ERR; fi; trap \"$(\vtrap -p EXIT)\" DEBUG",
		"\rtrap - ERR EXIT INT\f; \rtrap - EXIT ERR 2>/dev/null\f # none\n(\rtrap x 0 RETURN\f)",
		"f() { \rtrap - EXIT ERR\f\n}; a || \rtrap x DEBUG EXIT\f || b; trap - ERR EXIT | c",
		"case x in x) \rtrap - ERR EXIT\f;; y) \rtrap - ERR EXIT\f\nesac; trap EXIT DEBUG",
		"trap -- - ERR; \rtrap - err exit\f; trap -- x Debug; \atrap -- x exit",
		"x=$(\rtrap - ERR EXIT\f); trap - ERR 2>EXIT; \rtrap - EXIT ERR\f & \rtrap - ERR EXIT\f",
		"! \ra=b 2>x builtin trap \"$(\vtrap -p)\" RETURN 0 >y\f && \atrap -- -p; \vtrap --; \vtrap -p -- >x; trap -p DEBUG EXIT",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		expect(cells[i]);
}

static void a_trap_from_elsewhere_is_looked_for_before_an_exit(void **state)
{
	static const char *const cells[] = {
		"\r. ./lib.sh\f; \1exit 4\2",
		"\rsource lib.sh\f || \1exit\2 # no\nf() { \1a=1 exit \"$?\" 2>&1\2; }; x=$(exit 3)",
		"eval \"$old\"; case $x in x) \1exit 1\2;; esac; if \1exit 3\2 <<E\nexit\nE\nthen :; fi",
		"\"trap\" x EXIT; (\1exit 1\2); exit() { :; }; builtin exit; echo exit; 'exit'",
		"exit 4; sourced",
		"exit 4",
		"source() { :; }; eval x; x=$(. ./lib.sh); \r. <(ls) x\f; \r. <(ls)\f & ./a . b",
		"if ! \rA=1 source lib.sh \"$1\"\f; then eval x; fi | \r. x\f",
		"for f in *; do . $f; while x; do . $f; done; . $f && \1exit\2; done; \r. $f\f",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		expect(cells[i]);
}

static void what_stands_before_a_trap_can_be_followed(void **state)
{
	static const char *const texts[] = {
		"case a in a) :;; esac",
		"case $1 in esac",
		"case x in a[) ls;; b[) ls;;\nc[) ls;; !(d|e)) ls; esac",
		"case \"$1\" in # it's\n\n  -h|--help) usage;;\n  (x) case b in b) ;; esac; (ls);;\n  *) shift\nesac",
		"case x in +(a|b)) ls;; a\\)) ls;; [!a]x) ls; esac",
		"while [[ $# -gt 0 ]]; do case \"$1\" in -h) usage;; *) shift;; esac done",
		"f() { case $1 in a) x;; (esac) x;; esac; }",
		"function f { case $1 in a) ;; esac; }; function g () { :; }",
		"for ((i=0;i<2;i++)); do :; done",
		"for (( i=0; i<2; i++ )) { :; }",
		"(( n == 0 ))",
		"if (( n << 2 )) && ((\nn\n)); then :; fi",
		"if [[ x ]] then :; fi",
		"[[ -n x && # it's ]]\n# it's\n( -n y ) ]] && [[ $x =~ ^(#|//|b#) || a#b == \\#* ]]",
		"x=$((1<<3)) y=$(( (1) << (2) )) z=$[1<<a[2]]",
		"a[1<<b[2]]=5",
		"x=$(\nls # it's )\ncase a in a) :;; esac\n)",
		"x=\"$(cat <<E\nit's )\nE\n)\"",
		"a=(\n1 # it's\n\"2 )\" $(ls) <(ls)\n)",
		"diff <(\nls) <(ls\n)",
		"while read x; do :; done < <(a\nb)",
		"echo ${x#'}'} ${y:-{} \"${z:-\n} ${z?'no z'}\"",
		"cat <<\"E F\"\nit's\nE F",
		"cat <<E\\\nF\nit's\nEF",
		"cat <<E\\F'G H'\"\\I\\$x\"\nit's\nEFG H\\I$x",
		"cat <<E\nx \\\\\nE",
		"cat <<E\nx \\\nE\nE",
		"cat <<$E\nit's\n$E",
		"ls !(a|b) ?(c)",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_free char *want = xasprintf("%s\n\atrap x EXIT", texts[i]);

		expect(want);
	}
}

/* What is in something else is followed to a depth only. */
static void a_depth_has_an_end(void **state)
{
	static const char *const opens[] = {
		"$(",    "$((", "((", "( ", "\"$(", "${x:-", "case a in b) ",
		"a=($(", "<(",  "{ ", "`",  "@(",   "((a) ", "(($("
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(opens); i++) {
		struct buf code;
		cleanup_free char *got = NULL;

		buf_init(&code, BUF_UNBOUNDED);
		for (int n = 0; n < 20000; n++)
			buf_puts(&code, opens[i]);
		buf_puts(&code, "\"pip");
		got = marked(buf_str(&code));
		assert_string_equal(got, buf_str(&code));
		buf_release(&code);
	}
}

/* Every beginning of a cell: nothing is read beyond its end. */
static void a_cell_may_end_anywhere(void **state)
{
	static const char code[] =
		"if x=\"${a:-`b`}\"; then cat <<-E >&2 | [[ $'\\n' ]]\n\tpip\n\tE\n"
		"pip -q install $(a; (b) \"c\") # d\nfi\nnpm i x\\\ny\n"
		"case $((1<<2)) in # a\n(b | c) x=$(trap) y=(1 # 2\n);; esac\n((1)); for ((;;)) do :; done; trap x 0";
	struct buf out;

	(void)state;
	for (size_t len = 0; len < sizeof(code); len++) {
		cleanup_free char *exact = xmemdup(code, len);

		buf_init(&out, BUF_UNBOUNDED);
		trap_commands_mark(exact, len, &out);
		assert_true(out.len >= len);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_found_wherever_one_begins),
		cmocka_unit_test(a_trap_from_elsewhere_is_looked_for_before_an_exit),
		cmocka_unit_test(what_only_looks_like_it_stays_as_it_is),
		cmocka_unit_test(traps_are_found_but_those_of_debug_and_return),
		cmocka_unit_test(what_stands_before_a_trap_can_be_followed),
		cmocka_unit_test(a_depth_has_an_end),
		cmocka_unit_test(a_cell_may_end_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
