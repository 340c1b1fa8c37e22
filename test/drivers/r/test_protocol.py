# SPDX-License-Identifier: MIT
"""The R driver alone: one `done` a cell, whatever happens and whenever."""
import random
import shutil
import time

import pytest
from patience import until

if not shutil.which("R"):
    pytest.skip("there is no R here (apt install r-base-core)", allow_module_level=True)

import harness  # noqa: E402


@pytest.fixture
def r(tmp_path):
    session = harness.Session(tmp_path)
    yield session
    session.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    session = harness.Session(tmp_path_factory.mktemp("shared"))
    yield session
    session.close()


@pytest.fixture
def clean(shared):
    """One R for tests that leave names and settings only: to start one takes longer than most of them."""
    shared.run("rm(list = ls(all.names = TRUE)); options(expressions = 5000, warn = 0, check.bounds = FALSE, digits = 7)")
    return shared


def test_it_greets_with_nonce_and_version(r):
    kind, _, parts = r.ready
    assert (kind, parts["nonce"], parts["proto"]) == ("ready", b"nonce", b"1")
    assert parts["version"].startswith(b"4.") and r.output == b""


def test_values_plots_and_ends_are_frames(r):
    frames = r.run("x <- 1:3; plot(x); x")
    assert [frame[0] for frame in frames] == ["display", "done"]
    assert r.output == b"[1] 1 2 3\n"
    assert frames[0][2]["image/png"].startswith(b"\x89PNG")
    assert frames[1][2]["names"] == b"x integer 3"
    error = r.run("stop('no')")[-1][2]
    assert (error["status"], error["ename"], error["evalue"]) == (b"error", b"simpleError", b"no")


def test_variables_are_asked_for(clean):
    clean.run("a <- 1; b <- 'x\ty'; d <- mtcars; makeActiveBinding('act', function() stop('no'), globalenv())")
    clean.send("vars", 99, limit="3")
    kind, ident, parts = clean.frame()
    assert (kind, ident, parts["total"]) == ("done", 99, b"4")
    rows = [line.split("\t") for line in parts["vars"].decode().split("\n")]
    assert [row[0] for row in rows] == ["a", "act", "b"]
    assert rows[0][1:3] == ["numeric", "1"] and rows[2][4] == "x\\ty"


def test_text_that_is_no_utf8_is_told_by_its_bytes(clean):
    """R's functions for text refuse it: one value, name or class of the user's may not cost the others."""
    assert clean.run('ok <- 1; x <- "caf\\xe9"; latin <- x; Encoding(latin) <- "latin1"; bytes <- x; '
                 'Encoding(bytes) <- "bytes"')[-1][2]["status"] == b"ok"
    done = clean.run('assign("n\\xff", 3); k <- structure(1, class = "b\\xff"); z <- 1')[-1][2]
    assert done["names"].split(b"\n") == [b"k b<ff> 1", b"n<ff> numeric 1", b"z numeric 1"]
    clean.send("vars", 98)
    kind, _, parts = clean.frame()
    rows = {row.split("\t")[0]: row.split("\t") for row in parts["vars"].decode().split("\n")}
    assert kind == "done" and rows["ok"][4] == "1" and rows["n<ff>"][4] == "3" and rows["k"][1] == "b<ff>"
    assert rows["x"][4] == rows["bytes"][4] == "caf<e9>" and rows["latin"][4] == "caf\u00e9"
    assert clean.run('rm(list = "n\\xff")')[-1][2]["names"] == b"-n<ff>" and clean.output == b""
    error = clean.run('stop(structure(class = c("k\\xff", "error", "condition"), list(message = "m\\xff", call = NULL)))')
    assert (error[-1][2]["ename"], error[-1][2]["evalue"]) == (b"k<ff>", b"m<ff>")


def test_a_cell_ends_whatever_fails_at_its_end(r):
    for value in ("function(...) stop('no device')", "function(...) f()"):
        done = r.run("x <- 7; plot(1); f <- function() f(); unlockBinding('dev.set', asNamespace('grDevices'))\n"
                     "assign('dev.set', %s, asNamespace('grDevices'))" % value)[-1][2]
        assert done["status"] == b"ok" and b"x numeric 1" in done["names"]
        assert b"[Something at the end of this cell failed: " in r.output
        assert r.run("x")[-1][2]["status"] == b"ok" and r.output.startswith(b"[1] 7\n[Something")


def test_errors_for_warnings_are_the_users_alone(clean):
    clean.run("x <- 7; options(warn = 2, check.bounds = TRUE)")
    assert clean.run("x")[-1][2]["status"] == b"ok" and clean.output == b"[1] 7\n"
    assert clean.run("y <- x")[-1][2]["names"] == b"y numeric 1"
    assert clean.run("y[[3]] <- 1")[-1][2]["status"] == b"error"


