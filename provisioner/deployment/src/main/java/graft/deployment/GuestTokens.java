package graft.deployment;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Entry;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.state.DeploymentLock;
import graft.deployment.state.StateFolder;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.PayloadStep;
import graft.deployment.step.guest.ShareTokens;
import graft.guests.connection.GuestConnection;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * The tokens of a deployment's guests, one for each of a guest's servers, in three places: in the
 * guest, in a file of the host, and in the list of the server.
 */
public final class GuestTokens {
  private final JournalState journal;
  private final Connections connections;

  private GuestTokens(JournalState journal, Connections connections) {
    this.journal = journal;
    this.connections = connections;
  }

  /** An operation on a guest's tokens. */
  public interface Change {
    void of(String guest, GuestTokens tokens) throws IOException;
  }

  /**
   * Changes the tokens of a deployment's guests, which its journal notes.
   *
   * @param command for the journal
   * @param guests the guests; if empty, all that have a token
   * @return the guests
   */
  public static List<String> change(
      StateFolder state, String command, Optional<List<String>> guests, Change change)
      throws Exception {
    return DeploymentLock.holding(
        state,
        () -> {
          try (Connections connections = new Connections();
              Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
            GuestTokens tokens = new GuestTokens(journal.state(), connections);
            List<String> chosen = guests.orElseGet(() -> AppliedGuest.withToken(tokens.journal));
            for (String guest : chosen) {
              journal.note(command + " " + guest);
              change.of(guest, tokens);
            }
            return chosen;
          }
        });
  }

  /**
   * Gives a guest a new token for each of its servers. The servers' lists change before the guest
   * does, so that a program that starts between the two is refused.
   *
   * @param endSessions whether the servers end the sessions of the guest's earlier tokens; the next
   *     rotation without it removes that setting
   * @throws GraftException if the tokens cannot be written into a running guest; the guest's old
   *     tokens are invalid then
   */
  public void rotate(String guest, boolean endSessions) throws IOException {
    AppliedGuest reached = AppliedGuest.of(journal, guest);
    List<GrantAccess> all = access(guest);
    for (GrantAccess access : all) {
      renew(access, endSessions);
    }
    boolean active = reached.isActive(connections);
    for (Entry entry : journal.entries().values()) {
      // The seed or initramfs that the guest would boot from holds the old token.
      if (entry.step() instanceof PayloadStep step && step.chain().name().equals(guest)) {
        step.renew();
      }
    }
    if (active) {
      GuestConnection connection = reached.open(connections);
      for (GrantAccess access : all) {
        bring(connection, access.token(), reached.place(access.token()));
      }
    }
  }

  private void renew(GrantAccess access, boolean endSessions) throws IOException {
    String token = TokensFile.fresh();
    PrivateFiles.write(access.token(), (token + "\n").getBytes(StandardCharsets.UTF_8));
    // A guest whose access was revoked stays without access.
    if (access.list().readIfThere().containsKey(access.guest())) {
      String settings = access.settings() + (endSessions ? " " + Grant.END_OTHERS : "");
      access.list().grant(access.guest(), token, settings.strip());
      tellOwner(access.tokens());
    }
  }

  /** Replaces a token in the guest; the file keeps its mode and group. */
  private static void bring(GuestConnection connection, Path token, String place)
      throws IOException {
    String beside = place + ".graft-new";
    connection.put(new ByteArrayInputStream(Files.readAllBytes(token)), beside, 0600);
    GuestPrograms.run(
        connection,
        "/bin/sh",
        "-c",
        "chmod \"$(stat -c %a \"$1\")\" \"$2\" && chgrp \"$(stat -c %g \"$1\")\" \"$2\""
            + " && mv -f \"$2\" \"$1\"",
        "sh",
        place,
        beside);
  }

  /** Revokes a guest's access to all of its servers. */
  public void revoke(String guest) throws IOException {
    for (GrantAccess access : access(guest)) {
      access.list().revoke(guest);
      tellOwner(access.tokens());
    }
  }

  private List<GrantAccess> access(String guest) {
    List<GrantAccess> all =
        AppliedGuest.of(journal, guest).steps().stream()
            .filter(GrantAccess.class::isInstance)
            .map(GrantAccess.class::cast)
            .toList();
    if (all.isEmpty()) {
      throw none(guest);
    }
    return all;
  }

  private static GraftException none(String guest) {
    return new GraftException(
        "the guest '" + guest + "' has no token of this host",
        "only a guest with a vGPU has one; where a node serves it, that node's list has the token");
  }

  /** Where the server runs in a guest, its list is copied there. */
  private void tellOwner(Path tokens) throws IOException {
    Optional<ShareTokens> share =
        journal.entries().values().stream()
            .map(Entry::step)
            .filter(step -> step instanceof ShareTokens s && s.tokens().equals(tokens))
            .map(ShareTokens.class::cast)
            .findFirst();
    if (share.isPresent()) {
      share.get().bring(AppliedGuest.of(journal, share.get().guest()).open(connections));
    }
  }
}
