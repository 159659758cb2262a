package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;

import graft.remoting.api.Description;
import graft.remoting.api.Function;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.worker.WorkerMain;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A guest with a token that sends every forbidden address in every function that has an address,
 * generated from the API's description. The server must run on this host: the attacker reads the
 * addresses of its workers' memory from {@code /proc}.
 */
final class Attacker implements AutoCloseable {
  /** The outcome of a record. */
  record Outcome(String function, String attack, int result) {
    boolean isAttack() {
      return !attack.equals(RIGHT);
    }

    boolean succeeded() {
      return result == 0;
    }
  }

  private static final String RIGHT = "nothing wrong";

  /** The session ended instead of answering. */
  static final int ENDED = -1;

  /** Connects anew. */
  interface Connecting {
    WireClient connect() throws IOException;
  }

  private final Connecting connecting;
  private final Description description = Description.load();
  private CudaClient client;
  private int id = 100;
  private int slot = 1 << 20;
  private int ended;

  Attacker(Connecting connecting) throws IOException {
    this.connecting = connecting;
    connect();
  }

  private void connect() throws IOException {
    client = new CudaClient(connecting.connect()).retain();
  }

  /** Returns how many sessions were lost. */
  int ended() {
    return ended;
  }

  /** Returns the functions that are sent. */
  List<Function> functions() {
    return description.wire();
  }

  private AttackedFunction attacked(Function f) throws IOException {
    try {
      return new AttackedFunction(f, description.structures(), new AttackWorld(client, ++id));
    } catch (IOException e) {
      ended++;
      connect();
      return new AttackedFunction(f, description.structures(), new AttackWorld(client, ++id));
    }
  }

  /**
   * Sends every invalid record of a function, after a valid one, which shows that a record is
   * refused for what is wrong with it. Each variant has objects of its own, because a call may
   * destroy them.
   *
   * @param hostile addresses that the function must refuse
   */
  List<Outcome> attack(Function f, List<AttackedFunction.Hostile> hostile) throws IOException {
    List<Outcome> outcomes = new ArrayList<>();
    AttackedFunction first = attacked(f);
    if (first.variants().stream().allMatch(v -> v.attacks(hostile).isEmpty())) {
      return outcomes;
    }
    for (int i = 0; i < first.variants().size(); i++) {
      AttackedFunction variant = i == 0 ? first.variants().get(0) : attacked(f).variants().get(i);
      for (AttackedFunction.Attack attack : variant.attacks(hostile)) {
        outcomes.add(
            new Outcome(variant.toString(), attack.label(), say(variant, attack.values())));
      }
      outcomes.add(new Outcome(variant.toString(), RIGHT, say(variant, variant.right())));
      settle(f, variant);
    }
    return outcomes;
  }

  /** Ends what a call began, and receives the data in flight, which comes before the reply. */
  private void settle(Function f, AttackedFunction variant) throws IOException {
    try {
      if (f.symbol().startsWith("cuStreamBeginCapture")) {
        variant.world().endCapture();
      }
      answer(client.begin("graftContextSynchronize", with()));
    } catch (IOException e) {
      ended++;
      connect();
    }
  }

  private int say(AttackedFunction f, Map<String, Object> values) throws IOException {
    byte[] bulk = f.bulk(values);
    byte[] body = f.encode(values).done();
    int used = ++slot;
    try {
      client.wire.send(
          WireClient.little(16 + body.length + bulk.length)
              .putInt(16 + body.length)
              .putShort((short) Dispatcher.number(f.symbol()))
              .putShort((short) (1 | (bulk.length > 0 ? 2 : 0)))
              .putInt(used)
              .putInt(1)
              .put(body)
              .put(bulk)
              .flip());
      return answer(used);
    } catch (IOException e) {
      ended++;
      connect();
      return ENDED;
    }
  }

  /** Returns the result of a call; data that arrives before it is dropped. */
  private int answer(int wanted) throws IOException {
    while (true) {
      WireClient.Answer answer = client.wire.answer();
      if (answer.kind() == 0 && answer.slot() == wanted) {
        return answer.result();
      }
      if (answer.kind() == 1) {
        ByteBuffer head =
            ByteBuffer.wrap(answer.payload().array()).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        client.wire.receive((int) head.getLong(16));
      }
    }
  }

  /** Returns whether the session still works. */
  boolean works() throws IOException {
    long memory = client.allocate(64);
    client.call("graftWrite", with(memory, 8, 0), new byte[8]);
    client.call("cuMemFree_v2", with(memory));
    return true;
  }

