package graft.remoting.server;

import graft.remoting.api.Extent;
import graft.remoting.api.Function;
import graft.remoting.api.Meaning;
import graft.remoting.api.Parameter;
import graft.remoting.api.Structure;
import graft.remoting.api.Type;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The records of one function, generated from the API's description: one that is valid, and others
 * that are valid except for one address, handle, size or kind of structure.
 */
final class AttackedFunction {
  /** An address that no record may name, and a description of what is there. */
  record Hostile(String label, long address) {}

  /** A record that must be refused, and what is wrong with it. */
  record Attack(String label, Map<String, Object> values) {}

  /** Sizes that overflow in products and sums. */
  private static final long[] LENGTHS = {
    -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 62, (1L << 61) + 1, 1L << 47, -(1L << 40), -4096
  };

  private static final int[] NO_KINDS = {-1, 15, 99, Integer.MAX_VALUE, Integer.MIN_VALUE};

  /** The bytes of a list that has as many elements as another, where that matters. */
  private static final Map<String, Map<String, Object>> RIGHT =
      Map.ofEntries(
          Map.entry("graftTensorMapTiled", Map.of("strideCount", 0L)),
          Map.entry("graftTensorMapIm2colWide", Map.of("strideCount", 0L)),
          Map.entry(
              "graftTensorMapIm2col", Map.of("rank", 3L, "strideCount", 2L, "cornerCount", 1L)),
          // With any other value the call would wait for ever.
          Map.entry("cuStreamWaitValue64_v2", Map.of("value", 0L)),
          Map.entry("cuMemCreate", Map.of("size", AttackWorld.GRANULE, "flags", 0L)),
          Map.entry(
              "cuMemAddressReserve",
              Map.of("size", AttackWorld.GRANULE, "alignment", 0L, "flags", 0L)),
          Map.entry("cuMemMap", Map.of("size", AttackWorld.GRANULE, "offset", 0L, "flags", 0L)),
          Map.entry("cuMemUnmap", Map.of("size", AttackWorld.GRANULE)),
          Map.entry("cuMemSetAccess", Map.of("size", AttackWorld.GRANULE)),
          Map.entry("cuMemAddressFree", Map.of("size", 2 * AttackWorld.GRANULE)),
          Map.entry("graftTwinMap", Map.of("bytes", AttackWorld.GRANULE)),
          Map.entry("graftTwinUnmap", Map.of("bytes", AttackWorld.GRANULE)));

  /** The case of an allocation node. */
  private static final int GRAPH_ALLOCATION = 7;

  /** Names that the client gives to new objects. */
  private static final AtomicLong NAMES = new AtomicLong(1_000_000);

  private final Function function;
  private final Map<String, Structure> structures;
  private final AttackWorld world;

  /**
   * The case of each structure, by the structure's name; the first case if the structure is not
   * listed.
   */
  private final Map<String, Integer> cases = new HashMap<>();

  AttackedFunction(Function function, Map<String, Structure> structures, AttackWorld world) {
    this.function = function;
    this.structures = structures;
    this.world = world;
  }

  /** The same function with a case of its structure. */
  AttackedFunction with(String structure, int number) {
    AttackedFunction made = new AttackedFunction(function, structures, world);
    made.cases.put(structure, number);
    return made;
  }

  /**
   * Returns one function for each case of its structure; the function itself if its structures have
   * no cases.
   */
  List<AttackedFunction> variants() {
    for (Parameter p : function.parameters()) {
      Structure s = structure(p);
      if (s != null && s.cases().size() > 1) {
        List<AttackedFunction> all = new ArrayList<>();
        for (int i = 0; i < s.cases().size(); i++) {
          all.add(with(s.name(), i));
        }
        return all;
      }
    }
    return List.of(this);
  }

  @Override
  public String toString() {
    return cases.isEmpty() ? function.symbol() : function.symbol() + " " + cases;
  }

  private Structure structure(Parameter p) {
    return p.meaning() == null ? null : p.meaning().structure().map(structures::get).orElse(null);
  }

  private static boolean isArray(Parameter p) {
    return p.count() != null;
  }

