"""`kraftctl completion SHELL`: a script that completes the commands of this project in bash, zsh or fish."""

from __future__ import annotations

import sys
from typing import NamedTuple

from tools.kraftctl.terminal import parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from tools.kraftctl.command_trees import Command, Flag

_HELP_CHARACTERS = 80


def run(arguments: list[str]) -> int:
    """Exit code 0: the script is printed."""
    options = arguments_parser().parse_args(arguments)
    from tools.kraftctl.command_trees import trees

    places = [place for command in trees() for place in places_of(command)]
    sys.stdout.write({"bash": bash, "zsh": zsh, "fish": fish}[options.shell](places))
    return 0


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl completion",
        "Print a script that completes kraftctl and Kafka's tools: verbs, options, and values where there are few.\n"
        "The script starts no process.",
        'source <(kraftctl completion bash)      # in ~/.bashrc; "zsh" in ~/.zshrc, after compinit',
        "kraftctl completion fish > ~/.config/fish/completions/kraftctl.fish",
    )
    top.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell of the script")
    return top


class Place(NamedTuple):
    """A command line up to a verb. path: its words, such as `kraftctl backup save`."""

    path: str
    command: Command

    @property
    def verbs(self) -> list[tuple[str, str]]:
        """The words that may follow, with their help."""
        return [(each.name, short(each.help)) for each in self.command.commands]

    @property
    def value_flags(self) -> list[Flag]:
        """The options that take a value."""
        return [flag for flag in self.command.flags if flag.value]


def places_of(command: Command, path: str = "") -> Iterator[Place]:
    """A command and all its sub-commands."""
    path = f"{path} {command.name}".lstrip()
    yield Place(path, command)
    for below in command.commands:
        yield from places_of(below, path)


def short(text: str) -> str:
    """The first line of a help text, shortened, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _HELP_CHARACTERS else line[: _HELP_CHARACTERS - 1].rstrip() + "…"


def names_of(places: list[Place]) -> list[str]:
    """The commands themselves; Kafka's also with the `.sh` of its scripts."""
    names = [place.path for place in places if " " not in place.path]
    return [*names, *(f"{name}.sh" for name in names if name.startswith("kafka-"))]


def quote(text: str) -> str:
    """The text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def choice_arms(place: Place, listed: Callable[[tuple[str, ...]], str]) -> list[str]:
    """The arms of `case` that set the values of options with choices. listed: the choices as the shell assigns them."""
    return [
        f"        '{place.path} {name}') choices={listed(flag.choices)} ;;"
        for flag in place.value_flags
        for name in flag.names
        if flag.choices
    ]


# bash

_BASH = """\
_kraft_quorum() {{
    local line verbs flags valued choices word current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    line=${{COMP_WORDS[0]##*/}}
    line=${{line%.sh}}
    _kraft_quorum_place "$line"
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case " $verbs " in
            *" $word "*) line="$line $word"; _kraft_quorum_place "$line" ;;
        esac
    done
    COMPREPLY=()
    case " $valued " in
        *" $before "*)
            _kraft_quorum_choices "$line" "$before"
            [ -z "$choices" ] || COMPREPLY=($(compgen -W "$choices" -- "$current"))
            return ;;
    esac
    case "$current" in
        -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
        *) COMPREPLY=($(compgen -W "$verbs" -- "$current")) ;;
    esac
}}

# Sets what may follow: verbs, flags, and those of the flags that take a value.
_kraft_quorum_place() {{
    verbs= flags= valued=
    case "$1" in
{places}
    esac
}}

_kraft_quorum_choices() {{
    choices=
    case "$1 $2" in
{choices}
    esac
}}

# Where nothing is known, names of files are completed.
complete -o default -F _kraft_quorum {names}
"""


def bash(places: list[Place]) -> str:
    """The script for bash 3.2 and later."""
    arms, choices = [], []
    for place in places:
        verbs = " ".join(name for name, _ in place.verbs)
        flags = " ".join(name for flag in place.command.flags for name in flag.names)
        valued = " ".join(name for flag in place.value_flags for name in flag.names)
        arms.append(f"        '{place.path}') verbs='{verbs}' flags='{flags}' valued='{valued}' ;;")
        choices += choice_arms(place, lambda words: quote(" ".join(words)))
    return _BASH.format(places="\n".join(arms), choices="\n".join(choices), names=" ".join(names_of(places)))


# zsh

_ZSH = """\
#compdef {names}
_kraft_quorum() {{
    local line word before=${{words[CURRENT-1]}}
    local -a verbs names flags valued choices
    line=${{${{words[1]:t}}%.sh}}
    _kraft_quorum_place $line
    for word in ${{words[2,CURRENT-1]}}; do
        names=(${{verbs%%:*}})
        if (( ${{names[(Ie)$word]}} )); then
            line="$line $word"
            _kraft_quorum_place $line
        fi
    done
    if (( ${{valued[(Ie)$before]}} )); then
        _kraft_quorum_choices $line $before
        if (( $#choices )); then compadd -a choices; else _files; fi
    elif [[ ${{words[CURRENT]}} == -* ]]; then
        _describe -o option flags
    elif (( $#verbs )); then
        _describe verb verbs
    else
        _files
    fi
}}

_kraft_quorum_place() {{
    verbs=() flags=() valued=()
    case $1 in
{places}
    esac
}}

_kraft_quorum_choices() {{
    choices=()
    case "$1 $2" in
{choices}
    esac
}}

compdef _kraft_quorum {names}
"""


def zsh(places: list[Place]) -> str:
    """The script for zsh 5."""
    arms, choices = [], []
    for place in places:
        verbs = " ".join(quote(f"{name}:{help_}") for name, help_ in place.verbs)
        flags = " ".join(quote(f"{name}:{short(flag.help)}") for flag in place.command.flags for name in flag.names)
        valued = " ".join(name for flag in place.value_flags for name in flag.names)
        arms.append(f"        '{place.path}') verbs=({verbs}) flags=({flags}) valued=({valued}) ;;")
        choices += choice_arms(place, lambda words: f"({' '.join(map(quote, words))})")
    return _ZSH.format(places="\n".join(arms), choices="\n".join(choices), names=" ".join(names_of(places)))


# fish

_FISH = """\
# The words of the command line up to its last verb.
function __kraft_quorum_path
    set -l words (commandline -opc)
    set -l path (basename $words[1] | string replace -r '\\.sh$' '')
    for word in $words[2..]
        if contains -- "$path $word" $__kraft_quorum_paths
            set path "$path $word"
        end
    end
    echo $path
end

function __kraft_quorum_at
    test (__kraft_quorum_path) = "$argv"
end

set -g __kraft_quorum_paths {paths}
"""


def fish(places: list[Place]) -> str:
    """The script for fish 3."""
    paths = " ".join(quote(place.path) for place in places if " " in place.path)
    lines = [_FISH.format(paths=paths)]
    for place in places:
        name = place.path.partition(" ")[0]
        for command in (name, f"{name}.sh") if name.startswith("kafka-") else (name,):
            start = f"complete -c {command} -n {quote(f'__kraft_quorum_at {place.path}')}"
            lines += [f"{start} -f -a {quote(verb)} -d {quote(help_)}" for verb, help_ in place.verbs]
            lines += [f"{start} {_fish_flag(flag)}" for flag in place.command.flags]
    return "\n".join(lines) + "\n"


def _fish_flag(flag: Flag) -> str:
    words = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names]
    if flag.choices:
        words.append(f"-x -a {quote(' '.join(flag.choices))}")
    elif flag.value:
        words.append("-r")
    return " ".join([*words, "-d", quote(short(flag.help))])
