package graft.common.grants;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A guest's share of a GPU's time.
 *
 * @param type how the guest competes with the others
 * @param percent of the GPU's time; 0 for a best-effort or dense guest
 * @param priority who is served first among guests that have not used up their shares
 */
public record Share(Type type, int percent, Priority priority) {
  /** How a guest competes for a GPU. */
  public enum Type {
    /** The guest gets its percentage whenever it wants it. */
    GUARANTEED,
    /** The guest divides with others of its class what the guaranteed guests leave. */
    BURSTABLE,
    /** The guest runs while no guest of the other classes wants the GPU. */
    BEST_EFFORT,
    /**
     * The guest's kernels run at the same time as those of all other guests of the GPU, by NVIDIA's
     * MPS. Nobody has a part of the time.
     */
    DENSE;

    /** Returns whether a guest of the class has a percentage of the GPU's time. */
    public boolean hasPercent() {
      return this == GUARANTEED || this == BURSTABLE;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** The order of guests that have not used up their shares. */
  public enum Priority {
    NORMAL,
    HIGH;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The part of a burstable guest whose percentage is not given. */
  private static final int DEFAULT_PERCENT = 10;

  /** The share of a guest for which nothing is said. */
  public static final Share DEFAULT = new Share(Type.BURSTABLE, DEFAULT_PERCENT, Priority.NORMAL);

  /** Checks that the parts agree. */
  public Share {
    if (percent < 0 || percent > 100) {
      throw new IllegalArgumentException("compute is a percentage from 1 to 100, not " + percent);
    }
    if (!type.hasPercent() && (percent != 0 || priority == Priority.HIGH)) {
      throw new IllegalArgumentException(
          "a " + type + " guest has no percentage of compute and no priority");
    }
    if (type.hasPercent() && percent == 0) {
      throw new IllegalArgumentException("a " + type + " guest needs compute=PERCENT");
    }
  }

  /**
   * Returns a share of which some parts may be missing.
   *
   * @param type may be null: guaranteed if there is a percentage, else burstable
   * @param percent 0 if it is not given
   * @throws IllegalArgumentException if the parts do not agree, with the reason
   */
  public static Share of(Type type, int percent, Priority priority) {
    Type chosen = type != null ? type : percent > 0 ? Type.GUARANTEED : Type.BURSTABLE;
    int part = percent == 0 && chosen == Type.BURSTABLE ? DEFAULT_PERCENT : percent;
    return new Share(chosen, part, priority);
  }

  /** Returns the settings of the tokens file that stand for the share. */
  public List<String> settings() {
    List<String> settings = new ArrayList<>(List.of("class=" + type));
    if (percent > 0) {
      settings.add("compute=" + percent);
    }
    if (priority != Priority.NORMAL) {
      settings.add("priority=" + priority);
    }
    return settings;
  }

  /** Collects the settings of one line of the tokens file. */
  static final class Parser {
    private Type type;
    private int percent;
    private Priority priority = Priority.NORMAL;
    private boolean isGiven;

    /** Takes a setting; returns false if it does not belong to a share. */
    boolean take(String setting) {
      for (Type each : Type.values()) {
        if (setting.equals("class=" + each)) {
          type = each;
          isGiven = true;
          return true;
        }
      }
      for (Priority each : Priority.values()) {
        if (setting.equals("priority=" + each)) {
          priority = each;
          isGiven = true;
          return true;
        }
      }
      if (setting.matches("compute=[1-9]\\d{0,2}")) {
        percent = Integer.parseInt(setting.substring("compute=".length()));
        isGiven = true;
        return true;
      }
      return false;
    }

    /** Returns the share, empty if no setting said anything of it. */
    Optional<Share> share() {
      return isGiven ? Optional.of(Share.of(type, percent, priority)) : Optional.empty();
    }
  }
}
