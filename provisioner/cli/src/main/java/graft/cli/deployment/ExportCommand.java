package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.common.bind.Spelling;
import graft.deployment.ExportedDomain;
import graft.deployment.Workspace;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.journal.JournalState;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft export}: parts of a plan in the formats of other programs. */
@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    header = "Prints what is planned in the format of another program.",
    synopsisSubcommandLabel = "COMMAND",
    description = {"", "Nothing is changed.", ""},
    subcommands = ExportCommand.LibvirtXml.class,
    footerHeading = "%nExample:%n",
    footer = {"  graft export libvirt-xml lab.yaml alice > alice.xml"})
public final class ExportCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which format? graft export --help lists them");
  }

  /** {@code graft export libvirt-xml}. */
  @Prints(DeploymentForms.Exported.class)
  @Command(
      name = "libvirt-xml",
      mixinStandardHelpOptions = true,
      header = "Prints the domain XML of a guest as planned.",
      description = {
        "",
        "For virsh define, Terraform, OpenTofu and other programs that then own the domain, while"
            + " Graft brings devices and client: existing: {domain: NAME}. The XML has neither a"
            + " UUID nor Graft's mark, so that Graft does not take the domain for its own. A closed"
            + " network card, the memory shared with a server and devices of the host are left out"
            + " for the same reason; the first two are named on standard error.",
        "",
        "The disks, kernels and seeds that the XML names are those that graft apply would make;"
            + " who owns the domain has to make them, or to name others.",
        ""
      },
      footerHeading = "%nExamples:%n",
      footer = {
        "  graft export libvirt-xml lab.yaml alice > alice.xml",
        "  graft export libvirt-xml --output json lab.yaml"
      })
  static final class LibvirtXml implements Callable<Integer> {
    @Mixin Output output;

    @Parameters(
        index = "0",
        paramLabel = "DESCRIPTOR",
        description = "The descriptor; - is standard input.")
    Path descriptor;

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "GUEST",
        description = "The guest; it can be left out where there is one, and for JSON.")
    String guest;

    @Override
    public Integer call() throws Exception {
      try (Workspace workspace = new Workspace(DescriptorReader.readOrStandardInput(descriptor))) {
        JournalState journal = workspace.journal();
        List<ExportedDomain> all = workspace.domains(journal, workspace.observe(journal));
        List<ExportedDomain> chosen =
            all.stream().filter(one -> guest == null || one.guest().equals(guest)).toList();
        List<String> names = all.stream().map(ExportedDomain::guest).toList();
        if (chosen.isEmpty()) {
          throw new GraftException(
              guest == null
                  ? "the descriptor has no guest that Graft would make"
                  : "the descriptor has no guest '" + guest + "' that Graft would make",
              guest == null ? "" : Spelling.hint(guest, names));
        }
        if (chosen.size() > 1 && !output.isJson()) {
          throw new GraftException(
              "a file has one domain, and the descriptor has " + chosen.size() + " guests",
              "name one of " + String.join(", ", names));
        }
        print(workspace.state().deployment().text(), chosen);
        return ExitCode.OK;
      }
    }

    private void print(String deployment, List<ExportedDomain> chosen) {
      for (ExportedDomain one : chosen) {
        output.say(one.xml().stripTrailing());
        for (String lacking : one.leftOut()) {
          output.err().println("graft export: " + one.guest() + " lacks " + lacking);
        }
      }
      output.err().flush();
      output.result(
          Map.of(
              "deployment",
              deployment,
              "guests",
              chosen.stream()
                  .map(
                      one ->
                          Map.of("name", one.guest(), "xml", one.xml(), "leftOut", one.leftOut()))
                  .toList()));
    }
  }
}