  // ---- the valid record

  /**
   * The value of each parameter: a number, bytes (empty for NULL), or whether a result is wanted.
   */
  Map<String, Object> right() {
    Map<String, Object> values = new LinkedHashMap<>();
    for (Parameter p : function.parameters()) {
      values.put(p.name(), value(p));
    }
    function.parameters().stream()
        .filter(p -> isArray(p) && !p.count().matches("\\d+"))
        .forEach(p -> values.put(p.count(), 1L));
    values.putAll(RIGHT.getOrDefault(function.symbol(), Map.of()));
    for (Parameter p : function.parameters()) {
      if (p.meaning() != null) {
        p.meaning()
            .selector()
            .ifPresent(s -> values.put(s, (long) caseOf(structure(p)).values().get(0)));
      }
    }
    if (cases.getOrDefault("graphNode", -1) == GRAPH_ALLOCATION) {
      values.put("bytes", 12L);
    }
    for (Parameter p : function.parameters()) {
      if (p.direction() == Parameter.Direction.IN) {
        long count =
            !isArray(p)
                ? 1
                : p.count().matches("\\d+")
                    ? Long.parseLong(p.count())
                    : (long) values.get(p.count());
        byte[] one = element(p);
        ByteBuffer all = ByteBuffer.allocate((int) (count * one.length));
        for (long i = 0; i < count; i++) {
          all.put(one);
        }
        values.put(p.name(), all.array());
      }
    }
    function.parameters().forEach(p -> listOf(p, values));
    return values;
  }

  /** A structure with a list of further ones: it and its length. */
  private void listOf(Parameter p, Map<String, Object> values) {
    Structure s = structure(p);
    if (s == null || s.cases().isEmpty()) {
      return;
    }
    for (Structure.Field field : caseOf(s).fields()) {
      if (field.kind() == Structure.Field.Kind.LIST) {
        String[] words = field.argument().split(":", 2);
        byte[] element = structure(structures.get(words[0]), 0);
        values.put(words[1], element);
        values.put(countOf(words[1]), (long) element.length);
      }
    }
  }

  private String countOf(String list) {
    return function.parameters().stream()
        .filter(p -> p.name().equals(list))
        .findFirst()
        .orElseThrow()
        .count();
  }

  private Object value(Parameter p) {
    if (p.type().kind() == Type.Kind.BULK) {
      return new byte[16];
    }
    return switch (p.direction()) {
      case OUT -> true;
      case NEW -> NAMES.incrementAndGet();
      case DEL -> world.id(p.type().name());
      case IN -> new byte[0];
      case VALUE ->
          switch (p.type().kind()) {
            case HANDLE -> world.id(p.type().name());
            case STRING -> "x\0".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            default -> p.meaning() == null ? plain(p) : named(p.meaning().kind());
          };
    };
  }

  private static long plain(Parameter p) {
    String name = p.name();
    if (!p.type().name().equals("size") && !p.type().name().equals("u64")) {
      return 0;
    }
    return name.endsWith("itch") ? 64 : name.equals("Height") ? 2 : 16;
  }

  private long named(Meaning.Kind kind) {
    return switch (kind) {
      case MEMORY, BASE ->
          function.symbol().equals("cuMemRetainAllocationHandle") ? world.mapped : world.memory;
      case HOST -> world.mapping;
      case MAPPING -> world.mapping - 4 * AttackWorld.GRANULE * 1000;
      case RESERVED ->
          function.symbol().equals("cuMemMap")
              ? world.reserved + AttackWorld.GRANULE
              : world.reserved;
      case PLACE -> world.mapped;
      case PHYSICAL -> world.physical;
      case TEXTURE -> world.texture;
      case SURFACE -> world.surface;
      case CONDITION -> world.condition;
      case NUMBER -> 16;
      case HINT, OPTIONS, STRUCTURE -> 0;
    };
  }

