package graft.provisioner.setup;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A payload as an archive, and the script that unpacks it in a guest and puts everything into its
 * place.
 *
 * <p>The archive holds {@code manifest} and, by their numbers, the files. A line of the manifest is
 * one of
 *
 * <pre>
 * file NUMBER MODE GROUP PATH
 * package NAME
 * environment NAME=VALUE
 * service NAME
 * </pre>
 */
public final class SetupArchive implements Content {
  private final Map<String, Content> entries = new LinkedHashMap<>();

  public SetupArchive(Payload payload) {
    StringBuilder manifest = new StringBuilder();
    List<PayloadFile> files = payload.files();
    for (int i = 0; i < files.size(); i++) {
      PayloadFile file = files.get(i);
      String mode = String.format(Locale.ROOT, "%o", file.mode());
      line(manifest, "file", i + " " + mode + " " + file.group() + " " + file.path());
    }
    payload.packages().forEach(name -> line(manifest, "package", name));
    payload.environment().forEach(setting -> line(manifest, "environment", setting));
    payload.services().forEach(name -> line(manifest, "service", name));
    entries.put("manifest", Content.of(manifest.toString()));
    for (int i = 0; i < files.size(); i++) {
      entries.put(String.valueOf(i), files.get(i).content());
    }
  }

  private static void line(StringBuilder manifest, String kind, String value) {
    if (value.indexOf('\n') >= 0) {
      throw new IllegalArgumentException("a " + kind + " of a guest holds a line break: " + value);
    }
    manifest.append(kind).append(' ').append(value).append('\n');
  }

  @Override
  public long size() throws IOException {
    return TarArchive.size(entries);
  }

  @Override
  public void writeTo(OutputStream out) throws IOException {
    TarArchive.write(out, entries);
  }

  /** The script: {@code sh setup.sh ARCHIVE [MARKER]}. It says how to read what it prints. */
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
