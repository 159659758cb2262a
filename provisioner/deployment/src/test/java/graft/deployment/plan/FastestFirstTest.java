package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.state.ChannelMeasurement.Figures;
import graft.deployment.state.ChannelMeasurement.Speed;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The order of channels by their times. */
class FastestFirstTest {
  private static final List<String> USUAL = List.of("a", "b", "c");

  /** A channel whose 8 round trips take so long, and whose copies take next to nothing. */
  private static Figures takes(String address, double time) {
    return new Figures(address, Optional.of(new Speed(time / 8, 1e12, 1e12)));
  }

  private static Figures broken(String address) {
    return new Figures(address, Optional.empty());
  }

  private static List<String> order(Figures... measured) {
    return FastestFirst.order(USUAL, List.of(measured));
  }

  @Test
  void theTimeIsThatOfRoundTripsAndCopiesBothWays() {
    assertThat(new Speed(10, 5000, 2000).time()).isEqualTo(8 * 10 + 200 + 500);
    assertThat(new Speed(10, 5000, 2000))
        .hasToString("round trip 10.0 us, 5000 MB/s to the device, 2000 MB/s from it: 780 us");
    assertThat(new Speed(10, 0, 2000).time()).as("carries next to nothing").isInfinite();
  }

  @Test
  void whatIsFasterComesFirstWhateverTheOrderOfTheMeasurement() {
    assertThat(order(takes("a", 300), takes("b", 200), takes("c", 100)))
        .containsExactly("c", "b", "a");
    assertThat(order(takes("c", 100), takes("b", 200), takes("a", 300)))
        .containsExactly("c", "b", "a");
  }

  @Test
  void aQuarterIsNoiseAndKeepsTheUsualOrder() {
    assertThat(order(takes("a", 125), takes("b", 110), takes("c", 100)))
        .containsExactly("a", "b", "c");
    assertThat(order(takes("a", 126), takes("b", 110), takes("c", 100)))
        .as("b is as fast as c, but a is not")
        .containsExactly("b", "c", "a");
  }

  @Test
  void smallStepsDoNotAddUpToASlowFirstChannel() {
    assertThat(order(takes("a", 144), takes("b", 120), takes("c", 100)))
        .as("each within a quarter of the next, the first not of the last")
        .containsExactly("b", "c", "a");
  }

  @Test
  void whatDidNotWorkIsTheLastResort() {
    assertThat(order(broken("a"), takes("b", 300), takes("c", 100))).containsExactly("c", "b", "a");
    assertThat(order(broken("a"), broken("b"), broken("c"))).containsExactly("a", "b", "c");
  }

  @Test
  void whatWasNotMeasuredKeepsItsPlace() {
    assertThat(order(takes("a", 300), takes("c", 100))).containsExactly("c", "b", "a");
    assertThat(order(takes("b", 300), takes("c", 100))).containsExactly("a", "c", "b");
    assertThat(order()).containsExactly("a", "b", "c");
    assertThat(order(takes("another", 1), takes("c", 100), takes("b", 300)))
        .containsExactly("a", "c", "b");
  }
}
