package graft.remoting.software.ptx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PTX ISA, "Syntax". */
final class LexerTest {
  private static List<Token> tokens(String text) {
    Lexer lexer = new Lexer(text);
    List<Token> all = new ArrayList<>();
    for (Token t = lexer.next(); t.kind() != Token.Kind.END; t = lexer.next()) {
      all.add(t);
    }
    return all;
  }

  @Test
  void anInstructionIsWordsModifiersAndPunctuation() {
    assertThat(tokens("@!%p1 ld.global.v2.u32 {%r1,_}, [%rd2+-8];"))
        .extracting(Token::text)
        .containsExactly(
            "@", "!", "%p1", "ld", ".global", ".v2", ".u32", "{", "%r1", ",", "_", "}", ",", "[",
            "%rd2", "+", "-", "8", "]", ";");
  }

  @Test
  void modifiersMayHaveDoubleColons() {
    assertThat(tokens("st.shared::cta.mbarrier::complete_tx::bytes label: x"))
        .extracting(Token::text)
        .containsExactly("st", ".shared::cta", ".mbarrier::complete_tx::bytes", "label", ":", "x");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "42, 42",
    "42U, 42",
    "0x1F, 31",
    "0XfFu, 255",
    "017, 15",
    "0b101, 5",
    "18446744073709551615, -1",
    "0x8000000000000000U, -9223372036854775808"
  })
  void integersHaveFourBases(String text, long value) {
    Token t = tokens(text).get(0);
    assertThat(t.kind()).isEqualTo(Token.Kind.INTEGER);
    assertThat(t.bits()).isEqualTo(value);
  }

  @ParameterizedTest
  @CsvSource({
    "0f3F800000, FLOAT32, 3f800000",
    "0F7fc00001, FLOAT32, 7fc00001",
    "0d3FF8000000000000, FLOAT64, 3ff8000000000000",
    "1.5, FLOAT64, 3ff8000000000000",
    "15e-1, FLOAT64, 3ff8000000000000",
    "0.5E+1, FLOAT64, 4014000000000000"
  })
  void floatsAreBitsOrDecimals(String text, Token.Kind kind, String bits) {
    assertThat(tokens(text)).hasSize(1);
    assertThat(tokens(text).get(0).kind()).isEqualTo(kind);
    assertThat(tokens(text).get(0).bits()).isEqualTo(Long.parseUnsignedLong(bits, 16));
  }

  @Test
  void linesAreCountedThroughComments() {
    List<Token> found = tokens("one // two\n/* three\n\n */ four\r\n\"fi//ve\"");
    assertThat(found).extracting(Token::text).containsExactly("one", "four", "fi//ve");
    assertThat(found).extracting(Token::line).containsExactly(1, 4, 5);
  }

  @Test
  void aStringIsNoWord() {
    assertThat(tokens("\";\"").get(0).is(";")).isFalse();
    assertThat(tokens(";").get(0).is(";")).isTrue();
  }

  @Test
  void operatorsOfTwoCharactersAreOneToken() {
    assertThat(tokens("a<<2>=b!=c"))
        .extracting(Token::text)
        .containsExactly("a", "<<", "2", ">=", "b", "!=", "c");
  }

  @Test
  void theTextEndsAtAZeroByte() {
    assertThat(tokens("ret;\0garbage")).extracting(Token::text).containsExactly("ret", ";");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n/* open", "\n\"open", "\n99999999999999999999", "\n0x", "\n1.2.3"})
  void whatIsBrokenIsNamedWithItsLine(String text) {
    assertThatThrownBy(() -> tokens(text))
        .isInstanceOfSatisfying(PtxException.class, e -> assertThat(e.line()).isEqualTo(2));
  }
}
