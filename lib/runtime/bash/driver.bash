# SPDX-License-Identifier: MIT
# The bash driver: an interactive bash whose prompts are where cells begin and end.
#
# Standard input is a pipe of commands, the terminal is 1 and 2. 15 and 13, soon $__ptycell_up and
# $__ptycell_aside, tell the other half of this driver, codec.c, which says what goes over them. Every prompt runs __ptycell_hook: it
# tells how the last cell ended, waits for the next and sources it, with the terminal as its
# standard input. An interactive bash comes back to its prompt whatever a cell does: after
# errors, after Ctrl-C, and after `exit` too, which starts it anew (__ptycell_leave).
#
# Behind each cell the pipe holds one line for bash itself, __ptycell_next: a cell that changed
# PROMPT_COMMAND would be the last one otherwise.
#
# 11, soon $__ptycell_spare, is a pipe to which nothing is written: it keeps its number from other uses, and serves as the input of what must read nothing.
#
# While a cell runs, nothing below 241 is the driver's: a cell can open, replace and close what it likes
# there, as at a terminal. Bash keeps the standard input that a redirection replaces at the first free
# number from 10 on; if a copy of N replaces it, at the first free number above N. What is above is close-on-exec: no
# program of a cell gets it, and bash itself undoes that a cell replaces it by `exec`.
#
# Cells share this shell. So the functions are read-only, call builtins by name, fork nothing, and
# what a cell has set on is off while they work. Of that -a, -x, -v, -k and traps are on again in the next
# cell; -e, -u and pipefail are not: they would cut cells that never asked for them.
#
# Bash copies a function each time that it calls it. So what a cell seldom needs is in functions of its own.

# One line: with -v set in the cell, bash would show what it reads behind it. Traps are looked at here,
# as functions do not have them all; aliases do not reach what begins with a backslash. From then on
# an interrupt is nobody's: one within __ptycell_turn would make it tell the same end twice. One that
# hits a fork before it has become what it is for makes it another interactive bash, which comes to
# its prompt too and must not take the next cell. Where a cell's first line is no code, nothing before it
# has run: then all stays the same.
__ptycell_look='case $__ptycell_looked in '\
'trap) { \builtin trap -p DEBUG ERR EXIT INT RETURN >&"$__ptycell_aside"; } || { \builtin trap -p DEBUG ERR EXIT INT RETURN >&"$__ptycell_up"; };; '\
'same) \builtin echo same >&"$__ptycell_aside" || \builtin echo same >&"$__ptycell_up";; esac; '\
'\builtin trap - DEBUG ERR RETURN; \builtin trap "" INT; __ptycell_looked=yes'
# The same behind a cell that ran to its end, and nothing before it: a trap of DEBUG runs for all that comes before it is
# off, and what is traced may go where no redirection holds it back. It fails where there was nothing to look at, and
# where the cell has taken builtins away. The status of the cell is kept in a redirection, which is no command.
__ptycell_first='{ \builtin "$__ptycell_looked" -p DEBUG ERR EXIT INT RETURN >&"$__ptycell_aside" || '\
'\builtin "$__ptycell_looked" -p DEBUG ERR EXIT INT RETURN >&"$__ptycell_up"; } && \builtin trap - DEBUG ERR RETURN && '\
'__ptycell_flags=$- __ptycell_looked=yes && \builtin set +aektuvx; '
__ptycell_kept='${__ptycell_nonce:(__ptycell_prompt=$?):0}'
# Where a command substitution is not closed, bash 5.2 then counts its open quotes below none, and writes the next
# one into memory that is not theirs. That it looks for the end of another makes them none again.
__ptycell_reset='${__ptycell_none+$()}'
# Aliases reach all that bash parses, reserved words too: they are off while the driver works, and on again in
# __ptycell_return. A line is parsed once the one before it has run; a backslash keeps aliases from a word. Where
# the brace is an alias, `exit` ends the shell for good.
__ptycell_plain='__ptycell_shopts=${__ptycell_shopts:-$BASHOPTS}'
# A restricted shell (set -r) cannot even redirect: nothing has turned then. A cell that an error or an interrupt has cut
# leaves `_` to bash itself.
# Bash parses the hook at each prompt, which takes longer than to call a function: so it is short.
__ptycell_hook='__ptycell_prompt=$? __ptycell_last=${__ptycell_last-${_-}} '"$__ptycell_plain"$'\n''\builtin shopt -u expand_aliases'$'\n'\
'{ [[ $__ptycell_state$__ptycell_looked == overyes && ! ${FUNCNEST-} ]] || \builtin eval "$__ptycell_late"; __ptycell_turn "$@"; } >/dev/null 2>&1; '\
'__ptycell_start "$__ptycell_arg"; \builtin . "/dev/fd/$__ptycell_at${__ptycell_nonce:__ptycell_statuses:0}" <&"$__ptycell_tty"; '\
"{ ${__ptycell_first}__ptycell_deep; "'[[ $__ptycell_looked == yes ]] || \builtin eval "$__ptycell_look"; '\
"__ptycell_over; } >/dev/null$__ptycell_kept$__ptycell_reset 2>&1 || __ptycell_starve '' 1"
# Where the last cell did not run to its end.
__ptycell_late='[[ $__ptycell_state != begun && ! ${FUNCNEST-} ]] || __ptycell_deep; [[ -R BASHPID || ${BASHPID:-$$} == "$$" ]] || \builtin exit; '\
'[[ $__ptycell_looked == yes ]] || \builtin eval "$__ptycell_look"'

# The trap of EXIT. A deadly signal runs it too, and then ends this bash: within the source of the cell,
# where `return` does not work any more. `exit` has left the source, or is in a function, where it works.
# Under set -T, what the user's trap of DEBUG writes would be among the answers. A trap of CHLD would run
# for each process from here on, and ends bash between two assignments of one command.
__ptycell_at_exit="{ __ptycell_status=\$? $__ptycell_plain; \\builtin shopt -u expand_aliases; } >/dev/null$__ptycell_reset 2>&1"$'\n''{ __ptycell_deep; '\
'\builtin eval "$__ptycell_leaving"; } >/dev/null 2>&1; __ptycell_leave "$@"'
__ptycell_leaving='__ptycell_flags=$-; '\
'__ptycell_children=$({ \builtin trap -p CHLD >&3; } 3>&1 >/dev/null); \builtin trap - CHLD; '\
'__ptycell_ended=$({ \builtin return 0 || \builtin printf %s "${BASH_SOURCE-}" >&3; } 3>&1 >/dev/null); '\
'__ptycell_traps=$({ \builtin trap -p DEBUG ERR INT RETURN >&3; } 3>&1 >/dev/null); '\
'__ptycell_failing=$({ \builtin trap -p ERR >&3; } 3>&1 >/dev/null); \builtin trap - DEBUG ERR EXIT RETURN; '\
'\builtin set +aektuvx'

# A cell has set a limit of open files (ulimit -n) that this shell cannot work with: it could not even
# redirect what it says. Or it has closed what this shell tells by.
__ptycell_starve() {
	builtin trap - EXIT
	if [[ ${1-} ]]; then
		builtin printf 'bash: this shell ends: %s is read-only, and it cannot go on without changing it.\n' "$1" >/dev/tty
	elif [[ $- == *r* ]]; then
		builtin printf 'bash: this shell ends: a restricted shell (set -r) cannot say how a cell went.\n'
	elif [[ ! -e /dev/fd/$__ptycell_up || ! -e /dev/fd/$__ptycell_in || ! -e /dev/fd/$__ptycell_spare ]]; then
		builtin printf 'bash: this shell ends: descriptors that it needs (%s to %s) were closed.\n' "$__ptycell_in" "$__ptycell_spare"
	elif __ptycell_opens 2>/dev/null; then
		builtin printf 'bash: this shell ends: the cell changed what it cannot go on without, perhaps by an alias.\n'
	else
		builtin printf 'bash: this shell ends: its limit of open files (ulimit -n) has become too low.\n'
	fi
	[[ ! ${2-} ]] || builtin exit "$2"
}

