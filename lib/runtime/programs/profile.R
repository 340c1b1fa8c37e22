# SPDX-License-Identifier: MIT
# The site profile of each R of a session (R_PROFILE): that of cells, and Rscript, R -e and R CMD.
#
# install.packages() asks the server (session/asking.h), but for files of the session, which R installs itself.
# These go into a folder of the session, because the folder that the server fills is read-only. The R of
# cells asks in its own way (r/driver.R).

# R does not read the machine's site profile beside this one. It goes on after an error there.
local({
	site <- file.path(R.home("etc"), "Rprofile.site")
	if (file.exists(site)) try(sys.source(site, baseenv()))
})

local({
	here <- dirname(Sys.getenv("R_PROFILE"))
	library_of_files <- file.path(here, "data", ".cache", "packages-r")
	own_library <- function() {
		dir.create(library_of_files, FALSE, TRUE)
		library_of_files
	}
	libraries <- if (nzchar(Sys.getenv("R_CMD"))) {
		c(own_library(), .libPaths()) # R CMD INSTALL takes the first library
	} else {
		append(.libPaths(), library_of_files, 1L)
	}
	# .libPaths() would leave out a library that is not there yet. It is made for the first package.
	assign(".lib.loc", unique(libraries), environment(.libPaths))

	# Base R makes no pipes. The arguments are the folder of the pipes and the bell; the request is the input.
	# Once the server has the pipe of the answer, it alone can write there: the answer ends with it.
	ASK <- '
		id=$(od -An -N8 -tx1 /dev/urandom | tr -d " \\n")
		mkdir -p -m 700 "$1" && cd "$1" || exit
		trap "rm -f $id.request $id.answer" EXIT
		trap "echo interrupted; exit" INT
		trap exit HUP TERM
		mkfifo "$id.request" "$id.answer" || exit
		exec 7<>"$id.answer" 8<>"$id.request" 9<"$id.answer"
		echo "$id" >"$2"
		answer=$(timeout --foreground 10 head -n 1 <&9) || exit
		exec 7>&-
		[ -n "$answer" ] || { cat >&8; IFS= read -r answer <&9; }
		printf "%s\\n" "$answer"'
	REQUEST_MAX <- 1048576L # bytes, of the server

	# Returns a member of the answer: a text, or NA.
	text_of <- function(answer, name) {
		found <- regmatches(answer, regexec(sprintf('"%s": ?("([^"\\\\]|\\\\.)*")', name), answer))[[1L]]
		if (length(found) == 0L) NA_character_ else eval(parse(text = found[2L], keep.source = FALSE)[[1L]])
	}

	# The driver has another one in its place.
	ask_server <- function(packages) {
		cat("Asking ptycell to install ", paste(packages, collapse = " "), ".\n", sep = "")
		request <- sprintf('{"language": "r", "command": "install", "packages": [%s]}', paste(encodeString(packages, quote = '"'), collapse = ", "))
		if (nchar(request, "bytes") >= REQUEST_MAX) stop("these are too many packages at once", call. = FALSE)
		words <- shQuote(c(file.path(here, "data", ".cache", "ask"), file.path(dirname(here), "bell", "pipe")))
		answer <- suppressWarnings(system2("sh", c("-c", shQuote(ASK), "sh", words), input = request, stdout = TRUE))
		if (identical(answer, "interrupted")) stop("the installation was interrupted", call. = FALSE)
		text <- if (length(answer) == 1L) text_of(answer, "text") else NA
		if (is.na(text)) stop("the server is not reached", call. = FALSE)
		if (!grepl('"ok": ?true', answer)) stop(text, call. = FALSE)
		cat(text, "\n", sep = "")
	}

	of_utils <- NULL # R's own functions

	tell_of_library <- function(lib) {
		folder <- normalizePath(file.path(dirname(here), "r"), mustWork = FALSE)
		if (!is.null(lib) && !identical(normalizePath(lib, mustWork = FALSE), folder))
			cat("lib is not used: what the server brings is in ", folder, ".\n", sep = "")
	}

	install_packages <- function(pkgs, lib, repos = getOption("repos"), ...) {
		if (missing(pkgs) || !is.null(pkgs) && !is.character(pkgs)) stop("no packages were specified")
		if (length(pkgs) == 0L) return(invisible()) # as R does
		is_local <- is.null(repos) || all(startsWith(repos, "file:")) || any(grepl("/|\\.(tar\\.gz|tgz|tar\\.bz2|tar\\.xz)$", pkgs))
		if (!is_local) {
			if (!missing(lib)) tell_of_library(lib)
			return(invisible(ask_server(pkgs)))
		}
		of_utils$install(pkgs, if (missing(lib)) own_library() else lib, repos = repos, ...)
	}

	# What the server brought is read-only here. R would say that it removed it.
	remove_packages <- function(pkgs, lib) {
		stays <- if (missing(lib)) intersect(pkgs, list.files(file.path(dirname(here), "r")))
		if (length(stays) > 0L)
			stop(paste(stays, collapse = ", "), " came from the server, and ", if (length(stays) == 1L) "stays" else "stay",
				" while this session lives; detach() or unloadNamespace() takes a package out of use", call. = FALSE)
		of_utils$remove(pkgs, if (missing(lib)) own_library() else lib)
	}

	setHook(packageEvent("utils", "onLoad"), function(...) {
		utils <- asNamespace("utils")
		replace <- function(name, value) {
			unlockBinding(name, utils)
			assign(name, value, utils)
			lockBinding(name, utils)
		}
		of_utils <<- list(install = utils$install.packages, remove = utils$remove.packages)
		replace("install.packages", install_packages)
		replace("remove.packages", remove_packages)
	})
})
