/* SPDX-License-Identifier: MIT */
/*
 * explain.c - puts sentences about a cell behind what its code wrote.
 *
 * Their order: why the cell ended, what to install or which limit it met, where the rest of the
 * output is, which files are missing. A missing module hides the limits, since it is the cause.
 */
#include "answer/explain.h"

#include <string.h>

#include "answer/limit_hints.h"
#include "answer/network_json.h"
#include "base/clock.h"
#include "base/mem.h"
#include "journal/journal.h"
#include "session/session.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"

enum { PROBLEM_CHARS_MAX = 1500 }; /* with an interpreter's last output and the remedy */

static void end_line(struct buf *text)
{
	if (text->len > 0 && text->data[text->len - 1] != '\n')
		buf_puts(text, "\n");
}

static void explain_grace(struct buf *text, const struct cell *cell)
{
	uint64_t seconds = (cell->grace_left_ms + 999) / 1000;
	char at[CLOCK_AT_LEN];

	clock_at(seconds, at);
	buf_putf(
		text,
		" and was interrupted. It has not ended yet: it has %ju s more, until %s, and is then "
		"killed with its variables and imports. What it prints and saves until then comes "
		"with the next answer.\n",
		(uintmax_t)seconds, at);
}

static void explain_timeout(struct buf *text, const struct cell *cell)
{
	buf_putf(text, "The cell ran into its deadline of %.15g s",
		 (double)cell->timeout_ms / 1000);
	if (cell->grace_left_ms > 0)
		explain_grace(text, cell);
	else if (cell->overdue)
		buf_puts(text, " and was interrupted; after that it came to an end of its own.\n");
	else if (cell->interpreter_lost)
		buf_puts(text, " and did not react to interrupts, so its interpreter was killed: "
			       "variables and imports are gone, files are not.\n");
	else
		buf_puts(text, " and was interrupted; variables and files are kept.\n");
	buf_puts(text, "If it needs longer, pass a larger timeout.\n");
}

static void explain_death(struct buf *text, const struct exec_result *result, const char *why)
{
	buf_putf(text, "The cell died: %s. Variables and imports are gone, files are not", why);
	if (!journal_is_off(session_journal(result->session)))
		buf_putf(text, ", and session://%s/script has the code that ran",
			 session_id(result->session));
	buf_puts(text, "; the next cell starts a new interpreter.\n");
}

/*
 * Says why a shell ended. The driver keeps a shell's state at an exit, unless the trap of EXIT is
 * no longer its own.
 */
static void explain_shell_end(struct buf *text, const struct cell *cell)
{
	if (!str_eq(cell->language, "bash") || !cell->has_exit_code || cell->exit_code == 126 ||
	    limit_hints_died_for_memory(cell) ||
	    strstr(buf_str(&cell->text), "bash: this shell ends: ") != NULL)
		return;
	buf_puts(text, "`exec` ends a shell, and so does an exit after a sourced file has set a "
		       "trap of EXIT: set such a trap in the cell itself, or source the file in "
		       "parentheses.\n");
}

static void explain_problem(struct buf *text, const struct exec_result *result)
{
	const struct cell *cell = result->cell;
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (cell->problem != NULL)
		sanitize_line(&line, cell->problem, strlen(cell->problem), PROBLEM_CHARS_MAX);
	if (cell->state == CELL_NOT_STARTED)
		buf_putf(text, "The cell was not run: %s.\n", buf_str(&line));
	else if (cell->session_ended && session_goes_on(result->session))
		buf_putf(text,
			 "The cell died: %s. Its variables are gone; exec_code or upload_file with "
			 "this id resumes the session with its files.\n",
			 buf_str(&line));
	else if (cell->session_ended)
		buf_putf(text, "The cell died: %s. Its variables and files are gone.\n",
			 buf_str(&line));
	else
		explain_death(text, result, buf_str(&line));
	if (cell->state == CELL_DIED)
		explain_shell_end(text, cell);
	if (cell->gathered && cell->signal != 0)
		buf_puts(text, "The output was long: its last lines may be missing.\n");
}

