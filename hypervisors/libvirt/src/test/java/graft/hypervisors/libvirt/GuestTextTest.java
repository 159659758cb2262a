package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import graft.hypervisors.libvirt.calls.GuestText;
import org.junit.jupiter.api.Test;

/** Tests how Graft prints a guest's text on a terminal. */
class GuestTextTest {
  @Test
  void controlCharactersAreShownAndNotSent() {
    assertThat(GuestText.printable("a\tb\r\nc\n\u001b[2J\u0007\u007f\u009b31m\u0000\u202eX\rY"))
        .isEqualTo("a\tb\nc\n\\u001b[2J\\u0007\\u007f\\u009b31m\\u0000\\u202eX\\u000dY");
    assertThat(GuestText.printable("Zürich, 東京, 🚀")).isEqualTo("Zürich, 東京, 🚀");
  }

  @Test
  void jsonMeansTheSameAfterwards() throws Exception {
    String text = "\u009b31m \u007f \u202e \\ \" end";
    ObjectMapper json = new ObjectMapper();
    String printed = GuestText.printable(json.writeValueAsString(text));
    assertThat(printed).doesNotContain("\u009b", "\u007f", "\u202e");
    assertThat(json.readValue(printed, String.class)).isEqualTo(text);
  }

  @Test
  void aLineIsOneLineAndNoLongerThanItMayBe() {
    assertThat(GuestText.line(" a\n\n\tb\u001b ", 60)).isEqualTo("a b\\u001b");
    assertThat(GuestText.line("x".repeat(1000), 5)).isEqualTo("xxxxx...");
  }
}