# Whether there is room for files: calling this opens some.
__ptycell_opens() {
	builtin local __ptycell_line
	while IFS= TMOUT= builtin read -r __ptycell_line; do
		[[ $__ptycell_line =~ ^'Max open files '\ *([0-9]+) ]] || builtin continue
		(( BASH_REMATCH[1] >= 64 ))
		builtin return
	done </proc/self/limits
	builtin return 1
}

# When a cell has ended. FUNCNEST is the user's again in the next one; until it is none, no function may call another.
__ptycell_deep() {
	__ptycell_shopts=${__ptycell_shopts:-$BASHOPTS}
	[[ $__ptycell_state == begun || ${FUNCNEST-} ]] || \builtin return 0
	[[ ! -R FUNCNEST ]] || \unset -n FUNCNEST
	if [[ -R FUNCNEST || ${FUNCNEST:-0} != 0 ]]; then
		[[ ! -R FUNCNEST && ${FUNCNEST@a} != *r* ]] || {
			\builtin trap - EXIT
			\builtin printf 'bash: this shell ends: FUNCNEST is read-only, and it cannot go on without changing it.\n' >/dev/tty
			\builtin exit 1
		}
		__ptycell_nest=$FUNCNEST FUNCNEST=0
	fi
	[[ $__ptycell_state == begun ]] || \builtin return 0
	[[ ! -R BASHPID && ${_@a}${SHELLOPTS@a}${BASHOPTS@a} == rr ]] || __ptycell_unmark
	\builtin shopt -u expand_aliases
	[[ $__ptycell_looked != trap ]] || __ptycell_flags=$-
	[[ $__ptycell_shopts != *expand_aliases* ]] && __ptycell_shopts=none || __ptycell_shopts=expand_aliases # they are long
	! { ! \builtin : || \declare -F builtin || \declare -F exec || \builtin compgen -A disabled; } || __ptycell_restore
}

# Takes attributes from what bash itself sets: as integers, such values are errors, which end all that it works at. `_` is
# first, as each word that is the last of a command becomes its value.
__ptycell_unmark() {
	[[ ${_@a} != *i* ]] || \declare -g +i _
	[[ ! -R BASHPID ]] || \unset -n BASHPID
	[[ ${SHELLOPTS@a}${BASHOPTS@a} == rr ]] || \declare -g +i SHELLOPTS BASHOPTS
}

# What the driver cannot do without: builtins.
__ptycell_restore() {
	__ptycell_remove builtin
	__ptycell_remove exec
	\builtin : || \enable builtin
	builtin enable . alias break compgen continue declare enable eval exec exit export history jobs kill local mapfile printf pushd read readonly \
		return set shift shopt trap ulimit unset : || {
		\trap - EXIT
		\echo 'bash: this shell ends: the builtin named enable is off, and others can be had back only by it.' >/dev/tty
		\exit 1
	}
	builtin shopt -u expand_aliases
}

# Where `declare` finds anything, it is a function of the user's itself.
__ptycell_remove() {
	if \declare -F "$1" && ! \declare -F __ptycell_nothing; then
		\unset -f "$1" || { __ptycell_starve "the function $1"; \exit 1; }
		[[ $1 != builtin ]] || __ptycell_looked=trap # it was that function that looked
		\builtin printf 'bash: the function named %s was removed: this shell could not go on with it.\n' "$1" >/dev/tty
	fi
}

# At each prompt. Around PROMPT_COMMAND bash keeps $?, so that it tells only of interrupts.
__ptycell_turn() {
	builtin trap '' INT
	builtin set +aektuvx +o pipefail
	__ptycell_args=("$@") __ptycell_text=
	[[ ! ${TMOUT-} ]] || __ptycell_still
	case $__ptycell_state in
	begun | left)
		__ptycell_turn_again
		builtin return
		;;
	esac
	if [[ $__ptycell_cell ]]; then
		# A path of 255 characters has at most 1,020 bytes, and a message may be longer than that (WHAT_MAX in codec.c).
		[[ $PWD == "$__ptycell_home" || $PWD == *$'\n'* ]] || __ptycell_text=" ${PWD:0:255}"
		__ptycell_tell "done $__ptycell_cell $__ptycell_state $__ptycell_status$__ptycell_text" || builtin return 1
		__ptycell_text=
		__ptycell_cell=
	fi
	builtin trap "$__ptycell_at_exit" EXIT
	[[ $__ptycell_xfsz != off ]] || { builtin trap '' XFSZ; __ptycell_xfsz=; }
	__ptycell_wait
	builtin trap - INT
}

# At a prompt behind a cell that did not run to its end. Bash buffers what it reads by itself: nothing may follow
# __ptycell_next in the pipe before it has been read. So the server is told at the next prompt.
__ptycell_turn_again() {
	if [[ $__ptycell_state == left ]]; then
		__ptycell_state=over
	else
		__ptycell_set_prompt
		# A cell may have closed what bash keeps of its standard input.
		[[ -p /dev/fd/0 ]] || \exec <&"$__ptycell_in" || builtin return 1
		__ptycell_cut "$__ptycell_prompt"
	fi
	__ptycell_open
	builtin return 0
}

# TMOUT is the time that a prompt may last, and cells run at one: bash has set an alarm that would end it. What
# `read` sets in POSIX mode is the same timer, and is taken away again. What ALRM was for is restored.
__ptycell_still() {
	builtin local - __ptycell_line
	builtin set -o posix
	builtin read -r -t 9 __ptycell_line </dev/null
	builtin set +o posix
	__ptycell_line=$(\builtin trap -p ALRM)
	builtin trap - ALRM
	builtin eval "\\builtin $__ptycell_line"
	[[ ${TMOUT@a} != *r* ]] || __ptycell_patience=(-t 999999999) # `TMOUT= read` is none without an end then
}

# A cell did not run to its end.
__ptycell_cut() {
	if (( $1 == 130 )); then
		__ptycell_status=130 __ptycell_state=interrupted
	else
		__ptycell_status=1 __ptycell_state=over
	fi
}

# A cell ran to its end. Fails where this shell has lost what it reads from.
__ptycell_over() {
	builtin trap '' INT
	if [[ $__ptycell_state == begun ]]; then
		builtin set +aektuvx
		__ptycell_status=$__ptycell_prompt __ptycell_state=over
	fi
	__ptycell_set_prompt
	[[ -p /dev/fd/0 ]] || \exec <&"$__ptycell_in"
}

# A name reference is unset itself, and not what it names. Fails where the name is read-only.
__ptycell_drop() {
	if [[ -R $1 ]]; then builtin unset -n "$1"; else builtin unset -v "$1"; fi 2>/dev/null
}

# What decides how bash itself reads.
__ptycell_set_prompt() {
	if [[ -o vi || -o emacs || ${PS1-}${PS2-}${PS0-} || ${PROMPT_COMMAND@a} || -R PROMPT_COMMAND ]]; then
		__ptycell_mend_prompt
	else
		PROMPT_COMMAND=$__ptycell_hook # it is long: to compare it takes longer
	fi
}

