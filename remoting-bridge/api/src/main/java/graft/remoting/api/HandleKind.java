package graft.remoting.api;

import java.util.Locale;

/** The kinds of objects that a client names by ids. Each kind has its own ids. */
public enum HandleKind {
  CONTEXT,
  MODULE,
  LIBRARY,
  /**
   * Functions and kernels are one kind, because the driver accepts a kernel wherever it accepts a
   * function.
   */
  FUNCTION,
  STREAM,
  EVENT,
  ARRAY,
  MIPMAP,
  TEXREF,
  SURFREF,
  GRAPH,
  NODE,
  EXEC,
  POOL,
  LINK,
  USEROBJECT;

  static boolean isName(String name) {
    for (HandleKind kind : values()) {
      if (kind.name().toLowerCase(Locale.ROOT).equals(name)) {
        return true;
      }
    }
    return false;
  }
}
