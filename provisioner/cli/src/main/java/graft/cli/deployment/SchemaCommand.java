package graft.cli.deployment;

import graft.common.json.Json;
import graft.deployment.descriptor.DescriptorSchema;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code graft schema}: prints the JSON Schema of descriptors. */
@Command(
    name = "schema",
    mixinStandardHelpOptions = true,
    header = "Prints the JSON Schema of descriptors, or their reference.",
    description = {
      "",
      "Editors with the YAML language server complete and check a descriptor that begins with",
      "  # yaml-language-server: $schema=PATH-TO/descriptor.schema.json",
      ""
    },
    footerHeading = "%nExample:%n",
    footer = {"  graft schema > descriptor.schema.json"})
public final class SchemaCommand implements Runnable {
  @Spec CommandSpec spec;

  @Option(names = "--markdown", description = "Print the reference for people instead.")
  boolean markdown;

  @Override
  public void run() {
    String schema = Json.pretty(DescriptorSchema.tree());
    spec.commandLine()
        .getOut()
        .println(markdown ? DescriptorSchema.reference().stripTrailing() : schema);
    spec.commandLine().getOut().flush();
  }
}
