package graft.remoting.software.ptx;

/**
 * One lexical element.
 *
 * @param kind its kind
 * @param text its text: an identifier, a dotted word with its dot, a string without its quotes, or
 *     punctuation
 * @param bits the value of a number: an integer, or the raw bits of a double for a decimal float
 *     and for {@code 0d}, or of a float for {@code 0f}
 * @param line the line of the text, from 1
 */
record Token(Kind kind, String text, long bits, int line) {
  enum Kind {
    IDENTIFIER,
    /** A word that starts with a dot: a directive, a type, a modifier. */
    DOTTED,
    INTEGER,
    /** {@code 0f} and eight hexadecimal digits. */
    FLOAT32,
    /** {@code 0d} and sixteen hexadecimal digits, or a decimal floating-point constant. */
    FLOAT64,
    STRING,
    PUNCTUATION,
    END
  }

  boolean is(String wanted) {
    return text.equals(wanted) && kind != Kind.STRING;
  }
}
