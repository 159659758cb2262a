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
import org.apache.commons.compress.archivers.cpio.CpioArchiveEntry;
import org.apache.commons.compress.archivers.cpio.CpioArchiveOutputStream;
import org.apache.commons.compress.archivers.cpio.CpioConstants;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Root folders are filled from archives and folders that try to lead out of them. */
class RootFolderTest {
  private static final Boot.IdRange IDS = new Boot.IdRange(0x50000000L, 65_536);

  @TempDir Path folder;
  private Path root;
  private Path victim;
  private Archive archive;

  @BeforeEach
  void make() throws IOException {
    root = Files.createDirectory(folder.resolve("root"));
    victim = Files.createDirectory(folder.resolve("victim"));
    archive = new Archive(folder.resolve("root.cpio"), false);
  }

  /** A cpio archive, entry by entry. */
  private static final class Archive implements AutoCloseable {
    private final Path file;
    private final CpioArchiveOutputStream out;
    private long number = 100;

    Archive(Path file, boolean gzip) throws IOException {
      this.file = file;
      OutputStream plain = Files.newOutputStream(file);
      out =
          new CpioArchiveOutputStream(
              gzip ? new GZIPOutputStream(plain) : plain,
              CpioConstants.FORMAT_NEW,
              4,
              StandardCharsets.UTF_8.name());
    }

    Archive folder(String name) throws IOException {
      return entry(name, CpioConstants.C_ISDIR | 0755, "", 1, ++number, 0);
    }

    Archive link(String name, String target) throws IOException {
      return entry(name, CpioConstants.C_ISLNK | 0777, target, 1, ++number, 0);
    }

    Archive file(String name, int mode, String content) throws IOException {
      return entry(name, CpioConstants.C_ISREG | mode, content, 1, ++number, 0);
    }

    Archive entry(String name, int mode, String content, int names, long inode, long user)
        throws IOException {
      byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
      CpioArchiveEntry entry = new CpioArchiveEntry(CpioConstants.FORMAT_NEW, name, bytes.length);
      entry.setMode(mode);
      entry.setNumberOfLinks(names);
      entry.setInode(inode);
      entry.setUID(user);
      entry.setGID(user);
      out.putArchiveEntry(entry);
      out.write(bytes);
      out.closeArchiveEntry();
      return this;
    }

    Path done() throws IOException {
      close();
      return file;
    }

    @Override
    public void close() throws IOException {
      out.close();
    }
  }

  private void fill(Path source) throws IOException {
    assumeTrue(CurrentUser.isRoot(), "only root gives files to others");
    new RootFolder(root, IDS).fill(source);
  }

  private static Object attribute(Path file, String name) throws IOException {
    return Files.getAttribute(file, "unix:" + name, LinkOption.NOFOLLOW_LINKS);
  }

  @Test
  void filesBelongToTheContainersUsersWithTheirModes() throws IOException {
    archive.folder("bin").entry("bin/su", CpioConstants.C_ISREG | 04755, "su", 1, 7, 0);
    archive.link("init", "bin/su").entry("home", CpioConstants.C_ISDIR | 0700, "", 1, 8, 1000);
    fill(archive.done());
    assertThat(attribute(root.resolve("bin/su"), "uid")).isEqualTo(0x50000000);
    assertThat((int) attribute(root.resolve("bin/su"), "mode") & 07777).isEqualTo(04755);
    assertThat(attribute(root.resolve("init"), "uid")).isEqualTo(0x50000000);
    assertThat(attribute(root.resolve("home"), "gid")).isEqualTo(0x50000000 + 1000);
    assertThat(attribute(root, "uid")).isEqualTo(0x50000000);
  }

  @Test
  void aFileWithTwoNamesIsOneFile() throws IOException {
    archive.entry("a", CpioConstants.C_ISREG | 0644, "", 2, 9, 0);
    archive.entry("b", CpioConstants.C_ISREG | 0644, "both", 2, 9, 0);
    fill(archive.done());
    assertThat(root.resolve("a")).hasContent("both");
    assertThat(attribute(root.resolve("a"), "ino")).isEqualTo(attribute(root.resolve("b"), "ino"));
  }

  @Test
  void noFileIsWrittenThroughALinkOutOfTheFolder() throws IOException {
    archive.link("etc", victim.toString()).file("etc/passwd", 0644, "root::0:0::/:/bin/sh");
    assertThatIOException()
        .isThrownBy(() -> fill(archive.done()))
        .withMessageContaining("leads through 'etc'");
    assertThat(victim).isEmptyDirectory();
  }

  @Test
  void aFileThatReplacesALinkDoesNotWriteWhereItLed() throws IOException {
    Path passwd = Files.writeString(victim.resolve("passwd"), "before");
    archive.link("passwd", passwd.toString()).file("./passwd", 04755, "after");
    fill(archive.done());
    assertThat(passwd).hasContent("before");
    assertThat(attribute(passwd, "uid")).isNotEqualTo(0x50000000);
    assertThat(root.resolve("passwd")).hasContent("after");
  }

  @Test
  void pathsThatLeadUpAreRefused() throws IOException {
    archive.file("usr/../../victim/x", 0644, "x");
    assertThatIOException()
        .isThrownBy(() -> fill(archive.done()))
        .withMessageContaining("not a plain one");
    assertThat(victim).isEmptyDirectory();
  }

  @Test
  void absolutePathsAreInTheFolder() throws IOException {
    archive.file(victim + "/x", 0644, "x");
    fill(archive.done());
    assertThat(victim).isEmptyDirectory();
    assertThat(root.resolve(victim.toString().substring(1)).resolve("x")).hasContent("x");
  }

