# SPDX-License-Identifier: MIT
"""R as a session: values, plots, questions, interrupts, conditions, quit."""
import base64
import shutil

import pytest
from client import Server
from patience import until
from steps import assert_honest, listed

if not shutil.which("R"):
    pytest.skip("there is no R here (apt install r-base-core)", allow_module_level=True)


# After it a session is nearly as it began.
TIDY = """
grDevices::graphics.off()
base::options(warn = 0, error = NULL, show.error.messages = TRUE, repr.plot.width = NULL, repr.plot.height = NULL)
base::rm(list = base::ls(all.names = TRUE))
"""


@pytest.fixture
def server(of_module):
    return of_module()


@pytest.fixture
def fresh(server):
    """For tests whose session must be new, or is of no use after them."""
    server.call("destroy_session", session_id="s")
    yield
    server.call("destroy_session", session_id="s")


@pytest.fixture
def r(server, request):
    """Runs a cell of R in the module's session, or in a fresh one."""
    def run(code, **arguments):
        result = server.cell(code, language="R", **arguments)
        assert_honest(result)
        return result
    yield run
    if "fresh" not in request.fixturenames and server.cell(TIDY, language="R").state != "done":
        server.call("destroy_session", session_id="s")


@pytest.mark.parametrize("code, text", [
    ("1+1", "[1] 2\n"), ("invisible(1)", ""), ("x <- 3", ""), ("(x <- 3)", "[1] 3\n"), ("NULL", "NULL\n"),
    ("1; 2", "[1] 1\n[1] 2\n"), ("", ""), ("# only a comment", ""), ("c(a=1, b=NA)", " a  b\n 1 NA\n"),
    ('"\u00e9\u6f22"; nchar("\u6f22")', '[1] "\u00e9\u6f22"\n[1] 1\n'),
    ('data.frame(a=1:2, b=letters[1:2])', "  a b\n1 1 a\n2 2 b\n"),
    ('setClass("P", representation(x="numeric")); new("P", x=1)', 'An object of class "P"\nSlot "x":\n[1] 1\n\n'),
    ("f <- function(x) {\n  x + 1\n}\nf(1)\r\n", "[1] 2\n"), ("interactive()", "[1] TRUE\n"),
    ('cat("no line end"); 5', "no line end[1] 5\n"), ("for (i in 1:2) print(i)", "[1] 1\n[1] 2\n"),
])
def test_visible_values_are_shown(r, code, text):
    """BR09."""
    result = r(code)
    assert (result.text, result.state) == (text, "done")


def test_state_stays_and_names_are_told(r, fresh):
    names = {n["name"]: n for n in r("x <- 1:10; df <- mtcars; f <- function() 1").status["names"]}
    assert names["df"] == {"name": "df", "type": "data.frame", "shape": "32x11"}
    assert names["x"]["shape"] == "10" and names["f"]["type"] == "function"
    assert "names" not in r("mean(x)").status
    assert [n["name"] for n in r("x[3] <- 7L").status["names"]] == ["x"]
    assert [n["name"] for n in r("rm(x)").status["names"]] == ["-x"]
    assert r(".Last.value; nrow(df)").text.endswith("[1] 32\n")


def png_size(image):
    data = base64.b64decode(image["data"])
    assert data.startswith(b"\x89PNG")
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_a_plot_is_shown_and_again_when_lines_are_added_later(r, fresh):
    """BR10."""
    first = r("plot(1:10)")
    assert [png_size(i) for i in first.images] == [(960, 720)]
    second = r("lines(1:10); abline(h = 5)")
    assert len(second.images) == 1 and second.images[0]["data"] != first.images[0]["data"]
    assert r("x <- 1; par(mar = c(2, 2, 2, 2))").images == []


def test_two_plots_in_a_cell_are_two_pictures_in_their_places(r, fresh):
    """BR11."""
    result = r('plot(1); cat("between\\n"); hist(c(1, 2, 2)); cat("after\\n")')
    assert len(result.images) == 2
    lines = result.text.splitlines()
    assert lines == ["between", "[figure 1]", "after", "[figure 2]"]
    assert [change["path"] for change in result.status["files"]] == [
        "output/cell-1-figure-1.png", "output/cell-1-figure-2.png"]


