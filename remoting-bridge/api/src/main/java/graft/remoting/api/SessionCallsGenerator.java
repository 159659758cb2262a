package graft.remoting.api;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes {@code SessionCalls}: one interface for each group of calls that the session executes
 * itself, named by {@code session(GROUP)} in the description, and a record of all groups.
 */
final class SessionCallsGenerator {
  /**
   * A call with more parameters than this gets them as a record, because a longer list is hard to
   * read.
   */
  private static final int MOST_PARAMETERS = 13;

  private final Map<String, List<Function>> groups;

  SessionCallsGenerator(Description description) {
    this.groups =
        description.wire().stream()
            .filter(Function::session)
            .collect(
                Collectors.groupingBy(
                    f -> f.calls().orElseThrow(), LinkedHashMap::new, Collectors.toList()));
  }

  /** Returns {@code graft.remoting.server.session.call.SessionCalls}. */
  String sessionCalls() {
    String parts =
        groups.keySet().stream()
            .map(group -> "    " + capital(group) + " " + accessor(group))
            .collect(Collectors.joining(",\n"));
    return """
        // Generated from driver.api. Do not edit.
        package graft.remoting.server.session.call;

        /**
         * The calls that the session executes instead of passing them to the device, one interface for
         * each group. Handles are the device's; result parameters are addresses in the reply, 0 if the
         * client does not want them. Bulk data is read from the call's channel. A method that replies
         * later returns Call.DEFERRED.
         */
        public record SessionCalls(
        %s) {
        %s}
        """
        .formatted(
            parts,
            groups.entrySet().stream()
                .map(group -> group(group.getKey(), group.getValue()))
                .collect(Collectors.joining()));
  }

  private static String group(String name, List<Function> calls) {
    return """

          /** The calls of the group %s. */
          public interface %s {
        %s%s  }
        """
        .formatted(
            name,
            capital(name),
            calls.stream().map(SessionCallsGenerator::method).collect(Collectors.joining()),
            calls.stream()
                .filter(SessionCallsGenerator::isLong)
                .map(SessionCallsGenerator::record)
                .collect(Collectors.joining()));
  }

  private static String method(Function f) {
    String list = isLong(f) ? recordName(f) + " arguments" : declare(f);
    return "    int %s(Call call%s);\n".formatted(f.symbol(), list.isEmpty() ? "" : ", " + list);
  }

  private static String record(Function f) {
    return "\n    /** The parameters of %s. */\n    record %s(%s) {}\n"
        .formatted(f.symbol(), recordName(f), declare(f));
  }

  /** Returns the expression that calls the method of the group, with the parameters by name. */
  static String call(Function f) {
    String names =
        f.parameters().stream()
            .filter(p -> !p.isBulk())
            .map(Parameter::name)
            .collect(Collectors.joining(", "));
    String group = f.calls().orElseThrow();
    String list =
        isLong(f)
            ? "new SessionCalls.%s.%s(%s)".formatted(capital(group), recordName(f), names)
            : names;
    return "this.session.%s().%s(call%s)"
        .formatted(accessor(group), f.symbol(), list.isEmpty() ? "" : ", " + list);
  }

  private static boolean isLong(Function f) {
    return f.parameters().stream().filter(p -> !p.isBulk()).count() > MOST_PARAMETERS;
  }

  private static String declare(Function f) {
    return f.parameters().stream()
        .filter(p -> !p.isBulk())
        .map(p -> p.java() + " " + p.name())
        .collect(Collectors.joining(", "));
  }

  private static String recordName(Function f) {
    return capital(f.symbol().replaceFirst("^graft", ""));
  }

  /**
   * Returns the name of a component of the record, which cannot be {@code wait}: every object has
   * that method.
   */
  private static String accessor(String group) {
    return group + "Calls";
  }

  private static String capital(String name) {
    return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
  }
}
