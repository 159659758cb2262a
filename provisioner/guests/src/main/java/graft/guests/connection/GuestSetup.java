package graft.guests.connection;

import graft.common.GraftException;
import graft.guests.payload.Content;
import graft.guests.payload.Payload;
import graft.guests.payload.SetupArchive;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Installs a payload in a running guest: copies the payload's archive and the script that unpacks
 * it.
 */
public final class GuestSetup {
  /** The archive that is unpacked in the guest; no deployment can have such a name. */
  public static final String ARCHIVE = "/var/lib/graft/.incoming/setup.tar";

  private static final String FOLDER = "/var/lib/graft/.incoming";
  private static final Duration SHORT = Duration.ofSeconds(60);
  private static final Pattern CHANGED = Pattern.compile("(?m)^changed=(\\d{1,9})$");
  private static final Pattern FAILED = Pattern.compile("(?ms)^failed: (.*)\\z");
  private static final byte[] NOTHING = new byte[0];

  private final GuestConnection connection;
  private final String guest;

  public GuestSetup(GuestConnection connection, String guest) {
    this.connection = connection;
    this.guest = guest;
  }

  /**
   * Copies the payload into the guest and runs the script. A second call changes nothing.
   *
   * @return the number of things that the script changed
   * @throws GraftException if the script fails, with the script's output in the message
   */
  public int bring(Payload payload, Duration timeout) throws IOException {
    Ended made = connection.run(List.of("mkdir", "-p", "-m", "700", FOLDER), NOTHING, SHORT);
    if (!made.succeeded()) {
      throw refused(made.said());
    }
    try {
      put(SetupArchive.script(), "setup.sh");
      put(new SetupArchive(payload), "setup.tar");
      Ended ended =
          connection.run(List.of("/bin/sh", FOLDER + "/setup.sh", ARCHIVE), NOTHING, timeout);
      Matcher changed = CHANGED.matcher(ended.outputText());
      if (ended.succeeded() && changed.find()) {
        return Integer.parseInt(changed.group(1));
      }
      Matcher failed = FAILED.matcher(ended.said());
      throw refused(failed.find() ? failed.group(1).strip() : ended.said());
    } finally {
      clear();
    }
  }

  private GraftException refused(String why) {
    return new GraftException(
        "the guest '" + guest + "' could not be set up: " + why,
        why.contains("No space left")
            ? "free space on its disk, then apply again: no file of the guest was replaced"
            : "fix what the message names in the guest, then apply again");
  }

  private void put(byte[] content, String name) throws IOException {
    connection.put(new ByteArrayInputStream(content), FOLDER + "/" + name, 0600);
  }

  /** Copies through a temporary file, because the connection reads the content in chunks. */
  private void put(Content content, String name) throws IOException {
    Path file = Files.createTempFile("graft-setup", null); // created with mode 0600
    try {
      try (OutputStream out = Files.newOutputStream(file)) {
        content.writeTo(out);
      }
      try (InputStream in = Files.newInputStream(file)) {
        connection.put(in, FOLDER + "/" + name, 0600);
      }
    } finally {
      Files.deleteIfExists(file);
    }
  }

  /**
   * Deletes the folder, which contains the token. If the guest no longer answers, the next set-up
   * deletes the folder.
   */
  private void clear() {
    try {
      connection.run(List.of("rm", "-rf", FOLDER), NOTHING, SHORT);
    } catch (GuestConnectionException e) {
      if (!e.unresponsive()) {
        throw e;
      }
    }
  }
}
