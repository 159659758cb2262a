package graft.cli.terminal;

/** The exit codes of the commands. docs/exit-codes.md and --help document them. */
public final class ExitCode {
  /** The command succeeded, or there was nothing to do. */
  public static final int OK = 0;

  /** The command failed; the steps that it had begun have been undone. */
  public static final int FAILED = 1;

  /** The command line is wrong. */
  public static final int USAGE = 2;

  /** The descriptor is wrong. */
  public static final int DESCRIPTOR = 3;

  /** This host does not meet the requirements of the descriptor; nothing was changed. */
  public static final int HOST = 4;

  /** Interrupted or incomplete: {@code graft apply} continues, {@code graft undo} reverts it. */
  public static final int PARTIAL = 5;

  /** Another graft process works on the same deployment. */
  public static final int BUSY = 6;

  /**
   * The state differs from the descriptor ({@code status}, {@code diff}), or from a saved plan
   * ({@code apply}).
   */
  public static final int DIFFERS = 7;

  /** The program was not run ({@code run}, {@code exec}); docker and env use the same code. */
  public static final int NOT_RUN = 125;

  /** Interrupted by Ctrl-C. */
  static final int INTERRUPTED = 130;

  private ExitCode() {}
}
