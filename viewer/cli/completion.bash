# Completion for bash: the commands and options of `reprise`, which its help text lists, and files.
_reprise() {
  local word="${COMP_WORDS[COMP_CWORD]}" command="" i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${COMP_WORDS[i]}" in
      --) return ;;  # the program of `run` and `record`
      -*) ;;
      *) command="${COMP_WORDS[i]}"; break ;;
    esac
  done
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" $command --help 2>/dev/null | grep -oE '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,' | sort -u)" -- "$word"))
  elif [[ -z "$command" ]]; then
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')" -- "$word"))
  fi
}
complete -o default -F _reprise reprise
