package graft.remoting.server.session.call;

import graft.remoting.api.Description;
import graft.remoting.api.Function;
import graft.remoting.api.Parameter;
import graft.remoting.api.Structure;
import graft.remoting.api.Type;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Records that have the form which the API's description gives them: lengths agree with counts,
 * structures have one of their cases, and addresses, ids and numbers are among the few that
 * sessions on a {@link BorderDevice} use.
 */
final class DescribedRecords {
  /** Ids that objects have in these records. */
  private static final int IDS = 12;

  private static final int MOST = 16 << 10;

  private static final List<Function> FUNCTIONS = Description.load().wire();
  private static final Map<String, Structure> STRUCTURES = Description.load().structures();

  /** The functions with addresses, and those that give memory. */
  private static final int[] WITH_MEMORY =
      IntStream.range(0, FUNCTIONS.size())
          .filter(
              i ->
                  FUNCTIONS.get(i).parameters().stream()
                      .anyMatch(p -> p.type().name().equals("dptr")))
          .toArray();

  private final Random random;
  private final Map<String, Long> chosen = new HashMap<>();
  private final Map<String, byte[]> lists = new HashMap<>();
  private final ByteBuffer body = ByteBuffer.allocate(MOST).order(ByteOrder.LITTLE_ENDIAN);

  DescribedRecords(Random random) {
    this.random = random;
  }

  /** Returns a record of any function; one of three is of a function with addresses. */
  byte[] next() {
    int number =
        random.nextInt(3) == 0
            ? WITH_MEMORY[random.nextInt(WITH_MEMORY.length)]
            : random.nextInt(FUNCTIONS.size());
    Function function = FUNCTIONS.get(number);
    chosen.clear();
    lists.clear();
    for (Parameter p : function.parameters()) {
      if (isCounted(p)) {
        chosen.put(p.count(), (long) random.nextInt(4));
      }
    }
    function.parameters().forEach(this::structures);
    body.clear().position(16);
    long bulk = 0;
    boolean isLength = false;
    for (Parameter p : function.parameters()) {
      if (p.type().kind() == Type.Kind.BULK) {
        isLength = true;
        continue;
      }
      if (isLength) {
        bulk = chosen.computeIfAbsent(p.name(), name -> (long) random.nextInt(200));
        isLength = false;
      }
      encode(p);
    }
    body.putInt(0, body.position()).putShort(4, (short) number);
    body.putShort(6, (short) (random.nextInt(2) + (bulk > 0 ? 2 : 0)));
    body.putInt(8, random.nextInt()).putInt(12, random.nextInt(4) == 0 ? random.nextInt(3) : 0);
    return Arrays.copyOf(body.array(), body.position());
  }

  /** Returns whether another parameter has the number of elements. */
  private static boolean isCounted(Parameter p) {
    return p.count() != null && !Character.isDigit(p.count().charAt(0));
  }

  private void structures(Parameter p) {
    Structure s = structure(p);
    if (s == null || s.cases().isEmpty()) {
      return;
    }
    Structure.Case one = s.cases().get(random.nextInt(s.cases().size()));
    p.meaning()
        .selector()
        .ifPresent(name -> chosen.put(name, one.values().isEmpty() ? 0L : one.values().get(0)));
    lists.put(p.name(), block(s, one, count(p)));
    for (Structure.Field field : one.fields()) {
      if (field.kind() == Structure.Field.Kind.LIST) {
        String[] words = field.argument().split(":", 2);
        Structure element = STRUCTURES.get(words[0]);
        byte[] list = block(element, element.cases().get(0), random.nextInt(4));
        lists.put(words[1], list);
        chosen.put(words[1], (long) list.length);
      }
    }
  }

  private static Structure structure(Parameter p) {
    return p.meaning() == null ? null : p.meaning().structure().map(STRUCTURES::get).orElse(null);
  }

  private int count(Parameter p) {
    if (p.count() == null) {
      return 1;
    }
    return isCounted(p) ? (int) (long) chosen.get(p.count()) : Integer.parseInt(p.count());
  }

  private byte[] block(Structure s, Structure.Case one, int count) {
    ByteBuffer all = ByteBuffer.allocate(count * s.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      ByteBuffer made = all.slice(i * s.bytes(), s.bytes()).order(ByteOrder.LITTLE_ENDIAN);
      for (int at = 0; at + 4 <= s.bytes(); at += 4) {
        made.putInt(at, random.nextInt(3) == 0 ? random.nextInt(70) : 0);
      }
      s.selector()
          .filter(at -> at.startsWith("@"))
          .ifPresent(at -> made.putInt(Integer.parseInt(at.substring(1)), one.values().get(0)));
      one.fields().forEach(field -> field(made, field));
    }
    return all.array();
  }

  private void field(ByteBuffer made, Structure.Field field) {
    switch (field.kind()) {
      case DPTR -> made.putLong(field.offset(), address());
      case EVENT, CONDITION -> made.putLong(field.offset(), id());
      case SIDE, PACKED -> {
        made.putInt(field.offset() + 32, 1 + random.nextInt(4));
        made.putLong(field.offset() + 40, address()).putLong(field.offset() + 48, address());
        made.putLong(field.offset() + 72, random.nextInt(100));
        made.putLong(field.offset() + 80, random.nextInt(4));
      }
      case ZERO, SESSION, LIST -> {}
    }
  }

  private long address() {
    long slot = BorderDevice.BASE + BorderDevice.SLOT * random.nextInt(BorderDevice.SLOTS);
    return slot + (random.nextInt(4) == 0 ? random.nextInt((int) BorderDevice.SLOT + 9) : 0);
  }

  private long id() {
    return random.nextInt(IDS);
  }

  private void encode(Parameter p) {
    switch (p.direction()) {
      case OUT -> body.putLong(random.nextInt(4) == 0 ? 0 : 1);
      case NEW, DEL -> body.putLong(id());
      case IN -> block(lists.containsKey(p.name()) ? lists.get(p.name()) : elements(p));
      case VALUE -> {
        Long value = chosen.get(p.name());
        if (p.type().kind() == Type.Kind.STRING) {
          block(text());
        } else {
          body.putLong(value != null ? value : value(p));
        }
      }
    }
  }

  private byte[] text() {
    return switch (random.nextInt(4)) {
      case 0 -> new byte[0];
      case 1 -> new byte[1];
      default -> "kernel\0".getBytes(StandardCharsets.US_ASCII);
    };
  }

  private byte[] elements(Parameter p) {
    int size = p.type().kind() == Type.Kind.HANDLE ? Long.BYTES : p.type().size();
    ByteBuffer all = ByteBuffer.allocate(count(p) * size).order(ByteOrder.LITTLE_ENDIAN);
    while (all.remaining() >= Long.BYTES) {
      all.putLong(value(p));
    }
    return all.array();
  }

  private long value(Parameter p) {
    if (p.type().kind() == Type.Kind.HANDLE) {
      return id();
    }
    if (p.type().name().equals("dptr")) {
      return address();
    }
    return random.nextInt(20) == 0 ? address() : random.nextInt(random.nextBoolean() ? 3 : 5000);
  }

  private void block(byte[] bytes) {
    body.putLong(bytes.length).put(bytes).position(body.position() + 7 & ~7);
  }
}