/* Modules and their packages, where the names of popular ones differ. */
static const char *const packages[][2] = {
	{ "absl", "absl-py" },
	{ "attr", "attrs" },
	{ "bidi", "python-bidi" },
	{ "Bio", "biopython" },
	{ "bs4", "beautifulsoup4" },
	{ "corsheaders", "django-cors-headers" },
	{ "Crypto", "pycryptodome" },
	{ "Cryptodome", "pycryptodomex" },
	{ "cv2", "opencv-python-headless" },
	{ "dateutil", "python-dateutil" },
	{ "discord", "discord.py" },
	{ "dns", "dnspython" },
	{ "docx", "python-docx" },
	{ "dotenv", "python-dotenv" },
	{ "engineio", "python-engineio" },
	{ "faiss", "faiss-cpu" },
	{ "fitz", "pymupdf" },
	{ "frontmatter", "python-frontmatter" },
	{ "gi", "pygobject" },
	{ "git", "gitpython" },
	{ "github", "pygithub" },
	{ "gitlab", "python-gitlab" },
	{ "google.protobuf", "protobuf" },
	{ "grpc", "grpcio" },
	{ "imblearn", "imbalanced-learn" },
	{ "iso639", "iso-639" },
	{ "jenkins", "python-jenkins" },
	{ "jose", "python-jose" },
	{ "jwt", "pyjwt" },
	{ "kafka", "kafka-python" },
	{ "ldap", "python-ldap" },
	{ "magic", "python-magic" },
	{ "markdown_it", "markdown-it-py" },
	{ "memcache", "python-memcached" },
	{ "mpl_toolkits", "matplotlib" },
	{ "multipart", "python-multipart" },
	{ "MySQLdb", "mysqlclient" },
	{ "nacl", "pynacl" },
	{ "nmap", "python-nmap" },
	{ "OpenGL", "pyopengl" },
	{ "OpenSSL", "pyopenssl" },
	{ "osgeo", "gdal" },
	{ "pdfminer", "pdfminer.six" },
	{ "PIL", "pillow" },
	{ "pkg_resources", "setuptools" },
	{ "pptx", "python-pptx" },
	{ "psycopg2", "psycopg2-binary" },
	{ "pylab", "matplotlib" },
	{ "pysqlite3", "pysqlite3-binary" },
	{ "pywt", "pywavelets" },
	{ "pyximport", "cython" },
	{ "rest_framework", "djangorestframework" },
	{ "ruamel", "ruamel.yaml" },
	{ "serial", "pyserial" },
	{ "skbio", "scikit-bio" },
	{ "skimage", "scikit-image" },
	{ "sklearn", "scikit-learn" },
	{ "skopt", "scikit-optimize" },
	{ "sksurv", "scikit-survival" },
	{ "slugify", "python-slugify" },
	{ "socketio", "python-socketio" },
	{ "socks", "pysocks" },
	{ "speech_recognition", "speechrecognition" },
	{ "Stemmer", "pystemmer" },
	{ "talib", "ta-lib" },
	{ "telegram", "python-telegram-bot" },
	{ "tlz", "toolz" },
	{ "umap", "umap-learn" },
	{ "usb", "pyusb" },
	{ "vlc", "python-vlc" },
	{ "websocket", "websocket-client" },
	{ "whois", "python-whois" },
	{ "win32com", "pywin32" },
	{ "wx", "wxpython" },
	{ "Xlib", "python-xlib" },
	{ "yaml", "pyyaml" },
	{ "zmq", "pyzmq" },
};

/* Returns the package of a module, or NULL if the table does not know it. */
static const char *package_of(const char *module)
{
	for (size_t i = 0; i < ARRAY_SIZE(packages); i++)
		if (str_eq(packages[i][0], module))
			return packages[i][1];
	return NULL;
}

