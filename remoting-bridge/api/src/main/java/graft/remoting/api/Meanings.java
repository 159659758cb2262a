package graft.remoting.api;

import java.util.Map;

/**
 * Checks that a function which is sent gives a meaning to every address in its records, because a
 * guest may send any value there.
 */
final class Meanings {
  private Meanings() {}

  /**
   * Checks a function.
   *
   * @throws IllegalArgumentException naming the parameter without a meaning, or the unknown name in
   *     one
   */
  static void check(Function f, Map<String, Structure> structures) {
    for (Parameter p : f.parameters()) {
      if (p.meaning() == null) {
        if (f.onWire() && isRead(p) && mayBeAddress(p.type())) {
          throw new IllegalArgumentException(
              p.name() + " has no meaning: " + p.type().name() + "(meaning)");
        }
        continue;
      }
      if (!isRead(p)) {
        throw new IllegalArgumentException(p.name() + " is a result, which cannot have a meaning");
      }
      p.meaning().extent().ifPresent(extent -> extent.parameters().forEach(n -> find(f, n)));
      p.meaning().selector().ifPresent(n -> find(f, n));
      p.meaning().structure().ifPresent(name -> check(f, p, structures.get(name), structures));
    }
  }

  private static boolean isRead(Parameter p) {
    return p.direction() == Parameter.Direction.VALUE || p.direction() == Parameter.Direction.IN;
  }

  private static boolean mayBeAddress(Type type) {
    return type.kind() == Type.Kind.STRUCT
        || type.name().equals("dptr")
        || type.name().equals("u64");
  }

  private static Parameter find(Function f, String name) {
    return f.parameters().stream()
        .filter(p -> p.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("there is no parameter " + name + " beside it"));
  }

  private static void check(
      Function f, Parameter p, Structure structure, Map<String, Structure> structures) {
    if (structure == null || structure.bytes() != p.type().size()) {
      throw new IllegalArgumentException(
          p.name() + " is no structure of " + p.type().size() + " bytes that is described");
    }
    boolean beside = structure.selector().map(s -> !s.startsWith("@")).orElse(false);
    if (beside != p.meaning().selector().isPresent()) {
      throw new IllegalArgumentException(
          p.name() + " names a parameter beside it exactly if " + structure.name() + " wants one");
    }
    for (Structure.Case one : structure.cases()) {
      for (Structure.Field field : one.fields()) {
        if (field.kind() == Structure.Field.Kind.LIST) {
          String[] words = field.argument().split(":", 2);
          if (!structures.containsKey(words[0]) || !find(f, words[1]).isArray()) {
            throw new IllegalArgumentException("no list of structures: " + field.argument());
          }
        }
      }
    }
  }
}
