package graft.hypervisors.libvirt;

import graft.common.json.Json;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An agent that runs programs and opens files of this machine, as QEMU's agent does in a guest. */
final class LocalAgent implements AgentLine {
  /** Replies above this size are what libvirt cannot send. */
  private static final int LARGEST = 4 << 20;

  private final Map<Long, Process> processes = new HashMap<>();
  private final Map<Long, File> captured = new HashMap<>();
  private final Map<Long, RandomAccessFile> files = new HashMap<>();
  private long next = 1;

  @Override
  public synchronized String ask(String action, String question, int seconds) {
    try {
      Map<String, Object> asked = Json.readObject(question);
      Map<?, ?> arguments = (Map<?, ?>) asked.getOrDefault("arguments", Map.of());
      Object answer = answer(String.valueOf(asked.get("execute")), arguments);
      String reply = Json.line(Map.of("return", answer));
      if (reply.length() > LARGEST) {
        throw new AssertionError(asked.get("execute") + ": a reply of " + reply.length());
      }
      return reply;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Object answer(String command, Map<?, ?> arguments) throws IOException {
    return switch (command) {
      case "guest-exec" -> exec(arguments);
      case "guest-exec-status" -> status((Long) arguments.get("pid"));
      case "guest-file-open" -> {
        String mode = String.valueOf(arguments.get("mode"));
        RandomAccessFile file =
            new RandomAccessFile(
                String.valueOf(arguments.get("path")), mode.equals("r") ? "r" : "rw");
        if (mode.equals("w")) {
          file.setLength(0);
        }
        files.put(next, file);
        yield next++;
      }
      case "guest-file-read" -> {
        byte[] bytes = new byte[((Long) arguments.get("count")).intValue()];
        int count = Math.max(0, files.get(arguments.get("handle")).read(bytes));
        String text = Base64.getEncoder().encodeToString(Arrays.copyOf(bytes, count));
        yield Map.of("count", count, "buf-b64", text, "eof", count < bytes.length);
      }
      case "guest-file-write" -> {
        byte[] bytes = Base64.getDecoder().decode(String.valueOf(arguments.get("buf-b64")));
        files.get(arguments.get("handle")).write(bytes);
        yield Map.of("count", bytes.length, "eof", false);
      }
      case "guest-file-seek" -> Map.of("position", 0, "eof", false);
      case "guest-file-close" -> {
        files.remove(arguments.get("handle")).close();
        yield Map.of();
      }
      default -> throw new AssertionError(command);
    };
  }

  private Object exec(Map<?, ?> arguments) throws IOException {
    List<String> words = new ArrayList<>(List.of(String.valueOf(arguments.get("path"))));
    for (Object word : (List<?>) arguments.get("arg")) {
      words.add(String.valueOf(word));
    }
    File out = File.createTempFile("agent", "");
    out.deleteOnExit();
    Process process =
        new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(out).start();
    Object input = arguments.containsKey("input-data") ? arguments.get("input-data") : "";
    feed(process, Base64.getDecoder().decode(String.valueOf(input)));
    processes.put(process.pid(), process);
    captured.put(process.pid(), out);
    return Map.of("pid", process.pid());
  }

  /** As the agent does, which goes on while the program does not read. */
  private static void feed(Process process, byte[] input) {
    Thread feeder =
        new Thread(
            () -> {
              try (OutputStream to = process.getOutputStream()) {
                to.write(input);
              } catch (IOException e) {
                // the program has ended
              }
            });
    feeder.setDaemon(true);
    feeder.start();
  }

  private Object status(Long pid) throws IOException {
    Process process = processes.get(pid);
    if (process.isAlive()) {
      return Map.of("exited", false);
    }
    processes.remove(pid);
    File out = captured.remove(pid);
    byte[] said = Files.readAllBytes(out.toPath());
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("exited", true);
    int code = process.exitValue();
    if (code > 128) {
      answer.put("signal", code - 128);
    } else {
      answer.put("exitcode", code);
    }
    answer.put("out-data", Base64.getEncoder().encodeToString(said));
    Files.deleteIfExists(out.toPath());
    return answer;
  }

  /** What is open and not closed. */
  synchronized int open() {
    return files.size();
  }
}
