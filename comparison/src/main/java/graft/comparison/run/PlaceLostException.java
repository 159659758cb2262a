package graft.comparison.run;

/** A place died under a program; the message says what was seen. */
public final class PlaceLostException extends Exception {
  private static final long serialVersionUID = 1;

  public PlaceLostException(String seen, Throwable cause) {
    super(seen, cause);
  }
}