  private byte[] element(Parameter p) {
    Structure s = structure(p);
    if (s != null) {
      int number = cases.getOrDefault(s.name(), 0);
      byte[] made = structure(s, number);
      return switch (s.name()) {
        case "memoryProperties", "poolProperties" -> AttackWorld.onDevice(made.length, 8);
        case "access" -> WireClient.little(made.length).putInt(0, 1).array();
        case "array2D" -> AttackWorld.array(made.length, 16);
        case "array3D" -> AttackWorld.array(made.length, 24);
        default -> made;
      };
    }
    if (p.type().kind() == Type.Kind.HANDLE) {
      return WireClient.little(8).putLong(world.id(p.type().name())).array();
    }
    return new byte[p.type().size()];
  }

  private Structure.Case caseOf(Structure s) {
    return s.cases().get(cases.getOrDefault(s.name(), 0));
  }

  private byte[] structure(Structure s, int number) {
    ByteBuffer made = WireClient.little(s.bytes());
    Structure.Case one = s.cases().get(number);
    s.selector()
        .filter(at -> at.startsWith("@"))
        .ifPresent(at -> made.putInt(Integer.parseInt(at.substring(1)), one.values().get(0)));
    for (Structure.Field field : one.fields()) {
      switch (field.kind()) {
        case DPTR -> {
          made.putLong(field.offset(), world.memory);
          fieldsOf(field.argument()).forEach(at -> sized(made, at));
        }
        case EVENT -> made.putLong(field.offset(), world.id("event"));
        case CONDITION -> made.putLong(field.offset(), world.condition);
        case SIDE, PACKED -> {
          made.putInt(field.offset() + 32, 2).putLong(field.offset() + 48, world.memory);
          made.putLong(field.offset() + 72, 64).putLong(field.offset() + 80, 1);
          int extent = Integer.parseInt(field.argument());
          made.putLong(extent, 16).putLong(extent + 8, 1).putLong(extent + 16, 1);
        }
        case ZERO, SESSION, LIST -> {}
      }
    }
    if (s.name().equals("graphNode")) {
      switch (one.values().get(0)) {
        case 10 -> made.putInt(16, 1).putInt(24, 1).putLong(112, 1).putLong(120, 64);
        case 12 -> made.putInt(24, 1);
        case 13 -> made.putInt(28, 1);
        default -> {}
      }
    }
    if (function.symbol().equals("graftCopy3DRead")) {
      made.putInt(88 + 32, 1);
    }
    return WireClient.bytes(made, 0, s.bytes());
  }

  private static void sized(ByteBuffer structure, int[] at) {
    if (at[1] == 4) {
      structure.putInt(at[0], 1);
    } else {
      structure.putLong(at[0], 16);
    }
  }

  /** Offsets and sizes of the fields that an extent in a structure names. */
  private static List<int[]> fieldsOf(String extent) {
    List<int[]> found = new ArrayList<>();
    java.util.regex.Matcher m = java.util.regex.Pattern.compile("@(\\d+)(:4)?").matcher(extent);
    while (m.find()) {
      found.add(new int[] {Integer.parseInt(m.group(1)), m.group(2) == null ? 8 : 4});
    }
    return found;
  }

  // ---- the invalid records

  /** Returns all records that must be refused. */
  List<Attack> attacks(List<Hostile> hostile) {
    List<Attack> all = new ArrayList<>();
    for (Parameter p : function.parameters()) {
      missing(p, all);
      if (p.meaning() == null) {
        continue;
      }
      Structure s = structure(p);
      if (s != null) {
        inStructure(p.name(), s, cases.getOrDefault(s.name(), 0), hostile, all);
        p.meaning()
            .selector()
            .ifPresent(name -> noKind(all, (v, kind) -> v.put(name, (long) kind), name));
      } else if (p.direction() == Parameter.Direction.VALUE) {
        ofNumber(p, hostile, all);
      }
    }
    return all;
  }

  private void add(List<Attack> all, String label, Consumer<Map<String, Object>> change) {
    Map<String, Object> values = right();
    change.accept(values);
    all.add(new Attack(label, values));
  }