def test_several_plots_on_a_page_are_one_picture(r):
    r("plot(1)")
    assert len(r("par(mfrow = c(1, 2)); plot(1); plot(2)").images) == 1
    assert len(r("plot(3)").images) == 1


def test_grid_draws_too(r):
    assert len(r("grid::grid.newpage(); grid::grid.rect()").images) == 1
    assert len(r("grid::grid.circle()").images) == 1


def test_ggplots_are_shown_as_values_and_when_printed(r):
    """Protocol 10: one that fails draws nothing."""
    if r('isTRUE(requireNamespace("ggplot2", quietly = TRUE))').text != "[1] TRUE\n":
        pytest.skip("there is no ggplot2 here (apt install r-cran-ggplot2)")
    result = r("library(ggplot2); p <- ggplot(mtcars, aes(mpg, hp)) + geom_point(); p")
    assert len(result.images) == 1 and result.state == "done"
    assert len(r("print(p); print(p + theme_bw()); invisible(1)").images) == 2
    assert r("p <- p + geom_line()").images == []
    failed = r("ggplot(mtcars, aes(nosuch, mpg)) + geom_point()")
    assert failed.images == [] and failed.text.startswith("Error in") and failed.state == "raised"
    assert "png" not in failed.text and "could not be shown" not in failed.text


def test_traces_of_rlang_begin_with_the_cell(r, fresh):
    if r('isTRUE(requireNamespace("rlang", quietly = TRUE))').text != "[1] TRUE\n":
        pytest.skip("there is no rlang here (apt install r-cran-rlang)")
    r("f <- function() rlang::abort('no'); g <- function() f(); g()")
    trace = r("rlang::last_trace()").text
    assert "1. └─global g()" in trace and "run_all" not in trace and "PTYCELL" not in trace
    r("rlang::global_entrace(); h <- function() stop('deep'); k <- function() h(); k()")
    assert r("vapply(rlang::last_error()$trace$call, function(call) deparse(call)[1], '')").text == '[1] "k()" "h()"\n'


def test_global_handlers_stay_after_the_browser_was_left(r, server, fresh):
    """Oracle r/conditions.txt has them compared with those of bare R."""
    r("globalCallingHandlers(warning = function(w) cat('seen\\n')); f <- function() warning('w')")
    assert r("browser()").state == "waiting_for_input" and server.interact(input="Q", language="R").state == "raised"
    assert r("f()").text == "seen\nWarning message:\nIn f() : w\n"
    assert r("stop('no')").text == "Error: no\n" and r("names(globalCallingHandlers())").text == '[1] "warning"\n'


def test_own_devices_are_left_alone(r):
    result = r('png("own.png"); plot(1:5); invisible(dev.off())')
    assert result.images == [] and [c["path"] for c in result.status["files"]] == ["own.png"]
    assert len(r("plot(1:9); invisible(dev.off())").images) == 1
    assert len(r("plot(1)").images) == 1


def test_plots_on_a_device_that_stays_open_are_told(r, fresh):
    first = r('png("output/x.png"); plot(1)')
    told = "[Plots are drawn on device 2 (png) and not shown: dev.off() closes it, and completes 'output/x.png'.]\n"
    assert first.images == [] and first.text == told
    assert r("2").text == "[1] 2\n"
    assert r("plot(2)").text == told and r("grid::grid.newpage()").text == told
    assert r("dev.new(); plot(3)").images != []
    assert r("dev.set(2); hist(1:3); invisible(dev.set(3))").text.endswith(
        "[Open is device 2 (png): dev.off(2) closes it, and completes 'output/x.png'.]\n")
    assert r("graphics.off(); plot(4); invisible(dev.off())").text.startswith("[figure ")
    failed = r('pdf("own.pdf"); plot(1); stop("no"); dev.off()')
    assert failed.text == ("Error: no\n[Plots are drawn on device 2 (pdf) and not shown: "
                           "dev.off() closes it, and completes 'own.pdf'.]\n")
    assert "device 2 (pdf) and not shown: dev.off() closes it, which writes no file.]" in r(
        "invisible(dev.off()); pdf(NULL); plot(1)").text
    assert r("invisible(dev.off())").text == ""


