package graft.guests.payload;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * A payload as an archive, and the script that unpacks the archive in a guest and moves everything
 * to its place.
 *
 * <p>The archive is unpacked in the root folder. It contains a manifest, and each file with its
 * mode in a folder beside the file's place. A line of the manifest is one of
 *
 * <pre>
 * file MODE GROUP PATH
 * package NAME
 * environment NAME=VALUE
 * service NAME
 * </pre>
 */
public final class SetupArchive implements Content {
  private static final String MANIFEST = "var/lib/graft/.setup/manifest";
  private static final String BESIDE = ".graft-new/";

  private final List<TarArchive.Member> members = new ArrayList<>();

  public SetupArchive(Payload payload) {
    StringBuilder manifest = new StringBuilder();
    // Files of one folder are consecutive, because the script moves them together.
    List<PayloadFile> files =
        payload.files().stream()
            .sorted(Comparator.comparing(SetupArchive::folder).thenComparing(PayloadFile::path))
            .toList();
    for (PayloadFile file : files) {
      String mode = String.format(Locale.ROOT, "%o", file.mode());
      line(manifest, "file", mode + " " + file.group() + " " + file.path());
    }
    payload.packages().forEach(name -> line(manifest, "package", name));
    payload.environment().forEach(setting -> line(manifest, "environment", setting));
    payload.services().forEach(name -> line(manifest, "service", name));
    members.add(new TarArchive.Member(MANIFEST, 0644, Content.of(manifest.toString())));
    for (PayloadFile file : files) {
      String folder = folder(file);
      String beside = folder + BESIDE + file.path().substring(folder.length());
      members.add(new TarArchive.Member(beside.substring(1), file.mode(), file.content()));
    }
  }

  /** The folder of a file, with a slash at its end. */
  private static String folder(PayloadFile file) {
    return file.path().substring(0, file.path().lastIndexOf('/') + 1);
  }

  private static void line(StringBuilder manifest, String kind, String value) {
    if (value.indexOf('\n') >= 0) {
      throw new IllegalArgumentException("a " + kind + " of a guest holds a line break: " + value);
    }
    manifest.append(kind).append(' ').append(value).append('\n');
  }

  @Override
  public long size() throws IOException {
    return TarArchive.write(OutputStream.nullOutputStream(), members);
  }

  @Override
  public void writeTo(OutputStream out) throws IOException {
    TarArchive.write(out, members);
  }

  /**
   * The script: {@code sh setup.sh ARCHIVE [MARKER]}. Comments in the script explain its output.
   */
  public static byte[] script() {
    try (InputStream in = SetupArchive.class.getResourceAsStream("setup.sh")) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      in.transferTo(out);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("reading a resource of our own", e);
    }
  }
}
