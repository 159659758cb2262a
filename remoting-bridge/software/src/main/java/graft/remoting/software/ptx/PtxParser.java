package graft.remoting.software.ptx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses the text of a module: directives, variables and functions (PTX ISA, "Directives"). */
public final class PtxParser {
  private final TokenStream tokens;
  private final Scope module = new Scope(null, 0);
  private final List<Variable> variables = new ArrayList<>();
  private final Map<String, Function> functions = new LinkedHashMap<>();
  private final Map<String, String> aliases = new HashMap<>();
  private final Scopes scopes = new Scopes();
  private int version;
  private String target = "";

  /** Hands out scope numbers. */
  static final class Scopes {
    private int last;

    Scope inside(Scope outer) {
      return new Scope(outer, ++last);
    }
  }

  private PtxParser(String text) {
    tokens = new TokenStream(text);
  }

  /**
   * Parses a module.
   *
   * @throws PtxException if it breaks the grammar; the message names the line
   */
  public static PtxModule parse(String text) {
    return new PtxParser(text).module();
  }

  private PtxModule module() {
    while (!tokens.atKind(Token.Kind.END)) {
      statement();
    }
    if (version == 0) {
      throw PtxException.invalid(1, "no .version directive: this is no PTX module");
    }
    return new PtxModule(version, target, variables, functions, aliases, module);
  }

  private void statement() {
    switch (tokens.peek().text()) {
      case ".version" -> version();
      case ".target" -> target();
      case ".address_size" -> {
        tokens.take();
        if (tokens.integer() != 64) {
          throw PtxException.unsupported(tokens.line(), "32-bit addresses (.address_size)");
        }
      }
      case ".file", ".loc" -> tokens.skipLine();
      case ".section" -> {
        tokens.take();
        tokens.take();
        tokens.skipBraces();
      }
      case ".pragma" -> tokens.skipStatement();
      case ".alias" -> {
        tokens.take();
        String name = tokens.identifier("a function");
        tokens.expect(",");
        aliases.put(name, tokens.identifier("a function"));
        tokens.expect(";");
      }
      case ";" -> tokens.take();
      default -> declaration();
    }
  }

  private void version() {
    tokens.take();
    // The lexer reads a version such as 9.0 as one floating-point token.
    double number = Double.longBitsToDouble(tokens.take().bits());
    version = (int) Math.round(number * 10);
    if (version <= 0 || version > 1000) {
      throw PtxException.invalid(tokens.line(), "bad .version");
    }
  }

  private void target() {
    tokens.take();
    target = tokens.identifier("an architecture");
    while (tokens.accept(",")) {
      tokens.identifier("a target option");
    }
  }

  private void declaration() {
    boolean extern = false;
    while (true) {
      if (tokens.at(".extern")) {
        extern = true;
        tokens.take();
      } else if (tokens.at(".visible") || tokens.at(".weak") || tokens.at(".common")) {
        tokens.take();
      } else {
        break;
      }
    }
    if (tokens.at(".entry") || tokens.at(".func")) {
      function();
      return;
    }
    if (tokens.atKind(Token.Kind.DOTTED) && Space.of(tokens.peek().text()) != null) {
      for (Variable v : new VariableParser(tokens, module).declaration(extern)) {
        variables.add(v);
      }
      tokens.expect(";");
      return;
    }
    throw PtxException.unsupported(
        tokens.line(), "directive or statement '" + tokens.peek().text() + "'");
  }

  private void function() {
    final int line = tokens.line();
    boolean entry = tokens.take().is(".entry");
    skipAttribute();
    Scope scope = scopes.inside(module);
    VariableParser parameters = new VariableParser(tokens, scope);
    List<Variable> returns = List.of();
    if (!entry && tokens.at("(")) {
      returns = parameters.parameters();
    }
    skipAttribute();
    final String name = tokens.identifier("a function's name");
    List<Variable> params = tokens.at("(") ? parameters.parameters() : List.of();
    Function.LaunchBounds bounds = launchBounds();
    List<Statement> body = null;
    if (!tokens.accept(";")) {
      body = new BodyParser(tokens, scopes).body(scope);
    }
    Function made = new Function(entry, name, returns, params, body, bounds, line);
    Function before = functions.get(name);
    if (before != null && before.body() != null && body != null) {
      throw PtxException.invalid(line, "function '" + name + "' is defined twice");
    }
    if (before == null || before.body() == null) {
      functions.put(name, made);
      module.declare(name, made, line);
    }
  }

  private void skipAttribute() {
    while (tokens.accept(".attribute")) {
      tokens.expect("(");
      for (int depth = 1; depth > 0; tokens.take()) {
        if (tokens.at("(")) {
          depth++;
        } else if (tokens.at(")")) {
          depth--;
        } else if (tokens.atKind(Token.Kind.END)) {
          throw PtxException.invalid(tokens.line(), "missing ')'");
        }
      }
    }
  }

  /** PTX ISA, "Performance-Tuning Directives" and "Cluster Dimension Directives". */
  private Function.LaunchBounds launchBounds() {
    int most = 0;
    int[] required = null;
    int minBlocks = 0;
    int[] cluster = null;
    while (tokens.atKind(Token.Kind.DOTTED)) {
      Token directive = tokens.take();
      switch (directive.text()) {
        case ".maxntid" -> {
          int[] shape = shape();
          most = shape[0] * shape[1] * shape[2];
        }
        case ".reqntid" -> {
          required = shape();
          most = required[0] * required[1] * required[2];
        }
        case ".minnctapersm" -> minBlocks = tokens.size(".minnctapersm");
        case ".maxnreg", ".maxnctapersm", ".maxclusterrank", ".abi_preserve" -> tokens.integer();
        case ".abi_preserve_control" -> tokens.integer();
        case ".reqnctapercluster" -> cluster = shape();
        case ".noreturn", ".explicitcluster", ".unique" -> {}
        case ".pragma" -> tokens.skipStatement();
        default ->
            throw PtxException.unsupported(
                directive.line(), "function directive '" + directive.text() + "'");
      }
    }
    return new Function.LaunchBounds(most, required, minBlocks, cluster);
  }

  private int[] shape() {
    int[] shape = {1, 1, 1};
    int i = 0;
    do {
      if (i == 3) {
        throw PtxException.invalid(tokens.line(), "more than three dimensions");
      }
      shape[i++] = tokens.size("dimension");
    } while (tokens.accept(","));
    return shape;
  }
}
