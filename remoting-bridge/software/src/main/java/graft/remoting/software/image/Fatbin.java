package graft.remoting.software.image;

import io.airlift.compress.lz4.Lz4Decompressor;
import io.airlift.compress.zstd.ZstdDecompressor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The entries of a fat binary.
 *
 * <p>Entry, as seen in the output of nvcc 11.8 to 13 (little-endian): u16 kind (1 PTX, 2 cubin),
 * u32 header size at 4, u64 payload size at 8, u32 size of the compressed data at 16 (the payload
 * is padded to a multiple of 8), u16 minor and major version at 24 and 26, u32 architecture at 28,
 * u64 flags at 40 (0x2000 LZ4 block, 0x8000 zstd frame), u64 size of the uncompressed data at 56.
 */
public final class Fatbin {
  static final int MAGIC = 0xBA55ED50;
  private static final int HEADER = 16;
  private static final int PTX = 1;
  private static final int CUBIN = 2;
  private static final long LZ4 = 0x2000;
  private static final long ZSTD = 0x8000;
  private static final int SMALLEST_HEADER = 64;
  private static final int LARGEST_TEXT = 1 << 30;

  private final List<Entry> entries = new ArrayList<>();

  private record Entry(int kind, int architecture, long flags, byte[] payload, int rawSize) {}

  private Fatbin() {}

  /**
   * Reads entries.
   *
   * @param data what follows the fat binary's header
   * @throws ImageException if sizes do not fit
   */
  public static Fatbin read(byte[] data) {
    Fatbin fatbin = new Fatbin();
    ByteBuffer b = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    int at = 0;
    while (at + SMALLEST_HEADER <= data.length) {
      int kind = b.getShort(at) & 0xffff;
      long header = b.getInt(at + 4) & 0xffffffffL;
      long size = b.getLong(at + 8);
      if (header < SMALLEST_HEADER || size < 0 || header + size > data.length - at) {
        throw new ImageException(
            ImageException.INVALID_IMAGE, "fat binary entry at " + at + " does not fit");
      }
      long compressed = b.getInt(at + 16) & 0xffffffffL;
      long flags = b.getLong(at + 40);
      long raw = b.getLong(at + 56);
      boolean packed = (flags & (LZ4 | ZSTD)) != 0;
      if (packed && (compressed > size || raw < 0 || raw > LARGEST_TEXT)) {
        throw new ImageException(
            ImageException.INVALID_IMAGE, "fat binary entry at " + at + " is damaged");
      }
      byte[] payload = new byte[(int) (packed ? compressed : size)];
      b.get((int) (at + header), payload);
      fatbin.entries.add(new Entry(kind, b.getInt(at + 28), flags, payload, (int) raw));
      at += (int) (header + size);
    }
    return fatbin;
  }

  /**
   * Returns the PTX for the newest architecture that is not above the device's.
   *
   * @return the text, or null if there is none
   */
  public byte[] ptx(int architecture) {
    Entry best = null;
    for (Entry e : entries) {
      if (e.kind == PTX
          && e.architecture <= architecture
          && (best == null || e.architecture > best.architecture)) {
        best = e;
      }
    }
    return best == null ? null : text(best);
  }

  private static byte[] text(Entry e) {
    byte[] out = new byte[e.rawSize];
    try {
      if ((e.flags & ZSTD) != 0) {
        new ZstdDecompressor().decompress(e.payload, 0, e.payload.length, out, 0, out.length);
        return out;
      }
      if ((e.flags & LZ4) != 0) {
        new Lz4Decompressor().decompress(e.payload, 0, e.payload.length, out, 0, out.length);
        return out;
      }
    } catch (RuntimeException damaged) {
      throw new ImageException(
          ImageException.INVALID_IMAGE, "compressed PTX is damaged: " + damaged.getMessage());
    }
    return e.payload;
  }

  /**
   * Reads code of any form: a fat binary with its header, or what could be one entry of it.
   *
   * @throws ImageException if it is a fat binary whose sizes do not fit
   */
  public static Fatbin of(byte[] image) {
    ByteBuffer b = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
    if (image.length >= HEADER && b.getInt(0) == MAGIC) {
      return read(
          Arrays.copyOfRange(image, Math.min(b.getShort(6) & 0xffff, image.length), image.length));
    }
    Fatbin single = new Fatbin();
    single.entries.add(new Entry(0, 0, 0, image, image.length));
    return single;
  }

  /**
   * Returns whether the bytes occur in the code of any entry, PTX or machine code.
   *
   * @throws ImageException if an entry cannot be decompressed
   */
  public boolean contains(byte[] bytes) {
    return entries.stream().anyMatch(entry -> indexOf(text(entry), bytes) >= 0);
  }

  /**
   * Returns whether the pattern occurs in the code of any entry, whose bytes are the characters.
   *
   * @throws ImageException if an entry cannot be decompressed
   */
  public boolean contains(Pattern pattern) {
    return entries.stream()
        .map(entry -> new String(text(entry), StandardCharsets.ISO_8859_1))
        .anyMatch(code -> pattern.matcher(code).find());
  }

  private static int indexOf(byte[] data, byte[] bytes) {
    for (int at = 0; at <= data.length - bytes.length; at++) {
      if (Arrays.equals(data, at, at + bytes.length, bytes, 0, bytes.length)) {
        return at;
      }
    }
    return -1;
  }

  /** Returns whether the fat binary contains no code: no PTX, and no cubin with functions. */
  boolean isEmpty() {
    return entries.stream()
        .allMatch(
            e -> e.kind == CUBIN && (e.flags & (LZ4 | ZSTD)) == 0 && !Elf.hasFunctions(e.payload));
  }

  /** Describes the entries for a message. */
  String describe() {
    StringBuilder text = new StringBuilder();
    for (Entry e : entries) {
      text.append(text.isEmpty() ? "" : ", ")
          .append(e.kind == PTX ? "PTX compute_" : e.kind == CUBIN ? "machine code sm_" : "kind ")
          .append(e.architecture);
    }
    return text.isEmpty() ? "nothing" : text.toString();
  }
}