def test_plots_that_are_not_recorded_are_told(r):
    told = '[Plots are not recorded, and not shown, after dev.control("inhibit"): dev.control("enable") ends it.]\n'
    assert len(r("plot(1)").images) == 1
    for code in ('dev.control("inhibit"); plot(2)', "plot(3)", "grid::grid.newpage()"):
        result = r(code)
        assert (result.text, result.images) == (told, [])
    assert r("1").text == "[1] 1\n"
    shown = r('dev.control("enable"); plot(4)')
    assert len(shown.images) == 1 and "not recorded" not in shown.text


def test_forks_of_r_do_not_speak_for_it(r, fresh):
    r("library(parallel); kept <- 1")
    plots = r("r <- mclapply(1:4, function(i) { plot(i); plot(i); dev.off(); i }, mc.cores = 2); unlist(r)")
    assert plots.state == "done" and plots.images == [] and plots.text.endswith("[1] 1 2 3 4\n")
    assert plots.text.count("[A plot of a child process is not shown: let it draw into a file") == 2  # once a child
    for leave in ("q('no')", "stop('out')", "invokeRestart('abort')"):
        code = "if (inherits(parallel:::mcfork(), 'masterProcess')) { " + leave + " }; invisible(mccollect()); kept"
        assert r(code).text.endswith("[1] 1\n")
    assert len(r("plot(kept)").images) == 1


def count(result):
    return len(result.images)


def test_plots_after_a_graphics_error_are_shown(r):
    """P1."""
    assert r("lines(1:3)").state == "raised"
    assert count(r("plot(1:4)")) == 1
    assert count(r("plot(1:5); rect(1, 1, 2, 2, col = 'zzz')")) == 1
    assert count(r("lines(1:5)")) == 1
    caught = r("tryCatch(abline(h = 1, col = 'zzz'), error = function(e) 0); plot(3:1); hist(c(1, 2, 2))")
    assert count(caught) == 2


def test_devices_that_are_closed_take_no_later_plot_along(r):
    """P2."""
    assert count(r("dev.new(); plot(4:1); invisible(dev.off())")) == 1
    assert count(r("plot(1:3)")) == 1
    assert count(r("dev.new(); plot(9:1); dev.new(); plot(1:9)")) == 2
    assert count(r("plot(2); grDevices::graphics.off()")) == 0
    assert count(r("plot(3)")) == 1


def test_the_same_plot_again_is_shown_again(r):
    """Protocol 2."""
    assert [count(r(code)) for code in ("plot(1:10)", "plot(1:10)", "plot(10:1); p <- recordPlot()", "p", "p", "1")] == [
        1, 1, 1, 1, 1, 0]


def test_a_blank_page_of_a_failed_cell_is_not_shown(r):
    """As of other languages; what it had drawn before is."""
    assert [count(r(code)) for code in ("plot(NA)", "1", "plot.new(); plot.window(c(0, 1), c(0, 1)); stop('x')", "1",
                                        "par(mfrow = c(1, 2)); plot(1); plot(NA)", "plot(1:3); plot(NA)", "plot.new()")] == [0, 0, 0, 0, 1, 1, 1]
    assert count(r("graphics.off(); plot(NA)")) == 0
    assert count(r("text(0.5, 0.5, 'x')")) == 1


def test_recorded_plots_are_pages_of_their_own(r):
    r("plot(1); a <- recordPlot(); plot(1:9); b <- recordPlot()")
    assert [count(r(code)) for code in ("a; b", "print(a); print(b); b", "replayPlot(b); replayPlot(a)", "b; plot(2)")] == [
        2, 3, 2, 2]
    assert count(r("graphics.off(); a")) == 1
    assert r("graphics.off(); png('a.png'); b; a").text.startswith("[Plots are drawn on device 2 (png)")


