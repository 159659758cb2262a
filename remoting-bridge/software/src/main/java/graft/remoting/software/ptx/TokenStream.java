package graft.remoting.software.ptx;

/** Tokens with one look-ahead, and constant expressions (PTX ISA, "Constant Expressions"). */
final class TokenStream {
  private final Lexer lexer;
  private Token current;
  private Token following;

  TokenStream(String text) {
    lexer = new Lexer(text);
    current = lexer.next();
  }

  Token peek() {
    return current;
  }

  Token peekSecond() {
    if (following == null) {
      following = lexer.next();
    }
    return following;
  }

  Token take() {
    Token taken = current;
    current = following == null ? lexer.next() : following;
    following = null;
    return taken;
  }

  int line() {
    return current.line();
  }

  boolean at(String text) {
    return current.is(text);
  }

  boolean atKind(Token.Kind kind) {
    return current.kind() == kind;
  }

  boolean accept(String text) {
    if (at(text)) {
      take();
      return true;
    }
    return false;
  }

  void expect(String text) {
    if (!accept(text)) {
      throw PtxException.invalid(
          line(), "expected '" + text + "' but found '" + current.text() + "'");
    }
  }

  String identifier(String what) {
    if (!atKind(Token.Kind.IDENTIFIER)) {
      throw PtxException.invalid(
          line(), "expected " + what + " but found '" + current.text() + "'");
    }
    return take().text();
  }

  /** Returns an integer in the range of an int, for sizes and alignments. */
  int size(String what) {
    long value = integer();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw PtxException.invalid(line(), what + " " + value + " is out of range");
    }
    return (int) value;
  }

  void skipLine() {
    int line = line();
    while (line() == line && !atKind(Token.Kind.END)) {
      take();
    }
  }

  /** Skips to the token after the semicolon. */
  void skipStatement() {
    while (!at(";")) {
      if (atKind(Token.Kind.END)) {
        throw PtxException.invalid(line(), "expected ';' before the end of the text");
      }
      take();
    }
    take();
  }

  void skipBraces() {
    expect("{");
    for (int depth = 1; depth > 0; ) {
      if (atKind(Token.Kind.END)) {
        throw PtxException.invalid(line(), "missing '}'");
      }
      if (at("{")) {
        depth++;
      } else if (at("}")) {
        depth--;
      }
      take();
    }
  }

  /** A constant integer expression. */
  long integer() {
    long value = expression(0, 0);
    return value;
  }

  private static int precedence(String operator) {
    return switch (operator) {
      case "|" -> 1;
      case "^" -> 2;
      case "&" -> 3;
      case "<<", ">>" -> 4;
      case "+", "-" -> 5;
      case "*", "/", "%" -> 6;
      default -> -1;
    };
  }

  private long expression(int least, int depth) {
    long left = unary(depth);
    while (atKind(Token.Kind.PUNCTUATION) && precedence(current.text()) > least) {
      Token operator = take();
      long right = expression(precedence(operator.text()), depth + 1);
      boolean division = operator.text().equals("/") || operator.text().equals("%");
      if (division && right == 0) {
        throw PtxException.invalid(operator.line(), "division by zero in a constant expression");
      }
      left =
          switch (operator.text()) {
            case "|" -> left | right;
            case "^" -> left ^ right;
            case "&" -> left & right;
            case "<<" -> left << right;
            case ">>" -> left >> right;
            case "+" -> left + right;
            case "-" -> left - right;
            case "*" -> left * right;
            case "/" -> left / right;
            default -> left % right;
          };
    }
    return left;
  }

  private long unary(int depth) {
    if (depth > 200) {
      throw PtxException.invalid(line(), "constant expression nested too deeply");
    }
    if (accept("-")) {
      return -unary(depth + 1);
    }
    if (accept("+")) {
      return unary(depth + 1);
    }
    if (accept("~")) {
      return ~unary(depth + 1);
    }
    if (accept("!")) {
      return unary(depth + 1) == 0 ? 1 : 0;
    }
    if (accept("(")) {
      if (atKind(Token.Kind.DOTTED)) {
        take(); // a cast: (.s64) or (.u64); values are 64 bits wide already
        expect(")");
        return unary(depth + 1);
      }
      long value = expression(0, depth + 1);
      expect(")");
      return value;
    }
    if (!atKind(Token.Kind.INTEGER)) {
      throw PtxException.invalid(line(), "expected an integer but found '" + current.text() + "'");
    }
    return take().bits();
  }
}
