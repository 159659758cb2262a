package graft.common.grants;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The lines of a tokens file, each read for itself: a wrong line takes the access of the guest that
 * it names, and of nobody else.
 *
 * @param grants the names that may have a session
 * @param wrong the lines that give nobody a session, in their order
 */
public record TokenLines(Map<String, Grant> grants, List<WrongLine> wrong) {
  /**
   * A line that is not understood, or whose name has a second line.
   *
   * @param number of the line, from 1
   * @param name the guest, empty if no name can be read
   * @param rest what is understood of the line, empty if that is not even its token
   * @param reason what is wrong; it never shows a token
   */
  public record WrongLine(int number, String name, Optional<Grant> rest, String reason) {}

  /** Copies the parts. */
  public TokenLines {
    grants = Collections.unmodifiableMap(new LinkedHashMap<>(grants)); // in the file's order
    wrong = List.copyOf(wrong);
  }

  /** Reads the lines of a file. */
  static TokenLines of(List<String> lines) {
    Map<String, Integer> numbers = new HashMap<>();
    Map<String, Grant> grants = new LinkedHashMap<>();
    List<WrongLine> wrong = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (isComment(line)) {
        continue;
      }
      int number = i + 1;
      String name = name(line);
      Integer earlier = Grant.isName(name) ? numbers.putIfAbsent(name, number) : null;
      if (earlier != null) {
        // Nobody can know which of the tokens is the right one.
        String reason = "the name " + name + " is there twice, first in line " + earlier;
        wrong.add(new WrongLine(number, name, Optional.empty(), reason));
        grants.remove(name);
        continue;
      }
      read(line, number, grants, wrong);
    }
    return new TokenLines(grants, wrong);
  }

  private static void read(
      String line, int number, Map<String, Grant> grants, List<WrongLine> wrong) {
    String name = Grant.isName(name(line)) ? name(line) : "";
    try {
      List<String> reasons = new ArrayList<>();
      Grant grant = Grant.parse(line, reasons::add);
      if (reasons.isEmpty()) {
        grants.put(name, grant);
      } else {
        wrong.add(new WrongLine(number, name, Optional.of(grant), String.join(", ", reasons)));
      }
    } catch (IllegalArgumentException e) {
      String reason = Objects.requireNonNullElse(e.getMessage(), "");
      wrong.add(new WrongLine(number, name, Optional.empty(), reason));
    }
  }

  /** Returns these lines without those that have expired, wrong ones among them. */
  public TokenLines at(Instant now) {
    Map<String, Grant> left = new LinkedHashMap<>(grants);
    left.values().removeIf(grant -> grant.isExpired(now));
    List<WrongLine> stay =
        wrong.stream()
            .filter(line -> line.rest().filter(grant -> grant.isExpired(now)).isEmpty())
            .toList();
    return new TokenLines(left, stay);
  }

  /** Returns the second of Unix time at which the next line expires; empty if none does. */
  public OptionalLong nextExpiry() {
    return Stream.concat(
            grants.values().stream(), wrong.stream().flatMap(line -> line.rest().stream()))
        .flatMapToLong(grant -> grant.expires().stream())
        .min();
  }

  /** Returns the first word of a line, which is the guest's name. */
  static String name(String line) {
    return line.strip().split("\\s+", 2)[0];
  }

  /** Returns whether a line is for readers only. */
  static boolean isComment(String line) {
    return line.isBlank() || line.strip().startsWith("#");
  }

  /** Returns whether a line names the guest, be it right or wrong. */
  public boolean names(String guest) {
    return grants.containsKey(guest) || wrong.stream().anyMatch(line -> line.name().equals(guest));
  }

  /**
   * Returns whether a session that was opened with a token has to end, because its guest's line has
   * another one and says that sessions of others end. A wrong line says so, too, if its token can
   * be read: its other settings may be those of a later Graft.
   *
   * @param fingerprint of the session's token
   */
  public boolean endsOthers(String guest, String fingerprint) {
    Stream<Grant> understood =
        wrong.stream()
            .filter(line -> line.name().equals(guest))
            .flatMap(line -> line.rest().stream());
    return Stream.concat(Stream.ofNullable(grants.get(guest)), understood)
        .anyMatch(grant -> grant.endsOthers() && !grant.fingerprint().equals(fingerprint));
  }
}
