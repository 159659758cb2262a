package graft.comparison.run;

/** This site cannot do a setting; the message says why. */
public final class NotPossibleException extends Exception {
  private static final long serialVersionUID = 1;

  public NotPossibleException(String reason) {
    super(reason);
  }
}