  /** CUDA does not allow NULL for this parameter. */
  private void missing(Parameter p, List<Attack> all) {
    if (p.optional()) {
      return;
    }
    if (p.direction() == Parameter.Direction.IN || p.type().kind() == Type.Kind.STRING) {
      if (((byte[]) right().get(p.name())).length > 0) {
        add(all, "no " + p.name(), v -> v.put(p.name(), new byte[0]));
      }
    } else if (p.direction() == Parameter.Direction.OUT && !isArray(p)) {
      add(all, "no place for " + p.name(), v -> v.put(p.name(), false));
    }
  }

  private void ofNumber(Parameter p, List<Hostile> hostile, List<Attack> all) {
    Meaning m = p.meaning();
    switch (m.kind()) {
      case NUMBER, HINT, OPTIONS, STRUCTURE -> {
        return;
      }
      default -> {}
    }
    for (Hostile h : hostile) {
      add(all, p.name() + " at " + h.label(), v -> v.put(p.name(), h.address()));
    }
    long right = (long) right().get(p.name());
    Extent extent = m.extent().orElse(null);
    long size =
        switch (m.kind()) {
          case HOST -> AttackWorld.GRANULE;
          case RESERVED -> 2 * AttackWorld.GRANULE;
          case PLACE -> 2 * AttackWorld.GRANULE;
          default -> AttackWorld.ALLOCATED;
        };
    long start = m.kind() == Meaning.Kind.RESERVED ? world.reserved : right;
    if (m.kind() == Meaning.Kind.BASE) {
      add(all, p.name() + " inside an allocation", v -> v.put(p.name(), right + 512));
    }
    if (extent == null || m.kind() == Meaning.Kind.MAPPING) {
      return;
    }
    if (!extent.text().equals("1")) {
      // A single byte before or behind the range may belong to another allocation of the session.
      add(all, p.name() + " across its begin", v -> v.put(p.name(), start - 1));
      add(all, p.name() + " across its end", v -> v.put(p.name(), start + size - 1));
    }
    for (String name : lengths(extent)) {
      for (long length : LENGTHS) {
        add(all, p.name() + " for " + name + " " + length, v -> v.put(name, length));
      }
      add(all, p.name() + " for " + name + " until 0", v -> v.put(name, -right));
    }
  }

  private Set<String> lengths(Extent extent) {
    Set<String> names = new java.util.TreeSet<>();
    for (Parameter p : function.parameters()) {
      boolean named = extent.text().matches(".*\\b" + p.name() + "\\b(?!@).*");
      if (named && p.type().size() == Long.BYTES && p.direction() == Parameter.Direction.VALUE) {
        names.add(p.name());
      }
    }
    return names;
  }

  private interface Selecting {
    void select(Map<String, Object> values, int kind);
  }

  private void noKind(List<Attack> all, Selecting selecting, String name) {
    for (int kind : NO_KINDS) {
      add(all, name + " is " + kind, v -> selecting.select(v, kind));
    }
  }

