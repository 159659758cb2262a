package graft.remoting.software.ptx;

/** Turns PTX text into tokens (PTX ISA, "Syntax"). */
final class Lexer {
  private final String text;
  private int at;
  private int line = 1;

  Lexer(String text) {
    this.text = text;
  }

  Token next() {
    skipBlanks();
    if (at >= text.length() || text.charAt(at) == '\0') {
      return new Token(Token.Kind.END, "end of text", 0, line);
    }
    int start = at;
    char c = text.charAt(at);
    if (isIdentifierStart(c)) {
      at++;
      while (at < text.length() && isIdentifierPart(text.charAt(at))) {
        at++;
      }
      return token(Token.Kind.IDENTIFIER, start);
    }
    if (c == '.' && at + 1 < text.length() && isIdentifierPart(text.charAt(at + 1))) {
      at++;
      while (at < text.length() && (isIdentifierPart(text.charAt(at)) || isDoubleColon())) {
        at += text.charAt(at) == ':' ? 2 : 1;
      }
      return token(Token.Kind.DOTTED, start);
    }
    if (isDigit(c)) {
      return number();
    }
    if (c == '"') {
      int end = text.indexOf('"', at + 1);
      if (end < 0) {
        throw PtxException.invalid(line, "string without an end");
      }
      at = end + 1;
      return new Token(Token.Kind.STRING, text.substring(start + 1, end), 0, line);
    }
    int length = isTwoCharacterOperator() ? 2 : 1;
    at += length;
    return token(Token.Kind.PUNCTUATION, start);
  }

  private boolean isTwoCharacterOperator() {
    if (at + 1 >= text.length()) {
      return false;
    }
    char second = text.charAt(at + 1);
    return switch (text.charAt(at)) {
      case '<' -> second == '<' || second == '=';
      case '>' -> second == '>' || second == '=';
      case '=', '!' -> second == '=';
      default -> false;
    };
  }

  private boolean isDoubleColon() {
    return text.startsWith("::", at);
  }

  private Token token(Token.Kind kind, int start) {
    return new Token(kind, text.substring(start, at), 0, line);
  }

  private void skipBlanks() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '\n') {
        line++;
        at++;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
        at++;
      } else if (text.startsWith("//", at)) {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else if (text.startsWith("/*", at)) {
        int end = text.indexOf("*/", at + 2);
        if (end < 0) {
          throw PtxException.invalid(line, "comment without an end");
        }
        line += (int) text.substring(at, end).chars().filter(x -> x == '\n').count();
        at = end + 2;
      } else {
        return;
      }
    }
  }

  /** PTX ISA, "Integer Constants" and "Floating-Point Constants". */
  private Token number() {
    int start = at;
    char second = at + 1 < text.length() ? Character.toLowerCase(text.charAt(at + 1)) : ' ';
    if (text.charAt(at) == '0' && second == 'f' && hexDigits(at + 2) >= 8) {
      return hexFloat(start, 8, Token.Kind.FLOAT32);
    }
    if (text.charAt(at) == '0' && second == 'd' && hexDigits(at + 2) >= 16) {
      return hexFloat(start, 16, Token.Kind.FLOAT64);
    }
    int radix = 10;
    if (text.charAt(at) == '0' && second == 'x') {
      radix = 16;
      at += 2;
    } else if (text.charAt(at) == '0' && second == 'b') {
      radix = 2;
      at += 2;
    }
    int digits = at;
    while (at < text.length() && Character.digit(text.charAt(at), radix) >= 0) {
      at++;
    }
    if (radix == 10 && at < text.length() && isDecimalPoint()) {
      return decimalFloat(start);
    }
    if (radix == 10 && at - digits > 1 && text.charAt(digits) == '0') {
      radix = 8;
    }
    String body = text.substring(digits, at);
    if (at < text.length() && (text.charAt(at) == 'U' || text.charAt(at) == 'u')) {
      at++;
    }
    try {
      return new Token(
          Token.Kind.INTEGER, text.substring(start, at), Long.parseUnsignedLong(body, radix), line);
    } catch (NumberFormatException e) {
      throw PtxException.invalid(line, "bad integer '" + text.substring(start, at) + "'");
    }
  }

  private boolean isDecimalPoint() {
    char c = text.charAt(at);
    if (c == '.') {
      return at + 1 >= text.length() || !Character.isLetter(text.charAt(at + 1));
    }
    return (c == 'e' || c == 'E')
        && at + 1 < text.length()
        && (isDigit(text.charAt(at + 1))
            || text.charAt(at + 1) == '-'
            || text.charAt(at + 1) == '+');
  }

  private Token decimalFloat(int start) {
    while (at < text.length() && (isDigit(text.charAt(at)) || text.charAt(at) == '.')) {
      at++;
    }
    if (at < text.length() && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
      at++;
      if (at < text.length() && (text.charAt(at) == '-' || text.charAt(at) == '+')) {
        at++;
      }
      while (at < text.length() && isDigit(text.charAt(at))) {
        at++;
      }
    }
    String body = text.substring(start, at);
    try {
      long bits = Double.doubleToRawLongBits(Double.parseDouble(body));
      return new Token(Token.Kind.FLOAT64, body, bits, line);
    } catch (NumberFormatException e) {
      throw PtxException.invalid(line, "bad floating-point constant '" + body + "'");
    }
  }

  private Token hexFloat(int start, int digits, Token.Kind kind) {
    at = start + 2 + digits;
    long bits = Long.parseUnsignedLong(text.substring(start + 2, at), 16);
    return new Token(kind, text.substring(start, at), bits, line);
  }

  private int hexDigits(int from) {
    int i = from;
    while (i < text.length() && Character.digit(text.charAt(i), 16) >= 0) {
      i++;
    }
    return i - from;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static boolean isIdentifierStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
  }

  private static boolean isIdentifierPart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_' || c == '$';
  }
}
