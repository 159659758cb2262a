package graft.comparison.run;

/** A place died while a program ran in it; the message describes the symptoms. */
public final class PlaceLostException extends Exception {
  private static final long serialVersionUID = 1;

  public PlaceLostException(String seen, Throwable cause) {
    super(seen, cause);
  }
}
