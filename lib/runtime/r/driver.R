# SPDX-License-Identifier: MIT
# The R driver: runs the cells of one session inside the user's own R.
#
# The server starts R on the terminal and types one line, which reads this program from the
# environment. Frames (runtime/frame.h) go over two pipes, 5 from the server and 6 to it, which R
# opens by their names under /dev/fd. R is interactive, as readline(), menu() and browser() need;
# what the code prints goes to the terminal.
#
# The driver's names are in an environment of its own, whose parent is R's base, not the user's
# environment. Functions that replace R's for cells are attached as "tools:ptycell". Interrupts are
# suspended except while a cell runs.
#
# R never returns to its top level while a session lives. The driver therefore does what R does
# there: it shows warnings that R put off, runs task callbacks and prints values.

local({
	# The driver copies the R functions that it names: debug() or trace() of the user on R's own ones
	# would stop in the driver's work. A copy with the same body stays compiled.
	for (name in unique(all.names(sys.call()))) {
		fun <- baseenv()[[name]]
		if (!is.function(fun) || is.primitive(fun)) next
		attributes(fun) <- attributes(fun)
		assign(name, fun)
	}
	dev.cur <- grDevices::dev.cur
	dev.list <- grDevices::dev.list

	NAMES_KEPT <- 20L
	IMAGES_MAX <- 20L      # images that a cell shows
	FIGURE_SIZE <- c(8, 6) # inches
	FIGURE_MAX <- 40       # inches, width or height
	RESOLUTION <- 120L     # pixels an inch
	PREVIEW_CHARS <- 200L
	NESTED_MIN <- 100L     # least options(expressions = ) for a cell
	NESTED <- 5000L        # options(expressions = ) of the driver
	CALLS_SHOWN <- 10L
	# The server accepts no larger part of a frame (FRAME_UP_PART_MAX of runtime/frame.h).
	PICTURE_MAX <- 8388608L # bytes
	PNG_END <- as.raw(c(0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82)) # the last bytes of a complete picture
	TEXT_MAX <- 1000000L    # bytes of a traceback
	LIST_MAX <- 50000L      # characters of names and packages
	ERROR_MAX <- 2000L      # bytes of an error's message
	ROOM_BLOCKS <- 4L       # each for the end of a cell that has left no memory
	ROOM_PIECES <- 16L
	ROOM_PIECE <- 65536L    # bytes
	THREADS_ROOM <- 50331648L # bytes: stacks of six threads
	WITHOUT_PANGO <- c("pdf", "postscript", "xfig", "pictex") # devices
	WORD_MAX <- 80L         # characters of a class

	state <- new.env()
	state$home <- getwd()
	state$id <- ""       # of the cell that runs
	state$devices <- list() # the driver's devices by number: their size, and the plot shown last
	state$drawn_on <- integer() # devices of the user on which the cell began a page
	state$reported <- character() # devices of the user that were open after the last cell
	state$child_reported <- FALSE # a fork has printed that its plots are not shown
	state$images <- 0L
	state$left_out <- 0L   # images beyond IMAGES_MAX
	state$lost <- 0L       # of these, images that could not be saved
	state$inhibited <- FALSE # dev.control("inhibit") held when a page began
	state$depth <- 0L      # number of the frame in which cells are evaluated; 0: not counted yet
	state$warned <- FALSE  # R may have put off a warning
	state$failure <- NULL  # the error that ends the cell, and the functions on the way to it
	state$hidden <- integer() # frames of the driver above those of the cell, while an error is shown
	state$calls <- NULL    # calls of the last error, for traceback()
	state$callbacks <- list() # of addTaskCallback(): name, function, data
	state$limits <- c(Inf, Inf) # the user's arguments of setTimeLimit()
	state$output <- ""
	state$waiting <- list() # frames that came while an ack was awaited
	state$addresses <- list()
	state$pending <- list() # expressions of promises, as of delayedAssign(), without a value yet
	state$quits <- FALSE
	state$aside <- NULL    # the user's options, while the driver works
	state$debugs <- state$traces <- NULL # whether debug() and trace() were on
	state$jit <- NULL    # what enableJIT() was before a block was given up
	state$room <- list() # blocks of memory, of which one at a time is given up
	user <- globalenv()
	process <- Sys.getpid()

	# ---- frames ----

	# Returns whether a pipe is still open: a cell may have closed it, and R may have reused its number.
	is_pipe <- function(pipe, path) summary.connection(pipe)$description == path

	down <- up <- NULL
	open_pipes <- function() {
		fails <- function(e) FALSE
		if (tryCatch(is_pipe(down, "/dev/fd/5") && is_pipe(up, "/dev/fd/6"), error = fails)) return()
		if (!tryCatch(is_pipe(down, "/dev/fd/5"), error = fails)) down <<- file("/dev/fd/5", "rb", raw = TRUE)
		if (!tryCatch(is_pipe(up, "/dev/fd/6"), error = fails)) up <<- file("/dev/fd/6", "wb", raw = TRUE)
	}
	open_pipes()

	# Makes text valid UTF-8, which R's functions for text require. Another byte becomes <e9> or the like.
	valid <- function(text) {
		text <- enc2utf8(text)
		broken <- !validUTF8(text)
		if (any(broken)) text[broken] <- iconv(text[broken], "UTF-8", "UTF-8", sub = "byte")
		Encoding(text) <- "UTF-8"
		text
	}

	# Returns the beginning of a text, and how many bytes are left out.
	bounded <- function(text, most) {
		bytes <- charToRaw(valid(paste(text, collapse = "\n")))
		if (length(bytes) <= most) return(as_text(bytes))
		kept <- iconv(as_text(bytes[seq_len(most)]), "UTF-8", "UTF-8", sub = "")
		paste0(kept, "\n... [", length(bytes) - most, " bytes left out]")
	}

	# Returns the first of these lines, as many as fit into a frame.
	lines_within <- function(lines) lines[cumsum(nchar(lines, "bytes") + 1L) <= LIST_MAX]

	as_bytes <- function(part) if (is.raw(part)) part else charToRaw(enc2utf8(part))

	# A fork of R, as of parallel::mclapply(), has the pipes, too. It must not write to them.
	is_child <- function() Sys.getpid() != process

	# Sends a frame. The cell may have closed all connections, so the pipes are checked first.
	send <- function(type, id, parts = list()) {
		if (is_child()) leave(1L) # it came here by a jump out of its code
		open_pipes()
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

	read_line <- function() {
		line <- readLines(down, 1L, warn = FALSE)
		if (length(line) == 0L) leave(0L)
		line
	}

	as_text <- function(bytes) {
		text <- rawToChar(bytes[bytes != as.raw(0L)])
		Encoding(text) <- "UTF-8"
		text
	}

	read_frame <- function(read = read_bytes, line = read_line) {
		read_words <- function() strsplit(line(), " ", fixed = TRUE)[[1L]]
		words <- read_words()
		parts <- list()
		for (i in seq_len(as.integer(words[3L]))) {
			head <- read_words()
			bytes <- read(as.integer(head[2L]))
			parts[[head[1L]]] <- if (head[1L] == "code") bytes else as_text(bytes)
		}
		list(type = words[1L], id = words[2L], parts = parts)
	}

	next_frame <- function() {
		if (length(state$waiting) == 0L) return(read_frame())
		frame <- state$waiting[[1L]]
		state$waiting <- state$waiting[-1L]
		frame
	}

	# Shows parts. Returns when the server has noted the place in the output.
	display <- function(parts) {
		flush(stdout())
		send("display", state$id, parts)
		while ((frame <- read_frame())$type != "ack")
			state$waiting <- c(state$waiting, list(frame))
	}

	# Prints a note into the cell's output, past every sink of the user.
	print_note <- function(...) {
		messages <- sink.number("message")
		if (messages != 2L) {
			sink(type = "message")
			on.exit(sink(getConnection(messages), type = "message"))
		}
		cat(paste0("[", ..., "]\n"), file = stderr()) # without a buffer, because forks write, too
	}

	# Prints where a sink leads that outlives the cell, as it does at R's prompt.
	report_sinks <- function() {
		name <- function(connection) summary.connection(connection)$description
		if (.Internal(sink.number(TRUE)) > 0L)
			print_note("Output goes to '", name(stdout()), "' until sink() is called.")
		messages <- .Internal(sink.number(FALSE))
		if (messages != 2L)
			print_note("Messages go to '", name(getConnection(messages)), "' until sink(type = \"message\") is called.")
	}

	# Writes what files that are open have in their buffers: the user gets copies, which would lack it.
	# A fork that jumped out of its code would write it a second time.
	write_open_files <- function() {
		if (is_child()) return()
		for (number in setdiff(getAllConnections(), 0:2))
			tryCatch(write_open_file(getConnection(number)), error = function(e) NULL) # R may have closed it meanwhile
	}

	# A pipe has no position. It is left out: it may be full, and writing would wait for its reader.
	write_open_file <- function(connection) {
		about <- summary.connection(connection)
		if (about$class == "file" && about$opened == "opened" && about$`can write` == "yes" && seek.connection(connection) >= 0)
			flush(connection)
	}

	# ---- settings of the user ----
	#
	# Options, debug(), trace() and interrupts could stop the driver's work or make it warn. They are
	# put aside meanwhile.

	put_aside <- function() {
		.Internal(interruptsSuspended(TRUE))
		if (!is.null(state$aside)) return()
		state$debugs <- .Internal(debugOnOff(FALSE))
		state$traces <- .Internal(traceOnOff(FALSE))
		state$aside <- .Internal(options(warn = -1L, check.bounds = FALSE, expressions = NESTED))
	}

	give_back <- function(suspended = FALSE) {
		.Internal(options(state$aside))
		state$aside <- NULL
		.Internal(traceOnOff(state$traces))
		.Internal(debugOnOff(state$debugs))
		.Internal(interruptsSuspended(suspended))
	}

	as_user <- function(code) {
		on.exit(put_aside())
		give_back()
		code
	}

	# Runs code of the driver that is called from code of the user.
	as_driver <- function(code) {
		if (!is.null(state$aside)) return(code)
		suspended <- .Internal(interruptsSuspended()) # R allows them again on its way out of a call
		on.exit(give_back(suspended))
		put_aside()
		code
	}

	leave <- function(status) {
		state$quits <- TRUE
		base::quit("no", status, FALSE)
		tools::pskill(Sys.getpid(), tools::SIGKILL) # quit() does not end R from within browser()
	}

	# Ends R as its top level does: .Last() of the user runs, then finalizers, and devices are closed. An
	# error in .Last() would keep R from its end.
	quit_session <- function() {
		state$quits <- TRUE
		give_back()
		last <- get0(".Last", user, mode = "function", inherits = FALSE)
		if (!is.null(last)) tryCatch(try(last()), interrupt = function(e) NULL)
		base::quit("no", 0, FALSE)
	}

	# The last finalizer of all, as it is the first that is registered: compressed files get their end.
	close_connections <- function(e) {
		if (Sys.getpid() != process) return()
		while (sink.number() > 0L) sink()
		for (number in setdiff(getAllConnections(), 0:2))
			try(suppressWarnings(close(getConnection(number))), silent = TRUE)
	}
	reg.finalizer(state, close_connections, onexit = TRUE)

	# ---- plots ----

	size_options <- function() list(getOption("repr.plot.width"), getOption("repr.plot.height"))

	# Returns the size of figures in inches: the arguments of dev.new(), else the options of Jupyter's R.
	figure_size <- function(width = NULL, height = NULL) {
		asked <- list(c(width, getOption("repr.plot.width"), FIGURE_SIZE[1L])[1L],
			c(height, getOption("repr.plot.height"), FIGURE_SIZE[2L])[1L])
		if (!all(vapply(asked, is.numeric, NA)) || !all(is.finite(unlist(asked)), unlist(asked) > 0))
			stop("the width and height of figures are numbers of inches", call. = FALSE)
		size <- unlist(asked)
		if (any(size > FIGURE_MAX))
			cat("[Figures are at most ", FIGURE_MAX, " inches wide and high.]\n", sep = "")
		pmin(size, FIGURE_MAX)
	}

	# Loads what draws, before code of the user runs: R tries it once, and where memory is full then, no plot comes any more.
	tryCatch(grDevices:::cairoVersion(), error = function(e) NULL)

	# Opens the device that collects plots until they are shown. Its picture is never used, but it
	# measures text as the png device does: a legend is as wide as its words, in any alphabet.
	open_device <- function(width = NULL, height = NULL, ...) as_driver({
		size <- figure_size(width, height)
		pixels <- size * RESOLUTION
		tryCatch(
			grDevices::bmp("/dev/null", pixels[1L], pixels[2L], res = RESOLUTION, type = "cairo", antialias = "none"),
			error = function(e) stop("cannot open a plot of ", paste(pixels, collapse = " x "), " pixels, or cannot allocate memory for it (",
				conditionMessage(e), ")", call. = FALSE)
		)
		grDevices::dev.control("enable")
		state$devices[[as.character(dev.cur())]] <-
			list(size = size, options = size_options(), steps = list(), fresh = TRUE)
	})

	is_ours <- function(number = dev.cur()) {
		if (length(.Devices) == 1L || !number %in% seq_along(.Devices)[-1L]) return(FALSE)
		device <- .Devices[[number]]
		device == "bmp" && identical(attr(device, "filepath"), "/dev/null")
	}

	# Draws a plot into a file of the output folder. Returns the parts of a frame, or NULL without a picture.
	draw <- function(plot, size) {
		device <- dev.cur()
		name <- sprintf("cell-%s-figure-%d.png", state$id, state$images + 1L)
		path <- file.path(state$output, name)
		if (!dir.exists(state$output)) path <- tempfile(fileext = ".png")
		grDevices::png(path, size[1L] * RESOLUTION, size[2L] * RESOLUTION, res = RESOLUTION, type = "cairo")
		tryCatch(grDevices::replayPlot(plot), finally = {
			grDevices::dev.off()
			grDevices::dev.set(device)
		})
		if (!file.exists(path)) return(NULL)
		state$images <- state$images + 1L
		saved <- dir.exists(state$output)
		if (!saved) on.exit(unlink(path))
		size <- file.size(path)
		if (size > PICTURE_MAX)
			stop("a picture of ", size, " bytes is too large, at most ", PICTURE_MAX, " are shown",
				if (saved) paste0("; it is saved as output/", name), call. = FALSE)
		picture <- readBin(path, "raw", size)
		if (!identical(utils::tail(picture, length(PNG_END)), PNG_END))
			stop("there was no room for its picture", if (saved) paste0("; output/", name, " is cut off"), call. = FALSE)
		parts <- list("image/png" = picture)
		if (saved) parts$file <- name
		parts
	}

	# Returns the steps that draw. Steps that prepare or measure, as par(mfrow = ), change no picture.
	drawn <- function(plot) {
		prepares <- function(step) {
			routine <- step[[2L]][[1L]]
			is.list(routine) && routine$name %in% c("C_par", "C_layout", "C_strWidth", "C_strHeight")
		}
		Filter(Negate(prepares), plot)
	}

	# Is TRUE where the steps only begin a page, as those of a plot that failed.
	is_blank <- function(steps) all(vapply(steps, function(step) {
		routine <- step[[2L]][[1L]]
		is.list(routine) && routine$name %in% c("C_plot_new", "C_plot_window", "palette2")
	}, NA))

	# Shows the plot on the current device, if that is the driver's and the plot has changed.
	show_plot <- function(blank = TRUE) as_driver({
		if (!is_ours() || is_child()) return()
		plot <- tryCatch(grDevices::recordPlot(), error = function(e) NULL)
		if (is.null(plot)) return()
		number <- as.character(dev.cur())
		shown <- state$devices[[number]]
		steps <- drawn(plot[[1L]])
		if (length(steps) == 0L || (!shown$fresh && identical(steps, shown$steps))) return()
		state$devices[[number]]$steps <- steps
		state$devices[[number]]$fresh <- FALSE
		if (!blank && is_blank(steps)) return()
		tryCatch({
			parts <- draw(plot, shown$size)
			if (state$images <= IMAGES_MAX) {
				if (!is.null(parts)) display(parts)
			} else {
				state$left_out <- state$left_out + 1L
				if (is.null(parts$file)) state$lost <- state$lost + 1L
			}
		}, error = function(e) print_note("A plot could not be shown: ", conditionMessage(e)))
	})

	# Marks that the plot is drawn anew: it is then shown even if it equals the one shown last.
	mark_fresh <- function() if (is_ours()) state$devices[[as.character(dev.cur())]]$fresh <- TRUE

	# Shows the plots of all these devices, the current one last. `blank` is FALSE after a cell that
	# failed: blank pages are then left out.
	show_plots <- function(devices = Filter(is_ours, dev.list()), blank = TRUE) {
		current <- dev.cur()
		for (device in devices[devices != current]) {
			grDevices::dev.set(device)
			show_plot(blank)
		}
		if (current > 1L) grDevices::dev.set(current)
		if (current %in% devices) show_plot(blank)
	}

	# Prints once in each fork that its plots are not shown.
	report_child_plot <- function() {
		if (is_ours() && !state$child_reported)
			print_note("A plot of a child process is not shown: let it draw into a file, by png(\"NAME.png\") and dev.off().")
		state$child_reported <- TRUE
	}

	# Makes R record again: after an error in a graphics function that the cell caught it does not.
	record_again <- function() {
		count <- function() length(grDevices::recordPlot()[[1L]])
		before <- count()
		graphics::par(err = 0L)
		if (count() == before) settle()
	}

	# Shows the page that is complete, because a new one begins. With mfrow several plots share a page.
	begin_page <- function(...) as_driver({
		if (is_child()) return(report_child_plot())
		if (!is_ours()) {
			state$drawn_on <- c(state$drawn_on, dev.cur())
			return()
		}
		if (!grDevices:::dev.displaylist()) state$inhibited <- TRUE
		show_plot()
		record_again()
		mark_fresh()
	})
	# Fails as an allocation of R's does where stacks of threads have no room: Pango starts some for each new font,
	# and GLib ends R where it cannot. Each panel of a page may use new fonts. The block is not written, and does not last.
	check_threads_room <- function() {
		if (names(dev.cur()) %in% WITHOUT_PANGO) return()
		on.exit(gc(full = FALSE))
		readBin(raw(), "raw", THREADS_ROOM)
	}
	# R only prints an error of a hook. This one becomes an error of the function that runs the hooks in this frame.
	check_in_hook <- function(place) tryCatch(check_threads_room(), error = function(e) {
		.Internal(delayedAssign("fails", bquote({
			on.exit(stop(.(conditionMessage(e)), call. = FALSE), add = TRUE)
			return()
		}), place, environment()))
		fails
	})
	hooks <- list(
		before.plot.new = function(...) {
			begins <- graphics::par("page")
			check_in_hook(parent.frame())
			if (begins) begin_page()
		},
		before.grid.newpage = function(...) {
			check_in_hook(parent.frame())
			begin_page()
		}
	)
	# Sets the hooks again: the user removes them, too, by setHook(NAME, NULL, "replace").
	keep_hooks <- function() for (name in names(hooks)) {
		present <- getHook(name)
		if (!any(vapply(present, identical, NA, hooks[[name]]))) setHook(name, hooks[[name]])
	}
	keep_hooks()

	users_devices <- function() if (length(.Devices) > 1L) Filter(Negate(is_ours), dev.list())

	# Returns the path of each device's file as code gave it, or "".
	file_paths <- function(devices)
		vapply(devices, function(number) c(attr(.Devices[[number]], "filepath"), "")[1L], "")

	# Prints a note when a cell leaves a device of the user open, and when a later cell draws on it:
	# plots on it are not shown, and its file is complete once it is closed.
	report_devices <- function() {
		if (length(.Devices) == 1L) return()
		open <- users_devices()
		paths <- file_paths(open)
		devices <- paste(open, names(open), paths, recycle0 = TRUE)
		for (i in which(!devices %in% state$reported | open %in% state$drawn_on)) {
			current <- open[i] == dev.cur()
			file <- if (nzchar(paths[i])) paste0(", and completes '", paths[i], "'") else ", which writes no file"
			print_note(if (current) "Plots are drawn on" else "Open is", " device ", open[i], " (", names(open)[i], ")",
				if (current) " and not shown", ": dev.off(", if (!current) open[i], ") closes it", file, ".")
		}
		state$reported <- devices
	}

	# Opens another device if the options for the size of figures have changed.
	follow_size <- function() {
		if (!is_ours()) return()
		device <- state$devices[[as.character(dev.cur())]]
		if (identical(size_options(), device$options)) return()
		show_plot()
		grDevices::dev.off()
		if (dev.cur() > 1L) open_device()
	}

	# ---- functions that replace R's for cells ----

	attached <- attach(NULL, name = "tools:ptycell", warn.conflicts = FALSE)
	# Returns R's function with other code before its body, so that its errors name the user's call.
	preceded <- function(fun, code) {
		body(fun) <- call("{", code, body(fun))
		fun
	}
	show_closing <- function(which) if (is_ours(which)) show_plots(which)
	attached$dev.off <- preceded(grDevices::dev.off, bquote(.(show_closing)(which)))
	attached$graphics.off <- preceded(grDevices::graphics.off, bquote(.(function() show_plots())()))
	# A replay runs no hook.
	attached$replayPlot <- preceded(grDevices::replayPlot, bquote(if (inherits(x, "recordedplot")) .(function() {
		check_threads_room()
		begin_page()
	})()))
	registerS3method("print", "recordedplot", function(x, ...) {
		attached$replayPlot(x)
		invisible(x)
	}, asNamespace("grDevices"))
	# Ends the cell, as exit() does in the other languages; R and its variables stay.
	attached$quit <- attached$q <- function(save = "default", status = 0, runLast = TRUE) {
		if (is_child()) base::quit(save, status, runLast)
		if (isTRUE(as.logical(runLast)) && is.function(get0(".Last", user))) eval(quote(.Last()), user)
		invokeRestart("ptycell_quit", as.integer(status))
	}
	# sys.nframe() and its like count frames from the code of the cell on, as at R's top level. Each of
	# these functions asks R for the frame of its caller.
	hidden_below <- function(number) vapply(number, function(one) sum(state$hidden <= one), 0L)
	count <- function(number) pmax(0L, number - state$depth - hidden_below(number))
	places <- function(last) setdiff(state$depth + seq_len(max(0L, last - state$depth)), state$hidden)
	own_frames <- function(all, last) all[places(last)]
	frame_of <- function(which, last, get) {
		number <- (if (which > 0L) 0L else count(last)) + as.integer(which)
		if (number < 0L || number > count(last)) stop(simpleError("not that many frames on the stack", sys.call(-1L)))
		if (number > 0L) get(places(last)[number]) else NULL
	}
	# Returns what R's own function returns when code of `place` calls it.
	asked_in <- function(place, fun, ...) {
		.Internal(delayedAssign("answer", as.call(list(fun, ...)), place, environment()))
		answer
	}
	depth_of <- function(place) asked_in(place, sys.nframe)
	attached$sys.nframe <- function() count(depth_of(parent.frame()))
	attached$sys.parent <- function(n = 1L) count(asked_in(parent.frame(), sys.parent, n))
	attached$sys.parents <- function() count(own_frames(sys.parents(), depth_of(parent.frame())))
	attached$sys.calls <- function() as.pairlist(own_frames(sys.calls(), depth_of(parent.frame())))
	attached$sys.frames <- function() as.pairlist(own_frames(sys.frames(), depth_of(parent.frame())))
	attached$sys.call <- function(which = 0L) frame_of(which, depth_of(parent.frame()), sys.call)
	attached$sys.function <- function(which = 0L) frame_of(which, depth_of(parent.frame()), sys.function)
	attached$sys.frame <- function(which = 0L) {
		frame <- if (which != 0L) frame_of(which, depth_of(parent.frame()), sys.frame)
		if (is.null(frame)) user else frame
	}
	attached$sys.status <- function() {
		last <- sys.nframe()
		list(sys.calls = as.pairlist(own_frames(sys.calls(), last)), sys.parents = count(own_frames(sys.parents(), last)),
			sys.frames = as.pairlist(own_frames(sys.frames(), last)))
	}
	replace_in <- function(place, name, value) {
		unlockBinding(name, place)
		assign(name, value, place)
		lockBinding(name, place)
	}
	replace_in_utils <- function(name, value)
		for (place in list(asNamespace("utils"), as.environment("package:utils"))) replace_in(place, name, value)
	frames <- list2env(as.list(attached), parent = asNamespace("utils"))
	counting <- function(fun) {
		environment(fun) <- frames
		fun
	}
	replace_in_utils("dump.frames", counting(utils::dump.frames))
	# recover() must not name a frame of the driver as the caller.
	recover <- counting(utils::recover)
	body(recover) <- parse(text = gsub("7 - which", "min(7 - which, 2 + sys.nframe())",
		deparse(body(recover), 500L), fixed = TRUE), keep.source = FALSE)[[1L]]
	replace_in_utils("recover", recover)
	# Calls of the driver are below those of a cell: a low limit would leave no calls for the cell.
	replace_in(baseenv(), "options", function(...) {
		asked <- list(...)
		if (length(asked) == 1L && is.null(names(asked)) && is.list(asked[[1L]])) asked <- asked[[1L]]
		most <- asked[["expressions"]]
		if (!is.numeric(most) || !isTRUE(most < NESTED_MIN)) return(.Internal(options(...)))
		print_note("options(expressions = ", NESTED_MIN, ") is the least that a cell can set.")
		asked$expressions <- NESTED_MIN
		.Internal(options(asked))
	})
	# Attaches the functions again: detach() removes them if a cell has attached nothing itself.
	stay_attached <- function() {
		if ("tools:ptycell" %in% .Internal(search())) return()
		attached <<- attach(attached, name = "tools:ptycell", warn.conflicts = FALSE)
	}
	replace_in(baseenv(), "setHook", preceded(setHook, bquote(on.exit(.(keep_hooks)()))))
	# Returns the calls that traceback(x) shows. R itself keeps only those of errors at its top level.
	# A number leaves out as many of the running calls, the last one first.
	calls_asked <- function(x, running) {
		if (is.null(x)) return(state$calls)
		if (!is.numeric(x) || length(x) != 1L || !isTRUE(x >= 0)) return(x)
		rev(running)[seq_along(running) > as.integer(x)]
	}
	attached$.traceback <- function(x = NULL, ...)
		base::.traceback(calls_asked(x, own_frames(sys.calls(), sys.nframe())), ...)
	attached$traceback <- function(x = NULL, ...) {
		running <- c(own_frames(sys.calls(), sys.nframe()), quote(.traceback(x, max.lines = max.lines)))
		base::traceback(calls_asked(x, running), ...)
	}
	# At its top level R restarts the time limit with each expression; run_all() does so for cells.
	attached$setTimeLimit <- function(cpu = Inf, elapsed = Inf, transient = FALSE) {
		if (!transient) state$limits <- c(cpu, elapsed)
		base::setTimeLimit(cpu, elapsed, transient)
	}

	show_files <- function(files, header = "", title = "", delete.file = FALSE) {
		for (path in files) writeLines(gsub(".\b", "", readLines(path, warn = FALSE)))
		if (delete.file) unlink(files)
	}
	options(
		device = open_device, width = 120, max.print = 10000L,
		warning.length = 8170L, # its maximum: errors are not cut
		echo = TRUE, # else the browser has no prompt
		menu.graphics = FALSE, device.ask.default = FALSE, pager = show_files,
		browser = function(url) cat("Nothing opens here: ", url, "\n", sep = ""),
		editor = function(...) stop("there is no editor here"),
		help_type = "text", keep.source = TRUE, showErrorCalls = FALSE
	)

	# ---- task callbacks ----
	#
	# R runs them at its top level. Packages and taskCallbackManager() call the functions below, too.

	callback_names <- function() vapply(state$callbacks, function(callback) callback$name, "")

	add_callback <- function(f, data = NULL, name = character()) {
		if (!is.function(f)) stop("handler must be a function")
		place <- length(state$callbacks) + 1L
		callback <- new.env()
		callback$name <- c(as.character(name), place)[1L]
		callback$run <- f
		callback$data <- if (!missing(data)) list(data)
		state$callbacks[[place]] <- callback
		structure(place, names = callback$name)
	}

	remove_callback <- function(id) {
		place <- if (is.character(id)) match(id[1L], callback_names()) else as.integer(id)[1L]
		found <- place %in% seq_along(state$callbacks)
		if (found) state$callbacks[[place]] <- NULL
		found
	}

	replace_in(baseenv(), "addTaskCallback", add_callback)
	replace_in(baseenv(), "removeTaskCallback", remove_callback)
	replace_in(baseenv(), "getTaskCallbackNames", callback_names)

	# Runs a callback. Returns whether it stays: one that fails does not. Its errors and warnings name
	# these calls.
	run_callback <- function(callback, expr, value, succeeded, visible) {
		cb <- callback$run
		data <- callback$data[[1L]]
		again <- try(if (is.null(callback$data)) cb(expr, value, succeeded, visible)
			else cb(expr, value, succeeded, visible, data))
		if (inherits(again, "try-error")) return(FALSE)
		if (!is.logical(again)) warning("top-level task callback did not return a logical value", call. = FALSE)
		isTRUE(as.logical(again)[1L])
	}

	run_callbacks <- function(expr, result) for (callback in state$callbacks) {
		stays <- as_user(run_callback(callback, expr, result$value, TRUE, result$visible))
		if (state$warned && state$aside$warn == 0)
			cat("warning messages from top-level task callback '", callback$name, "'\n", sep = "", file = stderr())
		settle()
		if (!stays) state$callbacks <- Filter(function(other) !identical(other, callback), state$callbacks)
	}

	# ---- packages ----
	#
	# A session has no network: the server installs packages of repositories.

	# Waits for `installed`. A read of the pipe cannot be interrupted, so it is polled until data is there.
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
		line_of_bytes <- function() {
			line <- raw()
			while ((byte <- read_some(1L)) != as.raw(10L)) line <- c(line, byte)
			rawToChar(line)
		}
		repeat {
			frame <- read_frame(read_some, line_of_bytes)
			if (frame$type == "installed") return(frame$parts)
			began <- FALSE
		}
	}

	# Returns a sentence for each package (lines NAME, VERSION, MODULE) of which another version is loaded.
	older_loaded <- function(packages) {
		rows <- strsplit(strsplit(packages, "\n", fixed = TRUE)[[1L]], "\t", fixed = TRUE)
		sentences <- vapply(rows, function(row) {
			if (!(row[3L] %in% loadedNamespaces())) return("")
			have <- as.character(getNamespaceVersion(row[3L]))
			if (have == as.character(package_version(row[2L]))) return("")
			paste0(row[3L], " is loaded already in version ", have, ": this interpreter goes on with that, and a ",
				"new one (interact with action terminate) loads ", row[2L], ".")
		}, "")
		sentences[nzchar(sentences)]
	}

	ask_broker <- function(packages) {
		if (is_child() || !nzchar(state$id))
			stop("packages are installed from the cell's own process only; or call install_packages", call. = FALSE)
		names <- paste(packages, collapse = "\n")
		if (nchar(names, "bytes") > LIST_MAX)
			stop("the names of all these packages have ", nchar(names, "bytes"), " bytes: ask for fewer at once", call. = FALSE)
		cat("Asking ptycell to install ", paste(packages, collapse = " "), ".\n", sep = "")
		flush(stdout())
		reply <- suspendInterrupts({
			send("install", state$id, list(language = "r", packages = names))
			await_installed()
		})
		if (reply$ok != "1") stop(reply$text, call. = FALSE)
		cat(c(reply$text, older_loaded(reply$packages)), sep = "\n")
	}

	# The functions of the session's site profile (programs/profile.R) ask in this way.
	profile <- environment(utils::install.packages)
	if (exists("ask_server", profile, inherits = FALSE)) profile$ask_server <- ask_broker

	# Packages that install others reach the network on their own ways: their functions lead here.
	install_by_name <- function(pkgs, ...) utils::install.packages(pkgs)
	install_version <- function(package, version = NULL, ...) {
		wanted <- if (is.null(version)) "" else sprintf(" (%s)", ifelse(grepl("^[<>=!]", version), version, paste("==", version)))
		utils::install.packages(paste0(package, wanted))
	}
	install_from_elsewhere <- function(...)
		stop("packages come from the user's repositories only, by name: install.packages(\"NAME\")", call. = FALSE)
	elsewhere <- paste0("install_", c("github", "gitlab", "bitbucket", "git", "svn", "url"))
	of_remotes <- c(list(install_version = install_version, install_cran = install_by_name, install_bioc = install_by_name),
		structure(rep(list(install_from_elsewhere), length(elsewhere)), names = elsewhere))
	lead_here <- function(package, functions)
		setHook(packageEvent(package, "onLoad"), function(...) {
			place <- asNamespace(package)
			for (name in intersect(names(functions), names(place))) replace_in(place, name, functions[[name]])
		})
	lead_here("remotes", of_remotes)
	lead_here("devtools", of_remotes)
	lead_here("BiocManager", list(install = install_by_name))
	lead_here("pak", list(pkg_install = install_by_name, pak = install_by_name))

	answer_imported <- function(frame) {
		lines <- tryCatch(older_loaded(frame$parts$packages), error = function(e) character())
		send("done", frame$id, list(status = "ok", vars = paste(lines, collapse = "\n")))
	}

	PAGES_MAX <- 1000L

	# Returns the names of a device's pages, which its path may number, from page 1 on.
	page_names <- function(path, pages) tryCatch(suppressWarnings(sprintf(path, pages)), error = function(e) path)

	# Returns a device's full path. A relative one has been there since before the last setwd(), or since after it.
	full_path <- function(path) {
		full <- if (startsWith(path, "/")) path else file.path(c(getwd(), state$home), path)
		full <- c(full[file.exists(page_names(full, 1L))], full)[1L]
		file.path(normalizePath(dirname(full), mustWork = FALSE), basename(full))
	}

	# Closes the devices of files in the working folder before other files get these names: some write
	# theirs by its name, at their end.
	answer_close_named <- function(frame) {
		open <- users_devices()
		paths <- vapply(file_paths(open), function(path) if (nzchar(path)) full_path(path) else "", "")
		home <- paste0(normalizePath(state$home), "/")
		closed <- character()
		fails <- character()
		for (i in which(startsWith(paths, home))) {
			why <- tryCatch({
				grDevices::dev.off(open[i])
				NULL
			}, error = function(e) conditionMessage(e))
			pages <- unique(page_names(paths[i], seq_len(PAGES_MAX)))
			written <- substring(c(pages[file.exists(pages)], paths[i][!any(file.exists(pages))]), nchar(home) + 1L)
			if (open[i] %in% dev.list()) fails <- c(fails, paste0(written[1L], ": ", why))
			else closed <- c(closed, written)
		}
		state$reported <- character()
		result <- list(status = "ok", vars = paste(closed, collapse = "\n"))
		if (length(fails) > 0L) result[c("status", "text")] <- list("no", paste(fails, collapse = "; "))
		send("done", frame$id, result)
	}

	# ---- names ----

	# Values are inspected in place, by primitive functions only. If a variable or an argument of the
	# driver held a value, R would copy it when the cell changes it next.

	is_active <- function(name) bindingIsActive(as.name(name), user)

	# Makes an environment for a copy of a binding: only importIntoEnv() copies a promise unevaluated.
	bindings <- function() new.env(FALSE, emptyenv(), 0L)

	# Returns whether `value` in `place` is a promise, and whether it is evaluated. Only R's file format
	# shows that: in the word at WORD_AT are the type and a bit for the promise's environment.
	WORD_AT <- 48L
	promise_kind <- function(place) {
		bytes <- serialize(place, NULL, version = 2L, refhook = function(other) if (!identical(other, place)) "")
		word <- as.integer(bytes[WORD_AT + 0:3])
		if (word[4L] != 5L) "none" else if (bitwAnd(word[3L], 4L) == 0L) "known" else "pending"
	}

	# Binds a name to the value of its evaluated promise.
	settle_promise <- function(name, place = user) if (!bindingIsLocked(name, user)) place[[name]] <- user[[name]]

	# Returns the type of a binding without evaluating it, by an undocumented function that R uses to
	# look up methods. If that ever works otherwise, no promise is recognised.
	bound_type <- function(name, place = user) .Internal(typeof(.Call(methods:::C_R_getClassFromCache, name, place)))
	tried <- bindings()
	delayedAssign("value", stop(), assign.env = tried)
	if (!identical(tryCatch(bound_type("value", tried), error = function(e) ""), "promise")) bound_type <- function(name) ""
	rm(tried)

	# Returns the expression of each promise of the user that is not evaluated yet.
	pending <- function(names) {
		names <- names[vapply(names, bound_type, "") == "promise"]
		place <- bindings()
		found <- lapply(names, function(name) {
			.Internal(importIntoEnv(place, "value", user, name))
			on.exit(rm("value", envir = place))
			kind <- promise_kind(place)
			if (kind == "known") settle_promise(name)
			if (kind == "pending") list(substitute(value, place))
		})
		names(found) <- names
		Filter(length, found)
	}

	# Returns the address of each name's value: another value most probably has another address.
	read_addresses <- function() {
		names <- ls(user, sorted = TRUE)
		active <- vapply(names, is_active, NA)
		state$pending <- pending(names[!active])
		address <- function(name, active) {
			promise <- state$pending[[name]]
			if (active) NULL
			else if (is.null(promise)) .Internal(address(user[[name]]))
			else .Internal(address(promise[[1L]]))
		}
		found <- Map(address, names, active)
		names(found) <- names
		found
	}

	# Returns the names that code assigns at its top level, also in place (x[1] <- 2).
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

	shape_of <- function(name) {
		size <- attr(user[[name]], "dim", TRUE)
		parts <- names(attributes(user[[name]]))
		if ("data.frame" %in% oldClass(user[[name]]))
			size <- c(.Internal(shortRowNames(user[[name]], 2L)), length(attr(user[[name]], "names", TRUE)))
		if (length(size) > 0L) return(paste(size, collapse = "x"))
		if (!mode_is_vector(name) || !all(parts %in% c("names", "class"))) return("")
		if ("names" %in% parts) return(as.character(length(attr(user[[name]], "names", TRUE))))
		as.character(if ("class" %in% parts) length(unclass(user[[name]])) else length(user[[name]]))
	}

	VECTORS <- c("logical", "integer", "double", "complex", "character", "raw", "list", "expression")
	mode_is_vector <- function(name) .Internal(typeof(user[[name]])) %in% VECTORS

	type_of <- function(name) gsub("[[:space:]]", "_", substr(valid(class(user[[name]])[1L]), 1L, WORD_MAX))

	changed_names <- function(code) {
		now <- read_addresses()
		old <- state$addresses
		touched <- unlist(lapply(as.list(code), assigned))
		if (length(touched) == 0L && identical(now, old)) return(NULL)
		is_changed <- function(name) name %in% touched || !identical(now[[name]], old[[name]])
		changed <- Filter(is_changed, names(now))
		gone <- setdiff(names(old), names(now))
		state$addresses <- now
		if (length(changed) + length(gone) == 0L) return(NULL)
		lines <- vapply(utils::head(changed, NAMES_KEPT), function(name) {
			if (is_active(name) || name %in% names(state$pending)) return(name_field(name))
			trimws(paste(name_field(name), type_of(name), shape_of(name)))
		}, "")
		paste(lines_within(c(lines, paste0("-", name_field(gone), recycle0 = TRUE))), collapse = "\n")
	}

	name_field <- function(name) sub("^-", "\\\\-", gsub(" ", "\\s", escaped(name), fixed = TRUE))

	escaped <- function(text) {
		text <- gsub("\\", "\\\\", valid(text), fixed = TRUE)
		text <- gsub("\t", "\\t", text, fixed = TRUE)
		gsub("\r", "\\r", gsub("\n", "\\n", text, fixed = TRUE), fixed = TRUE)
	}

	preview <- function(name) {
		if (is.object(user[[name]]) || !is.atomic(user[[name]]) || length(user[[name]]) != 1L) return("")
		text <- if (is.character(user[[name]])) user[[name]] else format(user[[name]], digits = 7L)
		substr(valid(text), 1L, PREVIEW_CHARS)
	}

	row_of <- function(name) {
		if (is_active(name)) return(paste(escaped(name), "active", "", "", "", sep = "\t"))
		if (name %in% names(state$pending)) return(paste(escaped(name), "promise", "", "", "", sep = "\t"))
		bytes <- format(.Call(utils:::C_objectSize, user[[name]]), scientific = FALSE)
		fields <- c(name, type_of(name), shape_of(name), bytes, preview(name))
		paste(escaped(fields), collapse = "\t")
	}

	unknown_row <- function(name) paste(escaped(name), "unknown", "", "", "", sep = "\t")

	answer_vars <- function(frame) {
		names <- ls(user, sorted = TRUE)
		limit <- as.integer(c(frame$parts$limit, "1000")[1L])
		state$pending <- pending(names[!vapply(names, is_active, NA)])
		rows <- lines_within(vapply(utils::head(names, limit), function(name)
			tryCatch(row_of(name), error = function(e) unknown_row(name)), ""))
		parts <- list(status = "ok", vars = paste(rows, collapse = "\n"))
		if (length(names) > length(rows)) parts$total <- as.character(length(names))
		send("done", frame$id, parts)
	}

	# ---- cells ----

	# Prints a value as R's top level does: by the methods that the user sees; plain values have none.
	print_call <- as.call(list(base::print, quote(x)))
	show_value <- function(value) {
		if (isS4(value)) methods::show(value)
		else if (is.object(value) || is.function(value))
			eval(print_call, list2env(list(x = value), parent = user))
		else print.default(value)
	}

	# Returns a function that forces the code as a promise of the global environment. No function's frame
	# is around it then, as at R's top level: return(), on.exit(), parent.frame() and browser() find none.
	as_top_level <- function(code, place = NULL) {
		.Internal(delayedAssign("step", code, user, environment()))
		structure(function() if (begins(environment())) step, srcref = place)
	}

	# Traces of rlang begin behind this frame.
	begins <- function(frame) {
		options(rlang_trace_top_env = frame)
		TRUE
	}

	run_step <- function(`top level`) NULL
	body(run_step) <- structure(quote(withVisible(`top level`())), class = "ptycell_frame")

	# `where` in browser() prints the call of each frame. It ends at the driver's first frame.
	registerS3method("print", "ptycell_frame", function(x, ...) {
		cat("\r\033[K\n") # over the frame's number
		if (!is.null(findRestart("browser"))) invokeRestart("browser")
	}, baseenv())

	count_frames <- as.call(list(function() sys.nframe() - 1L))

	run_all <- function(code) {
		if (state$depth == 0L) state$depth <- as_user(run_step(as_top_level(count_frames)))$value
		places <- attr(code, "srcref")
		for (i in seq_along(code)) {
			base::setTimeLimit(state$limits[1L], state$limits[2L])
			follow_size()
			stay_attached()
			result <- as_user(run_step(as_top_level(code[[i]], places[[i]])))
			assign(".Last.value", result$value, attached)
			if (result$visible) as_user(show_value(result$value))
			settle()
			if (length(state$callbacks) > 0L) run_callbacks(code[[i]], result)
		}
	}

	# Makes R do what it does on the way to its top level: show the warnings that it has put off, and
	# record graphics again. An invisible error takes it there.
	settle <- function() as_driver({
		if (state$warned || is_ours()) {
			state$warned <- FALSE
			message <- geterrmessage()
			old <- options(error = NULL, show.error.messages = FALSE)
			withRestarts(.Internal(.dfltStop("", NULL)), abort = function() NULL)
			options(old)
			.Internal(seterrmessage(message))
		}
	})

	# Returns whether this is the call of the cell itself, which R's top level does not have.
	is_cell <- function(call) identical(call, quote(`top level`()))

	# Returns the calls from the cell to the place that failed, without those of the handler.
	calls_of <- function(calls) {
		start <- which(vapply(calls, is_cell, NA))
		if (length(start) == 0L) return(list())
		calls <- utils::head(calls[-seq_len(start[length(start)])], -1L)
		heads <- vapply(calls, function(call) deparse(call[[1L]], nlines = 1L)[1L], "")
		calls[!heads %in% c(".handleSimpleError", "eval", "withVisible")]
	}

	path_of <- function(calls) {
		names <- vapply(calls, function(call) deparse(call[[1L]], nlines = 1L)[1L], "")
		names <- names[cumsum(names == ".signalSimpleWarning") == 0L & names != "stop"] # options(warn = 2)
		if (length(names) > CALLS_SHOWN)
			names <- c(names[1:5], "...", utils::tail(names, 5L))
		if (length(names) > 1L) paste0("Calls: ", paste(names, collapse = " -> ")) else character()
	}

	# Returns calls as traceback() has them, the last call first.
	deparsed <- function(calls) lapply(rev(calls), function(call) {
		text <- deparse(call)
		attr(text, "srcref") <- attr(call, "srcref")
		text
	})

	# ---- room ----
	#
	# The answer needs memory where code has left none, and so does the next cell, which may delete what fills it.
	# Without any, R's regular expressions crash. The pieces are small: malloc() gives them out again below a limit
	# that the process has passed.

	has_room <- function(bytes) tryCatch(length(raw(bytes)) > 0L, error = function(e) FALSE)

	# Code is not compiled meanwhile: the compiler uses regular expressions, too.
	give_up_room <- function() {
		if (is.null(state$jit)) state$jit <- .Internal(enableJIT(0L))
		state$room <- state$room[-1L]
		gc()
	}

	take_room <- function() {
		while (length(state$room) < ROOM_BLOCKS) {
			if (!has_room(2L * ROOM_PIECES * ROOM_PIECE)) return()
			state$room <- c(state$room, list(lapply(seq_len(ROOM_PIECES), function(i) raw(ROOM_PIECE))))
		}
		if (!is.null(state$jit)) .Internal(enableJIT(state$jit))
		state$jit <- NULL
	}

	is_of_memory <- function(e)
		inherits(e, "simpleError") && any(startsWith(as.character(e$message), c("cannot allocate ", "memory exhausted ")))

	# ---- the outermost handlers ----
	#
	# They are R's global ones: handlers on the stack would forbid a cell to call globalCallingHandlers().
	# Functions that run before a block is given up are compiled in advance.

	# Notes an error that the cell has not caught. R then does what it does at its top level: it shows
	# the error, runs options(error = ) and jumps to the restart. Within browser() R continues.
	note_error <- function(e) {
		if (is.null(state$abort)) return() # no cell runs
		if (is_of_memory(e)) give_up_room()
		stops <- function(restart) restart$name %in% c("browser", "tryRestart", "abort")
		if (!identical(Find(stops, computeRestarts()), state$abort)) return()
		calls <- tryCatch(calls_of(sys.calls()), error = function(e) list())
		state$failure <- list(condition = e, path = path_of(calls))
		state$calls <- deparsed(calls)
		if (!is_cell(conditionCall(e))) return()
		hide_handler(sys.nframe())
		.Internal(.dfltStop(conditionMessage(e), NULL))
	}

	# Hides the frame of the handler, and that of R's which calls it, from recover() and its like.
	hide_handler <- function(number) {
		caller <- if (number > 1L) sys.call(number - 1L)[[1L]]
		first <- if (identical(caller, quote(.handleSimpleError))) number - 1L else number
		state$hidden <- c(state$hidden[state$hidden < first], first:number)
	}

	# Passes on a warning. One from the cell itself gets no call: there is no function to name.
	pass_on_warning <- function(w) {
		if (is.null(state$abort)) return() # no cell runs
		state$warned <- TRUE
		if (!is_cell(conditionCall(w))) return()
		.Internal(.dfltWarn(conditionMessage(w), NULL))
		invokeRestart("muffleWarning")
	}

	end_interrupted <- function(i) if (!is.null(findRestart("ptycell_interrupt"))) invokeRestart("ptycell_interrupt")

	# Adds the driver's handlers behind those of the user in R's own globalCallingHandlers().
	for (name in c("note_error", "is_of_memory", "has_room", "give_up_room")) assign(name, compiler::cmpfun(get(name)))
	driver_handlers <- list(warning = pass_on_warning, error = note_error, interrupt = end_interrupted)
	with_driver_handlers <- function(code) {
		if (!is.call(code)) return(code)
		if (identical(code[[1L]], quote(.addGlobHands)))
			return(do.call(substitute, list(code, list(gh = bquote(c(gh, .(driver_handlers)))))))
		as.call(lapply(code, with_driver_handlers))
	}
	handle_globally <- globalCallingHandlers
	body(handle_globally) <- with_driver_handlers(body(handle_globally))
	replace_in(baseenv(), "globalCallingHandlers", handle_globally)

	left <- list(status = "interrupted", traceback = "Left for top level, as Q in the browser does.")

	failed <- function(condition, text) {
		parts <- list(
			status = "error", ename = substr(valid(class(condition)[1L]), 1L, WORD_MAX),
			evalue = bounded(conditionMessage(condition), ERROR_MAX), traceback = bounded(text, TEXT_MAX)
		)
		if (inherits(condition, "packageNotFoundError")) parts$missing <- bounded(condition$package, ERROR_MAX)
		parts
	}

	# Returns the parts of `done` after a jump to the driver's restart. R has shown the error, unless the
	# user's options forbid it. `before` is the last error message from before the cell.
	stopped <- function(before) {
		text <- geterrmessage()
		failure <- state$failure
		if (is.null(failure) && identical(text, before)) return(left)
		if (is.null(failure)) give_up_room()
		text <- valid(text)
		message <- if (endsWith(text, "\n")) substr(text, 1L, nchar(text) - 1L) else text
		if (is.null(failure)) { # an error that handlers do not see
			.Internal(seterrmessage(""))
			failure <- list(condition = simpleError(sub("^Error[^:]*: ", "", message)))
		}
		failed(failure$condition, c(if (!isTRUE(getOption("show.error.messages"))) message, failure$path))
	}

	# Runs the code of a cell. Returns the parts of `done`.
	evaluate <- function(code) {
		before <- geterrmessage()
		state$failure <- NULL
		state$hidden <- integer()
		on.exit({
			put_aside()
			state$abort <- NULL
		})
		withRestarts(
			{
				state$abort <- findRestart("abort")
				run_all(code)
				list(status = "ok")
			},
			ptycell_interrupt = function() list(status = "interrupted"),
			ptycell_quit = function(status) list(status = "exit", code = as.character(status)),
			abort = function() stopped(before)
		)
	}

	# Parses the code of a cell. Refuses a NUL, as R's parser does; line ends of Windows are accepted.
	parse_code <- function(bytes, name) {
		nul <- match(as.raw(0L), bytes)
		if (!is.na(nul)) stop("nul character not allowed, which is at byte ", nul, " of the code", call. = FALSE)
		text <- gsub("\r\n", "\n", as_text(bytes), fixed = TRUE)
		if (startsWith(text, "\ufeff")) text <- substring(text, 2L)
		lines <- strsplit(text, "\n", fixed = TRUE)[[1L]]
		source <- if (isTRUE(getOption("keep.source"))) srcfilecopy(name, lines) else name
		withCallingHandlers(parse(text = text, srcfile = source, encoding = "UTF-8"), warning = pass_on_parser_warning)
	}

	# Passes on a warning of the parser without a call, as R's top level does.
	pass_on_parser_warning <- function(w) {
		state$warned <- TRUE
		as_user(warning(simpleWarning(conditionMessage(w))))
		invokeRestart("muffleWarning")
	}

	# Drops an interrupt that came too late for the last cell.
	forget_interrupts <- function()
		tryCatch(allowInterrupts(Sys.sleep(0)), interrupt = function(e) NULL)

	run_cell <- function(frame) {
		state$id <- frame$id
		state$images <- 0L
		state$left_out <- 0L
		state$lost <- 0L
		state$inhibited <- FALSE
		state$drawn_on <- integer()
		forget_interrupts()
		code <- tryCatch(parse_code(frame$parts$code, paste0("<cell ", frame$id, ">")), error = function(e) e)
		if (inherits(code, "error")) {
			done <- list(status = "error", ename = "parseError",
				evalue = bounded(conditionMessage(code), ERROR_MAX),
				traceback = bounded(paste0("Error: ", conditionMessage(code)), TEXT_MAX))
		} else {
			done <- evaluate(code)
			if (!has_room(ROOM_PIECES %/% 2L * ROOM_PIECE)) give_up_room()
			else if (!is.null(state$jit)) gc() # malloc() has nothing of what is only not used any more
		}
		finish_cell(done, code)
	}

	end_cell <- function(failed) {
		base::setTimeLimit()
		settle()
		if (dev.cur() > 1L) show_plots(blank = !failed)
		if (state$left_out > 0L)
			print_note("images beyond ", IMAGES_MAX, " in this cell: ", state$left_out, "; ",
				if (state$lost > 0L) paste(state$lost, "could not be saved in output/ and are lost")
				else "saved in output/")
		if (state$inhibited)
			print_note("Plots are not recorded, and not shown, after dev.control(\"inhibit\"): dev.control(\"enable\") ends it.")
		report_sinks()
		report_devices()
		write_open_files()
		flush(stdout())
	}

	# Answers `done` even if something at the end of the cell fails: the server waits for it.
	finish_cell <- function(done, code = NULL) {
		tryCatch(end_cell(done$status != "ok"), error = function(e) print_note("Something at the end of this cell failed: ", conditionMessage(e)))
		done$names <- tryCatch(changed_names(code), error = function(e) NULL)
		folder <- getwd() # NULL if the code removed it
		if (!is.null(folder) && !identical(folder, state$home)) done$cwd <- valid(folder)
		send("done", state$id, done)
		state$id <- ""
		if (done$status == "ok") tryCatch(take_room(), error = function(e) NULL)
	}

	serve <- function() {
		put_aside()
		state$depth <- 0L
		# `Q` in browser() jumps to R's top level, past every handler; only on.exit() still runs.
		# So does an error of memory that leaves none for its handlers.
		on.exit({
			state$room <- NULL
			if (!state$quits) resume()
		})
		if (nzchar(state$id)) finish_cell(left) # which may be left in the same way
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
				quit = quit_session(),
				vars = answer_vars(frame),
				imported = answer_imported(frame),
				`close-named` = answer_close_named(frame)
			)
		}
	}

	resume <- function() {
		if (any(vapply(sys.calls(), function(call) identical(call[[1L]], quote(base::quit)) ||
			identical(call[[1L]], quote(quit)) || identical(call[[1L]], quote(q)), NA)))
			return()
		serve()
	}

	take_room()
	Sys.unsetenv("PTYCELL_DRIVER")
	handle_globally(list())
	serve()
}, new.env(parent = baseenv()))
