package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code release.sh}, in a clone of this checkout. */
final class ReleaseTest {
  private static final String NEXT = "99.0.0";

  private static final Pattern VERSION = Pattern.compile("<version>([0-9.]+)-SNAPSHOT</version>");

  @TempDir Path folder;

  private Path clone;

  @BeforeEach
  void cloneOfTheCheckout() throws Exception {
    clone = folder.resolve("graft");
    Finished cloned =
        Finished.run(
            folder, System.getenv(), List.of("git", "clone", "-q", "" + Checkout.ROOT, "" + clone));
    assumeTrue(cloned.code() == 0, "this checkout has no history");
  }

  private Finished in(String... command) throws Exception {
    Map<String, String> environment = new HashMap<>(System.getenv());
    for (String who : List.of("AUTHOR", "COMMITTER")) {
      environment.put("GIT_" + who + "_NAME", "Graft");
      environment.put("GIT_" + who + "_EMAIL", "graft@localhost");
    }
    return Finished.run(clone, environment, List.of(command), Duration.ofMinutes(2));
  }

  private String git(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    Finished ended = in(command.toArray(String[]::new));
    assertThat(ended.code()).as("%s", ended).isZero();
    return ended.out();
  }

  private String version() throws Exception {
    Matcher version = VERSION.matcher(Files.readString(clone.resolve("pom.xml")));
    assumeTrue(version.find(), "this checkout is a release");
    return version.group(1);
  }

  @Test
  void aReleaseIsATaggedCommitAndOneThatBeginsTheNext() throws Exception {
    String version = version();
    String before = git("rev-parse", "--short=8", "HEAD").strip();

    Finished made = in("distribution/release.sh", version, NEXT);

    assertThat(made.code()).as("%s", made).isZero();
    String tag = "v" + version;
    assertThat(git("rev-parse", tag + "^{commit}")).isEqualTo(git("rev-parse", "HEAD~1"));
    assertThat(git("status", "--porcelain")).isEmpty();
    String poms = git("show", tag + ":pom.xml") + git("show", tag + ":distribution/pom.xml");
    assertThat(poms).contains("<version>" + version + "</version>").doesNotContain("SNAPSHOT");
    assertThat(git("show", tag + ":CHANGELOG.md"))
        .contains("## " + version + " (commit " + before + ")\n")
        .doesNotContain("not released");
    String folderOfApi = ":remoting-bridge/api/src/main/";
    assertThat(git("show", tag + folderOfApi + "resources/graft/remoting/api/releases/" + version))
        .startsWith("# What clients of Graft " + version + " (commit " + before + ") send")
        .contains("\nSYNC cuCtxSetLimit(");
    assertThat(git("show", tag + folderOfApi + "java/graft/remoting/api/EarlierRelease.java"))
        .contains(", \"" + version + "\");");
    assertThat(Files.readString(clone.resolve("pom.xml")))
        .contains("<version>" + NEXT + "-SNAPSHOT</version>")
        .doesNotContain("<version>" + version);
    assertThat(Files.readString(clone.resolve("CHANGELOG.md")))
        .contains("## " + NEXT + ", not released\n\n## " + version + " (commit ");
  }

  @Test
  void whatCannotBeReleasedChangesNothing() throws Exception {
    String version = version();
    String before = git("rev-parse", "HEAD");
    assertThat(in("distribution/release.sh", "1.0", NEXT).err()).contains("'1.0' is no version");
    assertThat(in("distribution/release.sh", "98.0.0", NEXT).err())
        .contains("no heading '## 98.0.0, not released'");
    git("tag", "v" + version);
    assertThat(in("distribution/release.sh", version, NEXT).err())
        .contains("the tag v" + version + " exists");
    Files.writeString(clone.resolve("README.md"), "changed");
    assertThat(in("distribution/release.sh", version, NEXT).err()).contains("not committed");
    assertThat(git("rev-parse", "HEAD")).isEqualTo(before);
  }
}
