package graft.guests.bundle;

import graft.common.GraftException;

/** A bundle is missing or invalid. */
public final class BundleException extends GraftException {
  private static final long serialVersionUID = 1;

  BundleException(String what, String next, Throwable cause) {
    super(what, next, cause);
  }
}
