package graft.common.bind;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints the shape of a record type as a reference in Markdown. */
public final class Reference {
  private final StringBuilder text = new StringBuilder();
  private final Deque<Class<?>> open = new ArrayDeque<>();
  private final Set<Class<?>> seen = new LinkedHashSet<>();

  private Reference() {}

  /** Prints one table per record, the given record first. */
  public static String of(Class<? extends Record> type, String title) {
    Reference reference = new Reference();
    reference.text.append("# ").append(title).append("\n");
    reference.later(type);
    while (!reference.open.isEmpty()) {
      reference.table(reference.open.removeFirst());
    }
    return reference.text.toString();
  }

  private void later(Class<?> type) {
    if (seen.add(type)) {
      open.addLast(type);
    }
  }

  private void table(Class<?> type) {
    text.append("\n## ").append(type.getSimpleName()).append("\n\n");
    Doc doc = type.getAnnotation(Doc.class);
    if (doc != null) {
      text.append(doc.value()).append("\n\n");
    }
    Shorthand shorthand = type.getAnnotation(Shorthand.class);
    if (shorthand != null) {
      text.append("May be written as one plain value, which is then its `");
      text.append(shorthand.value()).append("`.\n\n");
    }
    text.append("| key | value | if absent | |\n|---|---|---|---|\n");
    for (Shape shape : Shape.of(type)) {
      Doc meaning = shape.component().getAnnotation(Doc.class);
      text.append("| `").append(shape.key()).append("` | ").append(value(shape)).append(" | ");
      text.append(absent(shape)).append(" | ");
      text.append(meaning == null ? "" : meaning.value()).append(" |\n");
    }
  }

  private String value(Shape shape) {
    String one = one(shape);
    if (shape.component().isAnnotationPresent(OneOrMore.class)) {
      return one + ", or a list of them";
    }
    return shape.kind() == Shape.Kind.LIST ? "list of " + one : one;
  }

  private String one(Shape shape) {
    Class<?> type = shape.type();
    if (type.isEnum()) {
      return Stream.of(type.getEnumConstants())
          .map(constant -> "`" + Shape.word((Enum<?>) constant) + "`")
          .collect(Collectors.joining(", "));
    }
    Form form = type.getAnnotation(Form.class);
    if (form != null) {
      return "such as `" + form.example() + "`";
    }
    if (type.isRecord() && !Scalars.isScalar(type)) {
      later(type);
      return "["
          + type.getSimpleName()
          + "](#"
          + type.getSimpleName().toLowerCase(java.util.Locale.ROOT)
          + ")";
    }
    Range range = shape.component().getAnnotation(Range.class);
    if (range != null) {
      return range.min() == range.max()
          ? "`" + range.min() + "`"
          : range.min() + " to " + range.max();
    }
    if (type == boolean.class || type == Boolean.class) {
      return "`true`, `false`";
    }
    return type == String.class
        ? "text"
        : Shape.hyphens(type.getSimpleName()).substring(1).replace('-', ' ');
  }

  private static String absent(Shape shape) {
    return switch (shape.kind()) {
      case REQUIRED -> "required";
      case LIST -> "none";
      case OPTIONAL -> "";
      case DEFAULTED -> {
        String text = shape.component().getAnnotation(Default.class).value();
        yield text.equals("{}") ? "its defaults" : "`" + text + "`";
      }
    };
  }
}
