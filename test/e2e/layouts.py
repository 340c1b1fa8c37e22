# SPDX-License-Identifier: MIT
"""Repositories of every kind, armed in every way: shell scripts, and what a user's git does on them.

A case is (kind, arm, move). Its script makes, in a folder of its own, a repository whose git folder is $G and where git is called is
$W; arms it, so that git leaves the file $MARK; and moves it about.
"""
import itertools

IDENTITY = ("export GIT_AUTHOR_NAME=c GIT_AUTHOR_EMAIL=c@c GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@c GIT_CONFIG_NOSYSTEM=1 "
            "GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0 GIT_TEMPLATE_DIR= GIT_ALLOW_PROTOCOL=file:ssh:ext GIT_CONFIG_COUNT=1 "
            "GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always\n")

UP = "git init -qb main up; echo 1 > up/a; git -C up add a; git -C up commit -qm a\n"

# How it is made: each sets W, and G to where its config and hooks are.
KINDS = {
    "init": "git init -qb main w; echo 1 > w/a; git -C w add a; git -C w commit -qm a; W=w G=w/.git",
    # Since git 2.45; its refs are in no files of their own.
    "reftable": "git init -qb main --ref-format=reftable w || git init -qb main w; echo 1 > w/a; git -C w add a; git -C w commit -qm a; W=w G=w/.git",
    "clone": UP + "git clone -q up w; W=w G=w/.git",
    "bare": UP + "git clone -q --bare up w.git; W=w.git G=w.git",
    "worktree": UP + "git -C up worktree add -q ../w; W=w G=up/.git",
    "submodule": UP + "git init -qb main w; git -C w submodule --quiet add ../up lib; git -C w commit -qm l; W=w/lib G=w/.git/modules/lib",
    "separate": UP + "git clone -q --separate-git-dir=g up w; W=w G=g",
    "alternates": UP + "git clone -q --shared up w; W=w G=w/.git",
    "by hand": "mkdir -p w/objects w/refs/heads w/t; echo 1 > w/t/a; echo 'ref: refs/heads/main' > w/HEAD; "
               "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = t\\n' > w/config; W=w G=w",
    "nested": UP + "mkdir -p up/1/2/3/4/5/6/7; git clone -q up up/1/2/3/4/5/6/7/w; W=up/1/2/3/4/5/6/7/w G=$W/.git",
}

RUN = '"touch $MARK; false"'
HOOKS = "for h in pre-commit post-checkout post-index-change post-commit reference-transaction; do " \
    "printf '#!/bin/sh\\ntouch %s\\n' \"$MARK\" > $H/$h; chmod +x $H/$h; done"

ARMS = {
    "fsmonitor": f"git config -f $G/config core.fsmonitor {RUN}",
    "include": f"git config -f $G/more core.fsmonitor {RUN}; git config -f $G/config include.path more",
    "include if": f"git config -f $G/more core.fsmonitor {RUN}; git config -f $G/config includeIf.gitdir:/**.path more",
    "worktree config": "git config -f $G/config core.repositoryformatversion 1; git config -f $G/config extensions.worktreeConfig true; "
                       f"for d in $G $G/worktrees/w; do [ ! -d $d ] || git config -f $d/config.worktree core.fsmonitor {RUN}; done",
    "hooks": f"mkdir -p $G/hooks; H=$G/hooks; {HOOKS}",
    "hooks by link": f"rm -rf $G/hooks; mkdir h; H=h; {HOOKS}; ln -s $PWD/h $G/hooks",
    "hooks path": f"mkdir h; H=h; {HOOKS}; git config -f $G/config core.hooksPath $PWD/h",
    "commondir": "mkdir $G.x; cp -r $G/objects $G/refs $G/config $G.x; "
                 f"git config -f $G.x/config core.fsmonitor {RUN}; echo $PWD/$G.x > $G/commondir",
    "filter": f"git config -f $G/config filter.x.clean {RUN}; echo '* filter=x' > $W/.gitattributes",
    "diff": f"git config -f $G/config diff.external {RUN}; echo 3 >> $W/a",
    "ssh": f"git config -f $G/config core.sshCommand {RUN}; git config -f $G/config remote.origin.url ssh://nowhere.invalid/x",
    "upload pack": f"git config -f $G/config remote.origin.url .; git config -f $G/config remote.origin.uploadpack {RUN}",
    "transport": "git config -f $G/config remote.origin.url \"ext::touch $MARK\"; git config -f $G/config protocol.ext.allow always",
    "remote name": "git config -f $G/config remote.origin.url .; git config -f $G/config \"remote.--upload-pack=touch $MARK; false.fetch\" x",
    "promisor name": "git config -f $G/config core.repositoryformatversion 1; git config -f $G/config remote.origin.url .; "
                     "git config -f $G/config extensions.partialClone \"--upload-pack=touch $MARK; false\"; rm -rf $G/objects/??",
}

