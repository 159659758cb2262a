package graft.comparison.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When data leaves a link, by a clock that the test sets. */
final class LinkTimesTest {
  private static final long MS = 1_000_000;

  private static LinkTimes times(long delay, String rate) {
    return new LinkTimes(delay, Optional.ofNullable(rate).map(LinkRate::parse));
  }

  @Test
  void dataIsDelayedWhateverItsSize() {
    LinkTimes times = times(15 * MS, null);
    assertThat(times.arrival(0, 0, 1)).isEqualTo(15 * MS);
    assertThat(times.arrival(0, 0, 1 << 20)).isEqualTo(15 * MS);
    assertThat(times.arrival(4 * MS, 0, 1)).isEqualTo(19 * MS);
  }

  /** Half a round trip and 20 ms before the data leaves the link. */
  @Test
  void aLinkStoresLittle() {
    LinkTimes times = times(30 * MS, "8Mbit");
    assertThat(times.room(times.arrival(0, 0, 1000))).isEqualTo(-19 * MS);
    assertThat(times.room(times.arrival(0, 0, 30_000))).isEqualTo(11 * MS);
  }

  @Test
  void dataWaitsForDataThatIsBeforeIt() {
    LinkTimes times = times(15 * MS, "8Mbit"); // a byte in 1 us
    assertThat(times.arrival(0, 0, 1000)).isEqualTo(16 * MS);
    assertThat(times.arrival(0, 0, 2000)).isEqualTo(18 * MS);
    assertThat(times.arrival(10 * MS, 0, 1000)).as("the link was idle").isEqualTo(26 * MS);
  }

  @Test
  void aConnectionCarriesNothingBeforeItIsOpenAndHoldsUpNoOther() {
    LinkTimes times = times(15 * MS, "8Mbit");
    assertThat(times.arrival(0, 30 * MS, 1000)).isEqualTo(45 * MS);
    assertThat(times.arrival(0, 0, 1000)).isEqualTo(17 * MS);
  }

  @Test
  void aClockMayBeginBelowZero() {
    assertThat(times(MS, null).arrival(-50 * MS, -60 * MS, 1)).isEqualTo(-49 * MS);
  }

  @ParameterizedTest
  @CsvSource({"30ms,30000000", "500us,500000", "0.15s,150000000", "0ms,0", "1.5ms,1500000"})
  void roundTripsAreRead(String text, long nanoseconds) {
    assertThat(RoundTrip.parse(text).nanoseconds()).isEqualTo(nanoseconds);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "30", "-1ms", "11s", "30 ms", "1h", "ms", "1e3ms", "999999s"})
  void whatIsNoRoundTripIsRefused(String text) {
    assertThatThrownBy(() -> RoundTrip.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void roundTripsAreWrittenInMilliseconds() {
    assertThat(RoundTrip.parse("0.15s")).hasToString("150ms");
    assertThat(RoundTrip.parse("500us")).hasToString("0.5ms");
    assertThat(RoundTrip.NONE).hasToString("0");
  }

  @ParameterizedTest
  @CsvSource({"100Mbit,100000000", "1Gbit,1000000000", "64kbit,64000"})
  void ratesAreRead(String text, long bits) {
    assertThat(LinkRate.parse(text).bitsPerSecond()).isEqualTo(bits);
    assertThat(LinkRate.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "100", "0Mbit", "100Mbps", "-1Mbit", "1.5Mbit", "99999Gbit"})
  void whatIsNoRateIsRefused(String text) {
    assertThatThrownBy(() -> LinkRate.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
