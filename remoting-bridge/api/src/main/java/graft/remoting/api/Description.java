package graft.remoting.api;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parsed description: every function in the order of the file, and the structures that
 * functions take.
 */
public final class Description {
  /** The version of the record format, which is part of the hash that both ends compare. */
  static final int WIRE_VERSION = 1;

  private static final String GROUP = "group ";

  private static final Pattern LINE =
      Pattern.compile(
          "(?<class>local|async|sync|none|data|alias)"
              + "(?<flags>( custom| outlives-fault| in-context| uncaptured| works| launches| session\\((?<calls>\\w+)\\))*)"
              + " (?<symbol>\\w+)"
              + "( (?<target>cu\\w+))?(\\((?<parameters>.*)\\))?"
              + "( since (?<name>\\w+) (?<version>\\d+))?"
              + "( (?<suffix>ptsz|ptds) (?<suffixVersion>\\d+))?");

  private final List<Function> functions;
  private final Map<String, Structure> structures;

  private Description(List<Function> functions, Map<String, Structure> structures) {
    this.functions = List.copyOf(functions);
    this.structures = Collections.unmodifiableMap(structures);
  }

  /** Loads the description that comes with this module. */
  public static Description load() {
    try (InputStream in = Description.class.getResourceAsStream("driver.api")) {
      if (in == null) {
        throw new IllegalStateException("driver.api is missing from the class path");
      }
      return parse(
          new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)).lines().toList());
    } catch (IOException e) {
      throw new IllegalStateException("driver.api cannot be read", e);
    }
  }

  /**
   * Parses a description.
   *
   * @throws IllegalArgumentException naming the first invalid line
   */
  public static Description parse(List<String> lines) {
    List<Function> functions = new ArrayList<>();
    Map<String, Structure> structures = new LinkedHashMap<>();
    Structure open = null;
    String group = Function.NO_GROUP;
    Set<String> seen = new HashSet<>();
    int number = 0;
    for (String line : lines) {
      number++;
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      try {
        if (Structure.begins(line) || line.startsWith(" ")) {
          open = structure(open, line.strip(), line.startsWith(" "), structures);
          continue;
        }
        if (line.startsWith(GROUP)) {
          group = group(line.substring(GROUP.length()).strip());
          continue;
        }
        Function function = parseLine(number, group, line.strip());
        if (!seen.add(function.symbol())) {
          throw new IllegalArgumentException(function.symbol() + " is described twice");
        }
        functions.add(function);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("driver.api:" + number + ": " + e.getMessage(), e);
      }
    }
    for (Function f : functions) {
      try {
        Meanings.check(f, structures);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("driver.api:" + f.line() + ": " + e.getMessage(), e);
      }
      if (f.target().isPresent() && !seen.contains(f.target().get())) {
        throw new IllegalArgumentException(
            "driver.api:" + f.line() + ": " + f.symbol() + " is an alias of an unknown function");
      }
    }
    return new Description(functions, structures);
  }

  /** Parses a line of a structure, and returns the structure as far as it has been read. */
  private static Structure structure(
      Structure open, String line, boolean further, Map<String, Structure> structures) {
    if (further && open == null) {
      throw new IllegalArgumentException("a case without a structure: " + line);
    }
    Structure read = further ? open.with(line) : Structure.parse(line);
    if (!further && structures.containsKey(read.name())) {
      throw new IllegalArgumentException("structure " + read.name() + " is described twice");
    }
    structures.put(read.name(), read);
    return read;
  }

  private static String group(String name) {
    if (!name.equals(Function.NO_GROUP) && !name.matches("[A-Z]\\w*Api")) {
      throw new IllegalArgumentException("not the name of a group: " + name);
    }
    return name;
  }

  private static Function parseLine(int number, String group, String line) {
    Matcher m = LINE.matcher(line);
    if (!m.matches()) {
      throw new IllegalArgumentException("not a function line: " + line);
    }
    List<Parameter> parameters = new ArrayList<>();
    String list = m.group("parameters");
    if (list != null && !list.isBlank()) {
      for (String parameter : Parameter.split(list)) {
        parameters.add(Parameter.parse(parameter));
      }
    }
    Function function =
        new Function(
            number,
            group,
            Function.ServiceClass.valueOf(m.group("class").toUpperCase(Locale.ROOT)),
            m.group("flags").contains(" custom"),
            Function.Trait.of(m.group("flags")),
            Optional.ofNullable(m.group("calls")),
            m.group("symbol"),
            List.copyOf(parameters),
            Optional.ofNullable(m.group("target")),
            m.group("name") == null
                ? Optional.empty()
                : Optional.of(
                    new Function.Lookup(m.group("name"), Integer.parseInt(m.group("version")))),
            m.group("suffix") == null
                ? Optional.empty()
                : Optional.of(
                    new Function.PerThread(
                        m.group("suffix"), Integer.parseInt(m.group("suffixVersion")))));
    check(function);
    return function;
  }

  private static void check(Function f) {
    if (f.target().isPresent() != (f.serviceClass() == Function.ServiceClass.ALIAS)) {
      throw new IllegalArgumentException("an alias, and nothing else, has a target");
    }
    for (Parameter p : f.parameters()) {
      if (p.isArray()
          && !p.count().matches("\\d+")
          && f.parameters().stream().noneMatch(q -> q.name().equals(p.count()))) {
        throw new IllegalArgumentException(p.name() + " is counted by an unknown " + p.count());
      }
      if (f.onWire() && p.type().kind() == Type.Kind.POINTER) {
        throw new IllegalArgumentException(p.name() + " is a raw pointer: it cannot travel");
      }
      if (f.onWire() && p.isStructValue()) {
        throw new IllegalArgumentException(p.name() + " travels as 'in " + p.type().name() + "'");
      }
      if (f.serviceClass() == Function.ServiceClass.ASYNC && p.isOut()) {
        throw new IllegalArgumentException(p.name() + " is a result: the function cannot be async");
      }
    }
  }

  /** Returns all functions in the order of the file. */
  public List<Function> functions() {
    return functions;
  }

  /** Returns the structures that clients send, by name. */
  public Map<String, Structure> structures() {
    return structures;
  }

  /**
   * Returns the function of a symbol.
   *
   * @throws IllegalArgumentException if there is none
   */
  public Function find(String symbol) {
    return functions.stream()
        .filter(f -> f.symbol().equals(symbol))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no function " + symbol));
  }

  /** Returns the functions that are sent; the index in this list is the wire id. */
  public List<Function> wire() {
    return functions.stream().filter(Function::onWire).toList();
  }

  /**
   * Returns the hash that client and server compare when they connect. It changes with every change
   * on the wire.
   */
  public long hash() {
    return hash(signatures());
  }

  /** Returns what both ends must agree on for each function that is sent, in the order of ids. */
  List<String> signatures() {
    return wire().stream().map(Function::wireSignature).toList();
  }

  static long hash(List<String> signatures) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update((byte) WIRE_VERSION);
      for (String signature : signatures) {
        digest.update(signature.getBytes(StandardCharsets.UTF_8));
      }
      return ByteBuffer.wrap(digest.digest()).order(ByteOrder.LITTLE_ENDIAN).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }
}