def test_measuring_draws_nothing(r):
    """P11."""
    nothing = r("x <- strwidth('a', units = 'inches')")
    assert nothing.images == [] and nothing.text == ""
    assert count(r("plot(1)")) == 1
    assert count(r("x <- strwidth('b', units = 'inches')")) == 0


def test_images_beyond_the_limit_are_told_and_saved(server, r, fresh):
    """Protocol 1."""
    r("options(repr.plot.width = 4, repr.plot.height = 3)")
    result = r("for (i in 1:23) plot(i)")
    assert "[images beyond 20 in this cell: 3; saved in output/]" in result.text
    assert len(listed(server, "output/*-figure-*.png")) == 23
    assert "more images" not in r("for (i in 1:20) plot(i)").text


def test_the_size_of_figures_can_be_chosen(r):
    """P15."""
    def sizes(code):
        return [png_size(image) for image in r(code).images]

    assert sizes("plot(1); dev.new(width = 10, height = 3); plot(2)") == [(960, 720), (1200, 360)]
    assert sizes("graphics.off(); options(repr.plot.width = 12, repr.plot.height = 3); plot(1)") == [(1440, 360)]
    assert sizes("options(repr.plot.width = NULL, repr.plot.height = NULL); plot(1)") == [(960, 720)]
    assert sizes("dev.new(width = 10, height = 3); plot(1)\nplot(2)") == [(1200, 360)] * 2
    assert sizes("options(repr.plot.width = 4, repr.plot.height = 2); plot(1)") == [(480, 240)]  # the later wish holds
    assert sizes("graphics.off(); options(repr.plot.width = NULL, repr.plot.height = NULL); plot(1)") == [(960, 720)]
    too_large = r("dev.new(width = 41, height = 2); par(mar = rep(0, 4)); plot(1)")
    assert "[Figures are at most 40 inches wide and high.]" in too_large.text
    assert r("dev.new(width = 'wide')").state == "raised"
    assert r("graphics.off(); plot(1); options(repr.plot.width = 'wide')").state == "done"
    assert r("options(repr.plot.width = 50, repr.plot.height = 3); 1").text == "[1] 1\n"
    assert r("plot(1); 2\n3").text.count("Figures are at most 40 inches") == 1


def test_another_size_draws_on_no_device_of_the_users(r):
    r("pdf('own.pdf'); dev.new(); plot(1)")
    assert len(r("options(repr.plot.width = 5, repr.plot.height = 5); plot(2)").images) == 1
    r("options(repr.plot.width = NULL, repr.plot.height = NULL); graphics.off()")


def test_text_of_all_alphabets_is_measured_as_it_is_drawn(r):
    """W4, B7: on a device of one alphabet each of its letters counts as three dots."""
    result = r("plot(1:10, main = 'Привет 日本 αβγ'); legend('top', 'Япония 日本')\n"
               "cat(diff(strwidth(c('мм', 'мммм'), units = 'inches')) > 0, 'same', "
               "isTRUE(all.equal(strwidth('жж', units = 'inches'), 2 * strwidth('ж', units = 'inches'), tolerance = 0.15)))")
    assert result.text.startswith("TRUE same TRUE") and "conversion" not in result.text and count(result) == 1


def test_errors_name_their_call_and_the_way_to_it(r):
    """BR12."""
    result = r('f <- function(a) g(a); g <- function(b) stop("deep"); f(1)')
    assert result.state == "raised" and result.is_error
    assert result.text == "Error in g(a) : deep\nCalls: f -> g\n"
    assert r('stop("top")').text == "Error: top\n"
    assert r('log("a")').text == 'Error in log("a") : non-numeric argument to mathematical function\n'
    assert r("h <- function() h(); h()").state == "raised"
    assert r('tryCatch(stop("a"), error = function(e) "caught")').text == '[1] "caught"\n'


