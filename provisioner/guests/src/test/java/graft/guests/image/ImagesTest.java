package graft.guests.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Images that are taken in, with QEMU's own tools. */
@Tag("integration")
class ImagesTest {
  private static final ImageName UBUNTU = new ImageName("ubuntu", "24.04");

  @TempDir Path folder;
  private ImageStore store;
  private Path raw;

  @BeforeEach
  void anImage() throws IOException {
    store = new ImageStore(folder.resolve("images"));
    raw = folder.resolve("noble.img");
    byte[] content = new byte[1 << 20];
    new java.util.Random(1).nextBytes(content);
    Files.write(raw, content);
  }

  @Test
  void anImageIsKeptWithItsChecksum() throws Exception {
    String sum =
        store.take(
            UBUNTU, raw, Optional.of(ImageStore.sha256(raw).toUpperCase(java.util.Locale.ROOT)));
    Path image = store.file(UBUNTU);
    assertThat(store.files()).containsExactly(image);
    assertThat(sum).isEqualTo(ImageStore.sha256(image));
    assertThat(store.noted(image)).contains(sum);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(image)))
        .isEqualTo("rw-r--r--");
    run("qemu-img", "compare", raw.toString(), image.toString());
    run("sha256sum", "--check", image.getFileName() + ".sha256");
    assertThat(folder.resolve("images")).isDirectoryNotContaining("glob:**unfinished");
  }

  @Test
  void anImageThatChangedIsFound() throws Exception {
    store.take(UBUNTU, raw, Optional.empty());
    Path image = store.file(UBUNTU);
    byte[] content = Files.readAllBytes(image);
    content[content.length - 1] ^= 1;
    Files.write(image, content);
    assertThat(store.noted(image)).isNotEqualTo(Optional.of(ImageStore.sha256(image)));
  }

  @Test
  void aFileWithAnotherChecksumIsNotTaken() {
    String other = "0".repeat(64);
    assertThatThrownBy(() -> store.take(UBUNTU, raw, Optional.of(other)))
        .hasMessageContaining(ImageStore.sha256(raw) + ", and not " + other);
    assertThat(store.files()).isEmpty();
  }

  /** QEMU would read that other file, as whoever runs it. */
  @Test
  void anImageThatReachesForAnotherFileIsNotTaken() throws Exception {
    Path over = folder.resolve("over.qcow2");
    run(
        "qemu-img",
        "create",
        "-q",
        "-f",
        "qcow2",
        "-F",
        "raw",
        "-b",
        raw.toString(),
        over.toString());
    assertThatThrownBy(() -> store.take(UBUNTU, over, Optional.empty()))
        .hasMessageContaining("is not a complete image");
    assertThat(store.files()).isEmpty();
  }

  @Test
  void whatIsNoImageIsSaidByQemu() {
    assertThatThrownBy(() -> store.take(UBUNTU, folder.resolve("missing"), Optional.empty()))
        .hasMessageContaining("qemu-img info failed");
  }

  @Test
  void aNewerImageOfANameReplacesIt() throws Exception {
    String before = store.take(UBUNTU, raw, Optional.empty());
    Files.write(raw, new byte[1 << 20]);
    assertThat(store.take(UBUNTU, raw, Optional.empty())).isNotEqualTo(before);
    assertThat(store.files()).hasSize(1);
  }

  /** A container's root file system has the name of the disk, and neither replaces the other. */
  @Test
  void aRootFileSystemIsKeptBesideTheDisk() throws Exception {
    store.take(UBUNTU, raw, Optional.empty());
    Path unfinished = store.unfinished(UBUNTU, ImageKind.ROOT);
    Files.writeString(unfinished, "a root");
    String sum = store.keep(UBUNTU, ImageKind.ROOT, unfinished);
    Path root = store.file(UBUNTU, ImageKind.ROOT);
    assertThat(root).hasContent("a root").hasFileName("ubuntu-24.04.tar");
    assertThat(store.noted(root)).contains(sum);
    assertThat(store.files()).containsExactly(store.file(UBUNTU), root);
    assertThat(store.files(ImageKind.DISK)).containsExactly(store.file(UBUNTU));
  }

  private void run(String... words) throws Exception {
    Files.createDirectories(folder.resolve("images"));
    Process process =
        new ProcessBuilder(List.of(words))
            .directory(folder.resolve("images").toFile())
            .inheritIO()
            .start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
  }
}
