package graft.deployment.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of {@code graft doctor --fix}. */
class FixesTest {
  private static final List<String> ONE = List.of("apt-get", "install", "--yes", "one");
  private static final List<String> TWO = List.of("apt-get", "install", "--yes", "two");
  private static final List<String> THREE = List.of("systemctl", "start", "three");

  @TempDir Path folder;
  private final List<String> events = new ArrayList<>();

  private void run(List<List<String>> commands, Fixes.Runner runner) throws Exception {
    Fixes.run(commands, line -> events.add("say " + line), runner);
  }

  @Test
  void eachCommandIsRunOnceInOrderAndSaidBefore() throws Exception {
    List<Finding> findings =
        List.of(
            Finding.problem("a", "missing", "fix").fixedBy(List.of(ONE, THREE)),
            Finding.ok("b", "there").fixedBy(List.of(List.of("never"))),
            Finding.problem("c", "by hand", "fix it; rm -rf /"),
            Finding.warning("d", "missing", "fix").fixedBy(List.of(ONE, TWO)));
    assertThat(Fixes.of(findings)).containsExactly(ONE, THREE, TWO);
    run(
        List.of(ONE, TWO),
        command -> {
          events.add("run " + command.get(3));
          return 0;
        });
    assertThat(events)
        .containsExactly(
            "say apt-get install --yes one", "run one", "say apt-get install --yes two", "run two");
  }

  @Test
  void theFirstFailureIsTheEnd() {
    assertThatThrownBy(
            () ->
                run(
                    List.of(ONE, TWO, THREE),
                    command -> {
                      events.add("run");
                      return command.equals(TWO) ? 100 : 0;
                    }))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("'apt-get install --yes two' ended with 100; no further command");
    assertThat(events).filteredOn("run"::equals).hasSize(2);
    assertThatThrownBy(
            () ->
                run(
                    List.of(ONE, TWO),
                    command -> {
                      throw new IOException("no such program");
                    }))
        .hasMessageContaining("'apt-get install --yes one' could not be run: no such program");
  }

  @Test
  void aProgramRunsWithoutAShellAndWithoutInput() throws Exception {
    List<String> printed = new ArrayList<>();
    Fixes.Runner runner = Fixes.thisHost(printed::add);
    Path made = folder.resolve("made");
    assertThat(runner.run(List.of("echo", "a; touch " + made + " $(touch " + made + ")"))).isZero();
    assertThat(printed).containsExactly("a; touch " + made + " $(touch " + made + ")");
    assertThat(made).doesNotExist();
    assertThat(runner.run(List.of("cat"))).as("it would wait for input").isZero();
    assertThat(runner.run(List.of("false"))).isEqualTo(1);
    assertThatThrownBy(() -> runner.run(List.of("no-such-program")))
        .isInstanceOf(IOException.class);
  }

  /** What the doctor offers where no program is installed. */
  @Test
  void onlyProgramsThatGraftNamesAreEverRun() throws Exception {
    Path nothing = Files.createDirectory(folder.resolve("bin"));
    Doctor doctor = new Doctor(Map.of("PATH", nothing + ":/a; reboot"), Finding.ok("a", "b"));
    List<List<String>> commands = new ArrayList<>(Fixes.of(doctor.programs()));
    assertThat(commands)
        .startsWith(
            List.of("apt-get", "install", "--yes", "qemu-utils"),
            List.of("apt-get", "install", "--yes", "util-linux"))
        .contains(
            List.of("apt-get", "install", "--yes", "dnsmasq-base"),
            List.of("apt-get", "install", "--yes", "mmdebstrap"),
            List.of("apt-get", "install", "--yes", "syslinux-common"))
        .doesNotHaveDuplicates();
    commands.addAll(doctor.libvirtCommands());
    assertThat(commands)
        .contains(List.of("apt-get", "install", "--yes", "libvirt-daemon-system"))
        .allMatch(
            command ->
                List.of("apt-get", "systemctl", "virtlogd", "libvirtd").contains(command.get(0)))
        .allMatch(command -> command.stream().allMatch(word -> word.matches("[a-z0-9-]+")));
  }
}
