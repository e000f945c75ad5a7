"""`tilewright completion SHELL`: a script that makes the shell complete commands, flags and choices.

source <(tilewright completion bash)                                  in ~/.bashrc
source <(tilewright completion zsh)                                   in ~/.zshrc, after compinit
tilewright completion fish > ~/.config/fish/completions/tilewright.fish
"""

from __future__ import annotations

from tilewright.tools.command_parser import CommandParser

SHELLS = ("bash", "zsh", "fish")

_BASH = """\
_tilewright() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  else
    case "$command" in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _tilewright tilewright
"""

_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def completion_script(shell: str, parser: CommandParser) -> str:
    """The script for one of `SHELLS`."""
    commands = parser.command_parsers()
    words = {name: [*command.choices(), *command.flags()] for name, command in commands.items()}
    if shell == "fish":
        return _fish_script(parser, words)
    cases = "\n".join(f'      {name}) words="{" ".join(listed)}" ;;' for name, listed in words.items())
    script = _BASH.format(commands=" ".join((*commands, *parser.flags())), cases=cases)
    return _ZSH + script if shell == "zsh" else script


def _fish_script(parser: CommandParser, words: dict[str, list[str]]) -> str:
    lines = [
        f"complete -c tilewright -n __fish_use_subcommand -f -a {name} -d {_quoted(parser.description_of(name))}"
        for name in words
    ]
    for name, listed in words.items():
        lines += (f"complete -c tilewright -n '__fish_seen_subcommand_from {name}' -a '{word}'" for word in listed)
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
