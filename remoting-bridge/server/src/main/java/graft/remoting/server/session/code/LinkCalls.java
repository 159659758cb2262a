package graft.remoting.server.session.code;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.system.Scratch;
import java.util.HashMap;
import java.util.Map;

/**
 * The calls of the JIT linker. The driver writes a link's logs and image to memory that must live
 * as long as the link.
 */
public final class LinkCalls implements SessionCalls.Link {
  private static final int LOG = 16 << 10;

  private final CudaDevice device;
  private final HostMemory memory;
  private final Map<Long, Link> links = new HashMap<>();

  /**
   * Creates the calls of a session.
   *
   * @param memory counts what each link keeps
   */
  public LinkCalls(CudaDevice device, HostMemory memory) {
    this.device = device;
    this.memory = memory;
  }

  /** The memory of the logs, and the image once the link is complete. */
  private static final class Link {
    private final JitOptions options = new JitOptions();
    private final long info = zeros();
    private final long error = zeros();
    private long image;
    private long bytes;
    private long counted = 2 * LOG;

    private static long zeros() {
      long memory = Memory.allocate(LOG);
      Memory.fill(memory, LOG, (byte) 0);
      return memory;
    }

    void free() {
      options.close();
      Memory.free(info);
      Memory.free(error);
    }
  }

  @Override
  public int graftLinkCreate(Call call, long link, long options, int words) {
    if (!memory.take(2 * LOG)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    Link made = new Link();
    made.options.addAll(options, words);
    made.options.logs(made.info, made.error, LOG);
    int result =
        device.cuLinkCreate_v2(
            made.options.count(), made.options.names(), made.options.values(), link);
    if (result == CudaResult.SUCCESS) {
      links.put(Memory.getLong(link), made);
    } else {
      free(made);
    }
    return result;
  }

  @Override
  public int graftLinkAdd(Call call, long link, int type, long name, long bytes) {
    return CodeCalls.withImage(
        call,
        memory,
        bytes,
        image -> {
          Link found = links.get(link);
          if (found == null) {
            return CudaResult.INVALID_HANDLE;
          }
          if (!memory.take(bytes)) {
            return CudaResult.OUT_OF_MEMORY;
          }
          found.counted += bytes; // the driver keeps a copy until the link is destroyed
          // PTX must end with a zero byte, which counts towards its length. The data is followed by
          // one.
          boolean text = type == 1 && Memory.getByte(image + bytes - 1) != 0;
          return device.cuLinkAddData_v2(
              link, type, image, text ? bytes + 1 : bytes, name, 0, 0, 0);
        });
  }

  @Override
  public int graftLinkComplete(Call call, long link, long bytes) {
    Link found = links.get(link);
    if (found == null || bytes == 0) {
      return CudaResult.INVALID_HANDLE;
    }
    try (Scratch answer = new Scratch(16)) {
      int result = device.cuLinkComplete(link, answer.address(), answer.address() + 8);
      if (result == CudaResult.SUCCESS) {
        found.image = Memory.getLong(answer.address());
        found.bytes = Memory.getLong(answer.address() + 8);
        Memory.putLong(bytes, found.bytes);
      }
      return result;
    }
  }

  @Override
  public int graftLinkImage(Call call, long link, long offset, long data, int capacity) {
    Link found = links.get(link);
    if (found == null
        || data == 0
        || capacity < 0
        || offset < 0
        || offset > found.bytes
        || capacity > found.bytes - offset) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.copy(found.image + offset, data, capacity);
    return CudaResult.SUCCESS;
  }

  @Override
  public int graftLinkLogs(Call call, long link, long info, long error, int capacity) {
    Link found = links.get(link);
    if (found == null || info == 0 || error == 0 || capacity < 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.copy(found.info, info, Math.min(capacity, LOG));
    Memory.copy(found.error, error, Math.min(capacity, LOG));
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuLinkDestroy(Call call, long link) {
    int result = device.cuLinkDestroy(link);
    Link gone = links.remove(link);
    if (gone != null) {
      free(gone);
    }
    return result;
  }

  private void free(Link link) {
    link.free();
    memory.give(link.counted);
  }
}
