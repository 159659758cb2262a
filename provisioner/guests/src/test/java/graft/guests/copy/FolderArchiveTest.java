package graft.guests.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Folders as archives, and archives of hostile guests. */
@Timeout(120)
class FolderArchiveTest {
  @TempDir Path folder;
  private Path to;
  private Path outside;

  @BeforeEach
  void folders() throws IOException {
    to = Files.createDirectory(folder.resolve("to"));
    outside = Files.writeString(folder.resolve("outside"), "as it was");
  }

  /** An entry of a kind, and its content or where it leads. */
  private record Entry(String name, byte kind, String text) {}

  private static Entry file(String name) {
    return new Entry(name, TarConstants.LF_NORMAL, "from the guest");
  }

  private static byte[] archive(Entry... entries) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes)) {
      for (Entry one : entries) {
        TarArchiveEntry entry = new TarArchiveEntry(one.name, one.kind, true);
        byte[] content = one.text.getBytes(StandardCharsets.UTF_8);
        boolean holds = one.kind == TarConstants.LF_NORMAL;
        if (holds) {
          entry.setSize(content.length);
        } else {
          entry.setLinkName(one.text);
        }
        tar.putArchiveEntry(entry);
        if (holds) {
          tar.write(content);
        }
        tar.closeArchiveEntry();
      }
    }
    return bytes.toByteArray();
  }

  private CopiedFolder unpack(Entry... entries) throws IOException {
    return FolderArchive.unpack(new ByteArrayInputStream(archive(entries)), to);
  }

  private void assertNothingOutside() throws IOException {
    assertThat(outside).hasContent("as it was");
    try (var all = Files.list(folder)) {
      assertThat(all).containsExactlyInAnyOrder(to, outside);
    }
  }

  @Test
  void whatIsPackedIsUnpacked() throws Exception {
    Path from = Files.createDirectory(folder.resolve("from"));
    byte[] large = new byte[300_000];
    new Random(1).nextBytes(large);
    Files.createDirectories(from.resolve("a/b"));
    Files.write(from.resolve("a/b/large"), large);
    String name = "ü".repeat(120);
    Files.writeString(from.resolve("a").resolve(name), "x");
    assertThat(Files.writeString(from.resolve("run"), "#!").toFile().setExecutable(true)).isTrue();
    Files.createDirectory(from.resolve("empty"));
    Files.createSymbolicLink(from.resolve("link"), outside);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CopiedFolder packed = FolderArchive.pack(from, bytes);
    assertThat(packed).isEqualTo(new CopiedFolder(3, 300_003, 0, List.of()));

    CopiedFolder unpacked =
        FolderArchive.unpack(new ByteArrayInputStream(bytes.toByteArray()), to.resolve("new"));
    assertThat(unpacked).isEqualTo(new CopiedFolder(3, 300_003, 1, List.of("link")));
    assertThat(to.resolve("new/a/b/large")).hasBinaryContent(large);
    assertThat(to.resolve("new/a").resolve(name)).hasContent("x");
    assertThat(to.resolve("new/run")).isExecutable();
    assertThat(Files.isExecutable(to.resolve("new/a/b/large"))).isFalse();
    assertThat(to.resolve("new/empty")).isEmptyDirectory();
    assertThat(Files.exists(to.resolve("new/link"), java.nio.file.LinkOption.NOFOLLOW_LINKS))
        .isFalse();
  }

  @Test
  void noPathLeadsOutOfTheFolder() throws Exception {
    for (String name :
        List.of("../outside", "a/../../outside", "..", "./../outside", "a/..", "../to/x")) {
      assertThatIOException()
          .as(name)
          .isThrownBy(() -> unpack(file(name)))
          .withMessageContaining("leads out of the folder");
    }
    assertThat(unpack(file(outside.toString())).files()).isEqualTo(1);
    assertThat(to.resolve(folder.getRoot().relativize(outside)))
        .as("an absolute path begins at the folder")
        .hasContent("from the guest");
    assertNothingOutside();
  }

  @Test
  void linksAndDevicesAreLeftOutAndLeadNowhere() throws Exception {
    CopiedFolder copied =
        unpack(
            new Entry("up", TarConstants.LF_SYMLINK, ".."),
            file("up/outside"),
            new Entry("pipe", TarConstants.LF_FIFO, ""),
            new Entry("disk", TarConstants.LF_BLK, ""),
            new Entry("zero", TarConstants.LF_CHR, ""),
            new Entry("odd", (byte) 'Z', ""),
            new Entry("none", TarConstants.LF_LINK, "not/there"));
    assertThat(copied.left()).isEqualTo(6);
    assertThat(copied.examples()).hasSize(5).contains("up", "pipe");
    assertThat(to.resolve("up/outside")).hasContent("from the guest");
    assertNothingOutside();
  }

  @Test
  void aSecondNameOfAFileIsACopyOfThatInTheFolderAlone() throws Exception {
    unpack(file("a/one"), new Entry("two", TarConstants.LF_LINK, "./a/one"));
    assertThat(to.resolve("two")).hasContent("from the guest");
    assertThatIOException()
        .isThrownBy(() -> unpack(new Entry("three", TarConstants.LF_LINK, "../outside")));
    assertThat(to.resolve("three")).doesNotExist();
  }

  /** The folder may hold links of this machine's user, which a guest may know of. */
  @Test
  void linksThatAreThereAreNotFollowed() throws Exception {
    Files.createSymbolicLink(to.resolve("up"), folder);
    Files.createSymbolicLink(to.resolve("file"), outside);
    assertThatIOException().isThrownBy(() -> unpack(file("up/outside")));
    unpack(file("file"));
    assertThat(to.resolve("file")).hasContent("from the guest").isRegularFile();
    assertThat(Files.isSymbolicLink(to.resolve("file"))).isFalse();
    assertNothingOutside();
  }

  @Test
  void aHeaderWithoutEndIsRefused() throws Exception {
    TarArchiveEntry entry = new TarArchiveEntry("x", TarConstants.LF_GNUTYPE_LONGNAME);
    entry.setSize(7_000_000_000L);
    byte[] header = new byte[512];
    entry.writeEntryHeader(header);
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return 'x';
          }

          @Override
          public int read(byte[] into, int from, int most) {
            Arrays.fill(into, from, from + most, (byte) 'x');
            return most;
          }
        };
    assertThatIOException()
        .isThrownBy(
            () ->
                FolderArchive.unpack(
                    new SequenceInputStream(new ByteArrayInputStream(header), endless), to))
        .withMessageContaining("a header of more than 1 MiB");
  }

  @Test
  void whateverBytesComeNothingIsWrittenOutside() throws Exception {
    long seed = new Random().nextLong();
    System.out.println("FolderArchiveTest: seed " + seed);
    Random random = new Random(seed);
    byte[] good =
        archive(file("a/b"), new Entry("l", TarConstants.LF_SYMLINK, ".."), file("../outside"));
    for (int i = 0; i < 3000; i++) {
      byte[] bad = Arrays.copyOf(good, random.nextInt(good.length));
      for (int changes = random.nextInt(8); changes > 0 && bad.length > 0; changes--) {
        bad[random.nextInt(Math.min(bad.length, 2048))] = (byte) random.nextInt();
      }
      try {
        FolderArchive.unpack(new ByteArrayInputStream(bad), to);
      } catch (IOException e) {
        // refused
      } catch (RuntimeException e) {
        throw new AssertionError("case " + i + " of seed " + seed, e);
      }
    }
    assertNothingOutside();
  }
}
