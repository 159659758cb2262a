package graft.common.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemorySizeTest {

  @Test
  void printsInTheLargestUnitThatDivides() {
    assertThat(MemorySize.ofGib(2)).hasToString("2GiB");
    assertThat(MemorySize.ofMib(1536)).hasToString("1536MiB");
    assertThat(MemorySize.ofKib(3)).hasToString("3KiB");
    assertThat(new MemorySize(1025)).hasToString("1025B");
    assertThat(new MemorySize(0)).hasToString("0B");
  }

  @Test
  void roundsUpToWholeUnits() {
    assertThat(new MemorySize(1).kib()).isEqualTo(1);
    assertThat(new MemorySize(1024).kib()).isEqualTo(1);
    assertThat(new MemorySize(1 + (1 << 20)).mib()).isEqualTo(2);
  }

  @Test
  void refusesWhatIsNoSize() {
    assertThatIllegalArgumentException().isThrownBy(() -> new MemorySize(-1));
    assertThatThrownBy(() -> MemorySize.ofMib(1L << 43)).isInstanceOf(ArithmeticException.class);
    assertThat(MemorySize.ofMib(1)).isLessThan(MemorySize.ofGib(1));
  }

  @ParameterizedTest
  @CsvSource({
    "512MiB,536870912",
    "64GiB,68719476736",
    "1 GiB,1073741824",
    "4096,4096",
    "0,0",
    "3TiB,3298534883328"
  })
  void sizesHaveBinaryUnits(String text, long bytes) {
    assertThat(MemorySize.parse(text).bytes()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1GB",
        "1.5GiB",
        "-1",
        "9999999999TiB",
        "GiB",
        "64G",
        "1024k",
        "64 GB",
        "8589934592GiB",
        "99999999999999999999"
      })
  void otherSizesAreRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> MemorySize.parse(text));
  }

  @Test
  void aSizeIsWrittenInItsLargestWholeUnit() {
    assertThat(MemorySize.parse("2048MiB")).hasToString("2GiB");
    assertThat(MemorySize.parse("1500MiB")).hasToString("1500MiB");
    assertThat(MemorySize.parse("1500MiB").rounded()).isEqualTo("1.5GiB");
  }
}
