package graft.remoting.software.ptx;

import graft.remoting.software.ptx.Variable.Initial;
import java.util.ArrayList;
import java.util.List;

/** Parses declarations of variables, registers and parameters (PTX ISA, "Variables"). */
final class VariableParser {
  private final TokenStream tokens;
  private final Scope scope;

  VariableParser(TokenStream tokens, Scope scope) {
    this.tokens = tokens;
    this.scope = scope;
  }

  /** The words before a variable's name. */
  private static final class Head {
    Space space;
    PtxType type;
    int vector = 1;
    int align;
  }

  /** A parenthesized parameter list; declares the names. */
  List<Variable> parameters() {
    List<Variable> found = new ArrayList<>();
    tokens.expect("(");
    while (!tokens.accept(")")) {
      if (!found.isEmpty()) {
        tokens.expect(",");
      }
      found.add(named(head(), false));
    }
    return found;
  }

  /** {@code .space .type name, name...}, up to the semicolon, which is not consumed. */
  List<Variable> declaration(boolean extern) {
    Head head = head();
    List<Variable> found = new ArrayList<>();
    do {
      Variable v = named(head, extern);
      if (v != null) {
        found.add(v);
      }
    } while (tokens.accept(","));
    return found;
  }

  private Head head() {
    Head head = new Head();
    Token first = tokens.take();
    head.space = Space.of(first.text());
    if (head.space == null || first.kind() != Token.Kind.DOTTED) {
      throw PtxException.invalid(
          first.line(), "expected a state space but found '" + first.text() + "'");
    }
    while (tokens.atKind(Token.Kind.DOTTED)) {
      Token word = tokens.take();
      switch (word.text()) {
        case ".align" -> head.align = tokens.size("alignment");
        case ".v2" -> head.vector = 2;
        case ".v4" -> head.vector = 4;
        case ".v8" -> head.vector = 8;
        case ".ptr" -> pointerAttribute();
        case ".attribute" -> {
          tokens.expect("(");
          while (!tokens.accept(")")) {
            if (tokens.atKind(Token.Kind.END)) {
              throw PtxException.invalid(tokens.line(), "missing ')'");
            }
            tokens.take();
          }
        }
        default -> {
          head.type = PtxType.of(word.text());
          if (head.type == null) {
            throw PtxException.unsupported(word.line(), "type '" + word.text() + "'");
          }
        }
      }
    }
    if (head.type == null) {
      throw PtxException.invalid(first.line(), "declaration without a type");
    }
    return head;
  }

  /**
   * {@code .ptr .global .align 16}: the attributes of the memory that a kernel's pointer parameter
   * points to.
   */
  private void pointerAttribute() {
    if (tokens.atKind(Token.Kind.DOTTED) && Space.of(tokens.peek().text()) != null) {
      tokens.take();
    }
    if (tokens.accept(".align")) {
      tokens.integer();
    }
  }

  private Variable named(Head head, boolean extern) {
    int line = tokens.line();
    String name = tokens.identifier("a name");
    if (tokens.accept("<")) {
      Variable pattern = make(head, name, 1, List.of(), extern, line);
      scope.declareRange(pattern, tokens.size("register count"));
      tokens.expect(">");
      return null;
    }
    List<Long> dimensions = new ArrayList<>();
    while (tokens.accept("[")) {
      dimensions.add(tokens.at("]") ? 0L : Long.valueOf(tokens.integer()));
      tokens.expect("]");
    }
    List<Initial> initial = new ArrayList<>();
    if (tokens.accept("=")) {
      initialValue(head, dimensions, 0, initial);
    }
    long elements = 1;
    for (int i = 0; i < dimensions.size(); i++) {
      long dimension = dimensions.get(i);
      if (dimension == 0 && !initial.isEmpty()) {
        dimension = initial.size() / Math.max(1, product(dimensions, i + 1)) / head.vector;
      }
      if (dimension < 0 || (elements *= dimension) > 1L << 40) {
        throw PtxException.invalid(line, "array '" + name + "' is too large");
      }
    }
    Variable made = make(head, name, elements, initial, extern, line);
    if (!name.equals("_")) {
      scope.declare(name, made, line);
    }
    return made;
  }

