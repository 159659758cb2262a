package graft.deployment.hosts;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.common.disk.StateDisk;
import graft.common.json.Json;
import graft.common.program.CurrentUser;
import graft.common.values.MemorySize;
import graft.deployment.Deployments;
import graft.deployment.state.DeploymentLock;
import graft.deployment.state.StateFolder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request on the host that it was sent to: which command of Graft carries it out. The descriptor
 * and the tokens lie in a folder of the deployment, which only its owner may enter.
 */
public final class ReceivedRequest {
  private static final String DESCRIPTOR = "descriptor.yaml";
  private static final String APPLIES = "applies.json";
  private static final int MOST_NOTES = 32;

  private final HostRequest request;
  private final StateFolder state;
  private final Path folder;

  private ReceivedRequest(HostRequest request) {
    this.request = request;
    this.state = StateFolder.of(request.deployment());
    this.folder =
        CurrentUser.stateFolder(System.getenv())
            .resolve(".hosts")
            .resolve(request.deployment().text());
  }

  /**
   * Reads a request.
   *
   * @throws GraftException if it is none, or longer than any
   */
  public static ReceivedRequest read(InputStream input) {
    try {
      byte[] bytes = input.readNBytes(HostRequest.MOST + 1);
      if (bytes.length > HostRequest.MOST) {
        throw new IOException("standard input has more than 16MiB");
      }
      return new ReceivedRequest(HostRequest.parse(new String(bytes, StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new GraftException(
          "no request was received: " + e.getMessage(),
          "graft itself runs this command, on the hosts of a descriptor with 'hosts'",
          e);
    }
  }

  /**
   * The arguments of the command that carries the request out; empty if there is nothing to do.
   *
   * @throws GraftException if the deployment's folder cannot be written
   */
  public Optional<List<String>> command() {
    List<String> arguments = new ArrayList<>(List.of(request.command().toString()));
    arguments.addAll(List.of("--output", "json"));
    if (request.deleteData() && request.command() != HostRequest.Command.PLAN) {
      arguments.add("--delete-data");
    }
    switch (request.command()) {
      case INTERRUPT -> {
        return Optional.empty();
      }
      case UNDO, DESTROY -> {
        arguments.add(request.deployment().text());
        return isToBeUndone() ? Optional.of(arguments) : Optional.empty();
      }
      default -> {
        store();
        if (request.keepOnFailure()) {
          arguments.add("--keep-on-failure");
        }
        arguments.add(folder.resolve(DESCRIPTOR).toString());
        return Optional.of(arguments);
      }
    }
  }

  private void store() {
    try {
      StateDisk.get().makeFolders(folder);
      for (Map.Entry<String, String> file : request.files().entrySet()) {
        Path path = folder.resolve(file.getKey());
        if (!Files.exists(path)) { // its name has a checksum of its content
          PrivateFiles.write(path, (file.getValue() + "\n").getBytes(StandardCharsets.UTF_8));
        }
      }
      write(DESCRIPTOR, request.descriptor());
      if (request.command() == HostRequest.Command.APPLY) {
        note();
      }
    } catch (IOException e) {
      throw new GraftException(
          "cannot write to " + folder + ": " + e.getMessage() + free(),
          "nothing was changed on the host; free some space there if its disk is full",
          e);
    }
  }

  private String free() {
    try {
      long bytes = Files.getFileStore(folder).getUsableSpace();
      return ", " + new MemorySize(bytes).rounded() + " are free";
    } catch (IOException e) {
      return ""; // the folder itself could not be made
    }
  }

  /** What is there already is not written again: a host is asked its state on a full disk too. */
  private void write(String name, Map<String, ?> tree) throws IOException {
    Path path = folder.resolve(name);
    byte[] bytes = (Json.pretty(tree) + "\n").getBytes(StandardCharsets.UTF_8);
    if (!Files.exists(path) || !Arrays.equals(Files.readAllBytes(path), bytes)) {
      PrivateFiles.write(path, bytes);
    }
  }

  /**
   * Notes behind which run an apply begins, unless that apply goes on: an undo of it leaves earlier
   * runs alone. Earlier notes stay, since an apply that changes no host is not what undo undoes.
   */
  private void note() throws IOException {
    Map<String, Object> notes = new LinkedHashMap<>(noted());
    if (notes.putIfAbsent(request.apply(), Deployments.journal(state).lastRun()) == null) {
      while (notes.size() > MOST_NOTES) {
        notes.remove(notes.keySet().iterator().next());
      }
      write(APPLIES, notes);
    }
  }

  private Map<String, Object> noted() throws IOException {
    Path file = folder.resolve(APPLIES);
    return Files.exists(file) ? Json.readObject(Files.readString(file)) : Map.of();
  }

  private boolean isToBeUndone() {
    if (!state.exists()) {
      return false;
    }
    if (request.command() == HostRequest.Command.DESTROY) {
      return true;
    }
    long last = Deployments.journal(state).lastRun();
    if (last == 0) {
      return true; // an apply that never began has left its folder
    }
    try {
      return noted().get(request.apply()) instanceof Long after && last > after;
    } catch (IOException e) {
      throw new GraftException(
          "cannot read " + folder.resolve(APPLIES) + ": " + e.getMessage(),
          "graft undo " + request.deployment() + " on the host undoes its last apply",
          e);
    }
  }

  /** What is printed where there is nothing to do. */
  public Map<String, Object> nothing() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("deployment", request.deployment().text());
    if (request.command() == HostRequest.Command.INTERRUPT) {
      tree.put("interrupted", DeploymentLock.interrupt(state));
      return tree;
    }
    tree.put("steps", 0);
    tree.put("restored", 0);
    tree.put("errors", List.of());
    tree.put("empty", !state.exists());
    return tree;
  }

  /** Deletes the descriptor and the tokens, once nothing is left of the deployment. */
  public void cleanUp() {
    boolean undoes =
        request.command() == HostRequest.Command.UNDO
            || request.command() == HostRequest.Command.DESTROY;
    if (!undoes || state.exists()) {
      return;
    }
    try {
      PrivateFiles.deleteFolder(folder);
    } catch (IOException e) {
      throw new GraftException(
          "cannot delete " + folder + ": " + e.getMessage(), "delete it on the host", e);
    }
  }
}
