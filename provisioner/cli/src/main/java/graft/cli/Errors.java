package graft.cli;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.ProblemTree;
import graft.cli.terminal.TerminalWriter;
import graft.common.GraftException;
import graft.common.json.Json;
import graft.deployment.StalePlanException;
import graft.deployment.apply.ApplyFailedException;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.plan.UnfitHostException;
import graft.deployment.state.DeploymentLock;
import graft.hypervisors.libvirt.calls.HostUnreachableException;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.sriov.HostException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Turns exceptions into exit codes and messages: text on standard error, JSON on standard output.
 */
public final class Errors implements IExecutionExceptionHandler {
  @Override
  public int handleExecutionException(Exception e, CommandLine line, ParseResult parsed)
      throws Exception {
    if (e instanceof ParameterException usage) {
      throw usage;
    }
    PrintWriter err = TerminalWriter.over(line.getErr());
    int code = ExitCode.FAILED;
    List<?> details = List.of();
    if (e instanceof InvalidDescriptorException invalid) {
      code = ExitCode.DESCRIPTOR;
      details = invalid.problems().stream().map(ProblemTree::of).toList();
      err.println(e.getMessage());
      int count = invalid.problems().size();
      err.println(count == 1 ? "1 problem" : count + " problems");
    } else if (e instanceof UnfitHostException unfit) {
      code = ExitCode.HOST;
      details = unfit.problems().stream().map(ProblemTree::of).toList();
      err.println(e.getMessage());
    } else if (e instanceof GraftException
        || e instanceof HypervisorException
        || e instanceof HostException) {
      code = code(e);
      err.println(line.getCommandSpec().qualifiedName() + ": " + e.getMessage());
    } else {
      err.println(line.getCommandSpec().qualifiedName() + ": internal error: " + e);
      err.println("  Please report it with the output of the same command with -v.");
    }
    int own = line.getCommandSpec().exitCodeOnExecutionException();
    if (own != CommandLine.ExitCode.SOFTWARE) {
      code = own; // other exit codes of this command belong to the program that it runs
    }
    Logger log = LoggerFactory.getLogger("graft");
    log.info("failed", e);
    err.flush();
    if (wantsJson(parsed)) {
      print(line, e.getMessage(), code, details);
    }
    return code;
  }

  /** Prints what failed as JSON. */
  static void print(CommandLine line, String message, int code, List<?> problems) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("error", message);
    tree.put("exitCode", code);
    tree.put("problems", problems);
    PrintWriter out = TerminalWriter.over(line.getOut());
    out.println(Json.pretty(Output.withVersion(tree)));
    out.flush();
  }

  private static int code(Exception e) {
    if (e instanceof ApplyFailedException failed && failed.isPartial()) {
      return ExitCode.PARTIAL;
    }
    if (e instanceof HostUnreachableException) {
      return ExitCode.HOST;
    }
    if (e instanceof StalePlanException) {
      return ExitCode.DIFFERS;
    }
    return e instanceof DeploymentLock.BusyException ? ExitCode.BUSY : ExitCode.FAILED;
  }

  private static boolean wantsJson(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    return last.hasMatchedOption("--output")
        && last.matchedOption("--output").getValue() == Output.Format.json;
  }
}
