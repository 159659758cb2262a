package graft.comparison.suite;

import java.util.Locale;
import java.util.Optional;

/** Enum constants in the notation of suites: {@code vm-local} for {@code VM_LOCAL}. */
public final class Words {
  private Words() {}

  /** The word of a constant. */
  public static String of(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static <E extends Enum<E>> Optional<E> find(Class<E> type, String word) {
    for (E constant : type.getEnumConstants()) {
      if (of(constant).equals(word)) {
        return Optional.of(constant);
      }
    }
    return Optional.empty();
  }
}
