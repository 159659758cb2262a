package graft.remoting.api;

import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How many bytes an address covers: a product of numbers, of parameters ({@code bytes}) and of
 * fields, or {@code rows(pitch, width, height)} of such. A field is 8 bytes at an offset of the
 * structure that contains the address ({@code @16}; {@code @16:4} for 4 bytes), or of another
 * parameter's structure ({@code desc@8}).
 *
 * @param text the extent as the description writes it
 */
public record Extent(String text) {
  private static final Pattern ROWS = Pattern.compile("rows\\((?<list>[^()]*)\\)");
  private static final Pattern FACTOR =
      Pattern.compile("(?<number>\\d+)|(?<name>[A-Za-z]\\w*)?(@(?<offset>\\d+)(:(?<size>[48]))?)?");

  /** Parses an extent. */
  static Extent parse(String text) {
    Extent extent = new Extent(text);
    extent.products().forEach(p -> factors(p).forEach(Extent::match));
    return extent;
  }

  private Stream<String> products() {
    Matcher rows = ROWS.matcher(text);
    if (!rows.matches()) {
      return Stream.of(text);
    }
    String[] list = rows.group("list").split(",", -1);
    if (list.length != 3) {
      throw new IllegalArgumentException("rows(pitch,width,height), not '" + text + "'");
    }
    return Stream.of(list);
  }

  private static Stream<String> factors(String product) {
    return Stream.of(product.split("\\*", -1));
  }

  private static Matcher match(String factor) {
    Matcher m = FACTOR.matcher(factor);
    if (factor.isEmpty() || !m.matches()) {
      throw new IllegalArgumentException("no number of bytes: '" + factor + "'");
    }
    return m;
  }

  /** Returns the parameters that the extent names. */
  Set<String> parameters() {
    Set<String> names = new TreeSet<>();
    products()
        .flatMap(Extent::factors)
        .map(factor -> match(factor).group("name"))
        .filter(name -> name != null)
        .forEach(names::add);
    return names;
  }

  /**
   * Returns the extent as a Java expression.
   *
   * @param structure the address of the structure that contains the address
   * @param value returns a parameter as an unsigned long
   */
  String java(String structure, UnaryOperator<String> value) {
    String list =
        products().map(p -> product(p, structure, value)).collect(Collectors.joining(", "));
    return text.startsWith("rows(") ? "Extent.rows(" + list + ")" : list;
  }

  private static String product(String text, String structure, UnaryOperator<String> value) {
    return factors(text)
        .map(factor -> factor(match(factor), structure, value))
        .reduce((a, b) -> "Extent.times(" + a + ", " + b + ")")
        .orElseThrow();
  }

  private static String factor(Matcher m, String structure, UnaryOperator<String> value) {
    if (m.group("number") != null) {
      return m.group("number") + "L";
    }
    if (m.group("offset") == null) {
      return value.apply(m.group("name"));
    }
    String of = m.group("name") == null ? structure : m.group("name");
    String wide = "4".equals(m.group("size")) ? "unsigned" : "number";
    return "AddressChecks." + wide + "(" + of + ", " + m.group("offset") + ")";
  }
}
