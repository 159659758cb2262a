package graft.remoting.software;

import graft.remoting.device.CaptureApi;
import graft.remoting.device.ComposedDevice;
import graft.remoting.device.ContextApi;
import graft.remoting.device.CopyApi;
import graft.remoting.device.DeviceApi;
import graft.remoting.device.EventApi;
import graft.remoting.device.FillApi;
import graft.remoting.device.FunctionApi;
import graft.remoting.device.GraphApi;
import graft.remoting.device.GraphExecApi;
import graft.remoting.device.HandleFiles;
import graft.remoting.device.LaunchApi;
import graft.remoting.device.LibraryApi;
import graft.remoting.device.MemoryApi;
import graft.remoting.device.ModuleApi;
import graft.remoting.device.OccupancyApi;
import graft.remoting.device.PoolApi;
import graft.remoting.device.SharingApi;
import graft.remoting.device.StreamApi;
import graft.remoting.device.TextureApi;
import graft.remoting.device.VirtualMemoryApi;
import graft.remoting.software.object.Captures;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.Gpu;
import graft.remoting.software.object.Gpus;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.OpenedMemory;
import graft.remoting.software.object.Streams;
import java.util.stream.IntStream;

/**
 * A CUDA device without a GPU.
 *
 * <p>{@link #create} makes a CUDA driver that runs the PTX of ordinary nvcc binaries on the CPU. It
 * reports what it cannot do: {@code CUDA_ERROR_NO_BINARY_FOR_GPU} for an image without PTX, {@code
 * CUDA_ERROR_NOT_SUPPORTED} for PTX with an instruction that it lacks; the log then names the
 * instruction and its line, or says how to compile. A kernel that accesses memory outside an
 * allocation ends its context with {@code CUDA_ERROR_ILLEGAL_ADDRESS}, and the log names the
 * kernel, the address and the thread.
 *
 * <p>The device is made of parts, one for each group of driver functions. The parts share the
 * objects that {@link #SoftwareDevice the constructor} makes for them.
 */
public final class SoftwareDevice implements ComposedDevice, HandleFiles, AutoCloseable {
  private final Gpus gpus;
  private final OpenedMemory openedMemory;
  private final DeviceApi deviceApi;
  private final ContextApi contextApi;
  private final FunctionApi functionApi;
  private final LibraryApi libraryApi;
  private final ModuleApi moduleApi;
  private final LaunchApi launchApi;
  private final OccupancyApi occupancyApi;
  private final MemoryApi memoryApi;
  private final PoolApi poolApi;
  private final VirtualMemoryApi virtualMemoryApi;
  private final CopyApi copyApi;
  private final FillApi fillApi;
  private final StreamApi streamApi;
  private final CaptureApi captureApi;
  private final EventApi eventApi;
  private final GraphApi graphApi;
  private final GraphExecApi graphExecApi;
  private final SharingApi sharingApi;
  private final TextureApi textureApi;

  private SoftwareDevice(SoftwareDeviceConfig config) {
    gpus =
        new Gpus(IntStream.range(0, config.deviceCount()).mapToObj(i -> gpu(i, config)).toList());
    Calls calls = new Calls();
    Handles handles = new Handles();
    Contexts contexts = new Contexts(handles);
    Streams streams = new Streams(handles, contexts);
    Captures captures = new Captures();
    openedMemory = new OpenedMemory(contexts);
    Ranges ranges = new Ranges(gpus, contexts);
    Images images = new Images(gpus);
    Kernels kernels = new Kernels(gpus, handles, contexts);
    Launches launches = new Launches(kernels);
    BlockCopies blockCopies = new BlockCopies(handles, ranges);
    Fills fills = new Fills(ranges);
    NodeBodies nodeBodies = new NodeBodies(contexts, launches, blockCopies, fills);

    deviceApi = new DeviceFunctions(calls, gpus, handles, contexts);
    contextApi = new ContextFunctions(calls, gpus, handles, contexts);
    functionApi = new KernelFunctions(calls, handles, kernels);
    libraryApi = new LibraryFunctions(calls, handles, contexts, images, kernels);
    moduleApi = new ModuleFunctions(calls, handles, contexts, images, kernels);
    launchApi = new LaunchFunctions(calls, streams, launches);
    occupancyApi = new OccupancyFunctions(calls, kernels);
    memoryApi = new MemoryFunctions(calls, contexts, ranges, openedMemory);
    poolApi = new PoolFunctions(calls, gpus, handles, contexts, streams, openedMemory);
    virtualMemoryApi = new VirtualMemoryFunctions(calls, handles, contexts);
    copyApi = new CopyFunctions(calls, handles, streams, ranges, blockCopies);
    fillApi = new FillFunctions(calls, streams, ranges, fills);
    streamApi = new StreamFunctions(calls, handles, contexts, streams, captures, ranges);
    captureApi = new CaptureFunctions(calls, handles, streams, captures);
    eventApi = new EventFunctions(calls, handles, contexts, streams);
    graphApi = new GraphFunctions(calls, handles, contexts, blockCopies, nodeBodies);
    graphExecApi = new GraphExecFunctions(calls, handles, contexts, streams, nodeBodies);
    sharingApi = new SharingFunctions(calls, handles, contexts, openedMemory);
    textureApi = new TextureFunctions(calls, handles, contexts);
  }

  private static Gpu gpu(int ordinal, SoftwareDeviceConfig config) {
    return new Gpu(
        ordinal,
        config.memoryBytes(),
        config.computeMajor(),
        config.computeMinor(),
        config.threads(),
        config.output());
  }

  /** Creates a device. Its memory is reserved when the first context is created. */
  public static SoftwareDevice create(SoftwareDeviceConfig config) {
    return new SoftwareDevice(config);
  }

  @Override
  public int file(long handle) {
    return openedMemory.file(handle);
  }

  @Override
  public void adopt(long handle, int descriptor) {
    openedMemory.adopt(handle, descriptor);
  }

  /** Ends all work and frees all memory. */
  @Override
  public void close() {
    gpus.close();
  }

  @Override
  public DeviceApi deviceApi() {
    return deviceApi;
  }

  @Override
  public ContextApi contextApi() {
    return contextApi;
  }

  @Override
  public FunctionApi functionApi() {
    return functionApi;
  }

  @Override
  public LibraryApi libraryApi() {
    return libraryApi;
  }

  @Override
  public ModuleApi moduleApi() {
    return moduleApi;
  }

  @Override
  public LaunchApi launchApi() {
    return launchApi;
  }

  @Override
  public OccupancyApi occupancyApi() {
    return occupancyApi;
  }

  @Override
  public MemoryApi memoryApi() {
    return memoryApi;
  }

  @Override
  public PoolApi poolApi() {
    return poolApi;
  }

  @Override
  public VirtualMemoryApi virtualMemoryApi() {
    return virtualMemoryApi;
  }

  @Override
  public CopyApi copyApi() {
    return copyApi;
  }

  @Override
  public FillApi fillApi() {
    return fillApi;
  }

  @Override
  public StreamApi streamApi() {
    return streamApi;
  }

  @Override
  public CaptureApi captureApi() {
    return captureApi;
  }

  @Override
  public EventApi eventApi() {
    return eventApi;
  }

  @Override
  public GraphApi graphApi() {
    return graphApi;
  }

  @Override
  public GraphExecApi graphExecApi() {
    return graphExecApi;
  }

  @Override
  public SharingApi sharingApi() {
    return sharingApi;
  }

  @Override
  public TextureApi textureApi() {
    return textureApi;
  }
}