def test_what_does_not_parse_is_shown_where(r, fresh):
    assert "<cell 1>:2:5: unexpected '='" in r("1\nx = = 2").text
    assert "unexpected end of input" in r("f(").text
    assert r('exists("x")').text == "[1] FALSE\n"


def test_warnings_and_messages_come_in_their_places(r):
    result = r('cat("a\\n"); warning("w"); message("m"); log(-1); invisible(1)')
    assert result.text == ("a\nWarning message:\nw\nm\n[1] NaN\nWarning message:\nIn log(-1) : NaNs produced\n")


@pytest.mark.parametrize("code, text", [
    ("options(warn = -1); log(-1); options(warn = 0); log(-2)",
     "[1] NaN\n[1] NaN\nWarning message:\nIn log(-2) : NaNs produced\n"),
    ("for (i in 1:60) warning('w'); length(warnings())",
     "There were 50 or more warnings (use warnings() to see the first 50)\n[1] 50\n"),
    ("f <- function() { warning('before'); stop('after') }; f()",
     "Error in f() : after\nIn addition: Warning message:\nIn f() : before\n"),
    ("options(warn = 1); warning('at once'); cat('then\\n')", "Warning: at once\nthen\n"),
    ("options(warn = 2); log(-1)", "Error in log(-1) : (converted from warning) NaNs produced\n"),
])
def test_warnings_are_put_off_and_shown_as_r_does(r, code, text):
    """P4, P13."""
    assert r(code).text == text


def test_warnings_gives_the_last_ones_again(r):
    """P13."""
    r("as.integer('x')")
    assert r("warnings()").text == "Warning message:\nNAs introduced by coercion\n"


def test_errors_do_what_they_do_at_the_top_level_of_r(r):
    """P23, protocol 12."""
    assert r("options(error = quote(cat('own handler\\n'))); stop('no')").text == "Error: no\nown handler\n"
    assert r("options(error = NULL); f <- function() g(); g <- function() stop('deep'); f()").state == "raised"
    assert r("geterrmessage()").text == '[1] "Error in g() : deep\\n"\n'
    assert [line.split(" at ")[0] for line in r("traceback()").text.splitlines()] == [
        '3: stop("deep")', "2: g()", "1: f()"]
    assert r("try(log('a'), silent = TRUE); cat(geterrmessage())").text == (
        'Error in log("a") : non-numeric argument to mathematical function\n')
    assert "C stack usage" in r("h <- function(n) h(n + 1); h(1)").text
    assert r("invokeRestart('abort')").text.startswith("Left for top level")
    assert r("options(show.error.messages = FALSE); stop('still told')").text == "Error: still told\n"


def test_methods_of_the_user_print_values(r):
    """P3."""
    r('print.money <- function(x, ...) cat("$", format(unclass(x)), "\\n"); m <- structure(5, class = "money")')
    assert r("m; m").text == "$ 5\n$ 5\n"
    assert r("list(m)").text == "[[1]]\n$ 5\n\n"
    assert r("print <- function(...) cat('mine\\n'); 5; m; print(5)").text == "[1] 5\n$ 5\nmine\n"


def test_a_cell_behind_an_error_can_be_interrupted(r):
    assert r("stop('x')").text == "Error: x\n"
    result = r("repeat 1", timeout=0.1)
    assert result.state == "timed_out" and "It has not ended yet" not in result.text
    assert r("suspendInterrupts({ plot(1); .Internal(interruptsSuspended()) })").text.startswith("[1] TRUE\n")
    assert r(".Internal(interruptsSuspended())").text == "[1] FALSE\n"


def test_a_time_limit_holds_for_each_cell(r, fresh):
    """P23."""
    r("setTimeLimit(elapsed = 0.2)")
    for _ in range(2):
        assert r("repeat 1").text == "Error: reached elapsed time limit\n"
    until(lambda: r("setTimeLimit()").state == "done")  # which may be late itself
    assert r("Sys.sleep(0.4)").state == "done"


