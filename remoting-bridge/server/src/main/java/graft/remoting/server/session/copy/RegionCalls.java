package graft.remoting.server.session.copy;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.transport.Region;
import java.util.Map;
import java.util.TreeMap;

/**
 * The calls on memory that the client shares with the server and the device. It is mapped here at
 * the client's own addresses and registered with CUDA, so that data is copied between it and the
 * device without another copy. Only shared-memory channels have it.
 */
public final class RegionCalls implements SessionCalls.Region {
  /** Flags of cuMemHostRegister: valid in every context, and accessible to the device. */
  private static final int PORTABLE_AND_MAPPED = 3;

  private final CudaDevice device;
  private final Channel channel;
  private final TreeMap<Long, Long> chunks = new TreeMap<>();

  public RegionCalls(CudaDevice device, Channel channel) {
    this.device = device;
    this.channel = channel;
  }

  /** Maps and registers a chunk of the region. */
  @Override
  public int graftRegionMap(Call call, long offset, long bytes) {
    Region region = channel.region();
    if (region == null) {
      return CudaResult.NOT_SUPPORTED;
    }
    long address = region.map(offset, bytes);
    return address == 0 ? CudaResult.MAP_FAILED : register(region, address, bytes);
  }

  /** Allocates, maps and registers a chunk of the region, and returns its offset. */
  @Override
  public int graftRegionTake(Call call, long bytes, long offset) {
    Region region = channel.region();
    if (region == null) {
      return CudaResult.NOT_SUPPORTED;
    }
    if (offset == 0) {
      return CudaResult.INVALID_VALUE;
    }
    long address = region.take(bytes);
    if (address == 0) {
      return CudaResult.OUT_OF_MEMORY;
    }
    int result = register(region, address, bytes);
    if (result == CudaResult.SUCCESS) {
      Memory.putLong(offset, address - region.address());
    }
    return result;
  }

  private int register(Region region, long address, long bytes) {
    int result = device.cuMemHostRegister_v2(address, bytes, PORTABLE_AND_MAPPED);
    if (result != CudaResult.SUCCESS) {
      region.unmap(address - region.address(), bytes);
      return result;
    }
    chunks.put(address, bytes);
    return CudaResult.SUCCESS;
  }

  /** Releases a chunk, after all copies that use it. */
  @Override
  public int graftRegionUnmap(Call call, long offset, long bytes) {
    Region region = channel.region();
    if (region == null || !Long.valueOf(bytes).equals(chunks.get(region.address() + offset))) {
      return CudaResult.INVALID_VALUE;
    }
    long address = region.address() + offset;
    // Unregistering waits for the copies that are in progress.
    int result = device.cuMemHostUnregister(address);
    chunks.remove(address);
    region.unmap(offset, bytes);
    return result;
  }

  /** Notes what the client says, which only operators read. */
  @Override
  public int graftRegionLacked(Call call, long bytes) {
    Region region = channel.region();
    return region != null && region.lacked(bytes) ? CudaResult.SUCCESS : CudaResult.NOT_SUPPORTED;
  }

  /** Returns whether the whole range lies in one chunk. */
  private boolean holds(long address, long bytes) {
    Map.Entry<Long, Long> chunk = chunks.floorEntry(address);
    return chunk != null
        && bytes >= 0
        && address - chunk.getKey() <= chunk.getValue()
        && bytes <= chunk.getValue() - (address - chunk.getKey());
  }

  @Override
  public int graftCopyFromRegion(
      Call call, long destination, long address, long bytes, long stream) {
    return holds(address, bytes)
        ? device.cuMemcpyHtoDAsync_v2(destination, address, bytes, stream)
        : CudaResult.INVALID_VALUE;
  }

  @Override
  public int graftCopyToRegion(Call call, long address, long source, long bytes, long stream) {
    return holds(address, bytes)
        ? device.cuMemcpyDtoHAsync_v2(address, source, bytes, stream)
        : CudaResult.INVALID_VALUE;
  }

  /**
   * Writes a number to the region in the order of the stream; the client polls for the number. If
   * the driver refuses that, it has refused the copy before it too, and the number is written here,
   * since the client would wait for it forever once another call has told it of the error.
   */
  @Override
  public int graftSignal(Call call, long address, int value, long stream) {
    if ((address & 3) != 0 || !holds(address, Integer.BYTES)) {
      return CudaResult.INVALID_VALUE;
    }
    int result = device.cuStreamWriteValue32_v2(stream, address, value, 0);
    if (result != CudaResult.SUCCESS) {
      Memory.putInt(address, value);
    }
    return result;
  }
}
