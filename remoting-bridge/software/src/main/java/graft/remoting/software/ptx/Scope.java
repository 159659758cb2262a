package graft.remoting.software.ptx;

import java.util.HashMap;
import java.util.Map;

/** Names declared between a pair of braces; an inner scope hides names of the outer one. */
public final class Scope {
  private final Scope outer;
  private final int number;
  private final Map<String, Object> names = new HashMap<>();
  private final Map<String, Range> ranges = new HashMap<>();

  private record Range(Variable pattern, int count) {}

  Scope(Scope outer, int number) {
    this.outer = outer;
    this.number = number;
  }

  Scope outer() {
    return outer;
  }

  int number() {
    return number;
  }

  void declare(String name, Object meaning, int line) {
    Object before = names.put(name, meaning);
    if (before instanceof Variable v && v.space() == Space.REG) {
      throw PtxException.invalid(line, "'" + name + "' is declared twice");
    }
  }

  /** Declares {@code %r0} to {@code %r<count-1>}. */
  void declareRange(Variable pattern, int count) {
    ranges.put(pattern.name(), new Range(pattern, count));
  }

  /**
   * Returns the meaning of a name: a {@link Variable}, a {@link Function}, a {@link
   * Statement.Label}, a {@link Statement.Prototype} or a {@link Statement.Targets}; null if the
   * name is not declared.
   */
  public Object find(String name) {
    for (Scope s = this; s != null; s = s.outer) {
      Object found = s.names.get(name);
      if (found == null && !s.ranges.isEmpty()) {
        found = s.fromRange(name);
      }
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private Variable fromRange(String name) {
    int digits = name.length();
    while (digits > 0 && Character.isDigit(name.charAt(digits - 1))) {
      digits--;
    }
    // %rd12 is number 12 of %rd, and a name such as %f1_2 is no such number; at most nine digits
    // fit an int.
    if (digits == name.length() || name.length() - digits > 9) {
      return null;
    }
    Range range = ranges.get(name.substring(0, digits));
    if (range == null || Integer.parseInt(name.substring(digits)) >= range.count) {
      return null;
    }
    Variable p = range.pattern;
    Variable made =
        new Variable(
            p.space(),
            p.type(),
            p.vector(),
            p.align(),
            name,
            1,
            p.initial(),
            false,
            number,
            p.line());
    names.put(name, made);
    return made;
  }
}
