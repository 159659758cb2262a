package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.ProblemTree;
import graft.common.bind.Problem;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code graft validate}: checks descriptors without looking at the host. */
@Prints(DeploymentForms.Validated.class)
@Command(
    name = "validate",
    mixinStandardHelpOptions = true,
    header = "Checks descriptors without looking at the host.",
    description = {
      "",
      "Reads each descriptor and reports all its errors, each with FILE:LINE:COLUMN. Whether this"
          + " host can run it is for graft plan to check.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft validate lab.yaml", "  graft validate --output json hosts/*.yaml"})
public final class ValidateCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(
      arity = "1..*",
      paramLabel = "DESCRIPTOR",
      description = "The files to check; - is standard input.")
  List<Path> files;

  @Override
  public Integer call() {
    List<Problem> problems = new ArrayList<>();
    for (Path file : files) {
      try {
        DescriptorReader.readOrStandardInput(file);
        output.say(file + ": valid");
      } catch (InvalidDescriptorException e) {
        problems.addAll(e.problems());
        e.problems().forEach(problem -> output.err().println(problem));
      }
    }
    if (!problems.isEmpty()) {
      output.err().println(problems.size() == 1 ? "1 problem" : problems.size() + " problems");
      output.err().flush();
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("valid", problems.isEmpty());
    tree.put("problems", problems.stream().map(ProblemTree::of).toList());
    output.result(tree);
    return problems.isEmpty() ? ExitCode.OK : ExitCode.DESCRIPTOR;
  }
}
