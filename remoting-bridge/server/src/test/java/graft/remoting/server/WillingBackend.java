package graft.remoting.server;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.backend.Backend;
import graft.remoting.server.backend.WarmDevice;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.ServerException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A device that accepts every call and does nothing: a record that reaches it succeeds, so that a
 * record that fails was refused before.
 */
public final class WillingBackend implements Backend {
  private static final int NOT_A_POINTER = CudaResult.INVALID_VALUE;

  /** First parameters that are results although their names do not say so. */
  private static final Set<String> GIVING =
      Set.of(
          "cuModuleLoadDataEx",
          "cuModuleGetFunction",
          "cuLibraryLoadData",
          "cuLibraryGetKernel",
          "cuLibraryGetManaged",
          "cuIpcOpenMemHandle_v2",
          "cuDevicePrimaryCtxRetain",
          "cuDeviceGetCount",
          "cuDeviceTotalMem_v2",
          "cuMemAddressReserve",
          "cuGraphInstantiateWithParams",
          "cuMemRetainAllocationHandle",
          "cuMemPoolImportFromShareableHandle",
          "cuMemPoolImportPointer",
          "cuMemImportFromShareableHandle",
          "cuStreamCreateWithPriority",
          "cuGraphClone",
          "cuLibraryGetModule");

  private final AtomicLong next = new AtomicLong(1L << 44);
  private WarmDevice device;

  @Override
  public String kind() {
    return "willing";
  }

  @Override
  public String open(boolean makesContext) throws ServerException {
    CudaDevice willing =
        (CudaDevice)
            Proxy.newProxyInstance(
                WillingBackend.class.getClassLoader(),
                new Class<?>[] {CudaDevice.class},
                (proxy, method, arguments) -> answer(method, arguments));
    device = WarmDevice.open(willing, false, makesContext);
    return device.description();
  }

  private int answer(Method method, Object[] arguments) {
    String name = method.getName();
    switch (name) {
      case "cuPointerGetAttribute", "cuFuncGetParamInfo", "cuKernelGetParamInfo" -> {
        return NOT_A_POINTER;
      }
      case "cuLinkCreate_v2" -> Memory.putLong((long) arguments[3], next.addAndGet(1 << 30));
      case "cuGraphAddNode_v2" -> addNode((long) arguments[0], (long) arguments[5]);
      case "cuDeviceGetCount" -> Memory.putInt((long) arguments[0], 1);
      case "cuDeviceGetName" -> Memory.putByte((long) arguments[0], (byte) 0);
      case "cuMemHostAlloc" ->
          Memory.putLong((long) arguments[0], Memory.allocate((long) arguments[1]));
      case "cuMemFreeHost" -> Memory.free((long) arguments[0]);
      case "cuMemAllocPitch_v2" -> {
        Memory.putLong((long) arguments[0], next.addAndGet(1 << 30));
        Memory.putLong((long) arguments[1], 512);
      }
      default -> {
        boolean gives =
            GIVING.contains(name) || name.contains("Create") || name.startsWith("cuMemAlloc");
        if (gives && arguments != null && arguments[0] instanceof Long at && at != 0) {
          Memory.putLong(at, next.addAndGet(1 << 30));
        }
      }
    }
    return CudaResult.SUCCESS;
  }

  /** A node, with the body that a conditional one has. */
  private void addNode(long node, long parameters) {
    Memory.putLong(node, next.addAndGet(1 << 30));
    if (Memory.getInt(parameters) == 13) {
      long bodies = Memory.allocate(8);
      Memory.putLong(bodies, next.addAndGet(1 << 30));
      Memory.putLong(parameters + 32, bodies);
    }
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    return device.session(channel, terms);
  }
}
