package graft.guests.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.program.CurrentUser;
import graft.hypervisors.libvirt.domain.Boot;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Root folders are filled from tar archives, also from those that try to lead out of them. */
class TarRootTest {
  private static final int FIRST = 0x50000000;

  @TempDir Path folder;
  private Path root;
  private Path victim;
  private TarArchiveOutputStream tar;

  @BeforeEach
  void make() throws IOException {
    root = Files.createDirectory(folder.resolve("root"));
    victim = Files.createDirectory(folder.resolve("victim"));
    begin(Files.newOutputStream(folder.resolve("root.tar")));
  }

  private void begin(OutputStream out) {
    tar = new TarArchiveOutputStream(out, StandardCharsets.UTF_8.name());
    tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
  }

  private TarRootTest file(String name, int mode, String content) throws IOException {
    return entry(name, TarConstants.LF_NORMAL, mode, "", content, 0);
  }

  private TarRootTest link(byte kind, String name, String target) throws IOException {
    return entry(name, kind, 0777, target, "", 0);
  }

  private TarRootTest entry(
      String name, byte kind, int mode, String target, String content, long user)
      throws IOException {
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    TarArchiveEntry entry = new TarArchiveEntry(name, kind, true);
    entry.setLinkName(target);
    entry.setMode(mode);
    entry.setUserId(user);
    entry.setGroupId(user);
    entry.setSize(bytes.length);
    tar.putArchiveEntry(entry);
    tar.write(bytes);
    tar.closeArchiveEntry();
    return this;
  }

  private Path done() throws IOException {
    tar.close();
    return folder.resolve("root.tar");
  }

  private void fill(Path source) throws IOException {
    assumeTrue(CurrentUser.isRoot(), "only root gives files to others");
    new RootFolder(root, new Boot.IdRange(FIRST, 65_536)).fill(source);
  }

  private static Object attribute(Path file, String name) throws IOException {
    return Files.getAttribute(file, "unix:" + name, LinkOption.NOFOLLOW_LINKS);
  }

  @Test
  void filesBelongToTheContainersUsersWithTheirModes() throws IOException {
    entry("./", TarConstants.LF_DIR, 0755, "", "", 0);
    entry("./home/", TarConstants.LF_DIR, 0700, "", "", 1000);
    file("./usr/bin/su", 04755, "su").link(TarConstants.LF_SYMLINK, "./bin", "usr/bin");
    file("./" + "long/".repeat(60) + "name", 0644, "deep");
    fill(done());
    assertThat(attribute(root.resolve("usr/bin/su"), "uid")).isEqualTo(FIRST);
    assertThat((int) attribute(root.resolve("usr/bin/su"), "mode") & 07777).isEqualTo(04755);
    assertThat(attribute(root.resolve("home"), "gid")).isEqualTo(FIRST + 1000);
    assertThat(Files.readSymbolicLink(root.resolve("bin"))).isEqualTo(Path.of("usr/bin"));
    assertThat(root.resolve("long/".repeat(60) + "name")).hasContent("deep");
  }

  @Test
  void aFileWithTwoNamesIsOneFile() throws IOException {
    file("./a", 0644, "both").link(TarConstants.LF_LINK, "./b", "./a");
    fill(done());
    assertThat(root.resolve("b")).hasContent("both");
    assertThat(attribute(root.resolve("a"), "ino")).isEqualTo(attribute(root.resolve("b"), "ino"));
  }

  /** Else the container would have a file of the host, and its owner would be changed. */
  @Test
  void noOtherNameOfAFileOfTheHostIsMade() throws IOException {
    Path passwd = Files.writeString(victim.resolve("passwd"), "before");
    for (String other : new String[] {"../victim/passwd", "out/passwd", "away", "b"}) {
      begin(Files.newOutputStream(folder.resolve("root.tar")));
      link(TarConstants.LF_SYMLINK, "out", victim.toString());
      link(TarConstants.LF_SYMLINK, "away", passwd.toString());
      link(TarConstants.LF_LINK, "b", other);
      assertThatIOException().as(other).isThrownBy(() -> fill(done()));
      assertThat(attribute(passwd, "nlink")).isEqualTo(1);
      assertThat(attribute(passwd, "uid")).isNotEqualTo(FIRST);
    }
  }

  @Test
  void noFileIsWrittenThroughALinkOutOfTheFolder() throws IOException {
    link(TarConstants.LF_SYMLINK, "etc", victim.toString()).file("etc/passwd", 0644, "root");
    assertThatIOException()
        .isThrownBy(() -> fill(done()))
        .withMessageContaining("leads through 'etc'");
    assertThat(victim).isEmptyDirectory();
  }

  @Test
  void devicesAndPipesAreLeftOut() throws IOException {
    entry("./sda", TarConstants.LF_BLK, 0666, "", "", 0);
    entry("./null", TarConstants.LF_CHR, 0666, "", "", 0);
    entry("./pipe", TarConstants.LF_FIFO, 0666, "", "", 0);
    fill(done());
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void usersThatTheContainerDoesNotHaveAreRefused() throws IOException {
    entry("./x", TarConstants.LF_NORMAL, 0644, "", "", 70_000);
    assertThatIOException()
        .isThrownBy(() -> fill(done()))
        .withMessageContaining("/x belongs to user or group 70000");
  }

  /** As systemd's is in Debian: /sbin leads to usr/sbin, and init to the program. */
  @Test
  void theInitIsFoundBehindLinks() throws IOException {
    link(TarConstants.LF_SYMLINK, "./sbin", "usr/sbin");
    file("./usr/lib/systemd/systemd", 0755, "#!/bin/sh\n");
    link(TarConstants.LF_SYMLINK, "./usr/sbin/init", "../lib/systemd/systemd");
    assertThat(RootSource.look(done())).contains(new RootSource("/sbin/init", "", ""));
  }

  @Test
  void anInitThatIsAnotherNameOfAProgramIsFound() throws IOException {
    file("./bin/busybox", 0755, "#!/bin/sh\n")
        .link(TarConstants.LF_LINK, "./init", "./bin/busybox");
    assertThat(RootSource.look(done())).contains(new RootSource("/init", "", ""));
  }

  @Test
  void aCompressedArchiveIsRead() throws IOException {
    begin(new GZIPOutputStream(Files.newOutputStream(folder.resolve("root.tar"))));
    file("./sbin/init", 0755, "#!/bin/sh\n");
    assertThat(RootSource.look(done())).contains(new RootSource("/sbin/init", "", ""));
    fill(done());
    assertThat(root.resolve("sbin/init")).hasContent("#!/bin/sh\n");
  }

  @Test
  void anArchiveThatEndsEarlyIsRefused() throws IOException {
    file("./sbin/init", 0755, "#!/bin/sh\n".repeat(500));
    byte[] whole = Files.readAllBytes(done());
    Files.write(folder.resolve("root.tar"), java.util.Arrays.copyOf(whole, 2000));
    assertThatIOException().isThrownBy(() -> fill(folder.resolve("root.tar")));
  }
}