def test_what_the_user_makes_warn_does_not_warn_of_the_driver(r):
    r.run("old <- options(warn = 1, check.bounds = TRUE); setTimeLimit()")
    assert [frame[0] for frame in r.run("plot(1)\ndev.new(); plot(2)")] == ["display", "display", "done"]
    assert b"display" not in r.output and b"driver" not in r.output and b"state" not in r.output
    r.run("x <- 1; x[[3]] <- 2; unlist(options('warn', 'check.bounds'))")
    assert r.output == (b"Warning in x[[3]] <- 2 :\n  assignment outside vector/list limits (extending from 1 to 3)\n"
                        b"        warn check.bounds \n           1            1 \n")


def test_what_watches_functions_of_r_does_not_watch_the_driver(r):
    """Also those that these call, as match.fun() of lapply()."""
    watched = "lapply vapply tryCatch Filter paste identical ls Map match.fun unlist structure setdiff".split()
    for _ in range(5):
        r.run("x <- 1; x")  # what R compiles, it compiles by these
    r.run("\n".join("debug(%s)" % name for name in watched))
    assert r.output == b""
    assert r.run("y <- 2; y")[-1][2]["names"] == b"y numeric 1" and r.output == b"[1] 2\n"
    assert r.run("y[[1]] <- 'text'")[-1][2]["names"] == b"y character 1"
    r.send("vars", 98)
    assert r.frame()[2]["vars"].startswith(b"x\tnumeric") and r.output == b""
    r.start("lapply(1:2, identity)")
    until(lambda: r.drain() or b"Browse[2]> " in r.output)
    assert b"debugging in: lapply(1:2, identity)\n" in r.output
    r.interrupt()
    assert r.finish()[-1][2]["status"] == b"interrupted"
    r.run("\n".join("undebug(%s)" % name for name in watched))
    r.run("suppressMessages(trace(vapply, quote(cat('[V]')), print = FALSE))\n"
          "suppressMessages(trace(match.fun, quote(cat('[M]')), print = FALSE))")
    assert r.run("y <- 'a'")[-1][2]["names"] == b"y character 1" and r.output == b""
    r.run("vapply(1, identity, 0)")
    assert r.output == b"[V][M][1] 1\n"
    r.run("debugonce(Filter); debugonce(Map); debugonce(ls)")
    assert r.run("y <- 3")[-1][2]["names"] == b"y numeric 1" and r.output == b""


def test_a_promise_is_not_asked_for(clean):
    """As delayedAssign() makes it; its value is told once the code has asked."""
    clean.run("v <- 1; delayedAssign('d', {cat('asked '); v * 2}); delayedAssign('endless', repeat Sys.sleep(0.01))\n"
          "makeActiveBinding('act', function() cat('run '), globalenv()); data(mtcars)\n"
          "code <- quote(v * 2); none <- quote(expr = )")
    clean.send("vars", 98)
    rows = dict(line.split("\t", 1) for line in clean.frame()[2]["vars"].decode().split("\n"))
    assert rows["d"] == rows["endless"] == rows["mtcars"] == "promise\t\t\t" and rows["code"].startswith("call\t")
    assert clean.run("v <- 50")[-1][2]["names"] == b"v numeric 1"
    assert "names" not in clean.run("v")[-1][2] and clean.output == b"[1] 50\n"
    assert clean.run("d")[-1][2]["names"] == b"d numeric 1"
    assert clean.output == b"asked [1] 100\n"
    assert clean.run("invisible(mtcars)")[-1][2]["names"] == b"mtcars data.frame 32x11"
    assert clean.run("delayedAssign('d', 3 * 4)")[-1][2]["names"] == b"d"
    assert clean.run("d")[-1][2]["names"] == b"d numeric 1" and clean.output == b"[1] 12\n"


def test_names_of_any_text_are_told_apart(clean):
    names = clean.run("`a b` <- 1; `-z` <- 2L; `n\\nl` <- 3; `back\\\\slash` <- 4")[-1][2]["names"]
    assert sorted(names.split(b"\n")) == [b"\\-z integer 1", b"a\\sb numeric 1", b"back\\\\slash numeric 1", b"n\\nl numeric 1"]
    assert clean.run("rm(`a b`, `-z`)")[-1][2]["names"] == b"-\\-z\n-a\\sb"


@pytest.mark.parametrize("value", ["numeric(1e5)", "as.list(numeric(1e5))", "c(a = 1, b = 2)",
                                   "matrix(0, 100, 100)"])
