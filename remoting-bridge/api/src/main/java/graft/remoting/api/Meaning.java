package graft.remoting.api;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a number or a structure of a record stands for, written in parentheses after its type in the
 * description. The server checks every address by its meaning.
 *
 * @param kind the kind of meaning
 * @param extent the bytes that the address covers, for the kinds that have an extent
 * @param structure the name of the structure, for {@code structN} and lists of bytes
 * @param selector the parameter that selects the case of a structure
 */
public record Meaning(
    Kind kind, Optional<Extent> extent, Optional<String> structure, Optional<String> selector) {
  /** The kinds of meaning. */
  public enum Kind {
    /** Memory of the session: the device's, or host memory that is shared with the client. */
    MEMORY,
    /** Host memory that is shared with the client. */
    HOST,
    /** A range at which a shadow mapping may lie. */
    MAPPING,
    /** The start of an allocation, or 0. */
    BASE,
    /** Addresses that the session has reserved. */
    RESERVED,
    /** Memory of the session, or addresses that it has reserved. */
    PLACE,
    /** An address that the driver takes as a hint or notes; the memory there is not accessed. */
    HINT,
    /** A number that the driver gave for physical memory. */
    PHYSICAL,
    /** A number that the driver gave for a texture. */
    TEXTURE,
    /** A number that the driver gave for a surface. */
    SURFACE,
    /** A number that the driver gave for a condition of a graph. */
    CONDITION,
    /** Options of the JIT compiler. The session passes on those without an address. */
    OPTIONS,
    /** Not an address. */
    NUMBER,
    /** A named structure. */
    STRUCTURE
  }

  private static final Pattern PREFIXED =
      Pattern.compile("(?<kind>reserved|place|host|mapping):(?<extent>.*)");

  /** The meanings that a {@code dptr} may have; the others are numbers in CUDA's interface. */
  private static final Set<String> ADDRESSES = Set.of("reserved", "place");

  /** Parses the text in the parentheses after a type; null if there are none. */
  static Meaning parse(Type type, String text) {
    boolean address = type.name().equals("dptr");
    if (type.kind() == Type.Kind.STRUCT) {
      String[] words = text.split(":", 2);
      return new Meaning(
          Kind.STRUCTURE,
          Optional.empty(),
          Optional.of(words[0]),
          words.length == 1 ? Optional.empty() : Optional.of(words[1]));
    }
    if (!address && !type.name().equals("u64")) {
      throw new IllegalArgumentException(type.name() + " has no meaning '" + text + "'");
    }
    return switch (text) {
      case "base" -> of(Kind.BASE, address);
      case "hint" -> of(Kind.HINT, address);
      case "physical" -> of(Kind.PHYSICAL, !address);
      case "texture" -> of(Kind.TEXTURE, !address);
      case "surface" -> of(Kind.SURFACE, !address);
      case "condition" -> of(Kind.CONDITION, !address);
      case "options" -> of(Kind.OPTIONS, !address);
      case "number" -> of(Kind.NUMBER, !address);
      default -> {
        Matcher prefixed = PREFIXED.matcher(text);
        yield prefixed.matches()
            ? with(
                Kind.valueOf(prefixed.group("kind").toUpperCase(Locale.ROOT)),
                prefixed.group("extent"),
                address == ADDRESSES.contains(prefixed.group("kind")))
            : with(Kind.MEMORY, text, address);
      }
    };
  }

  private static Meaning of(Kind kind, boolean fits) {
    if (!fits) {
      throw new IllegalArgumentException(kind + " is no meaning of that type");
    }
    return new Meaning(kind, Optional.empty(), Optional.empty(), Optional.empty());
  }

  private static Meaning with(Kind kind, String extent, boolean fits) {
    of(kind, fits);
    return new Meaning(kind, Optional.of(Extent.parse(extent)), Optional.empty(), Optional.empty());
  }
}