  @Override
  public void close() throws IOException {
    client.close();
  }

  // ---- the memory of other processes

  /** Addresses without memory, and the memory of processes. */
  static List<AttackedFunction.Hostile> hostile(List<Long> processes) {
    List<AttackedFunction.Hostile> all = new ArrayList<>();
    all.add(new AttackedFunction.Hostile("the first page", 0x1000));
    all.add(new AttackedFunction.Hostile("the last byte", -1));
    all.add(new AttackedFunction.Hostile("the last word", -8));
    all.add(new AttackedFunction.Hostile("the middle", Long.MIN_VALUE));
    all.add(new AttackedFunction.Hostile("the highest positive one", Long.MAX_VALUE));
    all.add(new AttackedFunction.Hostile("the end of user space", (1L << 47) - 4096));
    Map<String, Long> mapped = new TreeMap<>();
    for (long process : processes) {
      for (String name : List.of("libc.so", "libjvm.so", "[heap]", "[stack]", "modules", "rw-p")) {
        regions(process, name).forEach(at -> mapped.putIfAbsent(name, at));
      }
    }
    mapped.forEach((name, at) -> all.add(new AttackedFunction.Hostile(name, at)));
    return all;
  }

  /** Returns the start of the first writable mapping of that name, or else of the first mapping. */
  private static Stream<Long> regions(long process, String name) {
    try {
      List<String> lines = Files.readAllLines(Path.of("/proc/" + process + "/maps"));
      return lines.stream()
          .filter(line -> line.contains(name))
          .map(line -> Long.parseUnsignedLong(line.substring(0, line.indexOf('-')), 16))
          .limit(1);
    } catch (IOException e) {
      return Stream.empty();
    }
  }

  /** Returns the workers of servers on this host. */
  static List<Long> workers() {
    return ProcessHandle.allProcesses().map(ProcessHandle::pid).filter(Attacker::isWorker).toList();
  }

  private static boolean isWorker(long process) {
    try {
      return Files.readString(Path.of("/proc/" + process + "/cmdline"))
          .contains(WorkerMain.class.getName());
    } catch (IOException | UncheckedIOException e) {
      return false;
    }
  }

  /**
   * Attacks a server and prints the outcome; exits with 1 if a record was not refused.
   *
   * @param arguments the server's address, a client's name, and the file with its token
   */
  public static void main(String[] arguments) throws IOException {
    ListenAddress address = ListenAddress.parse(arguments[0]);
    byte[] token =
        Files.readAllLines(Path.of(arguments[2]), StandardCharsets.UTF_8).stream()
            .filter(line -> line.startsWith(arguments[1] + " "))
            .map(line -> HexFormat.of().parseHex(line.split(" ", -1)[1]))
            .findFirst()
            .orElseThrow();
    int wrong = 0;
    int count = 0;
    try (Attacker attacker = new Attacker(() -> WireClient.session(address, arguments[1], token))) {
      List<AttackedFunction.Hostile> hostile = hostile(workers());
      hostile.forEach(h -> System.out.printf("%-26s 0x%x%n", h.label(), h.address()));
      System.out.printf(
          "%n%-34s %8s %8s %8s %8s%n", "function", "right", "attacks", "refused", "ended");
      for (Function f : attacker.functions()) {
        List<Outcome> outcomes = attacker.attack(f, hostile);
        List<Outcome> attacks = outcomes.stream().filter(Outcome::isAttack).toList();
        List<Outcome> bad = attacks.stream().filter(Outcome::succeeded).toList();
        if (attacks.isEmpty()) {
          continue;
        }
        count += attacks.size();
        wrong += bad.size();
        System.out.printf(
            "%-34s %8s %8d %8d %8d%n",
            f.symbol(),
            outcomes.stream().anyMatch(o -> !o.isAttack() && o.succeeded()) ? "works" : "-",
            attacks.size(),
            attacks.size() - bad.size(),
            attacks.stream().filter(o -> o.result() == ENDED).count());
        bad.forEach(o -> System.out.printf("  NOT REFUSED: %s, %s%n", o.function(), o.attack()));
      }
      System.out.printf(
          "%n%d attacks, %d not refused; the session works: %s%n", count, wrong, attacker.works());
    }
    System.exit(wrong == 0 ? 0 : 1);
  }
}