def test_code_from_other_editors_runs_and_a_nul_is_refused(r):
    """W20."""
    assert r("\ufeff1 + 1").text == "[1] 2\n"
    refused = r("1\n2\0")
    assert refused.state == "raised" and "nul character not allowed, which is at byte 4" in refused.text


def test_a_missing_package_is_named(r):
    result = r("library(nosuchpackage)")
    assert result.state == "raised" and "The package 'nosuchpackage' is not installed for this R" in result.text
    assert "function" not in result.text  # our handler is not on the way


def test_the_way_to_an_error_names_all_functions(r):
    result = r("h <- function() stop('no'); g <- function() h(); f <- function() g(); f()")
    assert "Error in h() : no\nCalls: f -> g -> h\n" in result.text


@pytest.mark.parametrize("code", ["repeat {}", "Sys.sleep(1000)", "for (i in 1:1e10) i",
                                  "x <- 0; while (TRUE) x <- x + 1", "f <- function() repeat {}; f()"])
def test_an_interrupt_ends_the_cell_and_keeps_the_state(r, code):
    """BR13."""
    r("kept <- 7")
    result = r(code, timeout=0.1)
    assert result.state == "timed_out"
    assert r("kept").text == "[1] 7\n"


def test_readline_waits_at_its_prompt_and_is_answered(r, server):
    """BR14, WT08."""
    result = r('n <- readline("n? "); paste("hi", n)')
    assert result.state == "waiting_for_input" and result.cell["prompt"] == "n?"
    assert server.interact(input="bob", language="R").text.endswith('[1] "hi bob"\n')
    assert r("readLines('stdin', 1)").state == "waiting_for_input"
    assert server.interact(input="line", language="R").text.endswith('[1] "line"\n')
    assert r('readline("n? ")').state == "waiting_for_input"
    assert server.interact(action="interrupt", language="R").state == "interrupted"
    assert r("menu(c('a', 'b'))").state == "waiting_for_input"
    assert server.interact(input="2", language="R").text.endswith("[1] 2\n")


def test_the_browser_is_driven_and_left(r, server):
    stopped = r("f <- function() { y <- 5; browser(); y }; f()")
    assert stopped.state == "waiting_for_input" and stopped.cell["prompt"] == "Browse[1]>"  # protocol 11
    assert "no such" in server.interact(input="stop('no such')", language="R").text
    assert "[1] 10" in server.interact(input="y * 2", language="R").text
    assert server.interact(input="c", language="R").text.endswith("[1] 5\n")
    assert r("browser(); 5").state == "waiting_for_input"
    left = server.interact(input="Q", language="R")
    assert left.state == "raised" and "Left for top level, as Q in the browser does.\n" in left.text
    assert r("1").text == "[1] 1\n"


def test_the_debugger_shows_no_frame_of_ours_and_ends_with_its_cell(r, server, fresh):
    def says(text):
        return server.interact(input=text, language="R").text

    assert r("f <- function() { browser(); 1 }; g <- function() f(); g()").state == "waiting_for_input"
    assert "where 2 at <cell 1>#1: g()\nwhere 3: `top level`()\n\n" in (where := says("where"))
    assert "serve" not in where and "where 4" not in where
    assert r("1").state != "done" and says("c").endswith("[1] 1\n")
    assert r("browser()").state == "waiting_for_input" and "Browse" not in says("c")
    assert r("{ 2 }\nif (TRUE) { 3 }").text == "[1] 2\n[1] 3\n"
    assert r("options(error = recover); h <- function() log('a'); h()").state == "waiting_for_input"
    assert "Called from: `top level`()\nBrowse[1]>" in says("1")
    assert "ptycell" not in (where := says("where")) and "where 6" not in where
    assert "Left for top level" in says("Q")
    assert r("options(error = NULL)\n{ 4 }").text == "[1] 4\n"


