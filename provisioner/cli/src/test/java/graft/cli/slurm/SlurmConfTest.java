package graft.cli.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.grants.Share;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlurmConfTest {
  private static final String TEXT =
      """
      ClusterName=c
      # Licenses=old:1
      slurmUser = slurm # as the package has it
      NodeName=DEFAULT CPUs=4
      NodeName=n[1-2]
      """;

  @Test
  void graftsLinesStandBeforeTheNodesAndGoWithoutATrace() {
    SlurmConf before = SlurmConf.of(TEXT);
    SlurmConf after = before.with(List.of("Licenses=graft:2"));
    assertThat(after.hasBlock()).isTrue();
    assertThat(after.text())
        .containsSubsequence("# as the", "Licenses=graft:2", "NodeName=DEFAULT");
    assertThat(after.without().text()).isEqualTo(TEXT);
    assertThat(before.without()).isEqualTo(before);
  }

  @Test
  void keysAreFoundInAnySpellingButNotInComments() {
    SlurmConf conf = SlurmConf.of(TEXT);
    assertThat(conf.value("SlurmUser", "root")).isEqualTo("slurm");
    assertThat(conf.value("SlurmdUser", "root")).isEqualTo("root");
    assertThat(conf.setting(List.of("Licenses", "SLURMUSER")))
        .containsExactly("line 3: slurmUser = slurm # as the package has it");
  }

  private static SlurmPool pool(String state, int licenses, int gpus, Share.Type type) {
    return new SlurmPool(
        "/etc/slurm/slurm.conf",
        "tcp://gpu1:8450",
        state,
        Optional.of("/opt/graft/lib/client"),
        licenses,
        gpus,
        type,
        Map.of("spare", Share.Type.BEST_EFFORT),
        OptionalLong.of(1024),
        Optional.empty());
  }

  @Test
  void theSettingsOfThePoolAreReadAsTheyWereWritten() {
    String text = pool("/shared/graft", 16, 8, Share.Type.GUARANTEED).text("/usr/bin:/bin");
    assertThat(SlurmPool.read(text))
        .containsEntry("STATE", "/shared/graft")
        .containsEntry("CLASSES", "spare=best-effort")
        .containsEntry("LICENSES", "16")
        .containsEntry("MEMORY", "1024");
    assertThatThrownBy(() -> SlurmPool.read("PATH=$(id)")).isInstanceOf(GraftException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a b", "/a'b", "/a$(id)", "/a\nb", "/a\"b", "/a%b"})
  void whatAShellCouldRunIsRefused(String path) {
    assertThatThrownBy(() -> pool(path, 2, 1, Share.Type.GUARANTEED))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("characters");
  }

  @Test
  void licencesAreEqualPartsOfAGpu() {
    assertThat(pool("/s", 4, 1, Share.Type.GUARANTEED).most()).isEqualTo(4);
    assertThat(pool("/s", 4, 2, Share.Type.GUARANTEED).most()).isEqualTo(1);
    assertThatThrownBy(() -> pool("/s", 3, 2, Share.Type.GUARANTEED))
        .hasMessageContaining("3 licences cannot be divided among 2 GPUs");
    assertThatThrownBy(() -> pool("/s", 101, 1, Share.Type.GUARANTEED))
        .hasMessageContaining("100 percent");
    assertThat(pool("/s", 101, 1, Share.Type.BEST_EFFORT).most()).isEqualTo(101);
  }
}
