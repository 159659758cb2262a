package graft.comparison.run;

/** This site does not support a setting; the message gives the reason. */
public final class NotPossibleException extends Exception {
  private static final long serialVersionUID = 1;

  public NotPossibleException(String reason) {
    super(reason);
  }
}
