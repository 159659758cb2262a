package graft.remoting.server;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import graft.remoting.server.backend.Backend;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A worker that a guest has compromised: it sends the server arbitrary messages and tries to escape
 * from its jail.
 */
public final class HostileBackend implements Backend {
  /** Parameter: a packet, which is sent to the server unchanged. */
  static final int SAY = 0;

  /** Parameter: an attempt, as text; answers with the outcome, as text. */
  static final int TRY = 1;

  /** In a jail, the descriptor of the connection to the server. */
  private static final int SERVER = 3;

  private static final Function SYSCALL = NativeLibrary.getInstance("c").getFunction("syscall");

  @Override
  public String kind() {
    return "hostile";
  }

  @Override
  public String open(boolean makesContext) {
    return "hostile";
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    return new Hostile(channel);
  }

  private record Hostile(Channel channel) implements RecordHandler {
    @Override
    public void execute(long record) throws IOException {
      int size = graft.remoting.device.Memory.getInt(record);
      int length = graft.remoting.device.Memory.getInt(record + 16);
      byte[] argument = Scratch.bytesAt(record + 20, Math.min(length, size - 20));
      String answer =
          graft.remoting.device.Memory.getShort(record + 4) == SAY
              ? say(argument)
              : attempt(new String(argument, StandardCharsets.UTF_8).split(" ", -1));
      reply(graft.remoting.device.Memory.getInt(record + 8), answer);
    }

    private void reply(int slot, String text) throws IOException {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      int size = 16 + (4 + bytes.length + 7 & ~7);
      long reply = channel.replyBuffer();
      graft.remoting.device.Memory.putInt(reply, size);
      graft.remoting.device.Memory.putInt(reply + 4, 0);
      graft.remoting.device.Memory.putInt(reply + 8, slot);
      graft.remoting.device.Memory.putInt(reply + 12, 0);
      graft.remoting.device.Memory.putInt(reply + 16, bytes.length);
      graft.remoting.device.Memory.write(reply + 20, bytes, 0, bytes.length);
      channel.send(reply, size);
    }

    private static String say(byte[] packet) {
      try (Scratch copy = Scratch.of(packet)) {
        return outcome(Libc.send(SERVER, copy.address(), packet.length, Libc.MSG_NOSIGNAL));
      }
    }

    private static String outcome(long result) {
      return result < 0 ? Libc.strerror(Native.getLastError()) : "DONE";
    }

    private static String attempt(String[] words) {
      try {
        return switch (words[0]) {
          case "read" -> {
            Files.newInputStream(Path.of(words[1])).read();
            yield "DONE";
          }
          case "write" -> {
            Files.write(Path.of(words[1]), new byte[1]);
            yield "DONE";
          }
          case "fill" -> fill(Path.of(words[1]), Long.parseLong(words[2]));
          case "threads" -> threads(Integer.parseInt(words[1]));
          case "memory" -> memory(Long.parseLong(words[1]));
          case "burn" -> burn(Integer.parseInt(words[1]), Long.parseLong(words[2]));
          case "see" -> see(Path.of(words[1]));
          case "user" -> Long.toString(SYSCALL.invokeLong(new Object[] {102L}));
          case "call" -> call(words);
          default -> throw new IllegalArgumentException(words[0]);
        };
      } catch (IOException e) {
        return e.toString();
      }
    }

    /** A system call with numbers, or with text after a quotation mark. */
    private static String call(String[] words) {
      Object[] arguments = new Object[words.length - 1];
      for (int i = 0; i < arguments.length; i++) {
        String word = words[i + 1];
        if (word.startsWith("'")) {
          Memory text = new Memory(word.length());
          text.setString(0, word.substring(1));
          arguments[i] = text;
        } else if (word.startsWith("+")) {
          Memory zeros = new Memory(Long.parseLong(word.substring(1)));
          zeros.clear();
          arguments[i] = zeros;
        } else {
          arguments[i] = Long.decode(word);
        }
      }
      return outcome(SYSCALL.invokeLong(arguments));
    }

    private static String fill(Path file, long bytes) throws IOException {
      byte[] chunk = new byte[1 << 20];
      try (var out = Files.newOutputStream(file)) {
        for (long done = 0; done < bytes; done += chunk.length) {
          out.write(chunk);
        }
      } finally {
        Files.deleteIfExists(file);
      }
      return "DONE";
    }

    private static String see(Path folder) throws IOException {
      try (var all = Files.list(folder)) {
        return String.join(" ", all.map(p -> p.getFileName().toString()).sorted().toList());
      }
    }

    private static String threads(int most) {
      List<Thread> threads = new ArrayList<>();
      try {
        while (threads.size() < most) {
          Thread thread = new Thread(null, Hostile::sleep, "bomb", 64 << 10);
          thread.setDaemon(true);
          thread.start();
          threads.add(thread);
        }
        return "DONE";
      } catch (OutOfMemoryError e) {
        return "no more than " + threads.size() + " threads";
      } finally {
        threads.forEach(Thread::interrupt);
      }
    }

    /** Takes memory outside the Java heap and writes to all of it. */
    private static String memory(long most) {
      int chunk = 8 << 20;
      List<Long> taken = new ArrayList<>();
      for (long done = 0; done < most; done += chunk) {
        long address = graft.remoting.device.Memory.allocate(chunk);
        graft.remoting.device.Memory.fill(address, chunk, (byte) 1);
        taken.add(address);
      }
      taken.forEach(graft.remoting.device.Memory::free);
      return "DONE";
    }

    /** Keeps that many threads busy for a time. */
    private static String burn(int count, long millis) {
      long end = System.nanoTime() + millis * 1_000_000;
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        Thread thread =
            new Thread(
                () -> {
                  while (System.nanoTime() < end) {
                    Thread.onSpinWait();
                  }
                },
                "burn");
        thread.start();
        threads.add(thread);
      }
      threads.forEach(Hostile::await);
      return "DONE";
    }

    private static void await(Thread thread) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private static void sleep() {
      try {
        Thread.sleep(60_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void addConnection(int connection, Channel added) {}

    @Override
    public long memory() {
      return 0;
    }
  }
}
