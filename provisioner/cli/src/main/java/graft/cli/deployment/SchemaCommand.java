package graft.cli.deployment;

import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.common.bind.Spelling;
import graft.common.json.Json;
import graft.deployment.descriptor.DescriptorSchema;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code graft schema}: prints the JSON Schema of descriptors. */
@Command(
    name = "schema",
    mixinStandardHelpOptions = true,
    header =
        "Prints the JSON Schema of descriptors, their reference, or the schema of JSON output.",
    description = {
      "",
      "Editors with the YAML language server complete and check a descriptor that begins with",
      "  # yaml-language-server: $schema=PATH-TO/descriptor.schema.json",
      "",
      "With --command, prints the schema of what the command prints with --output json.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft schema > descriptor.schema.json",
      "  graft schema --command plan",
      "  graft schema --command 'image list'"
    })
public final class SchemaCommand implements Runnable {
  @Spec CommandSpec spec;

  @Option(names = "--markdown", description = "Print the reference for people instead.")
  boolean markdown;

  @Option(
      names = "--command",
      paramLabel = "COMMAND",
      description = "Print the schema of this command's JSON output.")
  String command;

  @Override
  public void run() {
    if (markdown && command != null) {
      throw new ParameterException(spec.commandLine(), "--markdown is of descriptors alone");
    }
    String text =
        markdown
            ? DescriptorSchema.reference().stripTrailing()
            : Json.pretty(command == null ? DescriptorSchema.tree() : output());
    spec.commandLine().getOut().println(text);
    spec.commandLine().getOut().flush();
  }

  private Map<String, Object> output() {
    CommandLine found = spec.root().commandLine();
    for (String word : command.strip().split("\\s+", -1)) {
      CommandLine next = found.getSubcommands().get(word);
      if (next == null) {
        throw new ParameterException(
            spec.commandLine(),
            "there is no command '" + command + "'" + hint(word, found.getSubcommands().keySet()));
      }
      found = next;
    }
    String name = found.getCommandSpec().qualifiedName();
    return Output.schema("The JSON output of " + name, found.getCommand())
        .orElseThrow(
            () ->
                new GraftException(
                    "the JSON of '" + name + "' has no schema",
                    "graft " + command.strip() + " --help says what it prints"));
  }

  private static String hint(String word, Set<String> names) {
    String near = Spelling.hint(word, names);
    return near.isEmpty() ? "" : ": " + near;
  }
}
