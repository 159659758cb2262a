package graft.remoting.software;

import graft.remoting.device.CudaResult;
import graft.remoting.software.image.ImageException;
import graft.remoting.software.module.LoadedModule;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.ptx.PtxException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the bodies of driver calls, and turns what they throw into a CUresult. */
final class Calls {
  private static final Logger LOG = LoggerFactory.getLogger("graft.remoting.software");

  private volatile boolean initialized;

  /** Allows all calls, after cuInit. */
  void initialize() {
    initialized = true;
  }

  /** Runs the body of a call. */
  int run(Runnable body) {
    return initialized ? guard(body) : CudaResult.NOT_INITIALIZED;
  }

  /** As {@link #run}, but also before cuInit. */
  int guard(Runnable body) {
    try {
      body.run();
      return CudaResult.SUCCESS;
    } catch (CudaException e) {
      LOG.debug("{}", e.getMessage());
      return e.code();
    } catch (PtxException e) {
      LOG.error("module not loaded: {}", e.getMessage());
      return e.isUnsupported() ? CudaResult.NOT_SUPPORTED : CudaResult.INVALID_PTX;
    } catch (ImageException e) {
      LOG.error("module not loaded: {}", e.getMessage());
      return e.code();
    } catch (LoadedModule.NoMemoryException e) {
      LOG.error("module not loaded: {}", e.getMessage());
      return CudaResult.OUT_OF_MEMORY;
    } catch (OutOfMemoryError e) {
      LOG.error("out of memory on the server: {}", e.getMessage());
      return CudaResult.OUT_OF_MEMORY;
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      LOG.error("internal error of the software device", e);
      return CudaResult.UNKNOWN;
    }
  }
}