  @Test
  void devicesAreLeftOut() throws IOException {
    archive.entry("sda", CpioConstants.C_ISBLK | 0666, "", 1, 11, 0);
    archive.entry("pipe", CpioConstants.C_ISFIFO | 0666, "", 1, 12, 0);
    fill(archive.done());
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void usersThatTheContainerDoesNotHaveAreRefused() throws IOException {
    archive.entry("x", CpioConstants.C_ISREG | 0644, "", 1, 13, 70_000);
    assertThatIOException()
        .isThrownBy(() -> fill(archive.done()))
        .withMessageContaining("/x belongs to user or group 70000");
  }

  @Test
  void aFolderIsCopiedWithItsLinksAsTheyAre() throws IOException {
    Path source = Files.createDirectories(folder.resolve("source/etc")).getParent();
    Files.writeString(source.resolve("etc/hostname"), "a");
    Files.createSymbolicLink(source.resolve("outside"), victim);
    fill(source);
    assertThat(root.resolve("etc/hostname")).hasContent("a");
    assertThat(attribute(root.resolve("etc/hostname"), "uid")).isEqualTo(0x50000000);
    assertThat(Files.readSymbolicLink(root.resolve("outside"))).isEqualTo(victim);
    assertThat(attribute(victim, "uid")).isNotEqualTo(0x50000000);
  }

  @Test
  void aLinkToAFolderIsCopiedAsTheFolder() throws IOException {
    Path source = Files.createDirectories(folder.resolve("source/etc")).getParent();
    Files.writeString(source.resolve("etc/hostname"), "a");
    fill(Files.createSymbolicLink(folder.resolve("current"), source));
    assertThat(root.resolve("etc/hostname")).hasContent("a");
  }

  @Test
  void anArchiveOfAnOldFormatIsRefused() throws IOException {
    Path old = folder.resolve("old.cpio");
    try (var out =
        new CpioArchiveOutputStream(
            Files.newOutputStream(old), CpioConstants.FORMAT_OLD_ASCII, 512, "UTF-8")) {
      CpioArchiveEntry entry = new CpioArchiveEntry(CpioConstants.FORMAT_OLD_ASCII, "init", 2);
      entry.setMode(CpioConstants.C_ISREG | 0755);
      out.putArchiveEntry(entry);
      out.write(new byte[] {'#', '!'});
      out.closeArchiveEntry();
    }
    assertThat(RootSource.look(old).orElseThrow().problem()).contains("make it with cpio -H newc");
    assertThatIOException().isThrownBy(() -> fill(old)).withMessageContaining("old format");
  }

  @Test
  void aLinkThatIsNoPathIsRefused() throws IOException {
    archive.link("a", "b\0c");
    assertThatIOException().isThrownBy(() -> fill(archive.done())).withMessageContaining("Nul");
  }

  @Test
  void theInitOfAnArchiveIsFoundBehindLinks() throws IOException {
    archive.folder("bin").file("bin/busybox", 0755, elf(62)).link("init", "../../bin/busybox");
    assertThat(RootSource.look(archive.done())).contains(new RootSource("/init", "", ""));
  }

  @Test
  void aCompressedArchiveIsRead() throws IOException {
    Path file;
    try (Archive compressed = new Archive(folder.resolve("root.gz"), true)) {
      file = compressed.folder("sbin").file("sbin/init", 0755, "#!/bin/sh\n").done();
    }
    assertThat(RootSource.look(file)).contains(new RootSource("/sbin/init", "", ""));
    fill(file);
    assertThat(root.resolve("sbin/init")).hasContent("#!/bin/sh\n");
  }

  /** The host's own init, to which a link leads, is not the container's. */
  @Test
  void anInitOutsideOfAFolderIsNone() throws IOException {
    Path source = Files.createDirectories(folder.resolve("source/sbin")).getParent();
    Files.createSymbolicLink(source.resolve("sbin/init"), Path.of("/bin/sh"));
    assertThat(RootSource.look(source).orElseThrow().problem()).contains("has no init");
  }

  @Test
  void linksInACircleAreNoInit() throws IOException {
    archive.link("init", "a").link("a", "init");
    assertThat(RootSource.look(archive.done()).orElseThrow().problem()).contains("has no init");
  }

  @Test
  void aProgramOfAnotherArchitectureIsRefused() throws IOException {
    archive.file("init", 0755, elf(183)); // aarch64
    assertThat(RootSource.look(archive.done()).orElseThrow().problem())
        .contains("another architecture")
        .contains("/init");
  }

  @Test
  void whatIsNoRootIsRefused() throws IOException {
    Path image = Files.writeString(folder.resolve("disk.qcow2"), "QFI\u00fb, and more");
    Path broken = Files.writeString(folder.resolve("broken"), "070701 and no more");
    assertThat(RootSource.look(image).orElseThrow().problem())
        .contains("neither a folder, nor a tar");
    assertThat(RootSource.look(broken).orElseThrow().problem()).startsWith("cannot be read");
    assertThat(RootSource.look(folder.resolve("missing"))).isEmpty();
  }

  private static String elf(int machine) {
    byte[] head = new byte[64];
    head[0] = 0x7f;
    head[1] = 'E';
    head[2] = 'L';
    head[3] = 'F';
    head[18] = (byte) machine;
    return new String(head, StandardCharsets.ISO_8859_1);
  }
}