def test_looking_at_names_makes_no_copy(clean, value):
    """R copies what is held somewhere else, too, when it is changed."""
    clean.run("big <- " + value)
    clean.run("invisible(tracemem(big))")
    clean.run("big[[1]] <- big[[2]]")
    for _ in range(2):
        clean.send("vars", 98)
        assert "big\t" in clean.frame()[2]["vars"].decode()
        assert b"big" in clean.run("big[[1]] <- big[[2]]")[-1][2]["names"]
        assert clean.output == b""


def test_objects_of_r6_are_told(clean):
    clean.run("o <- structure(new.env(), class = c('Account', 'R6')); p <- structure(1:3, class = 'q')")
    assert clean.run("o <- o; p <- p")[-1][2]["names"] == b"o Account\np q 3"


def test_interrupts_while_a_cell_is_finished_leave_one_done(r):
    """Code of the user's runs also when a plot is shown, and R lets an interrupt end Sys.sleep() in any place."""
    r.start("runs <- 0\n"
            "slow <- function() { runs <<- runs + 1; if (runs > 3) { cat('drawing '); repeat Sys.sleep(0.01) } }\n"
            "for (i in 1:3) { dev.new(); plot(1); recordGraphics(slow(), list(), globalenv()) }")
    for _ in range(3):
        until(lambda: r.drain() or b"drawing " in r.output)
        r.output = b""
        r.interrupt()
    assert r.finish()[-1][2]["status"] == b"interrupted"
    r.run("1 + 1")
    assert r.output == b"[1] 2\n"


@pytest.mark.parametrize("code", ["options(expressions = 50)", "options(list(expressions = 25)); stop('no')"])
def test_a_limit_of_nested_expressions_leaves_room_for_the_driver(clean, code):
    clean.run(code)
    assert b"[options(expressions = 100) is the least that a cell can set.]\n" in clean.output
    assert [frame[0] for frame in clean.run("plot(1)")] == ["display", "done"]
    assert clean.run("f <- function(n) f(n + 1); f(1)")[-1][2]["status"] == b"error"
    assert b"nested too deeply" in clean.output
    clean.run("old <- options(expressions = 5000, digits = 3); old$expressions; getOption('expressions'); pi")
    assert clean.output == b"[1] 100\n[1] 5000\n[1] 3.14\n"
    clean.run("options('digits'); options(digits = 7)")
    assert clean.output == b"$digits\n[1] 3\n\n"


@pytest.mark.limit(1800)
def test_interrupts_at_any_moment_leave_one_done_a_cell(r):
    """PY21, for R: 150 cells, each with one to three interrupts."""
    chance = random.Random(1)
    cells = ["for (i in 1:20000) i", "Sys.sleep(0.004)", "invisible(lapply(1:500, function(i) i))", "print(1:5)"]
    for _ in range(150):
        r.start(chance.choice(cells))
        for _ in range(chance.randint(1, 3)):
            time.sleep(chance.random() * 0.003)
            r.interrupt()
        assert r.finish()[-1][2]["status"] in (b"ok", b"interrupted")
    time.sleep(0.05)
    r.run("NULL")
    r.run("1 + 1")
    assert r.output == b"[1] 2\n"


@pytest.mark.parametrize("code", ["detach()", "detach('tools:ptycell', character.only = TRUE)", "detach(pos = 2)",
                                  "attach(list(a = 1)); detach(2); while (search()[2] != 'package:stats') detach()",
                                  "while (search()[2] != 'package:graphics') detach()"])
def test_what_a_cell_detaches_is_not_what_its_plots_and_its_end_need(r, code):
    frames = r.run(code + "\nplot(1)\nx <- dev.off()\n5")
    assert [frame[0] for frame in frames] == ["display", "done"] and r.output == b"[1] 5\n"
    r.run(".Last.value; (function() length(sys.calls()))(); cat('package:stats' %in% search(), sum(search() == 'tools:ptycell'))")
    stays = b"FALSE" if "graphics" in code else b"TRUE"
    assert r.output == b"[1] 5\n[1] 1\n" + stays + b" 1"
    done = r.run("q(status = 2)")[-1][2]
    assert (done["status"], done["code"]) == (b"exit", b"2")


def test_the_browsers_quit_comes_back_to_the_cells(clean):
    clean.start("x <- 7; browser(); x <- 8")
    while b"Browse" not in clean.output and b"Called from" not in clean.output:
        clean.drain()
    import os
    os.write(clean.master, b"Q\n")
    assert clean.finish()[-1][2]["status"] == b"interrupted"
    clean.run("x; sys.nframe(); (function() sys.call())()")
    assert clean.output == b"[1] 7\n[1] 0\n(function() sys.call())()\n"


