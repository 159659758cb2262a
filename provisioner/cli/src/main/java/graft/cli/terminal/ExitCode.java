package graft.cli.terminal;

/** What the commands' exit codes mean. They are documented in docs/exit-codes.md and --help. */
public final class ExitCode {
  /** Done, or nothing to do. */
  public static final int OK = 0;

  /** It failed; what was begun has been taken back. */
  public static final int FAILED = 1;

  /** The command line is wrong. */
  public static final int USAGE = 2;

  /** The descriptor is wrong. */
  public static final int DESCRIPTOR = 3;

  /** This host does not fit the descriptor, or lacks something; nothing was changed. */
  public static final int HOST = 4;

  /** Something is left half done: {@code graft apply} goes on, {@code graft undo} takes it back. */
  public static final int PARTIAL = 5;

  /** Another graft works on the same set-up. */
  public static final int BUSY = 6;

  /** The state differs from the descriptor ({@code status}). */
  public static final int DIFFERS = 7;

  /** The program was not run ({@code run}, {@code exec}), as docker and env have it. */
  public static final int NOT_RUN = 125;

  /** Interrupted by Ctrl-C. */
  static final int INTERRUPTED = 130;

  private ExitCode() {}
}