# From the folder that holds all of it. What git is called in afterwards is found by looking everywhere.
MOVES = {
    "in place": "",
    "moved": "mkdir m; for f in *; do [ $f = m ] || mv $f m; done",
    "by link": "ln -s $W l",
    "as a file": "if [ -d $W/.git ] && [ ! -L $W/.git ]; then mv $W/.git f.git; echo \"gitdir: $PWD/f.git\" > $W/.git; fi",
    "renamed": "mv $G $G.y && mv $G.y $G",
}

ALL = list(itertools.product(KINDS, ARMS, MOVES))
# Each pair of a kind, an arm and a move.
PAIRS = [(kind, arm, list(MOVES)[(i + j) % len(MOVES)]) for i, kind in enumerate(KINDS) for j, arm in enumerate(ARMS)]
# Each arm, kind and move once at least.
SOME = [("init", "fsmonitor", "renamed"), ("clone", "include", "moved"), ("submodule", "include if", "by link"), ("init", "worktree config", "in place"),
        ("nested", "hooks", "moved"), ("separate", "hooks by link", "by link"), ("alternates", "hooks path", "as a file"),
        ("nested", "commondir", "in place"), ("worktree", "filter", "in place"), ("by hand", "fsmonitor", "moved"), ("clone", "diff", "as a file"),
        ("nested", "ssh", "by link"), ("reftable", "fsmonitor", "moved"), ("bare", "upload pack", "in place"), ("alternates", "transport", "moved"),
        ("clone", "remote name", "as a file"), ("init", "promisor name", "in place")]


def make(case):
    return KINDS[case[0]] + "\n"


def arm(case):
    return ARMS[case[1]] + "\n" + MOVES[case[2]] + "\n"


def script(cases, top, marks, *parts):
    """Runs these parts of all cases, each in a folder of its own. Some need not work: a repository that is held refuses."""
    lines = [IDENTITY]
    for number, case in enumerate(cases):
        # What the first part sets is what the second one needs, in another shell.
        body = "".join(make(case) if part is make else
                       (make_variables(case) if make not in parts else "") + arm(case) for part in parts)
        lines.append(f"(mkdir -p {top}/n{number}; cd {top}/n{number}; MARK={marks}/{number}\n{body}) > /dev/null 2>&1 < /dev/null")
    return "\n".join(lines) + "\n"


def make_variables(case):
    """What make() sets, without making."""
    return KINDS[case[0]].replace("\n", ";").rpartition("; ")[2].replace("$W", "${W}") + "\n"


COMMANDS = ("git status; git diff; git log -1; echo 2 >> a; git add .; git commit -qm u; git switch -qc u$$; git fetch -q --all; "
            "git clone -q . ./c; git init -q i; echo 3 > u; git stash -qu; git stash pop -q; rm -rf c i")


def user_script(top, commands=COMMANDS):
    """The user's git in all folders below, the links' too: status as prompts call it, where a repository is but in .git these commands."""
    return IDENTITY + f"""cd {top} || exit
find -L . -maxdepth 14 -type d \\( -name objects -o -name logs -o -name hooks -o -name info -o -name refs -o -name branches \\) -prune -o -type d -print > ../list.$$
while read -r d; do
    (cd "$d" && if [ -e .git ] || [ -e HEAD ] && [ "${{d##*/}}" != .git ]; then {commands}; else git status; fi) < /dev/null
done < ../list.$$
rm ../list.$$
"""
