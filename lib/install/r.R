# SPDX-License-Identifier: MIT
# Installs R packages, in a sandbox of its own, as python/ does for Python: one request on
# descriptor 5, one answer on 6, with lines of progress before it. "fetch" resolves by the repository's own index, judges what it
# found and downloads it; "unpack", without network, opens the files, judges what lies there and moves
# that into the set. To install a source runs its code, also where it is only R (configure, lazy loading,
# byte compilation): so only packages that were built go in, unless builds are allowed, and then "build"
# has R install the sources, in a sandbox of its own. Nothing of what came is read by readRDS, which may
# run code before R 4.4 (CVE-2024-27322).

local({
	PROXY <- "http://127.0.0.1:3128"
	TAIL <- 1200L
	NAME <- "[A-Za-z](?:[A-Za-z0-9.]*[A-Za-z0-9])"
	REQUIREMENT <- sprintf("^(%s)[[:space:]]*(?:\\([[:space:]]*(>=|<=|==|!=|>|<)[[:space:]]*([0-9]+(?:[.-][0-9]+)*)[[:space:]]*\\))?$", NAME)
	VERSION <- "^[0-9]+([.-][0-9]+)*$"
	PLAIN <- "[A-Za-z0-9_+~-][A-Za-z0-9._+~-]*"
	ARCHIVE <- "\\.(tar\\.(gz|bz2|xz)|tgz|zip)$"
	NO_SOURCE <- paste(
		"comes as source only, and to install a source runs its code (configure, compilation, lazy loading),",
		"also where it is nothing but R. The user can allow that: PTYCELL_INSTALL_BUILDS=1; or name a repository",
		"with packages that were built for this system: PTYCELL_R_REPOS."
	)

	refuse <- function(...) stop(structure(class = c("refusal", "error", "condition"),
		list(message = sprintf(...), call = NULL)))

	# ---- JSON ----

	# Its tokens are R's, but for these.
	from_json <- function(text) {
		tokens <- regmatches(text, gregexpr("\"(?:[^\"\\\\]|\\\\.)*\"|[][{}:,]|[^][{}:,\"[:space:]]+", text, perl = TRUE))[[1L]]
		plain <- c("{" = "list(", "}" = ")", "[" = "list(", "]" = ")", ":" = "=", "true" = "TRUE", "false" = "FALSE", "null" = "NULL")
		known <- tokens %in% names(plain)
		tokens[known] <- plain[tokens[known]]
		eval(parse(text = tokens, keep.source = FALSE, encoding = "UTF-8"), list(list = list), emptyenv())
	}

	quote_json <- function(text) {
		text <- gsub("([\"\\\\])", "\\\\\\1", enc2utf8(text))
		text <- gsub("\n", "\\n", text, fixed = TRUE)
		paste0("\"", gsub("[[:cntrl:]]", " ", text), "\"")
	}

	# Lists with names are objects, other lists and vectors longer or shorter than one are arrays.
	to_json <- function(value) {
		if (!is.null(names(value))) {
			members <- mapply(function(name, item) paste0(quote_json(name), ":", to_json(item)), names(value), value)
			return(paste0("{", paste(members, collapse = ","), "}"))
		}
		if (is.list(value) || length(value) != 1L)
			return(paste0("[", paste(vapply(value, to_json, ""), collapse = ","), "]"))
		if (is.logical(value)) tolower(as.character(value)) else quote_json(as.character(value))
	}

	tell <- function(value) {
		channel <- file("/dev/fd/6", "w", raw = TRUE)
		on.exit(close(channel))
		writeLines(to_json(value), channel, useBytes = TRUE)
	}

	# ---- what was asked for ----

	quoted <- function(text) {
		text <- trimws(gsub("[^[:print:]]+", " ", text))
		sprintf("'%s'", if (nchar(text) > 80L) paste0(substr(text, 1L, 77L), "...") else text)
	}

	# "NAME" or "NAME (>= 1.2)", as in a DESCRIPTION: list(name, op, version), or NULL.
	parse_requirement <- function(text) {
		parts <- regmatches(text, regexec(REQUIREMENT, text, perl = TRUE))[[1L]]
		if (length(parts) == 0L) NULL else list(name = parts[2L], op = parts[3L], version = parts[4L])
	}

	parse_wanted <- function(text) {
		text <- trimws(text)
		found <- parse_requirement(text)
		if (!is.null(found) && !grepl(ARCHIVE, text)) return(found)
		if (startsWith(text, "-"))
			refuse("%s is an option, and none is taken here; where packages come from is the user's to set (PTYCELL_R_REPOS).", quoted(text))
		if (grepl("://|^(git|bioc|github)::", text))
			refuse("%s is a URL; packages come from the configured repository only, by name.", quoted(text))
		if (grepl("/|^[.~]", text) || grepl(ARCHIVE, text))
			refuse("%s is a path; what lies in the session is installed by a cell: install.packages(\"./PATH\", repos = NULL).",
				quoted(text))
		refuse("%s is no package; write NAME or NAME (>= VERSION).", quoted(text))
	}

	# The parts of a field like Imports.
	requirements <- function(fields) {
		texts <- trimws(unlist(strsplit(fields[!is.na(fields)], ",", fixed = TRUE)))
		Filter(Negate(is.null), lapply(gsub("[[:space:]]+", " ", texts), parse_requirement))
	}

	# Later ones of the same name replace earlier ones.
	parse_all <- function(texts) {
		wanted <- list()
		for (text in unlist(texts)) {
			found <- parse_wanted(text)
			wanted[[found$name]] <- found
		}
		wanted
	}

	satisfies <- function(version, need) {
		if (!nzchar(need$op)) return(TRUE)
		get(need$op)(numeric_version(version), numeric_version(need$version)) # "3" is no package_version
	}

	written <- function(need)
		if (nzchar(need$op)) sprintf("%s (%s %s)", need$name, need$op, need$version) else need$name

	# ---- the policy ----

	# Names of R's packages differ by case, too.
	matching <- function(name, entries) {
		for (entry in unlist(entries)) {
			if (entry == name) return(entry)
			if (endsWith(entry, "*") && startsWith(name, substr(entry, 1L, nchar(entry) - 1L))) return(entry)
		}
		NULL
	}

	is_older <- function(version, least)
		isTRUE(tryCatch(package_version(version) < package_version(least), error = function(e) TRUE))

	# NULL, or c(rule, what is wrong).
	verdict <- function(row, policy) {
		entry <- matching(row$name, policy$block)
		if (!is.null(entry)) return(c("block", sprintf("is on the block list (r.block has %s)", quoted(entry))))
		if (length(policy$allow) > 0L && is.null(matching(row$name, policy$allow)))
			return(c("allow", "is not on the allow list (r.allow)"))
		least <- policy$minimum[[row$name]]
		if (!is.null(least) && !is.null(row$version) && is_older(row$version, least))
			return(c("minimum", sprintf("is version %s, and the least that may be installed is %s (r.minimum)", row$version, least)))
		NULL
	}

	# Applies the policy to all that would be installed: rows of name, version, needs.
	judge <- function(rows, request) {
		change <- c(block = "take it from r.block", allow = "add it to r.allow", minimum = "change r.minimum")
		for (row in rows) {
			why <- verdict(row, request$policy)
			if (is.null(why)) next
			needs <- vapply(rows, function(other) other$name != row$name && row$name %in% other$needs, NA)
			by <- vapply(rows[needs], function(other) other$name, "")
			by <- if (length(by) > 0L) sprintf(" (needed by %s)", paste(utils::head(by, 3L), collapse = ", ")) else ""
			refuse("Refused by the policy: %s%s %s. Nothing was installed. The user can allow it: %s in %s, then start ptycell again.",
				row$name, by, why[2L], change[[why[1L]]], request$policy_path)
		}
	}

	# ---- the repository ----

	repositories <- function(request)
		c(unlist(request$indexes), vapply(request$folders, function(folder) paste0("file://", folder), ""))

	# R repeats the URL with its login.
	without_login <- function(text) gsub("(https?://)[^/?#[:space:]]*@", "\\1", text, ignore.case = TRUE)

	# A login goes over https, or to this machine.
	check_login <- function(url) {
		if (grepl("^http://[^/?#]*@", url, ignore.case = TRUE) &&
			!grepl("^http://[^/?#]*@(localhost|127[.][0-9]+[.][0-9]+[.][0-9]+)(:[0-9]*)?(/|$)", url, ignore.case = TRUE))
			refuse("The repository %s is not https: its password would be readable on the way. The user corrects its URL in PTYCELL_R_REPOS: https, or no password.",
				without_login(url))
	}

	prepare <- function(request) {
		repos <- repositories(request)
		for (url in repos) check_login(url)
		names(repos) <- rep_len("CRAN", length(repos))
		if (request$proxied) Sys.setenv(http_proxy = PROXY, https_proxy = PROXY, no_proxy = "")
		# By this name some repositories know for which system packages are to be built.
		agent <- sprintf("R/%s R (%s)", getRversion(),
			paste(getRversion(), R.version[["platform"]], R.version[["arch"]], R.version[["os"]]))
		options(repos = repos, pkgType = "source", HTTPUserAgent = agent, timeout = 300, warn = 1,
			download.file.method = "libcurl", menu.graphics = FALSE)
	}

	# What R itself takes when nobody names one; its list of mirrors begins with the one for all.
	where <- function(request) {
		told <- getOption("repos")[["CRAN"]]
		if (identical(told, "@CRAN@") || !nzchar(told)) told <- utils::getCRANmirrors(local.only = TRUE)$URL[1L]
		list(url = told, hosts = list())
	}

	explain <- function(said) {
		text <- without_login(paste(said, collapse = "\n"))
		more <- if (grepl("403|Proxy|proxy|CONNECT", text)) paste(
			"\nThe installer reaches only the configured repository (PTYCELL_R_REPOS); hosts that it leads to besides",
			"go into PTYCELL_INSTALL_HOSTS."
		) else ""
		refuse("R could not install it:\n%s%s", substring(text, max(1L, nchar(text) - TAIL)), more)
	}

	# Runs `act` and returns its value; its warnings are in the attribute.
	listening <- function(act) {
		said <- character()
		value <- withCallingHandlers(
			tryCatch(act, error = function(e) explain(c(said, conditionMessage(e)))),
			warning = function(w) {
				said <<- c(said, conditionMessage(w))
				invokeRestart("muffleWarning")
			}
		)
		list(value = value, said = said)
	}

	take_file <- function(url, path) {
		if (startsWith(url, "file://")) return(file.copy(substring(url, 8L), path, overwrite = TRUE))
		utils::download.file(url, path, mode = "wb", quiet = TRUE) == 0L
	}

	# An index as text, into a folder of its own: R's first choice would be PACKAGES.rds.
	take_index <- function(contrib, folder) {
		if (dir.exists(folder)) return(TRUE)
		dir.create(folder, recursive = TRUE)
		said <- character()
		for (name in c("PACKAGES.gz", "PACKAGES")) {
			taken <- tryCatch(take_file(paste0(contrib, "/", name), file.path(folder, "PACKAGES")),
				warning = conditionMessage, error = conditionMessage)
			if (isTRUE(taken)) return(TRUE)
			said <- c(said, if (is.character(taken)) taken)
		}
		unlink(folder, recursive = TRUE)
		warning(paste(c(sprintf("There is no index of the repository %s", contrib), said), collapse = ": "))
		FALSE
	}

	# R takes the folders for the repositories: each row says again where its files lie.
	read_indexes <- function(contribs, ...) {
		folders <- sprintf("%s/indexes/%06d", tempdir(), seq_along(contribs))
		there <- mapply(take_index, contribs, folders)
		urls <- paste0("file://", folders)
		rows <- utils::available.packages(contriburl = urls[there], fields = "Path", type = "source", ...)
		length <- nchar(urls[1L])
		rows[, "Repository"] <- paste0(contribs[match(substr(rows[, "Repository"], 1L, length), urls)],
			substring(rows[, "Repository"], length + 1L))
		rows
	}

	read_index <- function(...) {
		read <- listening(read_indexes(utils::contrib.url(getOption("repos"), "source"), ...))
		if (nrow(read$value) == 0L && length(read$said) > 0L) explain(read$said)
		read$value
	}

	installed <- function() {
		found <- utils::installed.packages(noCache = TRUE)
		found <- found[!duplicated(found[, "Package"]), , drop = FALSE]
		stats::setNames(found[, "Version"], found[, "Package"])
	}

	# Why the index does not have it: perhaps it has, for another R.
	absent <- function(need, by) {
		all <- read_index(filters = character())
		rows <- all[all[, "Package"] == need$name, , drop = FALSE]
		if (nrow(rows) > 0L) {
			depends <- requirements(rows[1L, "Depends"])
			of_r <- Filter(function(other) other$name == "R", depends)
			refuse("The repository has %s %s only, which is not for this R (%s)%s.", need$name, rows[1L, "Version"], getRversion(),
				if (length(of_r) > 0L) paste(": it needs", written(of_r[[1L]])) else "")
		}
		refuse("The repository has no package %s%s.", quoted(need$name), if (nzchar(by)) paste(", which is needed by", by) else "")
	}

	# Rows of all that is to be installed, each after what it needs.
	resolve <- function(wanted, index, have) {
		rows <- list()
		begun <- character()
		visit <- function(need, by) {
			if (need$name == "R") return()
			has <- need$name %in% names(have) && satisfies(have[[need$name]], need)
			if (has && !(need$name %in% begun)) return()
			if (!(need$name %in% rownames(index))) absent(need, by)
			version <- index[need$name, "Version"]
			if (!satisfies(version, need))
				refuse("%s is wanted%s, and the repository has version %s.", written(need),
					if (nzchar(by)) paste(" by", by) else "", version)
			if (need$name %in% begun) return()
			begun <<- c(begun, need$name)
			needs <- requirements(index[need$name, c("Depends", "Imports", "LinkingTo")])
			for (other in needs) visit(other, need$name)
			rows[[need$name]] <<- list(name = need$name, version = version, needs = vapply(needs, function(n) n$name, ""))
		}
		for (need in wanted) visit(need, "")
		rows
	}

	# ---- files ----

	# What the index says of a file becomes a part of paths and URLs.
	check_place <- function(name, row) {
		legal <- c(Version = VERSION, File = sprintf("^%s_%s$", gsub(".", "[.]", name, fixed = TRUE), PLAIN),
			Path = sprintf("^%s(/%s)*/?$", PLAIN, PLAIN))
		for (field in names(legal)) {
			told <- row[[field]]
			if (!is.na(told) && !grepl(legal[[field]], told))
				refuse("The repository's index cannot be used: its %s of %s is %s. Nothing was installed.", field, name, quoted(told))
		}
	}

	digest <- function(path) {
		if (exists("sha256sum", asNamespace("tools"))) return(get("sha256sum", asNamespace("tools"))(path)[[1L]])
		strsplit(system2("sha256sum", c("--", shQuote(path)), stdout = TRUE)[1L], " ", fixed = TRUE)[[1L]][1L]
	}

	download <- function(rows, index) {
		dir.create("sources", showWarnings = FALSE)
		for (row in rows) check_place(row$name, index[row$name, ])
		for (row in rows) {
			tell(list(progress = list(name = row$name)))
			got <- listening(utils::download.packages(row$name, "tmp", available = index[row$name, , drop = FALSE],
				type = "source", quiet = TRUE))
			if (nrow(got$value) != 1L || !file.exists(got$value[1L, 2L])) explain(c(got$said, paste("there is no file of", row$name)))
			path <- got$value[1L, 2L] # in a folder of packages it stays where it is
			told <- index[row$name, "MD5sum"]
			if (!is.na(told) && tools::md5sum(path) != told)
				refuse("The file of %s is not the one that the repository's index tells of.", row$name)
			file.copy(path, file.path("sources", basename(path)))
		}
	}

	sources <- function() {
		files <- sort(list.files("sources"))
		lapply(files, function(file) list(file = file, sha256 = digest(file.path("sources", file))))
	}

	# ---- archives ----

	# Fields of a header (POSIX ustar): bytes up to the first that is 0.
	text_at <- function(block, from, length) {
		part <- block[from + seq_len(length)]
		rawToChar(part[cumsum(part == 0L) == 0L])
	}

	number_at <- function(block, from, length) {
		digits <- gsub(" ", "", text_at(block, from, length), fixed = TRUE)
		if (!grepl("^[0-7]*$", digits)) stop("a number is none")
		Reduce(function(sum, digit) 8 * sum + digit, utf8ToInt(digits) - 48L, 0)
	}

	read_exactly <- function(connection, count) {
		bytes <- readBin(connection, "raw", count)
		if (length(bytes) < count) stop("it ends too early")
		bytes
	}

	# Runs `take` with the pieces of a file that lies in the archive.
	read_content <- function(connection, size, take) {
		while (size > 0) {
			count <- min(size, 2^20)
			piece <- read_exactly(connection, 512L * ceiling(count / 512))
			take(piece[seq_len(count)])
			size <- size - count
		}
	}

	# The name that an entry of its own gives to the next one (GNU's L, pax's x), or NULL.
	long_name <- function(type, content) {
		if (type == "L") return(text_at(content, 0L, length(content)))
		told <- strsplit(rawToChar(content), "\n", fixed = TRUE)[[1L]]
		told <- grep("^[0-9]+ path=", told, value = TRUE, useBytes = TRUE)
		if (length(told) > 0L) sub("^[0-9]+ path=", "", told[1L], useBytes = TRUE)
	}

	# The next entry: name, type, size and more; NULL at the end.
	read_entry <- function(connection) {
		long <- NULL
		repeat {
			block <- readBin(connection, "raw", 512L)
			if (length(block) < 512L || all(block == 0L)) return(NULL)
			type <- text_at(block, 156L, 1L)
			size <- number_at(block, 124L, 12L)
			if (!(type %in% c("L", "x", "g"))) break
			if (size > 65536) stop("a name is too long")
			content <- raw()
			read_content(connection, size, function(piece) content <<- c(content, piece))
			if (type != "g") long <- c(long_name(type, content), long)[1L]
		}
		prefix <- if (text_at(block, 257L, 5L) == "ustar" && block[263L] == 0L) text_at(block, 345L, 155L) else ""
		name <- text_at(block, 0L, 100L)
		if (nzchar(prefix)) name <- paste0(prefix, "/", name)
		list(name = if (is.null(long)) name else long, type = type, size = size,
			runs = bitwAnd(as.integer(number_at(block, 100L, 8L) %% 512), 64L) != 0L, time = number_at(block, 136L, 12L))
	}

	# Where an entry is to lie, below the package's folder: with one name only, so that no file can be two.
	check_name <- function(file, entry) {
		parts <- strsplit(sub("/$", "", entry$name), "/", fixed = TRUE, useBytes = TRUE)[[1L]]
		if (startsWith(entry$name, "/") || ".." %in% parts || grepl("\\", entry$name, fixed = TRUE, useBytes = TRUE) ||
			!identical(parts[1L], sub("_.*", "", file)))
			refuse("%s was not installed: its file %s would lie outside of the package's folder.", quoted(file), quoted(entry$name))
		if (any(parts %in% c("", ".")))
			refuse("%s was not installed: its file %s has more than one name.", quoted(file), quoted(entry$name))
		if (!(entry$type %in% c("", "0", "5")))
			refuse("%s was not installed: its file %s is a link, or a special one.", quoted(file), quoted(entry$name))
	}

	write_entry <- function(connection, file, entry, path) {
		if (entry$type == "5") {
			dir.create(path, recursive = TRUE, showWarnings = FALSE)
			if (!dir.exists(path)) stop("a folder is a file")
			return()
		}
		if (file.exists(path)) refuse("%s was not installed: its file %s is there twice.", quoted(file), quoted(entry$name))
		dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
		out <- base::file(path, "wb")
		on.exit(close(out))
		read_content(connection, entry$size, function(piece) writeBin(piece, out))
		close(out)
		on.exit()
		Sys.chmod(path, if (entry$runs) "755" else "644", FALSE)
		Sys.setFileTime(path, as.POSIXct(entry$time, origin = "1970-01-01", tz = "UTC"))
	}

	# Opens it into a folder of its own, "opened/FILE". R's untar lets one entry replace another, by a
	# second name of it or through a link, once somebody looked: here are plain files only, each once.
	open_archive <- function(file) {
		connection <- gzfile(file.path("sources", file), "rb")
		on.exit(close(connection))
		tryCatch(
			while (!is.null(entry <- read_entry(connection))) {
				check_name(file, entry)
				write_entry(connection, file, entry, file.path("opened", file, entry$name))
			},
			refusal = stop,
			error = function(e) refuse("%s is no R package: its archive cannot be read (%s).", quoted(file), conditionMessage(e))
		)
	}

	# Name, version and more as its DESCRIPTION has them, and where it lies opened.
	look_into <- function(file) {
		name <- sub("_.*", "", file)
		folder <- file.path("opened", file, name)
		open_archive(file)
		if (!file.exists(file.path(folder, "DESCRIPTION"))) refuse("%s is no R package.", quoted(file))
		told <- tryCatch(read.dcf(file.path(folder, "DESCRIPTION"))[1L, ], error = function(e) character())
		if (!identical(told["Package"], c(Package = name)) || is.na(told["Version"]))
			refuse("%s is no package that can be used: it calls itself otherwise inside.", quoted(file))
		list(name = name, version = told[["Version"]], file = file, folder = folder, built = !is.na(told["Built"]),
			system = told["Built"], needs = vapply(requirements(told[c("Depends", "Imports", "LinkingTo")]), function(n) n$name, ""))
	}

	open_all <- function() {
		unlink(c("opened", "site"), recursive = TRUE)
		dir.create("site")
		lapply(sources(), function(file) look_into(file$file))
	}

	check_built <- function(row, request) {
		if (!row$built && !request$builds) refuse("%s %s %s", row$name, row$version, NO_SOURCE)
		platform <- if (row$built) trimws(strsplit(row$system, ";", fixed = TRUE)[[1L]][2L]) else ""
		if (nzchar(platform) && platform != R.version$platform)
			refuse("%s %s was built for another system (%s).", row$name, row$version, platform)
	}

	# What was built, and judged, is what lies opened.
	move_built <- function(rows) {
		for (row in rows)
			if (row$built && !file.rename(row$folder, file.path("site", row$name))) refuse("%s could not be moved.", row$name)
	}

	# Each after what it needs of the others.
	in_order <- function(rows) {
		names(rows) <- vapply(rows, function(row) row$name, "")
		done <- character()
		visit <- function(name, above) {
			if (name %in% c(done, above)) return()
			for (other in intersect(rows[[name]]$needs, names(rows))) visit(other, c(above, name))
			done <<- c(done, name)
		}
		for (name in names(rows)) visit(name, character())
		rows[done]
	}

	# Runs code of the package, which gets none of our descriptors.
	install_source <- function(row) {
		log <- file.path("tmp", paste0(row$name, ".out"))
		library <- normalizePath("site")
		status <- system2(file.path(R.home("bin"), "R"), c("CMD", "INSTALL", "--no-multiarch", "-l", shQuote(library),
			shQuote(row$folder), "5<&-", "6>&-"), stdout = log, stderr = log, env = paste0("R_LIBS=", shQuote(library)))
		if (status != 0L) explain(readLines(log, warn = FALSE))
	}

	# No code of a package is trusted to have left the others alone.
	check_site <- function(rows) {
		there <- list.files("site", all.files = TRUE, no.. = TRUE)
		wanted <- vapply(rows, function(row) row$name, "")
		unlink(file.path("site", setdiff(there, wanted)), recursive = TRUE)
		for (row in rows) {
			told <- read.dcf(file.path("site", row$name, "DESCRIPTION"), c("Package", "Version"))[1L, ]
			if (!identical(unname(told), c(row$name, row$version))) refuse("%s became something else when it was built.", row$name)
		}
	}

	# ---- steps ----

	steps <- list(
		where = where,
		fetch = function(request) {
			wanted <- parse_all(request$packages)
			judge(lapply(unname(wanted), function(need) list(name = need$name)), request)
			prepare(request)
			have <- installed()
			index <- read_index()
			rows <- resolve(wanted, index, have)
			judge(unname(rows), request)
			download(rows, index)
			present <- setdiff(names(wanted), names(rows))
			list(files = sources(), present = lapply(present, function(name) list(name = name, version = have[[name]])))
		},
		unpack = function(request) {
			rows <- open_all()
			judge(rows, request)
			for (row in rows) check_built(row, request)
			all_built <- all(vapply(rows, function(row) row$built, NA))
			if (all_built) {
				move_built(rows)
				check_site(rows)
			}
			list(build = !all_built, files = sources(), packages = lapply(rows, function(row)
				list(name = row$name, version = row$version, file = row$file, modules = list(row$name))))
		},
		# What is in the set has been told: code of packages runs only here.
		build = function(request) {
			rows <- open_all()
			move_built(rows)
			for (row in in_order(rows)) if (!row$built) install_source(row)
			check_site(rows)
			list()
		},
		# Whether all this works here: for the user.
		check = function(request) {
			prepare(request)
			options(timeout = 15)
			tryCatch(read_index(), refusal = function(r)
				refuse("%s", sub("could not install it", "does not get through", conditionMessage(r), fixed = TRUE)))
			list(tool = sprintf("R %s", getRversion()))
		}
	)

	answer <- function(request) {
		dir.create("tmp", showWarnings = FALSE)
		tryCatch(
			c(list(ok = TRUE), steps[[request$step]](request)),
			refusal = function(r) list(ok = FALSE, text = conditionMessage(r))
		)
	}

	channel <- file("/dev/fd/5", "r", raw = TRUE)
	request <- from_json(readLines(channel, 1L, encoding = "UTF-8"))
	close(channel)
	tell(answer(request))
})
