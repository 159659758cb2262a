package graft.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Spec;

/**
 * {@code graft completion}: prints the shell's completion script. picocli's script knows commands
 * and options; what is added completes the names of deployments and guests, from the names of files
 * in the state's folder, without starting a program.
 */
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    header = "Prints a completion script for bash and zsh.",
    description = {
      "",
      "Commands, options, and the names of deployments and of their guests with a vGPU are"
          + " completed.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  source <(graft completion)", "  graft completion > /etc/bash_completion.d/graft"})
final class CompletionCommand implements Runnable {
  private static final String NAMES =
      """

      # The names of deployments, and of a deployment's guests.
      _graft_state() {
        if [ -n "${GRAFT_STATE_DIR-}" ]; then echo "$GRAFT_STATE_DIR"
        elif [ "$(id -u)" = 0 ]; then echo /var/lib/graft
        else echo ~/.local/state/graft
        fi
      }
      _graft_deployments() {
        local journal
        for journal in "$(_graft_state)"/*/journal.jsonl; do
          [ -e "$journal" ] || continue
          journal=${journal%/*}
          printf '%s\n' "${journal##*/}"
        done
      }
      _graft_guests() {
        local token
        for token in "$(_graft_state)/$1"/guest-*.token; do
          [ -e "$token" ] || continue
          token=${token##*/guest-}
          printf '%s\n' "${token%%.*}"
        done
      }
      _graft_with_names() {
        _complete_graft "$@"
        local word=${COMP_WORDS[COMP_CWORD]} given=0 i=2 deployment= names=
        local command=${COMP_WORDS[1]-}
        case $word in -*) return ;; esac
        case $command in PARENTS) command="$command ${COMP_WORDS[2]-}" i=3 ;; esac
        for (( ; i < COMP_CWORD; i++)); do
          case ${COMP_WORDS[i]} in
            --) return ;;
            OPTIONS) i=$((i + 1)) ;;
            -*) ;;
            *)
              given=$((given + 1))
              [ $given = 1 ] && deployment=${COMP_WORDS[i]}
              ;;
          esac
        done
        case $command:$given in
          DEPLOYMENTS) names=$(_graft_deployments) ;;
          GUESTS) names=$(_graft_guests "$(basename "$deployment" .yaml)") ;;
          *) return ;;
        esac
        COMPREPLY+=($(compgen -W "$names" -- "$word"))
      }
      complete -F _graft_with_names -o default graft
      """;

  @Spec CommandSpec spec;

  @Override
  public void run() {
    CommandLine root = spec.root().commandLine();
    PrintWriter out = spec.commandLine().getOut();
    List<CommandLine> all = new ArrayList<>();
    root.getSubcommands().values().forEach(command -> all.addAll(withSubcommands(command)));
    String parents =
        all.stream()
            .filter(command -> !command.getSubcommands().isEmpty())
            .map(CommandLine::getCommandName)
            .collect(Collectors.joining(" | "));
    out.println(AutoComplete.bash("graft", root));
    out.print(
        NAMES
            .replace("PARENTS", parents)
            .replace("DEPLOYMENTS", cases(all, 0, "DESCRIPTOR|NAME"))
            .replace("GUESTS", cases(all, 1, "GUEST"))
            .replace("OPTIONS", optionsWithValue(all)));
    out.flush();
  }

  private static List<CommandLine> withSubcommands(CommandLine command) {
    List<CommandLine> all = new ArrayList<>(List.of(command));
    all.addAll(command.getSubcommands().values());
    return all;
  }

  /** Patterns of the commands that take a label at a place, each with its places. */
  private static String cases(List<CommandLine> commands, int place, String label) {
    List<String> cases = new ArrayList<>();
    for (CommandLine command : commands) {
      for (PositionalParamSpec one : command.getCommandSpec().positionalParameters()) {
        if (one.paramLabel().contains(label) && one.index().contains(place)) {
          String places = one.index().max() > place ? "[" + place + "-9]" : "" + place;
          String words = command.getCommandSpec().qualifiedName(" ").replaceFirst("^graft ", "");
          cases.add("\"" + words + ":\"" + places);
        }
      }
    }
    return String.join(" | ", cases);
  }

  /** The options that take a value. */
  private static String optionsWithValue(List<CommandLine> commands) {
    return commands.stream()
        .flatMap(command -> command.getCommandSpec().options().stream())
        .filter(option -> option.arity().max() > 0)
        .flatMap(option -> Stream.of(option.names()))
        .distinct()
        .sorted()
        .collect(Collectors.joining(" | "));
  }
}
