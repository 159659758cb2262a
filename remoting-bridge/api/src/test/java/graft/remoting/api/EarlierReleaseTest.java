package graft.remoting.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class EarlierReleaseTest {
  private final Description present = Description.load();

  /** The hash that the clients of that release were built with. */
  @Test
  void aReleaseIsKnownByTheHashThatItsClientsSend() {
    assertThat(EarlierRelease.all())
        .filteredOn(release -> release.version().equals("0.1.0"))
        .singleElement()
        .satisfies(release -> assertThat(release.hash()).isEqualTo(0x89076130802b3829L));
  }

  @Test
  void everyListOfFunctionsIsServed() throws IOException {
    Path lists = Path.of("src/main/resources/graft/remoting/api/releases");
    try (Stream<Path> files = Files.list(lists)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(
              EarlierRelease.all().stream().map(EarlierRelease::version).toList());
    }
  }

  @Test
  void eachFunctionHasTheIdOfThePresentOneWithItsSignature() {
    List<String> others = new ArrayList<>(present.signatures());
    Collections.reverse(others);
    others.remove(0);
    assertThat(new EarlierRelease("0.0.1", others).ids(present))
        .hasSize(others.size())
        .allSatisfy(id -> assertThat(id).isBetween(0, present.signatures().size() - 2))
        .startsWith(present.signatures().size() - 2)
        .endsWith(0);
  }

  @Test
  void aFunctionThatClientsStillSendMustNotChange() {
    List<String> changed = new ArrayList<>(present.signatures());
    changed.set(3, changed.get(3).replace(")", ",IN u32[1])"));
    EarlierRelease release = new EarlierRelease("0.0.1", changed);
    assertThatThrownBy(() -> release.ids(present))
        .hasMessageContaining("0.0.1")
        .hasMessageContaining(changed.get(3));
  }
}