  private Variable make(
      Head head, String name, long elements, List<Initial> initial, boolean extern, int line) {
    int align = Math.max(head.align, head.align == 0 ? head.type.bytes() * head.vector : 1);
    return new Variable(
        head.space,
        head.type,
        head.vector,
        align,
        name,
        elements,
        List.copyOf(initial),
        extern,
        scope.number(),
        line);
  }

  private static long product(List<Long> dimensions, int from) {
    long product = 1;
    for (int i = from; i < dimensions.size(); i++) {
      product *= dimensions.get(i);
    }
    return product;
  }

  /** Parses a value, or a list in braces in which short rows are padded with zeros. */
  private void initialValue(Head head, List<Long> dimensions, int depth, List<Initial> into) {
    if (depth > 16) {
      throw PtxException.invalid(tokens.line(), "initializer nested too deeply");
    }
    if (!tokens.accept("{")) {
      into.add(element(head));
      return;
    }
    int before = into.size();
    while (!tokens.accept("}")) {
      if (into.size() > before) {
        tokens.accept(",");
      }
      initialValue(head, dimensions, depth + 1, into);
    }
    long row = depth > 0 && depth < dimensions.size() ? product(dimensions, depth) : 0;
    if (row > 1 << 28) {
      throw PtxException.invalid(tokens.line(), "initializer is too large");
    }
    while (into.size() - before < row * head.vector) {
      into.add(new Initial(0, null, false, 0));
    }
  }

  private Initial element(Head head) {
    if (tokens.atKind(Token.Kind.FLOAT32) || tokens.atKind(Token.Kind.FLOAT64)) {
      return new Initial(floatBits(head.type, tokens.take()), null, false, 0);
    }
    boolean negative = tokens.at("-") && tokens.peekSecond().kind() == Token.Kind.FLOAT64;
    if (negative) {
      tokens.take();
      long bits = tokens.take().bits() ^ Long.MIN_VALUE;
      return new Initial(
          floatBits(head.type, new Token(Token.Kind.FLOAT64, "", bits, 0)), null, false, 0);
    }
    if (tokens.atKind(Token.Kind.IDENTIFIER)) {
      return address(0);
    }
    boolean mask = tokens.atKind(Token.Kind.INTEGER) && tokens.peekSecond().is("(");
    if (mask) {
      // 0xff00(symbol): one byte of an address (PTX ISA, "Initializers").
      long bits = tokens.take().bits();
      tokens.expect("(");
      Initial whole = address(Long.numberOfTrailingZeros(bits));
      tokens.expect(")");
      return whole;
    }
    long value = tokens.integer();
    if (head.type == PtxType.F32) {
      value = Float.floatToRawIntBits(value);
    } else if (head.type == PtxType.F64) {
      value = Double.doubleToRawLongBits(value);
    }
    return new Initial(value, null, false, 0);
  }

  private Initial address(int shift) {
    String name = tokens.identifier("a symbol");
    boolean generic = name.equals("generic") && tokens.accept("(");
    if (generic) {
      name = tokens.identifier("a symbol");
      tokens.expect(")");
    }
    long offset = tokens.at("+") || tokens.at("-") ? tokens.integer() : 0;
    return new Initial(offset, name, generic, shift);
  }

  private static long floatBits(PtxType type, Token token) {
    if (token.kind() == Token.Kind.FLOAT32) {
      return type == PtxType.F64
          ? Double.doubleToRawLongBits(Float.intBitsToFloat((int) token.bits()))
          : token.bits();
    }
    if (type == PtxType.F32) {
      return Float.floatToRawIntBits((float) Double.longBitsToDouble(token.bits())) & 0xffffffffL;
    }
    return token.bits();
  }
}
