package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;
import static graft.remoting.software.object.Contexts.checkError;

import graft.remoting.device.ContextApi;
import graft.remoting.device.CudaResult;
import graft.remoting.software.object.Context;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Gpus;
import graft.remoting.software.object.Handles;

/** CUDA driver API: "Context Management". */
final class ContextFunctions implements ContextApi {
  private static final int API_VERSION = 13000;
  private static final int LIMITS = 10;

  private final Calls calls;
  private final Gpus gpus;
  private final Handles handles;
  private final Contexts contexts;

  ContextFunctions(Calls calls, Gpus gpus, Handles handles, Contexts contexts) {
    this.calls = calls;
    this.gpus = gpus;
    this.handles = handles;
    this.contexts = contexts;
  }

  private void create(long result, int flags, int device) {
    Context made = new Context(gpus.get(device), flags, false);
    made.setHandle(handles.add(made));
    contexts.stack().push(made);
    putLong(result, made.handle());
  }

  @Override
  public int cuCtxCreate_v2(long context, int flags, int device) {
    return calls.run(() -> create(context, flags, device));
  }

  @Override
  public int cuCtxCreate_v3(long context, long params, int count, int flags, int device) {
    return calls.run(
        () -> {
          require(count == 0, "execution affinity is not supported");
          create(context, flags, device);
        });
  }

  @Override
  public int cuCtxCreate_v4(long context, long params, int flags, int device) {
    return calls.run(
        () -> {
          require(params == 0 || UNSAFE.getInt(params + 8) == 0, "no execution affinity");
          create(context, flags, device);
        });
  }

  @Override
  public int cuCtxDestroy_v2(long context) {
    return calls.run(
        () -> {
          Context gone = handles.get(context, Context.class);
          require(!gone.isPrimary(), "the primary context is released, not destroyed");
          contexts.end(gone);
        });
  }

  @Override
  public int cuCtxSetCurrent(long context) {
    return calls.run(
        () -> {
          if (!contexts.stack().isEmpty()) {
            contexts.stack().pop();
          }
          if (context != 0) {
            contexts.stack().push(handles.get(context, Context.class));
          }
        });
  }

  @Override
  public int cuCtxGetCurrent(long context) {
    return calls.run(
        () -> putLong(context, contexts.stack().isEmpty() ? 0 : contexts.stack().peek().handle()));
  }

  @Override
  public int cuCtxPushCurrent_v2(long context) {
    return calls.run(() -> contexts.stack().push(handles.get(context, Context.class)));
  }

  @Override
  public int cuCtxPopCurrent_v2(long context) {
    return calls.run(
        () -> {
          if (contexts.stack().isEmpty()) {
            throw new CudaException(CudaResult.INVALID_CONTEXT, "no context is current");
          }
          Context popped = contexts.stack().pop();
          if (context != 0) {
            putLong(context, popped.handle());
          }
        });
  }

  @Override
  public int cuCtxGetDevice(long device) {
    return calls.run(
        () -> {
          if (contexts.stack().isEmpty()) {
            throw new CudaException(CudaResult.INVALID_CONTEXT, "no context is current");
          }
          putInt(device, contexts.stack().peek().gpu().ordinal());
        });
  }

  @Override
  public int cuCtxGetDevice_v2(long device, long context) {
    return context == 0
        ? cuCtxGetDevice(device)
        : calls.run(() -> putInt(device, contexts.of(context).gpu().ordinal()));
  }

  @Override
  public int cuCtxGetFlags(long flags) {
    return calls.run(() -> putInt(flags, contexts.current().flags()));
  }

  @Override
  public int cuCtxGetId(long context, long id) {
    return calls.run(() -> putLong(id, contexts.of(context).handle() >> 4));
  }

  @Override
  public int cuCtxGetApiVersion(long context, long version) {
    return calls.run(
        () -> {
          contexts.of(context);
          putInt(version, API_VERSION);
        });
  }

  @Override
  public int cuCtxGetLimit(long value, int limit) {
    return calls.run(
        () -> {
          require(limit >= 0 && limit < LIMITS, "there is no limit " + limit);
          putLong(value, contexts.current().limits().getOrDefault(limit, 0L));
        });
  }

  @Override
  public int cuCtxSetLimit(int limit, long value) {
    return calls.run(
        () -> {
          require(limit >= 0 && limit < LIMITS && value >= 0, "there is no limit " + limit);
          require(limit != 0 || value <= 512 << 10, "a thread's stack has at most 512 KiB");
          contexts.current().limits().put(limit, value);
        });
  }

  @Override
  public int cuCtxGetCacheConfig(long config) {
    return calls.run(() -> putInt(config, contexts.current().cacheConfig()));
  }

  @Override
  public int cuCtxSetCacheConfig(int config) {
    return calls.run(() -> contexts.current().setCacheConfig(config));
  }

  @Override
  public int cuCtxResetPersistingL2Cache() {
    return calls.run(contexts::current);
  }

  @Override
  public int cuCtxGetStreamPriorityRange(long least, long greatest) {
    return calls.run(
        () -> {
          contexts.current();
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
    return calls.run(() -> synchronize(contexts.current()));
  }

  @Override
  public int cuCtxSynchronize_v2(long context) {
    return calls.run(() -> synchronize(contexts.of(context)));
  }

  private static void synchronize(Context context) {
    context.endCaptures();
    context.awaitAll();
    checkError(context);
  }

  @Override
  public int cuCtxEnablePeerAccess(long peer, int flags) {
    return calls.run(
        () -> {
          throw new CudaException(217, "software devices have no peer access");
        });
  }

  @Override
  public int cuCtxDisablePeerAccess(long peer) {
    return calls.run(
        () -> {
          throw new CudaException(705, "peer access is not enabled");
        });
  }
}