# An assignment to what the user has made read-only would end the function.
__ptycell_mend_prompt() {
	[[ -o vi || -o emacs ]] && builtin set +o vi +o emacs
	[[ ! ${PS1-} ]] || ! __ptycell_drop PS1 || PS1=
	[[ ! ${PS2-} ]] || ! __ptycell_drop PS2 || PS2=
	[[ ! ${PS0-} ]] || __ptycell_drop PS0
	if [[ ${PROMPT_COMMAND-} != "$__ptycell_hook" || ${#PROMPT_COMMAND[@]} != 1 || ${PROMPT_COMMAND@a} == *A* ]]; then
		__ptycell_drop PROMPT_COMMAND || { __ptycell_starve PROMPT_COMMAND; builtin exit 1; }
		PROMPT_COMMAND=$__ptycell_hook
	fi
}

__ptycell_next() {
	__ptycell_prompt=$?
	[[ $__ptycell_state != begun && ! ${FUNCNEST-} ]] || __ptycell_deep >/dev/null 2>&1
	if [[ $__ptycell_state == begun ]]; then
		builtin set +aektuvx
		__ptycell_cut "$__ptycell_prompt"
		__ptycell_set_prompt
	fi
	# Bash has remembered this line, where the cell set history on, and after `exit`.
	if [[ -o history ]]; then builtin history -d -1 2>/dev/null; else builtin history -c; fi
}

# Answers questions until a cell comes, which is then in __ptycell_text.
__ptycell_wait() {
	while TMOUT= IFS= builtin read "${__ptycell_patience[@]}" -r __ptycell_line; do
		case $__ptycell_line in
		"hello "*)
			__ptycell_nonce=${__ptycell_line#hello }
			__ptycell_tell "ready $BASH_VERSION"
			;;
		"@$__ptycell_nonce vars "*)
			__ptycell_tell "vars ${__ptycell_line##* }"
			;;
		"@$__ptycell_nonce exec "*)
			__ptycell_begin
			builtin return 0
			;;
		esac
	done
	builtin trap - EXIT
	builtin exit 0
}

# The line ends in CELL PARTS PLAIN TRAPS CODE: the last two are the lengths of what follows it, in bytes; PARTS is 1
# where the trap of RETURN may be set (__ptycell_start), PLAIN where the code is ASCII: to change the locale takes long.
# Nothing of ours stands before the code, unless there are traps to set or -x is on: bash shows the
# line of a syntax error.
__ptycell_begin() {
	__ptycell_line=${__ptycell_line#* exec }
	__ptycell_cell=${__ptycell_line%% *}
	__ptycell_line=${__ptycell_line#* }
	__ptycell_parts=${__ptycell_line%% *}
	__ptycell_line=${__ptycell_line#* }
	builtin set -- "${__ptycell_line%% *}" "${__ptycell_line#* }"
	builtin set -- "$1" "${2% *}" "${2#* }"
	__ptycell_text= __ptycell_looked=trap
	[[ $2 == 0 ]] || LC_ALL=C TMOUT= IFS= builtin read "${__ptycell_patience[@]}" -r -N "$2" __ptycell_text
	[[ ! $__ptycell_text && $__ptycell_flags != *x* ]] || __ptycell_put_before
	__ptycell_line=
	if [[ $1 == 1 ]]; then
		TMOUT= IFS= builtin read "${__ptycell_patience[@]}" -r -N "$3" __ptycell_line
	elif [[ $3 != 0 ]]; then
		LC_ALL=C TMOUT= IFS= builtin read "${__ptycell_patience[@]}" -r -N "$3" __ptycell_line
	fi
	__ptycell_text+=$__ptycell_line
	__ptycell_open
	[[ $__ptycell_last != __ptycell_* ]] || __ptycell_last= # nothing told of the cell's
	__ptycell_arg=$__ptycell_last __ptycell_statuses=0
	builtin unset PIPESTATUS || __ptycell_pipe=$__ptycell_status # bash keeps it as it was at the prompt otherwise
	[[ ${__ptycell_pipe-$__ptycell_status} == "$__ptycell_status" || $__ptycell_pipe == 257 ]] || # of a syntax error
		__ptycell_set_statuses
	builtin unset -v __ptycell_last __ptycell_pipe
	__ptycell_state=begun
}

# Makes $__ptycell_text what stands before the code.
__ptycell_put_before() {
	__ptycell_text=${__ptycell_text:-'__ptycell_return "$__ptycell_status" traced "$__ptycell_arg" && __ptycell_ready() ((1)); '}
	__ptycell_text="__ptycell_looked=trap; $__ptycell_text" __ptycell_looked=same
	if [[ $__ptycell_flags == *a* ]]; then # it exports functions, too: an empty loop defines none
		__ptycell_text="\\builtin export -n ${__ptycell_text%__ptycell_ready*}for __ptycell_line in; do :; done; "
	fi
}

# Makes $__ptycell_statuses an expression that sets PIPESTATUS to what the pipeline at the end of the last cell has left.
__ptycell_set_statuses() {
	builtin local IFS=' ' __ptycell_index=0
	for __ptycell_line in $__ptycell_pipe; do
		__ptycell_statuses+=",PIPESTATUS[$(( __ptycell_index++ ))]=$__ptycell_line"
	done
}

# Makes the text readable at descriptor __ptycell_at, and the terminal at __ptycell_tty: opened anew, as a program
# may have left the last one so that reading does not wait. No program of the cell gets them: bash's own copy
# of what a redirection replaces is close-on-exec, and so is a copy of that. (`builtin exec` would keep none
# open; one that was open already would come back at the end of the group.)
__ptycell_open() {
	\exec {__ptycell_at}<&- {__ptycell_tty}<&-
	if [[ $__ptycell_spare == 244 && ! -e /dev/fd/245 && ! -e /dev/fd/246 ]]; then # nearly always
		__ptycell_at=247 __ptycell_tty=248
		{ { \exec 247<&245 248<&246; } 250<&244 251<&244; } 250<<<"$__ptycell_text" 251</dev/tty && {
			__ptycell_opened=yes
			builtin return 0
		}
	fi
	__ptycell_open_among
}

# A cell has opened some of these numbers, or they are too high for its limit.
__ptycell_open_among() {
	builtin local __ptycell_here=none __ptycell_term=none __ptycell_copy=$__ptycell_spare
	\exec {__ptycell_here}<<<"$__ptycell_text" {__ptycell_term}</dev/tty
	builtin set --
	while (( $# < 4 )); do
		[[ -e /dev/fd/$(( ++__ptycell_copy )) ]] || builtin set -- "$@" "$__ptycell_copy"
	done
	__ptycell_at=$3 __ptycell_tty=$4
	builtin eval "{ \\exec $3<&$1 $4<&$2; } $__ptycell_here<&$__ptycell_spare $__ptycell_term<&$__ptycell_spare" &&
		\exec {__ptycell_here}<&- {__ptycell_term}<&- && { __ptycell_opened=yes; builtin return 0; }
	\exec {__ptycell_at}<&- {__ptycell_tty}<&- # the limit of open files is below them
	__ptycell_at=$__ptycell_here __ptycell_tty=$__ptycell_term
	[[ $__ptycell_here.$__ptycell_term == *none* ]] || __ptycell_opened=yes
}

# Before each cell. Its last word becomes what the cell finds as `_`.
#
# The trap of RETURN, unless the cell sets its own: at the end of the cell's source, where `_` and PIPESTATUS are still
# the cell's, they are kept for the next one. No command may be traced: an empty loop is none, and what is evaluated is
# the subscript of an array that has nothing. For functions (set -T) and for what the cell sources it does nothing.
# Aliases of the words of a loop would make it an error, and -v would show it: no such cell has it (codec.c).
__ptycell_start() {
	[[ $__ptycell_opened ]] || { __ptycell_starve; builtin exit 1; }
	__ptycell_opened=
	if [[ -t 1 && -t 2 ]]; then __ptycell_strayed=; else __ptycell_stray; fi
	[[ $__ptycell_parts != 1 || $__ptycell_flags == *v* ]] ||
		builtin trap -- 'for __ptycell_line in ${__ptycell_void[x${FUNCNAME-${BASH_SOURCE-'\
'${__ptycell_last=${_-}}${__ptycell_pipe=${PIPESTATUS[@]-}}}}]-}; do \:; done' RETURN
	__ptycell_return "$__ptycell_status"
}

# What goes elsewhere than to the terminal is missing in answers: the first cell behind the redirection says so. Through a
# pipe, as into `tee`, it may come all the same.
__ptycell_stray() {
	builtin local __ptycell_name=
	[[ -t 1 || -p /dev/fd/1 ]] || __ptycell_tell_stray stdout ''
	[[ -t 2 || -p /dev/fd/2 ]] || __ptycell_tell_stray stderr 2
	__ptycell_strayed=$__ptycell_name
}

__ptycell_tell_stray() {
	__ptycell_name+=$1
	[[ ${__ptycell_strayed-} == *$1* ]] ||
		builtin printf 'bash: %s does not go to the terminal, nor into answers: exec %s>/dev/tty brings it back.\n' "$@" >/dev/tty
}

# Takes back what set -a has exported of the driver's: with the text of a long cell no program could start. The names are
# split at IFS, which bash reads as text also where the cell has made an array of it.
__ptycell_withhold() {
	builtin local IFS=' ' 2>/dev/null || builtin : # one that is readonly is a text
	builtin export -n "${!__ptycell_@}"
}

# Sets what the cell finds: its options, and what it may ask for as $?. Within the cell, also what shows commands.
__ptycell_return() {
	[[ $__ptycell_shopts != *expand_aliases* ]] || builtin shopt -s expand_aliases
	__ptycell_shopts=
	[[ ! ${__ptycell_nest-} ]] || { builtin printf -v FUNCNEST %s "$__ptycell_nest"; builtin unset __ptycell_nest; }
	case $__ptycell_state$__ptycell_flags in
	begun*[akv]*)
		[[ $__ptycell_flags != *a* ]] || __ptycell_withhold
		builtin set "-${__ptycell_flags//[^akv]/}"
		;;
	esac
	case ${2-}$__ptycell_flags in
	traced*x*) { builtin set -x; builtin return "$1"; } 2>/dev/null ;;
	esac
	builtin return "$1"
}

# Stands before `trap` (trap_commands.h). EXIT is the driver's: what the user wants there is kept, and run by
# __ptycell_leave. A trap that `eval`, a sourced file or a variable's word sets takes its place until `trap` stands in the
# cell itself, or the cell ends: `exit` before that ends the shell for good. A function named trap could not list nor take
# away those of DEBUG, ERR and RETURN; one named exit would have neither the cell's traps nor its parameters; and nothing
# else of the shell's runs between such a trap and the end.
__ptycell_trap() {
	{ builtin local -; builtin set +aektuvx; } 2>/dev/null
	builtin local __ptycell_first=$1
	[[ $1 == trap ]] || builtin shift # builtin, command
	builtin shift
	if [[ $__ptycell_first == trap ]] && builtin declare -F trap >/dev/null; then
		trap "$@"
	elif (( $# == 0 )) || [[ $1 == -p || ( $1 == -- && $# == 1 ) ]]; then
		__ptycell_list_traps "$(\builtin trap -p)" builtin trap "$@"
	elif [[ ! $__ptycell_exits && ! -R BASHPID && ${BASHPID:-$$} != "$$" ]]; then
		builtin trap "$@"
	else
		__ptycell_set_traps "$@"
	fi
}

# Stands before what lists traps (trap_commands.h), and gets bash's own list of all, $1: this function would not see those of DEBUG,
# ERR and RETURN. A fork lists those of the shell around it, as long as it sets none.
__ptycell_list_traps() {
	{ builtin local -; builtin set +aektuvx; } 2>/dev/null
	builtin local __ptycell_line="$1"
	builtin shift
	if [[ $1 == trap && $__ptycell_exits != trap ]] && builtin declare -F trap >/dev/null; then
		trap "${@:2}"
		builtin return
	fi
	[[ $__ptycell_exits || ( ! -R BASHPID && ${BASHPID:-$$} != "$$" ) ]] || __ptycell_adopt
	[[ $1 == trap ]] || builtin shift # builtin, command
	( __ptycell_select_traps "$__ptycell_line" "${@:2}" )
}

# Prints those of bash's list $1 that the rest asks for, as the user has set them.
__ptycell_select_traps() {
	builtin local LC_ALL=C IFS=' ' __ptycell_name __ptycell_status=0
	builtin shopt -u expand_aliases
	builtin set +o posix # else there is no such function
	__ptycell_listed=()
	builtin trap - EXIT # from here on a listing says nothing of the shell around
	builtin unset -f trap
	trap() { __ptycell_list_trap "${@:2}"; }
	[[ ! $__ptycell_exits || ! $__ptycell_bye ]] || __ptycell_list_trap "$__ptycell_at_exit" EXIT # it is none while it runs
	builtin eval "$1"
	builtin shift
	[[ ${1-} != -- ]] || builtin shift
	[[ ${1-} != -p ]] || builtin shift
	[[ ${1-} != -- ]] || builtin shift
	(( $# > 0 )) || { (( ${#__ptycell_listed[@]} == 0 )) || builtin printf '%s\n' "${__ptycell_listed[@]}"; }
	for __ptycell_name; do
		__ptycell_ask_trap "$__ptycell_name" || __ptycell_status=1
	done
	builtin return "$__ptycell_status"
}

# Stands for `trap` there. Leaves out what is the driver's, and takes away what trap_wrappers.c puts around the user's.
__ptycell_list_trap() {
	case $2.$1 in
	*INT.__ptycell_unwind* | *.-) builtin return 0 ;;
	EXIT."$__ptycell_at_exit")
		[[ $__ptycell_bye ]] || builtin return 0
		builtin set -- "$__ptycell_bye" EXIT
		;;
	ERR.__ptycell_fail*)
		[[ $1 == *$'\n;; esac\n'* ]] || builtin return 0
		builtin set -- "${1#*' in '*') '}" ERR
		builtin set -- "${1%$'\n;; esac\n'*}" ERR
		;;
	'RETURN.for __ptycell_line in '*) builtin return 0 ;;
	*XFSZ.) [[ $__ptycell_xfsz ]] || builtin return 0 ;;
	'RETURN.case ${BASH_SOURCE:+.${FUNCNAME-}} in .__ptycell_*) ;; ?*) '*)
		builtin set -- "${1#*' ?*) '}" RETURN
		builtin set -- "${1%$'\n;; esac'}" RETURN
		;;
	esac
	__ptycell_listed+=("trap -- '${1//\'/\'\\\'\'}' $2")
}

# What is in no list is nothing, or an error that bash tells.
__ptycell_ask_trap() {
	builtin local __ptycell_line __ptycell_wanted=${1^^}
	[[ ! $1 =~ ^[0-9]+$ ]] || (( $1 == 0 )) || __ptycell_wanted=$(\builtin kill -l "$1" 2>/dev/null)
	[[ $1 != 0 ]] || __ptycell_wanted=EXIT
	for __ptycell_line in "${__ptycell_listed[@]}"; do
		[[ ${__ptycell_line##*\' } != ?(SIG)"$__ptycell_wanted" ]] || { builtin printf '%s\n' "$__ptycell_line"; builtin return; }
	done
	builtin trap -p -- "$1" >/dev/null
}

# What has been put on EXIT in the driver's place becomes the user's trap, which the driver's runs.
__ptycell_adopt() {
	builtin local __ptycell_line
	__ptycell_line=$(\builtin trap -p EXIT)
	[[ $__ptycell_line != "trap -- '$__ptycell_at_exit' EXIT" ]] || builtin return 0
	__ptycell_line=${__ptycell_line#trap -- }
	builtin eval "__ptycell_bye=${__ptycell_line% EXIT}"
	[[ $__ptycell_bye != - ]] || __ptycell_bye= # so bash in its POSIX mode says that there is none
	builtin trap "$__ptycell_at_exit" EXIT
}

# Stands behind a `trap` of EXIT that __ptycell_trap cannot stand before (trap_commands.h), and leaves its status.
__ptycell_settle() {
	{ builtin local - __ptycell_status=$?; builtin set +aektuvx; } 2>/dev/null
	[[ ! -R BASHPID && ${BASHPID:-$$} != "$$" ]] || __ptycell_adopt
	builtin return "$__ptycell_status"
}

__ptycell_set_traps() {
	builtin local __ptycell_signal
	builtin trap "$@"
	builtin set -- "$?" "$@"
	for __ptycell_signal in "${@:2}"; do
		case $__ptycell_signal in
		0 | [Ee][Xx][Ii][Tt]) [[ ! -R BASHPID && ${BASHPID:-$$} != "$$" ]] || __ptycell_adopt ;;
		2 | [Ii][Nn][Tt] | [Ss][Ii][Gg][Ii][Nn][Tt])
			[[ ! -R BASHPID && ${BASHPID:-$$} != "$$" ]] ||
				builtin printf '@%s handles %s %d\n' "$__ptycell_nonce" "$__ptycell_cell" "$([[ $(\builtin trap -p INT) ]]; builtin echo $((! $?)))" >&"$__ptycell_up"
			;;
		25 | [Xx][Ff][Ss][Zz] | [Ss][Ii][Gg][Xx][Ff][Ss][Zz])
			[[ $(\builtin trap -p XFSZ) == *\'* ]] && __ptycell_xfsz=own || __ptycell_xfsz=off
			;;
		[Ee][Rr][Rr])
			[[ $__ptycell_exits ]] || builtin continue
			__ptycell_guard "$(\builtin trap -p ERR)"
			builtin trap "$__ptycell_failing" ERR
			;;
		esac
	done
	builtin return "$1"
}

# Stands before `!pip` and `%pip` (trap_commands.h), as notebooks have them.
__ptycell_notebook() {
	"${1#?}" "${@:2}"
}

# $1, then what runs in the background and the names. All of it goes by one descriptor
# and is taken apart on the other side: capturing it here would be a fork. It fails where
# nobody waits for room in the pipe, aside.
__ptycell_tell() {
	__ptycell_list "$1" >&"$__ptycell_aside" || __ptycell_list "$1" >&"$__ptycell_up"
	# An interrupt that came just before can make bash lose what the list writes, once in a thousand times.
	builtin printf '@%s end %s\n' "$__ptycell_nonce" "$1" >&"$__ptycell_up"
}

__ptycell_list() {
	builtin printf '@%s %s\n' "$__ptycell_nonce" "$1"
	__ptycell_jobs
	builtin printf '@%s names\n' "$__ptycell_nonce" && __ptycell_names
}

# What runs in the background, and what did so when the shell before this one was left by `exit`.
__ptycell_jobs() {
	builtin jobs -pr
	for __ptycell_line in "${__ptycell_left[@]}"; do
		builtin kill -0 "$__ptycell_line" 2>/dev/null && builtin printf '%s\n' "$__ptycell_line"
	done
}

# Large values make this slow: then it is left out of the next cells. To list a value needs twice its memory, and
# where bash gets none it ends.
__ptycell_names() {
	if (( __ptycell_skip > 0 )); then
		__ptycell_skip=$(( __ptycell_skip - 1 ))
		builtin return 0
	fi
	# Not `read`, which would need another IFS and a variable of its own each time.
	builtin mapfile -n 1 __ptycell_pages </proc/self/statm
	__ptycell_pages=${__ptycell_pages% *}
	__ptycell_pages=${__ptycell_pages##* }
	if (( __ptycell_pages > 1024 )) && __ptycell_is_large; then # hardly ever
		builtin return 0
	fi
	__ptycell_line=
	[[ -R EPOCHREALTIME ]] || __ptycell_line=$EPOCHREALTIME
	builtin local PROMPT_COMMAND= __ptycell_hook= __ptycell_late= __ptycell_look= __ptycell_at_exit= __ptycell_leaving= __ptycell_last= __ptycell_arg= # long, and not told
	builtin declare -p
	builtin compgen -A function -X '__ptycell_*' -P 'declare -f '
	builtin printf '\n' || builtin return 1 # tells of what these two could not write
	[[ ! $__ptycell_line || $EPOCHREALTIME != "${__ptycell_line%?????}"????? ]] || builtin return 0 # within the same 0.1 s
	if [[ $__ptycell_line ]] && (( ${EPOCHREALTIME//[.,]/} - ${__ptycell_line//[.,]/} > 50000 )); then
		__ptycell_skip=20
	fi
	builtin return 0
}

# Whether this shell holds more than a sixteenth of the memory that it may have.
__ptycell_is_large() {
	builtin local __ptycell_line=
	while IFS= TMOUT= builtin read -r __ptycell_line; do
		[[ $__ptycell_line =~ ^'Max data size '\ *([0-9]+) ]] || builtin continue
		(( __ptycell_pages * 4096 > BASH_REMATCH[1] / 16 ))
		builtin return
	done </proc/self/limits
	builtin return 1
}

# Declares all variables but the locals of the functions that `exit` came from. They hide the
# globals, and go layer by layer; those that are read-only stay, and are left out.
__ptycell_globals() {
	builtin shopt -u localvar_unset
	for __ptycell_layer in "${FUNCNAME[@]}"; do
		builtin mapfile -t __ptycell_hiding < <(__ptycell_locals)
		(( ${#__ptycell_hiding[@]} > 0 )) || builtin break
		for __ptycell_name in "${__ptycell_hiding[@]}"; do
			__ptycell_drop "$__ptycell_name"
		done
	done
	builtin mapfile -t __ptycell_hiding < <(__ptycell_locals)
	__ptycell_integers
	if (( ${#__ptycell_hiding[@]} == 0 )); then
		builtin declare -p
		builtin printf '%s' "$__ptycell_numbers"
		builtin return 0
	fi
	builtin printf -v __ptycell_hidden ' %s ' "${__ptycell_hiding[@]}"
	while IFS= TMOUT= builtin read -r __ptycell_name; do
		case $__ptycell_hidden in
		*" $__ptycell_name "*) ;;
		*) builtin declare -p "$__ptycell_name" ;;
		esac
	done < <(\builtin compgen -v)
	builtin printf '%s' "$__ptycell_numbers"
}

# What a new shell would give a value.
__ptycell_unset() {
	for __ptycell_name in HOSTNAME HOSTTYPE IFS MACHTYPE MAILCHECK OPTERR OPTIND OSTYPE PATH RANDOM SECONDS SHELL TERM; do
		[[ -v $__ptycell_name ]] || builtin printf 'unset -v %s\n' "$__ptycell_name"
	done
}

# An integer may have another value, from before it was one: an error to the next shell, behind which nothing would be
# read. It becomes one after it has its value there, in __ptycell_numbers; what is read-only is left out.
__ptycell_integers() {
	__ptycell_numbers=
	while IFS= TMOUT= builtin read -r __ptycell_line; do
		[[ ! $__ptycell_line =~ '="'-?[0-9]*'"'$ && $__ptycell_line =~ ^'declare -'[A-Za-z]+' '([A-Za-z0-9_]+) ]] || builtin continue
		if builtin declare -g +i "${BASH_REMATCH[1]}"; then
			__ptycell_numbers+="declare -i ${BASH_REMATCH[1]}"$'\n'
		else
			__ptycell_hiding+=("${BASH_REMATCH[1]}")
		fi
	done < <(\builtin declare -pi)
}

# Bash does not tell which they are. An attribute that is given to the global does not show on them,
# nor another target, which makes a global where there was none.
__ptycell_locals() {
	while IFS= TMOUT= builtin read -r __ptycell_name; do
		[[ $__ptycell_name != __ptycell_* ]] || builtin continue
		if [[ -R $__ptycell_name ]]; then
			( builtin declare -gn "$__ptycell_name=__ptycell_nonce"
			[[ ${!__ptycell_name} == "$__ptycell_nonce" ]] ) || builtin printf '%s\n' "$__ptycell_name"
			builtin continue
		fi
		builtin declare -gt "$__ptycell_name"
		[[ ${!__ptycell_name@a} == *t* ]] || builtin printf '%s\n' "$__ptycell_name"
	done < <(\builtin compgen -v)
}

# All that the next shell is to have, for it to source. Aliases and functions could change what these
# lines do: they come last, and work when all is done.
__ptycell_keep() {
	builtin local __ptycell_options __ptycell_index
	__ptycell_options=$(\builtin set +o)
	builtin set +o posix
	builtin shopt -p
	builtin printf 'shopt -u expand_aliases\n'
	__ptycell_globals
	__ptycell_unset
	builtin printf '__ptycell_lost= __ptycell_functions= __ptycell_fixed=() __ptycell_left=(%s)\n' "$(__ptycell_jobs)"
	for (( __ptycell_index = ${#DIRSTACK[@]} - 1; __ptycell_index > 0; __ptycell_index-- )); do
		builtin printf 'builtin pushd -n %q >/dev/null\n' "${DIRSTACK[__ptycell_index]}"
	done
	__ptycell_coprocs
	builtin printf '%s\n' "$__ptycell_options" "$__ptycell_text"
	[[ ! -v IGNOREEOF ]] || builtin declare -p IGNOREEOF # its option gives it another value
	builtin complete -p
	builtin enable -n
	builtin alias -p
	__ptycell_functions
	builtin printf '__ptycell_whole=yes\n'
}

# Their descriptors are close-on-exec, and soon others': what names them goes.
__ptycell_coprocs() {
	builtin local LC_ALL=C __ptycell_name
	__ptycell_names=()
	while IFS= TMOUT= builtin read -r __ptycell_name; do
		[[ $__ptycell_name =~ ^'['[0-9]+']'.' '+[^' ']+' '+'coproc '([A-Za-z0-9_]+)' ' ]] || builtin continue
		__ptycell_names+=("${BASH_REMATCH[1]}")
		builtin printf 'builtin unset -v %s %s_PID\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[1]}"
	done < <(\builtin jobs)
	(( ${#__ptycell_names[@]} == 0 )) || builtin printf '__ptycell_ended=%q\n' "$(\builtin printf ' %s' "${__ptycell_names[@]}")"
}

# Not every function parses as bash prints it: those that do not are lost.
__ptycell_functions() {
	builtin local __ptycell_name __ptycell_texts __ptycell_lost
	__ptycell_lost=()
	builtin mapfile -t __ptycell_names < <(\builtin compgen -A function -X '__ptycell_*')
	(( ${#__ptycell_names[@]} > 0 )) || builtin return
	__ptycell_texts=("$(\builtin declare -f -- "${__ptycell_names[@]}")")
	if ! __ptycell_define "$__ptycell_texts" yes; then
		__ptycell_texts=()
		for __ptycell_name in "${__ptycell_names[@]}"; do
			__ptycell_line=$(\builtin declare -f -- "$__ptycell_name")
			if __ptycell_define "$__ptycell_line" yes; then
				__ptycell_texts+=("$__ptycell_line")
			else
				__ptycell_lost+=("$__ptycell_name")
			fi
		done
	fi
	builtin printf '__ptycell_functions=%q\n' "$(\builtin printf '%s\n' "${__ptycell_texts[@]}")"
	while IFS=' ' TMOUT= builtin read -r __ptycell_line __ptycell_line __ptycell_name; do
		[[ $__ptycell_name == __ptycell_* ]] || builtin printf '__ptycell_fixed+=(%q)\n' "$__ptycell_name"
	done < <(\builtin declare -Fr)
	(( ${#__ptycell_lost[@]} == 0 )) ||
		builtin printf '__ptycell_lost=%q\n' "$(\builtin printf ' %s' "${__ptycell_lost[@]}")"
}

# Defines functions, or tries whether it could ($2); fails at the first that is not one. Nothing else
# in $1 is run: DEBUG comes before all that would, but not before a definition.
__ptycell_define() {
	builtin local - __ptycell_extglob=u
	! builtin shopt -q extglob || __ptycell_extglob=s
	builtin unset -f __ptycell_end __ptycell_free
	builtin set -T +o posix
	builtin shopt -s extglob
	case ${2-} in
	yes) __ptycell_eval "__ptycell_tried() {"$'\n'"$1"$'\n}' ;;
	*) __ptycell_eval "$1" ;;
	esac
	__ptycell_free() { :; }
	builtin trap - DEBUG
	builtin shopt "-$__ptycell_extglob" extglob
	builtin declare -F __ptycell_end >/dev/null
}

__ptycell_eval() {
	builtin eval "builtin trap 'builtin declare -F __ptycell_free >/dev/null || builtin return' DEBUG
$1
__ptycell_end() { :; }"
}

# A variable would be told with each cell's names; the environment of this process has it still.
__ptycell_read_driver() {
	while TMOUT= IFS= builtin read -r -d '' __ptycell_text; do
		[[ $__ptycell_text != PTYCELL_DRIVER=* ]] || builtin break
	done </proc/self/environ 2>/dev/null
}

# The user's trap of EXIT, with the options of the cell. What would end this bash for good makes all functions return instead,
# up to __ptycell_leave (__ptycell_unwind): `exit` is a function, and a trap of ERR does what -e would. An `eval` whose failure
# is no error, and that no `builtin` is before, only shows -e, whatever `set` says in it: bash ends where that is on and a variable is unset under -u. What
# comes before the user's text is of its first line, and all of that is one command: such an error ends what bash has read.
__ptycell_say_bye() {
	builtin local - __ptycell_failed
	[[ $__ptycell_traps == *INT* ]] || builtin trap '__ptycell_unwind "$__ptycell_status"; \builtin return 0' INT # Ctrl-C would end bash
	if [[ -o posix || $__ptycell_bye == *@(builtin|command)*exit* ]] || [[ $(\builtin declare -F exit eval) ]]; then
		__ptycell_say_apart "$@"
		__ptycell_returns=
		builtin return 0
	fi
	exit() { __ptycell_exit "$?" "$@"; }
	__ptycell_exits=exit
	builtin declare -F trap >/dev/null || {
		trap() { __ptycell_trap builtin trap "$@"; } # no command of the trap's takes the one of ERR away
		__ptycell_exits=trap
	}
	__ptycell_guard "$__ptycell_failing"
	builtin set "-E${__ptycell_flags//[^eu]/}"
	[[ $__ptycell_shopts != *expand_aliases* ]] || builtin shopt -s expand_aliases # before the text is parsed
	\eval '\builtin trap "$__ptycell_failing" ERR; \__ptycell_return "$__ptycell_status" && \builtin :; { '"$__ptycell_bye"$'\n\\:\n}' ||
		[[ $? != 1 || $- != *e* ]] || __ptycell_status=1 # an unset variable
	__ptycell_returns=
}

# `exit` has left the source of the cell, and with it the terminal as standard input: what the user's trap read would be the
# driver's own commands.
__ptycell_hear_bye() {
	if [[ /dev/fd/0 -ef /dev/fd/$__ptycell_in ]]; then
		__ptycell_say_bye "$@" <&"$__ptycell_tty"
	else
		__ptycell_say_bye "$@"
	fi
}

# Makes $__ptycell_failing the trap of ERR that does what -e would, behind the user's, which bash lists as $1. The user's is not for
# functions and subshells, unless the cell says so (set -E).
__ptycell_guard() {
	__ptycell_failing=
	if [[ $1 == *" ERR" ]]; then
		__ptycell_failing=${1#trap -- }
		builtin eval "__ptycell_failing=${__ptycell_failing% ERR}"
		[[ $__ptycell_flags == *E* ]] && __ptycell_line='*' || __ptycell_line='__ptycell_say_bye.0 | source.0'
		__ptycell_failing="case \${FUNCNAME-}.\${BASH_SUBSHELL-} in $__ptycell_line) $__ptycell_failing"$'\n;; esac\n'
	fi
	__ptycell_failing='__ptycell_fail "$?"'$'\n'"$__ptycell_failing"'case $- in *e*) __ptycell_unwind "$__ptycell_failed" ;; esac'
}

# The status at which a trap of ERR begins, for its end.
__ptycell_fail() {
	__ptycell_failed=$1
	builtin return "$1"
}

# In another process, whose status is then the cell's. One that is substituted knows this shell's jobs.
__ptycell_say_apart() {
	\exec {__ptycell_copy}>&1
	__ptycell_line=$( {
		builtin set "-${__ptycell_flags//[^eu]/}"
		__ptycell_return "$__ptycell_status" && builtin :
		builtin eval "{ $__ptycell_bye"$'\n\\:\n}' # a list that fails at the end of it ends nothing
		builtin exit "$__ptycell_status"
	} >&"$__ptycell_copy" {__ptycell_copy}>&- )
	__ptycell_status=$?
	\exec {__ptycell_copy}>&-
}

# Stands for `exit` there: $1 is the status before it, the rest its words. A fork says what is wrong with them.
__ptycell_exit() {
	if [[ ! -R BASHPID && ${BASHPID:-$$} != "$$" ]]; then
		(( $# > 1 )) || builtin set -- "$1" "$1"
		builtin exit "${@:2}"
	fi
	(( $# > 1 )) || builtin set -- "$1" "$__ptycell_status"
	( builtin exit "${@:2}" ) && __ptycell_unwind 0 || __ptycell_unwind "$?"
}

# Before each command that follows, the function that it is in returns. A fork ends.
__ptycell_unwind() {
	[[ -R BASHPID || ${BASHPID:-$$} == "$$" ]] || builtin exit "$1"
	__ptycell_status=$1 __ptycell_returns=
	builtin set +e
	builtin trap 'case $FUNCNAME in __ptycell_leave) \builtin trap - DEBUG ;; *) \builtin return 0 ;; esac' DEBUG
}

# The code of the last cell, as the session ends: the user's trap of EXIT runs, with the terminal as standard input. While jobs
# are stopped, only a second `exit` ends bash.
__ptycell_quit() {
	\exec <&"$__ptycell_tty"
	builtin trap -- "${__ptycell_bye:--}" EXIT
	builtin exit "$__ptycell_status"
	builtin exit "$__ptycell_status"
}

# Takes a trap of DEBUG that exits itself from what the next shell gets: each command of it would end its cell, also
# the one that takes the trap away.
__ptycell_disarm() {
	[[ $__ptycell_traps == *"' DEBUG"* && ${__ptycell_traps%%"' DEBUG"*} == *exit* ]] || builtin return 0
	__ptycell_traps=${__ptycell_traps#*"' DEBUG"}
	__ptycell_traps=${__ptycell_traps#$'\n'}
	builtin printf 'bash: the trap of DEBUG did not outlive the exit, as it exits itself.\n' >/dev/tty
}

# In the trap of EXIT, with the parameters of the cell or of the function that `exit` came from. `exit`,
# or a failure under set -e, ends this bash: another takes its place in the same process and gets all
# that can be handed over. A signal ends it for good, as any interpreter.
__ptycell_leave() {
	[[ $__ptycell_state == begun && ( -R BASHPID || ${BASHPID:-$$} == "$$" ) ]] || builtin return 0
	if [[ $__ptycell_bye ]]; then
		__ptycell_returns=yes
		__ptycell_hear_bye "$@" && __ptycell_prompt=0 || __ptycell_prompt=$?
		[[ ! $__ptycell_returns ]] || __ptycell_status=$__ptycell_prompt # by `return`
		builtin set +aeku
		__ptycell_shopts=${__ptycell_shopts:-$BASHOPTS} # the trap had the cell's aliases
		builtin shopt -u expand_aliases
		[[ ! $__ptycell_exits ]] || builtin unset -f exit
		[[ $__ptycell_exits != trap ]] || builtin unset -f trap
		builtin trap - DEBUG ERR
		[[ $__ptycell_traps == *INT* ]] || builtin trap - INT
	fi
	__ptycell_withhold
	__ptycell_flags=${__ptycell_flags//[ektuv]/} # of the shell that ends
	[[ ! $__ptycell_ended ]] || builtin return 0
	__ptycell_restore >/dev/null 2>&1 # also where compgen is off, which tells of the others
	__ptycell_disarm
	if (( ${#FUNCNAME[@]} == 1 )); then
		__ptycell_args=("$@") __ptycell_traps+=${__ptycell_traps:+$'\n'}"trap -- '$__ptycell_at_exit' EXIT"
	else # the cell's are out of reach: they stay as they were at its start
		__ptycell_traps=kept
	fi
	__ptycell_text=$(\builtin trap -p 2>/dev/null)$'\n'$__ptycell_children
	builtin trap : INT
	__ptycell_state=left __ptycell_bye= __ptycell_exits=
	__ptycell_line=$(__ptycell_keep 2>/dev/null)
	__ptycell_read_driver
	if (( $(\builtin ulimit -Sn) < 19 )); then # the next shell has these and what it opens
		__ptycell_starve
		builtin return 0
	fi
	# Redirections of functions that `exit` came from are still there, so output goes to the terminal anew;
	# what was close-on-exec stays so but for 0 to 2. The numbers are free ones: others are the cell's.
	\exec {__ptycell_at}<&- {__ptycell_tty}<&- # the limit may leave no room for more
	{ \exec {__ptycell_here}<<<"$__ptycell_line"; } 2>/dev/null || # a file, which the user's limit may be below (ulimit -f)
		\exec {__ptycell_here}< <(\builtin printf '%s\n' "$__ptycell_line")
	\exec {__ptycell_out}<>/dev/tty {__ptycell_err}<>/dev/tty <&"$__ptycell_spare" &&
		\exec {__ptycell_copy}<&0 || { __ptycell_starve; builtin return 0; }
	for __ptycell_name in PS1 PS2 HISTFILE; do
		! __ptycell_drop "$__ptycell_name" || builtin export "$__ptycell_name="
	done
	__ptycell_drop PROMPT_COMMAND || { __ptycell_starve PROMPT_COMMAND; builtin return 0; }
	PTYCELL_DRIVER=${__ptycell_text#*=} PROMPT_COMMAND='builtin eval "$PTYCELL_DRIVER"' \
		PTYCELL_RESUME="$__ptycell_copy $__ptycell_out $__ptycell_err $__ptycell_here" \
		builtin exec -a bash /proc/self/exe --norc --noprofile --noediting -i <&"$__ptycell_in" >&"$__ptycell_up" 2>&"$__ptycell_aside"
}

# What has to come behind all else in the new shell.
__ptycell_resume() {
	if ! __ptycell_define "$__ptycell_functions" 2>/dev/null || [[ ! $__ptycell_whole ]]; then
		builtin printf 'bash: not all variables and functions outlived the exit.\n' >&2
	fi
	(( ${#__ptycell_fixed[@]} == 0 )) || builtin readonly -f "${__ptycell_fixed[@]}" 2>/dev/null
	[[ ! $__ptycell_lost ]] || builtin printf 'bash: functions that did not outlive the exit:%s\n' "$__ptycell_lost" >&2
	[[ ! $__ptycell_ended ]] || builtin printf 'bash: coprocs that did not outlive the exit:%s\n' "$__ptycell_ended" >&2
	(( ${#__ptycell_left[@]} == 0 )) || builtin printf 'bash: still running, but no jobs of this shell after the exit:%s\n' \
		"$(\builtin printf ' %s' "${__ptycell_left[@]}")" >&2
	builtin unset -v __ptycell_children __ptycell_ended __ptycell_failing __ptycell_returns __ptycell_fixed __ptycell_functions __ptycell_hiding __ptycell_index __ptycell_layer __ptycell_lost \
		__ptycell_names __ptycell_numbers __ptycell_options __ptycell_whole
	builtin unset -f __ptycell_end __ptycell_free
	__ptycell_looked=yes
	builtin printf '%s\n' "$__ptycell_traps" >&"$__ptycell_aside" || builtin printf '%s\n' "$__ptycell_traps" >&"$__ptycell_up"
	__ptycell_traps=
}

# Moves $1 (copies 0) to $3, or a free number where the limit of open files is below it, as a descriptor that no program
# of a cell gets; names it in $2. Bash marks its own copy of what a redirection replaces as close-on-exec, the
# first free one from 10 on, and a copy of such a one is so too.
__ptycell_hide() {
	__ptycell_copy=9
	while [[ -e /dev/fd/$(( ++__ptycell_copy )) ]]; do :; done
	builtin printf -v "$2" %s "$3"
	builtin eval "{ \\exec $3<&$__ptycell_copy; } $1<&2 2>/dev/null"
	[[ -e /dev/fd/$3 ]] || builtin eval "{ \\exec {$2}<&$__ptycell_copy; } $1<&2"
	(( $1 == 0 )) || builtin eval "\\exec $1<&-"
}

# Opens what is free of the numbers from 241 on, as far as the limit of open files allows it: where hardly any below is
# free, bash would have its copies there, and what comes there would replace them. It has one at 241 while the errors
# are left out.
__ptycell_reserve() {
	for __ptycell_copy in {249..242}; do
		[[ -e /dev/fd/$__ptycell_copy ]] || ! builtin eval "\\exec $__ptycell_copy<&0" || __ptycell_reserved+=("$__ptycell_copy")
	done 2>/dev/null
	[[ -e /dev/fd/249 ]] || builtin return 0
	__ptycell_room=yes
	[[ -e /dev/fd/241 ]] || \exec 241<&0
}

# Keeps 247 and 248 open: __ptycell_open closes what is there.
__ptycell_release() {
	for __ptycell_copy in "${__ptycell_reserved[@]}"; do
		case $__ptycell_copy in
		245 | 246 | 249) builtin eval "\\exec $__ptycell_copy<&-" ;;
		esac
	done
	[[ $__ptycell_room ]] || builtin return 0
	[[ -e /dev/fd/247 ]] || \exec 247<&0
	[[ -e /dev/fd/248 ]] || \exec 248<&0
}

# What writes more into a file than it may fails, and the shell goes on: bash as it starts takes the signal back. What the
# user wants of it is in __ptycell_xfsz: empty where this stands, `own`, or `off` until the cell ends.
builtin trap '' XFSZ
# The server's numbers are 11 (spare), 15 (control) and 13 (aside). After an exit the two that tell are 1 and 2,
# which come in the place of the terminal's.
__ptycell_reserved=() __ptycell_room=
if [[ ${PTYCELL_RESUME-} ]]; then
	__ptycell_reserve
	builtin set -- $PTYCELL_RESUME
	\exec {__ptycell_up}>&1 >&"$2"
	builtin eval "\\exec $2>&-"
	\exec {__ptycell_aside}>&2 2>&"$3"
	builtin eval "\\exec $3>&-"
	builtin set -- "$1" "$__ptycell_up" "$__ptycell_aside" "$4"
	__ptycell_whole=
	builtin unset PS1 PS2 HISTFILE
	builtin . "/dev/fd/$4" 2>/dev/null
	builtin eval "\\exec $4<&-"
	builtin unset PTYCELL_RESUME
else
	builtin set -- 11 15 13
	builtin unset HISTFILE
	__ptycell_nonce= __ptycell_cell= __ptycell_state=idle __ptycell_status=0 __ptycell_flags= __ptycell_opened=
	__ptycell_bye= __ptycell_exits= __ptycell_xfsz= __ptycell_skip=0 __ptycell_looked=yes __ptycell_last=$BASH
	__ptycell_shopts=$BASHOPTS __ptycell_left=() __ptycell_args=()
	builtin readonly __ptycell_home=$PWD
	builtin readonly __ptycell_on= # never exported: what stands before `trap` asks for it (trap_commands.h)
fi
__ptycell_hide 0 __ptycell_in 241
__ptycell_hide "$1" __ptycell_spare 244
__ptycell_hide "$2" __ptycell_up 242
__ptycell_hide "$3" __ptycell_aside 243
__ptycell_release
builtin unset -f __ptycell_hide __ptycell_reserve __ptycell_release
builtin unset __ptycell_copy __ptycell_reserved __ptycell_room __ptycell_first __ptycell_kept __ptycell_reset __ptycell_plain
builtin set -- "${__ptycell_args[@]}"

__ptycell_text= __ptycell_line= __ptycell_at=247 __ptycell_tty=248 __ptycell_arg= __ptycell_statuses=0 __ptycell_parts= __ptycell_pages=0
builtin declare -A __ptycell_void
builtin readonly -f __ptycell_deep __ptycell_unmark __ptycell_restore __ptycell_remove __ptycell_start __ptycell_stray __ptycell_tell_stray __ptycell_still __ptycell_drop __ptycell_opens __ptycell_starve __ptycell_turn __ptycell_turn_again __ptycell_cut __ptycell_over __ptycell_set_prompt __ptycell_mend_prompt __ptycell_next __ptycell_wait __ptycell_begin __ptycell_put_before __ptycell_set_statuses \
	__ptycell_open __ptycell_open_among  __ptycell_trap __ptycell_list_traps __ptycell_select_traps __ptycell_list_trap __ptycell_ask_trap __ptycell_set_traps __ptycell_adopt __ptycell_settle \
	__ptycell_notebook __ptycell_withhold __ptycell_return __ptycell_tell __ptycell_list __ptycell_jobs __ptycell_names __ptycell_is_large __ptycell_globals __ptycell_locals __ptycell_unset __ptycell_integers \
	__ptycell_keep __ptycell_coprocs __ptycell_functions __ptycell_define __ptycell_eval __ptycell_read_driver __ptycell_resume __ptycell_say_bye __ptycell_hear_bye __ptycell_guard __ptycell_fail __ptycell_say_apart __ptycell_exit __ptycell_quit __ptycell_unwind __ptycell_disarm __ptycell_leave
builtin unset PTYCELL_DRIVER
builtin set +o history +o histexpand
builtin export -n PS1 PS2 PROMPT_COMMAND
builtin trap "$__ptycell_at_exit" EXIT
__ptycell_set_prompt
[[ $__ptycell_state != left ]] || __ptycell_resume
\builtin eval "$__ptycell_hook"