  private static ByteBuffer bytes(Map<String, Object> values, String name) {
    byte[] copy = ((byte[]) values.get(name)).clone();
    values.put(name, copy);
    return ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void inStructure(
      String name, Structure s, int number, List<Hostile> hostile, List<Attack> all) {
    s.selector()
        .filter(at -> at.startsWith("@"))
        .map(at -> Integer.parseInt(at.substring(1)))
        .ifPresent(
            at -> noKind(all, (v, kind) -> bytes(v, name).putInt(at, kind), name + "'s kind"));
    for (Structure.Field field : s.cases().get(number).fields()) {
      String where = name + "+" + field.offset();
      switch (field.kind()) {
        case DPTR -> pointer(name, field, where, hostile, all);
        case EVENT, CONDITION ->
            hostile.forEach(
                h ->
                    add(
                        all,
                        where + " at " + h.label(),
                        v -> bytes(v, name).putLong(field.offset(), h.address())));
        case SIDE, PACKED -> side(name, field, where, hostile, all);
        case LIST -> {
          String[] words = field.argument().split(":", 2);
          Structure element = structures.get(words[0]);
          inStructure(words[1], element, 0, hostile, all);
        }
        case ZERO, SESSION -> {}
      }
    }
  }

  private void pointer(
      String name, Structure.Field field, String where, List<Hostile> hostile, List<Attack> all) {
    List<Hostile> places = new ArrayList<>(hostile);
    places.add(new Hostile("the byte before it", world.memory - 1));
    if (!Set.of("base", "1").contains(field.argument())) { // one byte fits there
      places.add(new Hostile("its last byte", world.memory + AttackWorld.ALLOCATED - 1));
    }
    for (Hostile h : places) {
      add(
          all,
          where + " at " + h.label(),
          v -> bytes(v, name).putLong(field.offset(), h.address()));
    }
    for (int[] at : fieldsOf(field.argument())) {
      for (long length : LENGTHS) {
        if (at[1] == 8) {
          add(
              all,
              where + " with " + length + " at +" + at[0],
              v -> bytes(v, name).putLong(at[0], length));
        }
      }
    }
  }

  /** CUDA_MEMCPY3D: each type with each pointer, then offsets, pitches and extents. */
  private void side(
      String name, Structure.Field field, String where, List<Hostile> hostile, List<Attack> all) {
    boolean packed = field.kind() == Structure.Field.Kind.PACKED;
    for (int type = packed ? 2 : 1; type <= 4; type++) {
      int kind = type;
      for (Hostile h : type == 3 ? List.<Hostile>of() : hostile) {
        add(
            all,
            where + " of type " + type + " at " + h.label(),
            v ->
                bytes(v, name)
                    .putInt(field.offset() + 32, kind)
                    .putLong(field.offset() + 40, h.address())
                    .putLong(field.offset() + 48, h.address()));
      }
    }
    for (int type : new int[] {0, 5, -1}) {
      add(all, where + " of type " + type, v -> bytes(v, name).putInt(field.offset() + 32, type));
    }
    if (bytes(right(), name).getInt(field.offset() + 32) == 1) {
      return; // packed, whatever memory type the record names
    }
    int extent = Integer.parseInt(field.argument());
    for (int at : new int[] {field.offset(), extent}) {
      for (long length : LENGTHS) {
        add(all, where + " with " + length + " at +" + at, v -> bytes(v, name).putLong(at, length));
      }
    }
    for (int[] pair :
        new int[][] {
          {field.offset() + 8, field.offset() + 72}, // y and pitch
          {field.offset() + 16, field.offset() + 80}, // z and height
          {extent + 8, field.offset() + 72},
          {extent + 16, field.offset() + 80}
        }) {
      for (long length : LENGTHS) {
        add(
            all,
            where + " with " + length + " at +" + pair[1],
            v -> bytes(v, name).putLong(pair[0], 3).putLong(pair[1], length));
      }
    }
  }

  // ---- on the wire

  /** The bulk data that follows a record, empty if there is none. */
  byte[] bulk(Map<String, Object> values) {
    for (Parameter p : function.parameters()) {
      if (p.type().kind() == Type.Kind.BULK) {
        int next = function.parameters().indexOf(p) + 1;
        long bytes = (long) values.get(function.parameters().get(next).name());
        boolean isPlain = bytes >= 0 && bytes <= 16 && !isUnpacked(values);
        return isPlain ? new byte[(int) bytes] : new byte[0];
      }
    }
    return new byte[0];
  }

  /** A copy without a host operand has no bulk data. */
  private boolean isUnpacked(Map<String, Object> values) {
    if (function.symbol().equals("graftCopy3D")) {
      values.put("bytes", 0L);
      return true;
    }
    return false;
  }

  CudaClient.Parameters encode(Map<String, Object> values) {
    CudaClient.Parameters record = new CudaClient.Parameters();
    for (Parameter p : function.parameters()) {
      Object value = values.get(p.name());
      if (p.type().kind() == Type.Kind.BULK) {
        continue;
      }
      if (value instanceof byte[] bytes) {
        record.block(bytes);
      } else if (value instanceof Boolean wanted) {
        record.put(wanted ? 1 : 0);
      } else {
        record.put((long) value);
      }
    }
    return record;
  }

  AttackWorld world() {
    return world;
  }

  String symbol() {
    return function.symbol();
  }
}
