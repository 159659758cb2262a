package graft.remoting.api;

import java.util.Locale;

/** The kinds of object that a client names by an id of its own; each kind has its own id space. */
public enum HandleKind {
  CONTEXT,
  MODULE,
  LIBRARY,
  /** Functions and kernels are one kind: the driver takes a kernel wherever it takes a function. */
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
