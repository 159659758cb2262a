package graft.comparison.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/** Writes HTML and SVG elements, escapes their text, and closes every element. */
final class Html {
  private final StringBuilder out = new StringBuilder();
  private final Deque<String> open = new ArrayDeque<>();

  /** The text of a file of this package. */
  static String resource(String name) {
    try (InputStream file = Html.class.getResourceAsStream(name)) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + name, e);
    }
  }

  /** Opens an element; attributes alternate between names and values. */
  Html open(String element, Object... attributes) {
    tag(element, attributes);
    out.append('>');
    open.push(element);
    return this;
  }

  /** Closes the innermost open element. */
  Html close() {
    out.append("</").append(open.pop()).append('>');
    return this;
  }

  /** Writes an element without content. */
  Html empty(String element, Object... attributes) {
    tag(element, attributes);
    out.append("/>");
    return this;
  }

  /** Writes an element that contains only text. */
  Html element(String element, String text, Object... attributes) {
    return open(element, attributes).text(text).close();
  }

  Html text(String text) {
    out.append(escaped(text));
    return this;
  }

  /** Writes text that is already HTML, such as another writer's output or the style sheet. */
  Html raw(String html) {
    out.append(html);
    return this;
  }

  private void tag(String element, Object... attributes) {
    out.append('<').append(element);
    for (int i = 0; i < attributes.length; i += 2) {
      Object value = attributes[i + 1];
      String text =
          value instanceof Double number
              ? String.format(Locale.ROOT, "%.2f", number).replaceFirst("\\.?0+$", "")
              : String.valueOf(value);
      out.append(' ').append(attributes[i]).append("=\"").append(escaped(text)).append('"');
    }
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  @Override
  public String toString() {
    if (!open.isEmpty()) {
      throw new IllegalStateException("not closed: " + open);
    }
    return out.toString();
  }
}