def test_quit_ends_the_cell_with_its_status(r, fresh):
    """BR15: as SystemExit does in Python; the state is kept."""
    result = r('x <- 1; quit(status = 3); cat("not reached")')
    assert (result.state, result.status["exit"]) == ("done", 3)
    assert r("q('no'); 5").status["exit"] == 0
    assert r("x").text == "[1] 1\n"


def test_quit_runs_what_r_runs_last(r, fresh):
    r('.Last <- function() { cat("bye\\n"); x <<- 7 }')
    for code, text in (("quit(status = 3)", "bye\n"), ("f <- function() q(); f()", "bye\n"), ("q(runLast = FALSE)", "")):
        result = r(f"x <- 1; {code}; 'not reached'")
        assert ("exit" in result.status, result.text) == (True, text)
        assert r("x").text == ("[1] 7\n" if text else "[1] 1\n")
    r('.Last <- function() stop("no")')
    assert "Error in .Last() : no\n" in r("q()").text
    assert r(".Last <- 5; q(); 'not reached'").text == ""
    assert r("rm(.Last); q('no', 2); 'not reached'").status["exit"] == 2


def test_the_end_of_the_process_is_told(r, fresh):
    result = r("x <- 1; base::quit(status = 4)")
    assert (result.state, result.status["exit"]) == ("died", 4)
    assert r('exists("x")').text.endswith("[1] FALSE\n")
    assert r("tools::pskill(Sys.getpid(), 9)").state == "died"


def test_large_values_and_outputs_are_bounded(r):
    assert len(r("1:1e6").text) < 30000
    result = r('for (i in 1:20000) cat("line", i, "\\n")')
    assert "line 1\n" in result.text and "line 20000" in result.text and "output" in result.status


HOSTILE = [
    "sink('sunk.txt'); cat('x'); sink()", "setwd(tempdir()); gc()", "Sys.setlocale('LC_ALL', 'C')", "invokeRestart('abort')",
    "on.exit(stop('late')); closeAllConnections", "options(expressions = 100)", "set.seed(1); rm(.Random.seed)",
    "makeActiveBinding('active', function() stop('no'), globalenv())", "delayedAssign('late', stop('no'))",
    "class(y <- 1) <- 'odd'; length.odd <- function(x) stop('no'); dim.odd <- length.odd; y <- structure(1, class = 'odd')",
    "print <- function(...) 1; cat <- 1; sapply <- 2; T <- FALSE; c <- function(...) NULL",
    "options(warn = 2, error = quote(stop()), width = 20, prompt = 'x', device = 'png')",
    "x <- 1; lockBinding('x', globalenv()); lockEnvironment(globalenv())",
]
FORGETFUL = "rm(list = ls(all.names = TRUE)); detach('tools:ptycell')"


@pytest.mark.parametrize("cells", [[FORGETFUL], HOSTILE], ids=["forgetful", "hostile"])
def test_no_setting_of_a_cell_breaks_the_next(r, cells, fresh):
    """Nor do all of them together."""
    for hostile in cells:
        r(hostile)
        assert r("invisible(base::print(base::paste('still', 1 + 1)))").text == '[1] "still 2"\n', hostile


def test_connections_that_are_closed_cost_no_answer(r, fresh):
    """Also where others have their numbers by then."""
    assert r("closeAllConnections(); 1").text == "[1] 1\n"
    r("for (i in 3:20) try(close(getConnection(i)), silent = TRUE)\n"
      "files <- lapply(1:6, function(i) file(paste0(i, '.txt'), 'w'))")
    r("for (i in 1:6) { writeLines(paste('file', i), files[[i]]); close(files[[i]]) }")
    assert r("for (i in 1:6) cat(readLines(paste0(i, '.txt')), '')").text.split() == "file 1 file 2 file 3 file 4 file 5 file 6".split()
    assert len(r("plot(1:3); closeAllConnections()").images) == 1


def test_an_own_r_is_used(home):
    with Server(home, env={"PTYCELL_R": "/nowhere/R"}) as server:
        result = server.cell("1", language="r")
        assert result.state == "not_started" and "PTYCELL_R" in result.text
