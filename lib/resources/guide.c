/* SPDX-License-Identifier: MIT */
#include "resources/guide.h"

#include <string.h>
#include <unistd.h>

#include "answer/network_json.h"
#include "answer/python_packages.h"
#include "base/mem.h"
#include "json/make.h"
#include "text/sanitize.h"

enum { SHARE_CHARS_MAX = 400 /* of one path */ };

/* With the call budget. */
static const char guide[] =
	"# Working with ptycell\n"
	"\n"
	"- One `session_id` per conversation: a topic plus four random characters (`sales-k3f9`). "
	"Variables, imports and files stay for all its cells. A mistyped id makes a new, empty "
	"session: the first answer says so.\n"
	"- Languages: `python`, `javascript`, `bash` and `r`, as far as they are installed (`session_info`). Each keeps "
	"its own state; all share the folder and /tmp, so hand data over in files. A hung one does "
	"not hold up the others.\n"
	"- python: `;` at the end hides the last value. Top-level `await` works. `!cmd` runs a shell "
	"command, `x = !cmd` takes its lines, `%%%%bash` makes a cell a script.\n"
	"- javascript (Node): `let`, `const`, functions and imports stay and can be declared again; "
	"`await` and `import` stand anywhere, `require` too. A promise as last value is awaited. "
	"`display(x)` shows a value or picture (a PNG Buffer, a canvas, a `Symbol.for('Jupyter.display')` "
	"bundle). Timers and servers go on between cells. TypeScript runs where Node is 22.13 or later. "
	"`process.exit()` ends the cell, not the interpreter.\n"
	"- bash: variables, functions, aliases, the folder and background jobs stay. The status line "
	"shows the exit status; `exit` and `set -e` end the cell, not the session. A failing command "
	"in the middle does not stop a cell: write `set -e` where it should, in each such cell.\n"
	"- R: visible values are shown as R prints them (`invisible(x)` hides one), plots of base, grid "
	"and ggplot2 as images; `lines()` in a later cell shows the plot again. "
	"`options(repr.plot.width = 12)` sizes them (inches).\n"
	"- Work in small cells: load, look, compute, plot. The value of the last expression is "
	"shown.\n"
	"- The status line ends every answer: `[id#cell state seconds s | files +new ~changed "
	"-deleted | names what changed | output n of m chars, all in PATH | saved FOLDER]`. States: "
	"done, raised, running, waiting_for_input, interrupted, timed_out, died, not_started.\n"
	"- Figures: matplotlib figures are shown without `plt.show()` and lie in `output/` too. "
	"`display(x)` shows a value in the middle of a cell.\n"
	"- Files: the working folder is the current folder. Uploads land in `input/`. Everything in "
	"`output/` is copied to the folder after `saved`, where the user finds it: tell them that "
	"path. Other new files of the working folder are copied into `files/` there, but for hidden "
	"ones, and repositories, virtual environments, caches and more than 200 new files of one folder "
	"at once, of which the answer says so. Links into the session do not open for them; where the user set a storage, the answer has "
	"links that do, to be given unchanged.\n"
	"- Long output: the answer has head and tail; the whole lies in the file named in the "
	"status. Search it with code instead of printing it again.\n"
	"- Long runs: `exec_code` answers after `wait` seconds (default %ju; 0 only starts it) with what "
	"there is, and the code runs on: state `running`. `interact` with `action: wait` answers when it "
	"ends, with only what is new; `until: \"Epoch 5\"` also when that text was written. Meanwhile "
	"other sessions and languages are free; code for the busy one is `not_started`.\n"
	"- Input: where code reads the terminal (`input()`, pdb, a program) the state is "
	"`waiting_for_input`, with the prompt. Answer with `interact` and `input` (Enter is added; `raw: "
	"true` types bytes as they are; `key: ctrl-d` ends input; name the `language` where several have cells under way). Passwords are the user's to give: what "
	"is typed while echo is off is kept nowhere.\n"
	"- Stopping: `action: interrupt` is Ctrl-C, variables stay, and the answer says so. Only what "
	"does not react needs `terminate` or `kill`, which lose them. Cancelling a call interrupts its "
	"code too. What ended while nobody looked opens the next answer: `[cell 7 ended before: ...]`.\n"
	"- `timeout` (seconds) is a cell's deadline; it stands still while the cell waits for input. "
	"Then the code is interrupted, and variables stay; what goes on is killed when the answer says.\n";

static const char guide_end[] =
	"- Child processes live on after the cell; their later output comes with the next cell.\n"
	"- The user gets a notebook of all cells beside the saved files. What was done so far: the "
	"resources `session://ID/cells/N`, `/notebook`, `/script`. What is defined now: "
	"session_info with include: [\"variables\"].\n"
	"- When an answer says that state was lost, run the setup cells again; files are still "
	"there.\n";

static const char sql_guide[] =
	"- SQL: `exec_sql` reads CSV files as tables by their names, in SQLite's SQL: `5 / 2` of "
	"integers is 2 (also in PostgreSQL; write `5 / 2.0`), and dates are texts, which sort when "
	"they are ISO. An empty value of a text column is NULL; in quotes, `\"\"`, it is ''. Read the notes of an answer: they say what was assumed. A query that goes on when its call is answered is waited for by the same call.\n";

static void write_shares(struct buf *out, const struct settings *settings)
{
	buf_puts(out, "\n## What code can see\n\n");
	if (settings->unconfined) {
		buf_puts(out, "Nothing confines the code: it can do what the user can.\n");
		return;
	}
	buf_puts(out,
		 "The session's folder, its own /tmp and the system's programs, nothing of the "
		 "user's. ");
	if (settings->share_count == 0)
		buf_puts(out, "The user can share a folder by starting ptycell with --share "
			      "FOLDER.\n");
	else
		buf_puts(out, "Shared by the user:\n\n");
	for (size_t i = 0; i < settings->share_count; i++) {
		buf_puts(out, "- `");
		sanitize_line(out, settings->shares[i].path, strlen(settings->shares[i].path),
			      SHARE_CHARS_MAX);
		buf_puts(out, settings->shares[i].writable ? "`, to read and write" : "`, to read");
		buf_puts(out,
			 access(settings->shares[i].path, F_OK) < 0 ? ", not there now\n" : "\n");
	}
}

void guide_write(struct buf *out, const struct settings *settings)
{
	cleanup_json json_t *packages = python_packages_list(settings);
	size_t index;
	const json_t *package;

	buf_putf(out, guide, (uintmax_t)settings->call_budget);
	buf_puts(out, guide_end);
	buf_puts(out, sql_guide);
	buf_puts(out, "\n## Python packages that are there\n\n");
	json_array_foreach (packages, index, package)
		buf_putf(out, "%s%s", index > 0 ? ", " : "", json_string_value(package));
	buf_puts(out, json_array_size(packages) > 0 ? "\n" : "Only the standard library.\n");
	write_shares(out, settings);
	network_json_guide(out, settings);
}
