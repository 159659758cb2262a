package graft.remoting.software.driver;

import graft.remoting.device.CudaResult;
import graft.remoting.software.SoftwareDeviceConfig;

/** CUDA driver API: "Context Management". */
abstract class ContextFunctions extends DeviceFunctions {
  private static final int API_VERSION = 13000;
  private static final int LIMITS = 10;

  ContextFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  private void create(long result, int flags, int device) {
    Context made = new Context(gpu(device), flags, false);
    made.setHandle(handles().add(made));
    contextStack().push(made);
    putLong(result, made.handle());
  }

  @Override
  public int cuCtxCreate_v2(long context, int flags, int device) {
    return call(() -> create(context, flags, device));
  }

  @Override
  public int cuCtxCreate_v3(long context, long params, int count, int flags, int device) {
    return call(
        () -> {
          require(count == 0, "execution affinity is not supported");
          create(context, flags, device);
        });
  }

  @Override
  public int cuCtxCreate_v4(long context, long params, int flags, int device) {
    return call(
        () -> {
          require(params == 0 || UNSAFE.getInt(params + 8) == 0, "no execution affinity");
          create(context, flags, device);
        });
  }

  @Override
  public int cuCtxDestroy_v2(long context) {
    return call(
        () -> {
          Context gone = handles().get(context, Context.class);
          require(!gone.isPrimary(), "the primary context is released, not destroyed");
          end(gone);
        });
  }

  @Override
  public int cuCtxSetCurrent(long context) {
    return call(
        () -> {
          if (!contextStack().isEmpty()) {
            contextStack().pop();
          }
          if (context != 0) {
            contextStack().push(handles().get(context, Context.class));
          }
        });
  }

  @Override
  public int cuCtxGetCurrent(long context) {
    return call(
        () -> putLong(context, contextStack().isEmpty() ? 0 : contextStack().peek().handle()));
  }

  @Override
  public int cuCtxPushCurrent_v2(long context) {
    return call(() -> contextStack().push(handles().get(context, Context.class)));
  }

  @Override
  public int cuCtxPopCurrent_v2(long context) {
    return call(
        () -> {
          if (contextStack().isEmpty()) {
            throw new CudaException(CudaResult.INVALID_CONTEXT, "no context is current");
          }
          Context popped = contextStack().pop();
          if (context != 0) {
            putLong(context, popped.handle());
          }
        });
  }

  @Override
  public int cuCtxGetDevice(long device) {
    return call(
        () -> {
          if (contextStack().isEmpty()) {
            throw new CudaException(CudaResult.INVALID_CONTEXT, "no context is current");
          }
          putInt(device, contextStack().peek().gpu().ordinal());
        });
  }

  @Override
  public int cuCtxGetDevice_v2(long device, long context) {
    return context == 0
        ? cuCtxGetDevice(device)
        : call(() -> putInt(device, contextOf(context).gpu().ordinal()));
  }

  @Override
  public int cuCtxGetFlags(long flags) {
    return call(() -> putInt(flags, context().flags()));
  }

  @Override
  public int cuCtxGetId(long context, long id) {
    return call(() -> putLong(id, contextOf(context).handle() >> 4));
  }

  @Override
  public int cuCtxGetApiVersion(long context, long version) {
    return call(
        () -> {
          contextOf(context);
          putInt(version, API_VERSION);
        });
  }

  @Override
  public int cuCtxGetLimit(long value, int limit) {
    return call(
        () -> {
          require(limit >= 0 && limit < LIMITS, "there is no limit " + limit);
          putLong(value, context().limits().getOrDefault(limit, 0L));
        });
  }

  @Override
  public int cuCtxSetLimit(int limit, long value) {
    return call(
        () -> {
          require(limit >= 0 && limit < LIMITS && value >= 0, "there is no limit " + limit);
          require(limit != 0 || value <= 512 << 10, "a thread's stack has at most 512 KiB");
          context().limits().put(limit, value);
        });
  }

  @Override
  public int cuCtxGetCacheConfig(long config) {
    return call(() -> putInt(config, context().cacheConfig()));
  }

  @Override
  public int cuCtxSetCacheConfig(int config) {
    return call(() -> context().setCacheConfig(config));
  }

  @Override
  public int cuCtxResetPersistingL2Cache() {
    return call(this::context);
  }

  @Override
  public int cuCtxGetStreamPriorityRange(long least, long greatest) {
    return call(
        () -> {
          context();
          if (least != 0) {
            putInt(least, 0);
          }
          if (greatest != 0) {
            putInt(greatest, -5);
          }
        });
  }

  @Override
  public int cuCtxSynchronize() {
    return call(() -> synchronize(context()));
  }

  @Override
  public int cuCtxSynchronize_v2(long context) {
    return call(() -> synchronize(contextOf(context)));
  }

  private static void synchronize(Context context) {
    context.awaitAll();
    checkError(context);
  }

  @Override
  public int cuCtxEnablePeerAccess(long peer, int flags) {
    return call(
        () -> {
          throw new CudaException(217, "software devices have no peer access");
        });
  }

  @Override
  public int cuCtxDisablePeerAccess(long peer) {
    return call(
        () -> {
          throw new CudaException(705, "peer access is not enabled");
        });
  }
}
