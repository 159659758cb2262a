package graft.deployment.step.host;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line that starts this installation of Graft again. */
public final class GraftCommand {
  /** A text, because steps must not depend on the classes of the command line. */
  private static final String MAIN = "graft.cli.Main";

  private static final String WARNINGS = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";

  private GraftCommand() {}

  /**
   * {@code graft serve} with these arguments, as one process that can be signalled: Java and not
   * the launcher. A server handles connections and starts workers; it needs little memory, and a
   * heap that begins small keeps 13 MB less of it than one that begins at its limit. The class
   * archive of all commands would take 9 MB more than loading the server's classes, because Java
   * rewrites an archive as a whole for the random address where it maps it. The server logs
   * warnings, which commands leave out.
   */
  public static List<String> serve(List<String> arguments) {
    List<String> command = java(List.of("-Xms8m", "-Xmx64m", WARNINGS));
    command.add("serve");
    command.addAll(arguments);
    return command;
  }

  /** A command as a user types it: with the launcher, if this is a built Graft. */
  public static List<String> shell(List<String> arguments) {
    Path launcher = Path.of(System.getProperty("graft.home", ""), "bin", "graft");
    List<String> command =
        Files.isExecutable(launcher)
            ? new ArrayList<>(List.of(launcher.toString()))
            : java(List.of());
    command.addAll(arguments);
    return command;
  }

  /** Java with our class path and the main class, ready for a command. */
  static List<String> java(List<String> options) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
    command.addAll(options);
    String home = System.getProperty("graft.home", "");
    if (!home.isEmpty()) {
      command.add("-Dgraft.home=" + home);
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
    return command;
  }
}