/* Returns whether the R package installs others from the network, which a session does not have. */
static bool is_installer_of_r(const char *name)
{
	static const char *const names[] = { "remotes", "devtools", "BiocManager",
					     "pak",     "renv",     "pacman" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

static void explain_missing_module(struct buf *text, const struct cell *cell)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	const char *package;

	sanitize_word(&name, cell->missing_module, strlen(cell->missing_module),
		      SANITIZE_QUOTE_MAX);
	if (str_eq(cell->language, "r") && is_installer_of_r(buf_str(&name))) {
		buf_putf(
			text,
			"'%s' is not needed here: install.packages(\"NAME\") asks the server for a "
			"package of the user's repositories, install_packages with \"NAME (== "
			"VERSION)\" for a version. Bioconductor's come the same way if the user "
			"names its repository in PTYCELL_R_REPOS.\n",
			buf_str(&name));
		return;
	}
	if (str_eq(cell->language, "r")) {
		buf_putf(text,
			 "The package '%s' is not installed for this R: install_packages with "
			 "language: \"r\" and packages: [\"%s\"].\n",
			 buf_str(&name), buf_str(&name));
		return;
	}
	if (str_eq(cell->language, "javascript")) {
		buf_putf(text,
			 "The package '%s' is not installed for this Node: install_packages with "
			 "language: \"javascript\" and packages: [\"%s\"].\n",
			 buf_str(&name), buf_str(&name));
		return;
	}
	package = package_of(buf_str(&name));
	buf_putf(text,
		 "The module '%s' is not installed for this interpreter. %s: install_packages with "
		 "packages: [\"%s\"].\n",
		 buf_str(&name),
		 package != NULL ? "Its package has another name" : "If its package has that name",
		 package != NULL ? package : buf_str(&name));
}

/* Returns whether bash refused what another language may have: an import, or brackets. */
static bool is_no_shell(const struct cell *cell)
{
	const char *text = buf_str(&cell->text);
	cleanup_free char *place = xasprintf("cell %ju: line ", (uintmax_t)cell->number);
	const char *line = strstr(text, place);
	const char *error =
		line != NULL ? strstr(line, ": syntax error near unexpected token `") : NULL;

	return strstr(text, "bash: import: command not found") != NULL ||
	       strstr(text, "bash: from: command not found") != NULL ||
	       (error != NULL && memchr(line, '\n', (size_t)(error - line)) == NULL);
}

/* Returns whether the interpreter did not understand the code, as that of another language. */
static bool is_not_parsed(const struct cell *cell)
{
	if (str_eq(cell->language, "bash"))
		return cell->has_exit_code && cell->exit_code != 0 && is_no_shell(cell);
	if (cell->state != CELL_RAISED || cell->error_text == NULL)
		return false;
	if (str_eq(cell->language, "r"))
		return cell->error_name != NULL && str_eq(cell->error_name, "parseError") &&
		       strstr(cell->error_text, "unexpected symbol") != NULL;
	return str_eq(cell->language, "javascript") && cell->error_name != NULL &&
	       str_eq(cell->error_name, "SyntaxError") &&
	       strstr(cell->error_text, "JSON") == NULL && /* JSON.parse() raises it, too */
	       strstr(cell->error_text, "regular expression") == NULL; /* and RegExp() */
}

static void explain_language(struct buf *text, const struct exec_result *result)
{
	const struct cell *cell = result->cell;

	if (result->assumed && is_not_parsed(cell))
		buf_putf(text,
			 "It ran as %s. A cell that names no language runs in the session's last "
			 "one. To run code of another language, pass language.\n",
			 cell->language);
}

/* Says how to search the output: in Python for a Python cell that is over, else with a shell. */
static void explain_search(struct buf *text, const struct cell *cell)
{
	buf_puts(text, cell->spool_cut ? "Only the start of the output is stored; search it"
				       : "Search the whole output");
	buf_putf(text,
		 str_eq(cell->language, "python") && !cell_goes_on(cell)
			 ? " with code: [l for l in open('%s') if 'word' in l][:20]\n"
			 : " with bash: grep -n 'word' '%s' | head -20\n",
		 cell->spool_path);
}

static void explain_interrupt(struct buf *text, const struct cell *cell)
{
	buf_putf(text, "The cell was %sinterrupted after %.2f s; variables and files are kept.\n",
		 cell->cancelled ? "cancelled: " : "", (double)cell->elapsed_us / 1e6);
}

static void explain_waiter(struct buf *text, const struct runner_wait *wait)
{
	cleanup_free char *program = sanitize_quote(wait->program);

	if (wait->kind == WAIT_GUESSED)
		buf_puts(text, "It seems that ");
	if (wait->who == WAITER_DEBUGGER)
		buf_puts(text, wait->kind == WAIT_GUESSED ? "the debugger" : "The debugger");
	else if (wait->who == WAITER_PROGRAM)
		buf_putf(text, "%she program '%s'", wait->kind == WAIT_GUESSED ? "t" : "T",
			 program);
	else
		buf_puts(text, wait->kind == WAIT_GUESSED ? "the code" : "The code");
	buf_putf(text, " waits for %s", wait->secret ? "a secret" : "input");
}

static void explain_wait(struct buf *text, const struct exec_result *result)
{
	const struct runner_wait *wait = result->cell->wait;
	cleanup_free char *prompt = sanitize_quote(wait->prompt);

	explain_waiter(text, wait);
	if (prompt[0] != '\0')
		buf_putf(text, " at the prompt '%s'", prompt);
	buf_puts(text, wait->secret
			       ? ". Only the user may give it; what interact types there is in "
				 "no record.\n"
			       : ". Answer with interact's input.\n");
	if (result->note != NULL)
		buf_putf(text, "Of this wait: %s.\n", result->note);
}

static void explain_running(struct buf *text, const struct exec_result *result)
{
	if (result->note != NULL)
		buf_putf(text, "The cell goes on: %s.\n", result->note);
	else
		buf_puts(text, "The cell runs on.\n");
}

/* Names the files that were not seen, listed or saved. */
static void explain_files(struct buf *text, const struct exec_result *result)
{
	const struct cell *cell = result->cell;

	if (cell->scan_error != 0)
		buf_putf(text,
			 "Not all files could be looked at: %s. What is missing here is looked for "
			 "again after the next cell.\n",
			 strerrordesc_np(cell->scan_error));
	if (cell->scan_capped)
		buf_putf(
			text,
			"Files beyond the first %d, those beyond %d MB of paths, and those in paths "
			"of more than %d bytes, are neither listed nor saved: put many into one "
			"archive.\n",
			SCAN_FILES_MAX, SCAN_PATHS_MAX >> 20, BENEATH_PATH_MAX);
	if (result->keep_problem != NULL)
		buf_putf(text, "Not everything was saved for the user: %s\n", result->keep_problem);
	if (result->keep_renamed != NULL)
		buf_putf(text, "Saved under another name: %s\n", result->keep_renamed);
	if (result->keep_left != NULL)
		buf_putf(text, "Not saved for the user: %s\n", result->keep_left);
}

/* Explains a cell that SIGINT ended, though no request of the server's has sent it. */
static void explain_raised(struct buf *text, const struct cell *cell)
{
	if (cell->has_exit_code)
		buf_puts(text,
			 "A program of the cell ended by SIGINT, or the shell got one, as key "
			 "ctrl-c sends it. Bash then runs nothing that follows it.\n");
	else if (str_eq(cell->language, "r") && cell->error_name == NULL && cell->traceback == NULL)
		buf_puts(text, "R was interrupted, as by key ctrl-c. Variables are kept.\n");
}

static void explain_cell(struct buf *text, const struct exec_result *result,
			 const struct confinement_facts *facts)
{
	const struct cell *cell = result->cell;

	end_line(text);
	if (cell->bare && cell->state != CELL_RUNNING) {
		buf_putf(text, "No cell runs now%s%s; the last one has ended.\n",
			 result->note != NULL ? ", but " : "",
			 result->note != NULL ? result->note : "");
		return;
	}
	if (cell->state == CELL_DIED || cell->state == CELL_NOT_STARTED)
		explain_problem(text, result);
	else if (cell->state == CELL_TIMED_OUT || cell->overdue)
		explain_timeout(text, cell);
	else if (cell->state == CELL_INTERRUPTED)
		explain_interrupt(text, cell);
	else if (cell->state == CELL_RAISED)
		explain_raised(text, cell);
	else if (cell->state == CELL_RUNNING)
		explain_running(text, result);
	else if (cell->state == CELL_WAITING)
		explain_wait(text, result);
	if (cell->missing_module != NULL)
		explain_missing_module(text, cell);
	else
		limit_hints_explain(text, result, facts);
	explain_language(text, result);
	network_json_explain(text, result, facts);
	if (cell->spool_path != NULL && cell->text_shown + cell->folded < cell->text_total)
		explain_search(text, cell);
	if (cell->images_dropped > cell->images_dropped_saved)
		buf_putf(text, "Figures not shown (too large, too many, or not a picture): %zu.\n",
			 cell->images_dropped - cell->images_dropped_saved);
	explain_files(text, result);
}

void explain_text(struct buf *text, const struct exec_result *result,
		  const struct confinement_facts *facts)
{
	const struct cell *cell = result->cell;

	buf_put(text, buf_str(&cell->text), cell->text.len);
	if (cell->result.len > 0) {
		end_line(text);
		buf_put(text, cell->result.data, cell->result.len);
	}
	explain_cell(text, result, facts);
}

void explain_earlier(struct buf *text, const struct exec_result *result,
		     const struct confinement_facts *facts)
{
	const struct cell *cell = result->cell;

	buf_putf(text, "[cell %ju ended before: %s after %.1f s]\n", (uintmax_t)cell->number,
		 cell_state_name(cell->state), (double)cell->elapsed_us / 1e6);
	explain_text(text, result, facts);
}

bool explain_is_error(const struct cell *cell)
{
	if (cell->bare && cell->state != CELL_NOT_STARTED)
		return false;
	return cell->state != CELL_DONE && cell->state != CELL_RUNNING &&
	       cell->state != CELL_WAITING && cell->state != CELL_INTERRUPTED;
}