def test_a_sink_lasts_until_it_is_ended(r, tmp_path):
    """What is said of it, and of plots, does not go through it; it is told with each cell."""
    told = b"[Output goes to 'out.txt' until sink() is called.]\n"
    r.run("cat('before '); sink('out.txt'); cat('in ')")
    assert r.output == b"before " + told
    assert r.run("stop('no')")[-1][2]["status"] == b"error"
    assert r.output == b"Error: no\n" + told
    r.run("for (i in 1:21) { plot.new(); box() }; 1 + 1")
    assert r.output == b"[images beyond 20 in this cell: 1; saved in output/]\n" + told
    assert (tmp_path / "out.txt").read_text() == "in [1] 2\n"
    r.run("sink(); readLines('out.txt')")
    assert r.output == b'[1] "in [1] 2"\n'


def test_a_sink_of_messages_is_told_too(clean):
    told = b"[Messages go to 'log.txt' until sink(type = \"message\") is called.]\n"
    clean.run("log <- file('log.txt', 'w'); sink(log, type = 'message')")
    assert clean.output == told
    clean.run("message('hidden'); sink('out.txt')")
    assert clean.output == b"[Output goes to 'out.txt' until sink() is called.]\n" + told
    clean.run("sink(); sink(type = 'message'); close(log); readLines('log.txt')")
    assert clean.output == b'[1] "hidden"\n'


def test_a_plot_that_is_too_large_is_told_and_saved(r, tmp_path):
    """Noise of 11 million bytes, which do not become fewer."""
    frames = r.run("x <- 1; options(repr.plot.width = 18, repr.plot.height = 14)\n"
                   "par(mar = rep(0, 4)); plot.new()\n"
                   "noise <- structure(as.integer(runif(2160 * 1680, -2^24, 0)), dim = c(1680L, 2160L), class = 'nativeRaster',\n"
                   "                   channels = 4L)\n"
                   "rasterImage(noise, 0, 0, 1, 1, interpolate = FALSE)")
    assert [frame[0] for frame in frames] == ["done"] and frames[-1][2]["status"] == b"ok"
    size = (tmp_path / "cell-1-figure-1.png").stat().st_size
    assert size > 8 << 20
    assert b"[A plot could not be shown: a picture of %d bytes is too large, at most 8388608 are shown; " \
        b"it is saved as output/cell-1-figure-1.png]" % size in r.output
    assert r.run("x")[-1][2]["status"] == b"ok"


@pytest.mark.parametrize("code", ["stop(strrep('a', 2e7))", "stop(strrep('\u20ac', 7e6))",
                                  "stop(structure(class = c(strrep('k', 400), 'error', 'condition'), "
                                  "list(message = strrep('m', 1e7), call = NULL)))"])
def test_errors_that_are_too_long_are_cut(clean, code):
    done = clean.run("x <- 1; " + code)[-1][2]
    assert done["status"] == b"error" and sum(map(len, done.values())) < 1_100_000
    assert b"bytes left out]" in done["evalue"] and done["evalue"].decode()
    assert clean.run("x")[-1][2]["status"] == b"ok"


def test_names_and_packages_that_are_too_long_are_not_told(clean):
    done = clean.run("x <- structure(1, class = strrep('k', 1e7))")[-1][2]
    assert done["names"] == b"x " + b"k" * 80 + b" 1"
    frames = clean.run("install.packages(paste0('package', 1:9000))")
    assert [frame[0] for frame in frames] == ["done"] and b"ask for fewer at once" in frames[-1][2]["evalue"]


def test_a_connection_that_nothing_refers_to_is_no_failure(r, tmp_path):
    """R closes it whenever it needs memory, also between two steps of the driver."""
    for _ in range(3):
        done = r.run(f"invisible(gc()); cat('x', file = file('{tmp_path}/a', 'w'))")[-1][2]
        assert done["status"] == b"ok" and b"failed" not in r.output, r.output


def test_a_full_pipe_does_not_hold_the_end_of_a_cell(r, tmp_path):
    """The text is longer than a pipe takes. The rest stays in the buffer of the connection."""
    done = r.run(f"system('mkfifo {tmp_path}/pipe'); from <- fifo('{tmp_path}/pipe', 'r', blocking = FALSE)\n"
                 f"to <- suppressWarnings(file('{tmp_path}/pipe', 'w')); writeLines(strrep('x', 65700), to)")[-1][2]
    assert done["status"] == b"ok" and b"failed" not in r.output, r.output
    r.run("none <- readLines(from); close(to); nchar(readLines(from))")
    assert r.output == b"[1] 65700\n"
