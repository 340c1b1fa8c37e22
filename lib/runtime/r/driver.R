# SPDX-License-Identifier: MIT
# The R driver: runs the cells of one session inside the user's own R.
#
# The server starts R on the terminal and types one line, which reads this program from the
# environment. Frames (runtime/frame.h) go over two pipes, 5 down and 6 up, which R can open by
# their names under /dev/fd. R believes that somebody types, as readline(), menu() and browser()
# need; what the code prints goes to the terminal.
#
# The driver's names are in an environment of its own, behind which R's come before the user's. Those that cells shall find instead of R's
# are attached as "tools:ptycell". Interrupts are held back but for while a cell runs.

local({
	VALUE_BYTES <- 60000L
	NAMES_TOLD <- 20L
	IMAGES_MAX <- 20L
	IMAGE_WIDTH <- 960L
	IMAGE_HEIGHT <- 720L
	PREVIEW_CHARS <- 200L
	CALLS_SHOWN <- 10L

	state <- new.env()
	state$id <- ""       # of the cell that runs
	state$device <- 0L   # the one that we opened for plots
	state$plot <- NULL   # the last one shown
	state$images <- 0L
	state$output <- ""
	state$waiting <- list() # frames that came while an ack was awaited
	state$addresses <- list()
	state$quits <- FALSE
	user <- globalenv()
	process <- Sys.getpid()

	# ---- frames ----

	down <- file("/dev/fd/5", "rb", raw = TRUE)
	up <- file("/dev/fd/6", "wb", raw = TRUE)

	as_bytes <- function(part) if (is.raw(part)) part else charToRaw(enc2utf8(part))

	send <- function(type, id, parts = list()) {
		bytes <- charToRaw(sprintf("%s %s %d\n", type, id, length(parts)))
		for (name in names(parts)) {
			part <- as_bytes(parts[[name]])
			bytes <- c(bytes, charToRaw(sprintf("%s %d\n", name, length(part))), part)
		}
		writeBin(bytes, up)
		flush(up)
	}

	read_bytes <- function(count) {
		bytes <- if (count > 0) readBin(down, "raw", count) else raw()
		if (length(bytes) < count) leave(0L) # the server is gone
		bytes
	}

	read_words <- function(read) {
		line <- raw()
		while ((byte <- read(1L)) != as.raw(10L)) line <- c(line, byte)
		strsplit(rawToChar(line), " ", fixed = TRUE)[[1L]]
	}

	as_text <- function(bytes) {
		text <- rawToChar(bytes[bytes != as.raw(0L)])
		Encoding(text) <- "UTF-8"
		text
	}

	read_frame <- function(read = read_bytes) {
		words <- read_words(read)
		parts <- list()
		for (i in seq_len(as.integer(words[3L]))) {
			head <- read_words(read)
			parts[[head[1L]]] <- as_text(read(as.integer(head[2L])))
		}
		list(type = words[1L], id = words[2L], parts = parts)
	}

	next_frame <- function() {
		if (length(state$waiting) == 0L) return(read_frame())
		frame <- state$waiting[[1L]]
		state$waiting <- state$waiting[-1L]
		frame
	}

	# Returns when the server has noted the place in the output.
	display <- function(parts) {
		flush(stdout())
		send("display", state$id, parts)
		while ((frame <- read_frame())$type != "ack")
			state$waiting <- c(state$waiting, list(frame))
	}

	leave <- function(status) {
		state$quits <- TRUE
		base::quit("no", status, FALSE)
		tools::pskill(Sys.getpid(), tools::SIGKILL) # from a browser R does not quit
	}

	# ---- plots ----

	# The device that plots are collected on: nothing is drawn before they are shown.
	open_device <- function(...) {
		grDevices::pdf(NULL, width = 8, height = 6)
		grDevices::dev.control("enable")
		state$device <- grDevices::dev.cur()
		state$plot <- NULL
	}

	is_ours <- function() state$device > 1L && grDevices::dev.cur() == state$device

	# Into a file of the output folder, as a picture of the size that models are shown.
	draw <- function(plot) {
		state$images <- state$images + 1L
		name <- sprintf("cell-%s-figure-%d.png", state$id, state$images)
		path <- file.path(state$output, name)
		if (!dir.exists(state$output)) path <- tempfile(fileext = ".png")
		grDevices::png(path, IMAGE_WIDTH, IMAGE_HEIGHT, res = 120, type = "cairo")
		tryCatch(grDevices::replayPlot(plot), finally = {
			grDevices::dev.off()
			grDevices::dev.set(state$device)
		})
		parts <- list("image/png" = readBin(path, "raw", file.size(path)))
		if (dir.exists(state$output)) parts$file <- name else unlink(path)
		parts
	}

	# What was drawn, without what only prepares for more: par(mfrow = ) changes no picture.
	drawn <- function(plot) {
		prepares <- function(step) {
			routine <- step[[2L]][[1L]]
			is.list(routine) && routine$name %in% c("C_par", "C_layout")
		}
		Filter(Negate(prepares), plot[[1L]])
	}

	# Shows what is on our device, unless that has been shown as it is.
	show_plot <- function() {
		if (!is_ours()) return()
		plot <- tryCatch(grDevices::recordPlot(), error = function(e) NULL)
		if (is.null(plot)) return()
		steps <- drawn(plot)
		if (length(steps) == 0L || identical(steps, state$plot)) return()
		state$plot <- steps
		if (state$images >= IMAGES_MAX) return()
		suspendInterrupts(tryCatch(display(draw(plot)), error = function(e)
			cat("A plot could not be shown: ", conditionMessage(e), "\n", sep = "")))
	}

	# A new page begins: the last one is complete. With mfrow several plots share a page.
	setHook("before.plot.new", function(...) if (graphics::par("page")) show_plot(), "append")
	setHook("before.grid.newpage", function(...) show_plot(), "append")

	# ---- what cells find ----

	attached <- attach(NULL, name = "tools:ptycell", warn.conflicts = FALSE)
	attached$dev.off <- function(which = grDevices::dev.cur()) {
		if (which == state$device) show_plot()
		grDevices::dev.off(which)
	}
	attached$graphics.off <- function() {
		show_plot()
		grDevices::graphics.off()
	}
	# Ends the cell, as in the other languages; what R would lose is kept.
	attached$quit <- attached$q <- function(save = "default", status = 0, runLast = TRUE)
		invokeRestart("ptycell_quit", as.integer(status))

	show_files <- function(files, header = "", title = "", delete.file = FALSE) {
		for (path in files) writeLines(gsub(".\b", "", readLines(path, warn = FALSE)))
		if (delete.file) unlink(files)
	}
	options(
		device = open_device, warn = 1, width = 120, max.print = 10000L,
		menu.graphics = FALSE, device.ask.default = FALSE, pager = show_files,
		browser = function(url) cat("Nothing opens here: ", url, "\n", sep = ""),
		editor = function(...) stop("there is no editor here"),
		help_type = "text", keep.source = TRUE, showErrorCalls = TRUE
	)

	# ---- packages ----
	#
	# A session has no network: the server brings what comes from a repository. What lies in the
	# session is installed by R itself, into a folder of the session's own.

	# A read of the pipe cannot be interrupted, so that nothing is read before something is there.
	await_installed <- function() {
		pipe <- file("/dev/fd/5", "rb", raw = TRUE, blocking = FALSE)
		on.exit(close(pipe))
		began <- FALSE
		read_some <- function(count) {
			bytes <- raw()
			while (length(bytes) < count) {
				bytes <- c(bytes, readBin(pipe, "raw", count - length(bytes)))
				began <<- began || length(bytes) > 0L
				if (length(bytes) == count) break
				if (began) Sys.sleep(0.002) else allowInterrupts(Sys.sleep(0.02))
			}
			bytes
		}
		repeat {
			frame <- read_frame(read_some)
			if (frame$type == "installed") return(frame$parts)
			began <- FALSE
		}
	}

	# A sentence for each of these (lines NAME, VERSION, MODULE) of which another version is loaded.
	older_loaded <- function(packages) {
		rows <- strsplit(strsplit(packages, "\n", fixed = TRUE)[[1L]], "\t", fixed = TRUE)
		told <- vapply(rows, function(row) {
			if (!(row[3L] %in% loadedNamespaces())) return("")
			have <- as.character(getNamespaceVersion(row[3L]))
			if (have == as.character(package_version(row[2L]))) return("")
			paste0(row[3L], " is loaded already in version ", have, ": this interpreter goes on with that, and a ",
				"new one (interact with action terminate) loads ", row[2L], ".")
		}, "")
		told[nzchar(told)]
	}

	ask_broker <- function(packages) {
		if (Sys.getpid() != process || !nzchar(state$id))
			stop("packages are installed from the cell's own process only; or call install_packages", call. = FALSE)
		cat("Asking ptycell to install ", paste(packages, collapse = " "), "; the session itself has no network.\n", sep = "")
		flush(stdout())
		told <- suspendInterrupts({
			send("install", state$id, list(language = "r", packages = paste(packages, collapse = "\n")))
			await_installed()
		})
		if (told$ok != "1") stop(told$text, call. = FALSE)
		cat(c(told$text, older_loaded(told$packages)), sep = "\n")
	}

	is_local <- function(pkgs, repos) is.null(repos) || all(startsWith(repos, "file:")) ||
		any(grepl("/|\\.(tar\\.gz|tgz|tar\\.bz2|tar\\.xz)$", pkgs))

	own_library <- function() {
		folder <- path.expand("~/.cache/packages-r")
		dir.create(folder, FALSE, TRUE)
		.libPaths(append(.libPaths(), folder, 1L)) # behind the folder that the server fills
		folder
	}

	install_packages <- function(pkgs, lib, repos = getOption("repos"), ...) {
		if (missing(pkgs) || !is.character(pkgs) || length(pkgs) == 0L) stop("no packages were specified")
		if (!is_local(pkgs, repos)) return(invisible(ask_broker(pkgs)))
		r_install_packages(pkgs, if (missing(lib)) own_library() else lib, repos = repos, ...)
	}

	# Also for utils::install.packages, and for packages that call it.
	r_install_packages <- utils::install.packages
	for (place in list(asNamespace("utils"), as.environment("package:utils"))) {
		unlockBinding("install.packages", place)
		assign("install.packages", install_packages, place)
		lockBinding("install.packages", place)
	}

	answer_imported <- function(frame)
		send("done", frame$id, list(status = "ok", vars = paste(older_loaded(frame$parts$packages), collapse = "\n")))

	# ---- names ----

	is_active <- function(name) bindingIsActive(as.name(name), user)

	# Where the value of each name lies: another value lies elsewhere, most probably.
	read_addresses <- function() {
		names <- ls(user, sorted = TRUE)
		found <- lapply(names, function(name) {
			if (is_active(name)) return(NULL)
			# A promise that fails: what it would be is not known before somebody asks.
			suppressWarnings(tryCatch(.Internal(address(user[[name]])), error = function(e) NULL))
		})
		names(found) <- names
		found
	}

	# The names that a piece of code assigns at its top level, also in place (x[1] <- 2).
	assigned <- function(code) {
		if (!is.call(code)) return(character())
		head <- if (is.name(code[[1L]])) as.character(code[[1L]]) else ""
		if (head %in% c("<-", "=", "<<-") && length(code) == 3L) {
			target <- code[[2L]]
			while (is.call(target) && length(target) > 1L) target <- target[[2L]]
			return(c(as.character(target), assigned(code[[3L]])))
		}
		if (head %in% c("{", "(", "if", "for", "while", "repeat", "invisible", "suppressWarnings"))
			return(unlist(lapply(as.list(code)[-1L], assigned)))
		character()
	}

	shape_of <- function(value) {
		size <- tryCatch(dim(unclass(value)), error = function(e) NULL)
		if (is.data.frame(value)) size <- c(.row_names_info(value, 2L), length(unclass(value)))
		if (length(size) > 0L) return(paste(size, collapse = "x"))
		if (is.vector(unclass(value))) as.character(length(unclass(value))) else ""
	}

	type_of <- function(value) gsub("[[:space:]]", "_", class(value)[1L])

	changed_names <- function(code) {
		now <- read_addresses()
		old <- state$addresses
		touched <- unlist(lapply(as.list(code), assigned))
		is_changed <- function(name) name %in% touched || !identical(now[[name]], old[[name]])
		changed <- Filter(is_changed, names(now))
		gone <- setdiff(names(old), names(now))
		state$addresses <- now
		if (length(changed) + length(gone) == 0L) return(NULL)
		lines <- vapply(utils::head(changed, NAMES_TOLD), function(name) {
			if (is_active(name)) return(name)
			trimws(paste(name, type_of(user[[name]]), shape_of(user[[name]])))
		}, "")
		paste(c(lines, paste0("-", gone, recycle0 = TRUE)), collapse = "\n")
	}

	escaped <- function(text) {
		text <- gsub("\\", "\\\\", text, fixed = TRUE)
		text <- gsub("\t", "\\t", text, fixed = TRUE)
		gsub("\r", "\\r", gsub("\n", "\\n", text, fixed = TRUE), fixed = TRUE)
	}

	preview <- function(value) {
		if (is.object(value) || !is.atomic(value) || length(value) != 1L) return("")
		text <- if (is.character(value)) value else format(value, digits = 7L)
		substr(text, 1L, PREVIEW_CHARS)
	}

	row_of <- function(name) {
		if (is_active(name)) return(paste(escaped(name), "active", "", "", "", sep = "\t"))
		value <- user[[name]]
		bytes <- format(as.numeric(utils::object.size(value)), scientific = FALSE)
		fields <- c(name, type_of(value), shape_of(value), bytes, preview(value))
		paste(escaped(fields), collapse = "\t")
	}

	answer_vars <- function(frame) {
		names <- ls(user, sorted = TRUE)
		limit <- as.integer(c(frame$parts$limit, "1000")[1L])
		rows <- vapply(utils::head(names, limit), row_of, "")
		parts <- list(status = "ok", vars = paste(rows, collapse = "\n"))
		if (length(names) > limit) parts$total <- as.character(length(names))
		send("done", frame$id, parts)
	}

	# ---- cells ----

	show_value <- function(value) if (isS4(value)) methods::show(value) else print(value)

	# What printing it writes; methods may plot, ask, or fail as they like.
	send_value <- function(value) {
		text <- paste(utils::capture.output(show_value(value)), collapse = "\n")
		if (nchar(text, "bytes") > VALUE_BYTES)
			text <- paste0(substr(text, 1L, VALUE_BYTES %/% 2L), "\n[...]\n",
				substring(text, nchar(text) - VALUE_BYTES %/% 2L))
		if (nzchar(text)) suspendInterrupts(send("result", state$id, list("text/plain" = text)))
	}

	run_all <- function(code) {
		for (i in seq_along(code)) {
			result <- withVisible(eval(code[i], user))
			assign(".Last.value", result$value, attached)
			if (result$visible && i == length(code)) send_value(result$value)
			else if (result$visible) show_value(result$value)
		}
	}

	# The functions on the way from the cell to where it failed.
	path_of <- function(calls) {
		start <- which(vapply(calls, function(call)
			identical(call, quote(eval(code[i], user))), NA))
		if (length(start) == 0L) return(character())
		# The last is our handler.
		calls <- utils::head(calls[-seq_len(start[length(start)])], -1L)
		names <- vapply(calls, function(call) deparse(call[[1L]], nlines = 1L)[1L], "")
		names <- names[!names %in% c("stop", ".handleSimpleError", "eval", "withVisible")]
		if (length(names) > CALLS_SHOWN)
			names <- c(names[1:5], "...", utils::tail(names, 5L))
		names
	}

	error_text <- function(condition, path) {
		call <- conditionCall(condition)
		message <- conditionMessage(condition)
		text <- paste0("Error: ", message)
		if (!is.null(call) && !identical(call[[1L]], quote(eval))) {
			at <- deparse(call, nlines = 1L)[1L]
			gap <- if (nchar(at) + nchar(message) > 60L) " : \n  " else " : "
			text <- paste0("Error in ", at, gap, message)
		}
		if (length(path) > 1L) text <- paste0(text, "\nCalls: ", paste(path, collapse = " -> "))
		text
	}

	failed <- function(condition, path = character()) {
		parts <- list(
			status = "error", ename = class(condition)[1L],
			evalue = conditionMessage(condition), traceback = error_text(condition, path)
		)
		if (inherits(condition, "packageNotFoundError")) parts$missing <- condition$package
		parts
	}

	# A warning from the cell itself has no function to name.
	tell_warning <- function(w) {
		if (getOption("warn") != 1L || !identical(conditionCall(w), quote(eval(code[i], user))))
			return()
		cat("Warning: ", conditionMessage(w), "\n", sep = "", file = stderr())
		invokeRestart("muffleWarning")
	}

	left <- list(status = "interrupted", traceback = "Left for top level, as Q in the browser does.")

	# The parts of `done`. An error is looked at where it happens and told when it came through.
	evaluate <- function(code) {
		path <- character()
		withRestarts(
			tryCatch(
				{
					withCallingHandlers(
						allowInterrupts(run_all(code)),
						warning = tell_warning,
						error = function(e) path <<- tryCatch(path_of(sys.calls()),
							error = function(e) character())
					)
					list(status = "ok")
				},
				error = function(e) failed(e, path),
				interrupt = function(e) list(status = "interrupted")
			),
			ptycell_quit = function(status) list(status = "exit", code = as.character(status)),
			abort = function() left
		)
	}

	parse_code <- function(text, name) {
		lines <- strsplit(text, "\n", fixed = TRUE)[[1L]]
		parse(text = text, keep.source = TRUE, srcfile = srcfilecopy(name, lines), encoding = "UTF-8")
	}

	# An interrupt that came too late for the last cell.
	forget_interrupts <- function()
		tryCatch(allowInterrupts(Sys.sleep(0)), interrupt = function(e) NULL)

	run_cell <- function(frame) {
		state$id <- frame$id
		state$images <- 0L
		forget_interrupts()
		code <- tryCatch(parse_code(gsub("\r\n", "\n", frame$parts$code, fixed = TRUE),
			frame$parts$name), error = function(e) e)
		if (inherits(code, "error")) {
			done <- list(status = "error", ename = "parseError",
				evalue = conditionMessage(code),
				traceback = paste0("Error: ", conditionMessage(code)))
		} else {
			done <- evaluate(code)
		}
		finish_cell(done, code)
	}

	finish_cell <- function(done, code = NULL) {
		while (sink.number() > 0L) sink()
		show_plot()
		done$names <- tryCatch(changed_names(code), error = function(e) NULL)
		flush(stdout())
		send("done", state$id, done)
		state$id <- ""
	}

	serve <- function() {
		# `Q` in the browser goes to R's top level, past every handler: only this stays behind.
		on.exit(if (!state$quits) resume())
		repeat {
			frame <- next_frame()
			switch(frame$type,
				hello = {
					state$output <- frame$parts$output
					state$addresses <- read_addresses()
					send("ready", 0L, list(proto = "1", nonce = frame$parts$nonce,
						version = paste(R.version$major, R.version$minor, sep = ".")))
				},
				exec = run_cell(frame),
				vars = answer_vars(frame),
				imported = answer_imported(frame)
			)
		}
	}

	resume <- function() {
		if (any(vapply(sys.calls(), function(call) identical(call[[1L]], quote(base::quit)) ||
			identical(call[[1L]], quote(quit)) || identical(call[[1L]], quote(q)), NA)))
			return()
		if (nzchar(state$id)) finish_cell(left)
		serve()
	}

	Sys.unsetenv("PTYCELL_DRIVER")
	suspendInterrupts(serve())
}, new.env(parent = baseenv()))
