package graft.remoting.server.session;

import graft.remoting.device.CudaResult;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.session.memory.ShadowMappings;
import graft.remoting.server.system.Libc;

/**
 * The calls on shadow mappings, for channels that share no memory with the client. Memory of this
 * process is mapped at an address that the client chose and registered with the device. The client
 * has memory of its own at the same address and keeps the two equal. Shadow mappings count towards
 * the session's memory, both of the device and of the host. On channels that share memory, managed
 * memory counts towards that of the device.
 */
final class ShadowMappingCalls implements SessionCalls.Mapping {
  private static final long PAGE = 4096;

  /** Flags of cuMemHostRegister: valid in every context, and accessible to the device. */
  private static final int PORTABLE_AND_MAPPED = 3;

  private final AccountedDevice device;
  private final HostMemory memory;
  private final ShadowMappings mappings = new ShadowMappings();

  /** Bytes of managed memory in the shared region, as the client says. */
  private long managed;

  ShadowMappingCalls(AccountedDevice device, HostMemory memory) {
    this.device = device;
    this.memory = memory;
  }

  /** Returns the shadow mappings of this session. */
  ShadowMappings mappings() {
    return mappings;
  }

  @Override
  public int graftTwinMap(Call call, long address, long bytes) {
    if (((address | bytes) & PAGE - 1) != 0) {
      return CudaResult.INVALID_VALUE;
    }
    if (!device.hasRoom(bytes) || !memory.take(bytes)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    int result = map(address, bytes);
    if (result == CudaResult.SUCCESS) {
      device.countHost(bytes);
      mappings.add(address, bytes);
    } else {
      memory.give(bytes);
    }
    return result;
  }

  /** The client may count more than it has, but never less than nothing. */
  @Override
  public int graftManagedCount(Call call, long bytes, int fewer) {
    if (bytes < 0 || (fewer == 0 ? managed + bytes < 0 : bytes > managed)) {
      return CudaResult.INVALID_VALUE;
    }
    if (fewer == 0 && !device.hasRoom(bytes)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    long change = fewer == 0 ? bytes : -bytes;
    managed += change;
    device.countHost(change);
    return CudaResult.SUCCESS;
  }

  private int map(long address, long bytes) {
    int protection = Libc.PROT_READ | Libc.PROT_WRITE;
    int kind = Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS | Libc.MAP_FIXED_NOREPLACE;
    long got = Libc.mmap(address, bytes, protection, kind, -1, 0);
    if (got != address) {
      if (got != -1) {
        // Kernels before 4.17 do not know MAP_FIXED_NOREPLACE and treat the address as a hint.
        Libc.munmap(got, bytes);
      }
      return CudaResult.MAP_FAILED;
    }
    int result = device.cuMemHostRegister_v2(address, bytes, PORTABLE_AND_MAPPED);
    if (result != CudaResult.SUCCESS) {
      Libc.munmap(address, bytes);
    }
    return result;
  }

  @Override
  public int graftTwinUnmap(Call call, long address, long bytes) {
    if (!mappings.remove(address, bytes)) {
      return CudaResult.INVALID_VALUE;
    }
    // Unregistering waits for the work that uses the memory.
    int result = device.cuMemHostUnregister(address);
    Libc.munmap(address, bytes);
    device.countHost(-bytes);
    memory.give(bytes);
    return result;
  }
}
