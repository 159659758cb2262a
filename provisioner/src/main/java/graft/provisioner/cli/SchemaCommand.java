package graft.provisioner.cli;

import graft.provisioner.descriptor.DescriptorSchema;
import graft.provisioner.json.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code graft schema}: prints the JSON Schema of descriptors. */
@Command(
    name = "schema",
    mixinStandardHelpOptions = true,
    header = "Prints the JSON Schema of descriptors, for editors.",
    description = {
      "",
      "Editors with the YAML language server complete and check a descriptor that begins with",
      "  # yaml-language-server: $schema=PATH-TO/descriptor.schema.json",
      ""
    },
    footerHeading = "%nExample:%n",
    footer = {"  graft schema > descriptor.schema.json"})
final class SchemaCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    spec.commandLine().getOut().println(Json.pretty(DescriptorSchema.tree()));
    spec.commandLine().getOut().flush();
  }
}
