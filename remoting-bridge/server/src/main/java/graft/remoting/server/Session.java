package graft.remoting.server;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.HandleFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session on a CUDA device: executes records in their order, keeps the client's objects, and
 * answers. What it does itself instead of the device is in the parts that it delegates to.
 */
final class Session implements RecordHandler, SessionCalls {
  private static final Logger LOG = LoggerFactory.getLogger(Session.class);
  private static final int WRITE = Dispatcher.number("graftWrite");

  private final TrackedDevice tracked;
  private final AccountedDevice device;
  private final SessionState state;
  private final HandleTables handles = new HandleTables();
  private final Call call;
  private final Dispatcher dispatcher;
  private final ContextCalls contexts;
  private final CodeCalls code;
  private final CopyCalls copies;
  private final LaunchCalls launches;
  private final ObjectCalls objects;
  private final LinkCalls links;
  private final TensorMapCalls tensorMaps;
  private final GraphCalls graphs;
  private final WaitCalls waits;
  private final RegionCalls region;
  private final TwinCalls twins;
  private final SharingCalls sharing;

  /**
   * A session.
   *
   * @param warmContexts a bit for each device whose primary context is retained already
   * @param memoryIsOurs whether a pointer of the device is one of this process
   * @param gpu whether the channel reaches the device's memory
   */
  Session(
      CudaDevice driver,
      Channel channel,
      SessionTerms terms,
      long warmContexts,
      boolean memoryIsOurs,
      GpuDirect gpu) {
    this.tracked = new TrackedDevice(driver);
    this.device = new AccountedDevice(tracked, terms.memoryLimit());
    this.state = new SessionState(device, channel, terms.spinMicros());
    this.call = new Call(channel);
    this.dispatcher =
        new Dispatcher(
            device, handles, this, new AddressChecks(tracked.space(), tracked.numbers(), handles));
    this.contexts = new ContextCalls(device, state, warmContexts);
    PrintingCode printing = new PrintingCode();
    this.code = new CodeCalls(device, printing, new KeptCode(terms.code()));
    this.copies =
        new CopyCalls(
            device, state, new DirectAccess(device, handles.usedStreams(), memoryIsOurs, gpu));
    this.launches = new LaunchCalls(device);
    this.objects = new ObjectCalls(device);
    this.links = new LinkCalls(device);
    this.tensorMaps = new TensorMapCalls(device);
    this.graphs = new GraphCalls(device, tracked, handles, code, state.hostFunctions());
    this.region = new RegionCalls(device, channel);
    this.twins = new TwinCalls(device);
    this.sharing = new SharingCalls(device, HandleFiles.of(driver), terms.handles());
    this.waits = new WaitCalls(device, state, handles.usedStreams(), printing);
    Waiters.relaxCapture(device);
  }

  /** Lends the session memory that it has not allocated, for a rehearsal. */
  void lend(long address, long bytes) {
    tracked.space().add(new AddressSpace.Range(address, bytes, AddressSpace.Kind.DEVICE, 0, 0));
  }

  @Override
  public void execute(long record) throws IOException {
    call.begin(record);
    int result;
    try {
      if (call.function() != WRITE) {
        int settled = copies.awaitBulk(call);
        if (settled != CudaResult.SUCCESS) {
          call.fail(settled);
        }
      }
      enterContext();
      result = dispatcher.execute(call);
    } catch (RefusedCallException e) {
      call.clearResults();
      result = e.result();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    call.dropBulk();
    if (result == Call.DEFERRED) {
      return;
    }
    if (result != CudaResult.SUCCESS && result != CudaResult.NOT_READY && LOG.isDebugEnabled()) {
      LOG.debug("{} failed with CUDA error {}", Dispatcher.name(call.function()), result);
    }
    if (call.wantsReply()) {
      call.reply(state.replies().settle(result));
    } else {
      state.replies().asyncError(result);
    }
    if (call.function() == WRITE) {
      call.attendBulk();
    }
  }

  private void enterContext() {
    long id = call.contextId();
    if (id == 0) {
      return;
    }
    long handle = handles.find(HandleKind.CONTEXT, id);
    int result = handle == 0 ? CudaResult.INVALID_CONTEXT : state.enter(handle);
    if (result != CudaResult.SUCCESS) {
      call.fail(result);
    }
  }

  @Override
  public void addLane(int lane, Channel added) {
    if (lane == HandshakeMessages.LANE_TWINS) {
      TwinLane.start(added, twins.twins());
    } else {
      CallbackLane.start(added, state.hostFunctions());
    }
  }

  @Override
  public void sendAlong(DeviceOutput output) {
    state.replies().sendAlong(output);
  }

  @Override
  public long memory() {
    return device.used();
  }

  @Override
  public int cuStreamSynchronize(Call current, long hStream) {
    return waits.stream(current, hStream);
  }

  @Override
  public int cuEventSynchronize(Call current, long hEvent) {
    return waits.event(current, hEvent);
  }

  @Override
  public int graftSnapshot(Call current, int ordinal, long data, int capacity) {
    return contexts.snapshot(ordinal, data, capacity);
  }

  @Override
  public int graftMemoryInfo(Call current, int dev, long free, long total) {
    return contexts.memoryInfo(dev, free, total);
  }

  @Override
  public int graftTopology(
      Call current, int dev, long cluster, long place, int capacity, long count) {
    return Topology.read(device, dev, cluster, place, capacity, count);
  }

  @Override
  public int graftPrimaryContextRetain(Call current, long ctx, int dev, int flags) {
    return contexts.retainPrimary(ctx, dev, flags);
  }

  @Override
  public int graftPrimaryContextRelease(Call current, long ctx, int dev, int reset) {
    int result = contexts.releasePrimary(ctx, dev, reset);
    forgetContext(ctx);
    return result;
  }

  @Override
  public int graftContextCreate(Call current, long ctx, int flags, int dev) {
    return contexts.create(ctx, flags, dev);
  }

  @Override
  public int graftContextDestroy(Call current, long ctx) {
    int result = contexts.destroy(ctx);
    forgetContext(ctx);
    return result;
  }

  private void forgetContext(long context) {
    device.forgetContext(context);
    tracked.forgetContext(context);
  }

  @Override
  public int graftContextSynchronize(Call current) {
    return waits.context(current);
  }

  @Override
  public int graftWrite(Call current, long dst, long bytes, long stream) {
    return copies.write(current, dst, bytes, stream);
  }

  @Override
  public int graftRead(Call current, long src, long bytes, long stream) {
    return copies.read(current, src, bytes, stream);
  }

  @Override
  public int graftReadAsync(Call current, long src, long bytes, long stream, long read) {
    return copies.readAsync(src, bytes, stream, read);
  }

  @Override
  public int graftCopy3D(
      Call current, long copy, long srcArray, long dstArray, long bytes, long stream) {
    return copies.copy3d(current, copy, srcArray, dstArray, bytes, stream);
  }

  @Override
  public int graftCopy3DRead(Call current, long copy, long srcArray, long bytes, long stream) {
    return copies.copy3dRead(current, copy, srcArray, bytes, stream);
  }

  @Override
  public int graftModuleLoad(
      Call current,
      long module,
      long bytes,
      long options,
      int optionWords,
      long infoLog,
      long errorLog,
      int logCapacity) {
    return code.loadModule(
        current,
        module,
        bytes,
        new JitOptions.Wanted(options, optionWords, infoLog, errorLog, logCapacity));
  }

  @Override
  public int graftLibraryLoad(Call current, long library, long bytes) {
    return code.loadLibrary(current, library, bytes);
  }

  @Override
  public int graftModuleGetFunction(
      Call current, long function, long module, long name, long count, long layout, int capacity) {
    return code.moduleFunction(function, module, name, count, layout, capacity);
  }

  @Override
  public int graftKnownCode(Call current, long hashes, int capacity, long count) {
    return code.known(hashes, capacity, count);
  }

  @Override
  public int graftModuleLoadKnown(
      Call current,
      long module,
      long hash,
      long options,
      int optionWords,
      long infoLog,
      long errorLog,
      int logCapacity) {
    return code.loadKnownModule(
        module, hash, new JitOptions.Wanted(options, optionWords, infoLog, errorLog, logCapacity));
  }

  @Override
  public int graftLibraryLoadKnown(Call current, long library, long hash) {
    return code.loadKnownLibrary(library, hash);
  }

  @Override
  public int graftLibraryGetKernel(
      Call current, long function, long library, long name, long count, long layout, int capacity) {
    return code.libraryKernel(function, library, name, count, layout, capacity);
  }

  @Override
  public int graftLibraryGetManaged(
      Call current,
      long library,
      long name,
      long address,
      long bytes,
      long contents,
      int capacity) {
    return code.managedVariable(library, name, address, bytes, contents, capacity);
  }

  @Override
  public int graftLibraryEnumerate(Call current, long library, long kernels, int count) {
    return code.libraryKernels(library, kernels, count);
  }

  @Override
  public int graftModuleEnumerate(
      Call current, long module, long functions, int capacity, long count) {
    return code.moduleFunctions(module, functions, capacity, count);
  }

  @Override
  public int graftFunctionName(Call current, long function, long name, int capacity) {
    return code.name(function, name, capacity);
  }

  @Override
  public int graftFunctionLayout(
      Call current, long function, long count, long layout, int capacity) {
    return code.layout(function, count, layout, capacity);
  }

  @Override
  public int graftFunctionGetAttribute(
      Call current, long function, int attribute, int dev, long value) {
    return code.getAttribute(function, attribute, dev, value);
  }

  @Override
  public int graftFunctionSetAttribute(
      Call current, long function, int attribute, int value, int dev) {
    return code.setAttribute(function, attribute, value, dev);
  }

  @Override
  public int graftLaunch(
      Call current,
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long parameters,
      int parameterBytes) {
    return launches.launch(
        function,
        gridX,
        gridY,
        gridZ,
        blockX,
        blockY,
        blockZ,
        sharedBytes,
        stream,
        parameters,
        parameterBytes);
  }

  @Override
  public int graftLaunchEx(
      Call current,
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long attributes,
      int attributeCount,
      long parameters,
      int parameterBytes) {
    return launches.launchEx(
        function,
        gridX,
        gridY,
        gridZ,
        blockX,
        blockY,
        blockZ,
        sharedBytes,
        stream,
        attributes,
        attributeCount,
        parameters,
        parameterBytes);
  }

  @Override
  public int graftOccupancyClusters(
      Call current,
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long attributes,
      int attributeCount,
      int potential,
      long value) {
    return launches.clusters(
        function,
        gridX,
        gridY,
        gridZ,
        blockX,
        blockY,
        blockZ,
        sharedBytes,
        attributes,
        attributeCount,
        potential,
        value);
  }

  @Override
  public int graftHostFunction(Call current, long stream, long callback) {
    return state.hostFunctions().launch(device, stream, callback);
  }

  @Override
  public int graftHostFunctionDone(Call current, long callback) {
    return state.hostFunctions().done(callback);
  }

  @Override
  public int graftStreamCaptureInfo(
      Call current,
      long stream,
      long status,
      long id,
      long graph,
      long dependencies,
      long edges,
      long capacity,
      long count) {
    return graphs.captureInfo(stream, status, id, graph, dependencies, edges, capacity, count);
  }

  @Override
  public int graftGraphAddNode(
      Call current,
      long node,
      long graph,
      long dependencies,
      long edges,
      long count,
      long parameters,
      long function,
      long event,
      long child,
      long source,
      long target,
      long context,
      long data,
      int bytes,
      long callback,
      long address,
      long bodies,
      int bodyCount) {
    GraphCalls.Parts parts =
        new GraphCalls.Parts(
            function, event, child, source, target, context, data, bytes, callback);
    return graphs.add(
        node, graph, dependencies, edges, count, parameters, parts, address, bodies, bodyCount);
  }

  @Override
  public int graftGraphSetNode(
      Call current,
      long exec,
      long node,
      long parameters,
      long function,
      long event,
      long child,
      long source,
      long target,
      long context,
      long data,
      int bytes,
      long callback) {
    return graphs.set(
        exec,
        node,
        parameters,
        new GraphCalls.Parts(
            function, event, child, source, target, context, data, bytes, callback));
  }

  @Override
  public int graftGraphGetNode(
      Call current,
      long node,
      long parameters,
      long function,
      long source,
      long target,
      long data,
      int capacity,
      long bytes) {
    return graphs.get(node, parameters, function, source, target, data, capacity, bytes);
  }

  @Override
  public int graftGraphNodes(
      Call current, long graph, int roots, long nodes, long capacity, long count) {
    return graphs.nodes(graph, roots, nodes, capacity, count);
  }

  @Override
  public int graftGraphEdges(
      Call current, long graph, long from, long to, long edges, long capacity, long count) {
    return graphs.edges(graph, from, to, edges, capacity, count);
  }

  @Override
  public int graftGraphNeighbours(
      Call current, long node, int dependents, long nodes, long edges, long capacity, long count) {
    return graphs.neighbours(node, dependents, nodes, edges, capacity, count);
  }

  @Override
  public int graftGraphInstantiate(
      Call current, long exec, long graph, long flags, long upload, long failed, long outcome) {
    return graphs.instantiate(exec, graph, flags, upload, failed, outcome);
  }

  @Override
  public int graftGraphUpdate(
      Call current, long exec, long graph, long outcome, long node, long from) {
    return graphs.update(exec, graph, outcome, node, from);
  }

  @Override
  public int graftGraphDot(
      Call current, long graph, int flags, long offset, long text, int capacity, long length) {
    return graphs.dot(graph, flags, offset, text, capacity, length);
  }

  @Override
  public int cuGraphDestroy(Call current, long graph) {
    return graphs.destroy(graph);
  }

  @Override
  public int graftLinkCreate(Call current, long link, long options, int optionWords) {
    return links.create(link, options, optionWords);
  }

  @Override
  public int graftLinkAdd(Call current, long link, int type, long name, long bytes) {
    return links.add(current, link, type, name, bytes);
  }

  @Override
  public int graftLinkComplete(Call current, long link, long bytes) {
    return links.complete(link, bytes);
  }

  @Override
  public int graftLinkImage(Call current, long link, long offset, long data, int capacity) {
    return links.image(link, offset, data, capacity);
  }

  @Override
  public int graftLinkLogs(Call current, long link, long info, long error, int capacity) {
    return links.logs(link, info, error, capacity);
  }

  @Override
  public int cuLinkDestroy(Call current, long state) {
    return links.destroy(state);
  }

  @Override
  public int graftTensorMapTiled(
      Call current,
      long map,
      int type,
      int rank,
      long address,
      long sizes,
      long strides,
      int strideCount,
      long box,
      long steps,
      int interleave,
      int swizzle,
      int promotion,
      int fill) {
    return tensorMaps.tiled(
        map,
        new TensorMapCalls.Tensor(type, rank, address, sizes, strides, strideCount),
        box,
        steps,
        new TensorMapCalls.Layout(interleave, swizzle, promotion, fill));
  }

  @Override
  public int graftTensorMapIm2col(
      Call current,
      long map,
      int type,
      int rank,
      long address,
      long sizes,
      long strides,
      int strideCount,
      long lower,
      long upper,
      int cornerCount,
      int channels,
      int pixels,
      long steps,
      int interleave,
      int swizzle,
      int promotion,
      int fill) {
    return tensorMaps.im2col(
        map,
        new TensorMapCalls.Tensor(type, rank, address, sizes, strides, strideCount),
        lower,
        upper,
        cornerCount,
        channels,
        pixels,
        steps,
        new TensorMapCalls.Layout(interleave, swizzle, promotion, fill));
  }

  @Override
  public int graftTensorMapIm2colWide(
      Call current,
      long map,
      int type,
      int rank,
      long address,
      long sizes,
      long strides,
      int strideCount,
      int lower,
      int upper,
      int channels,
      int pixels,
      long steps,
      int interleave,
      int mode,
      int swizzle,
      int promotion,
      int fill) {
    return tensorMaps.im2colWide(
        map,
        new TensorMapCalls.Tensor(type, rank, address, sizes, strides, strideCount),
        lower,
        upper,
        channels,
        pixels,
        steps,
        mode,
        new TensorMapCalls.Layout(interleave, swizzle, promotion, fill));
  }

  @Override
  public int graftTensorMapReplace(Call current, long map, long before, long address) {
    return tensorMaps.replace(map, before, address);
  }

  @Override
  public int graftPoolGetAttribute(Call current, long pool, int attribute, long value) {
    return objects.poolAttribute(pool, attribute, value);
  }

  @Override
  public int graftPoolSetAttribute(Call current, long pool, int attribute, long value) {
    return objects.setPoolAttribute(pool, attribute, value);
  }

  @Override
  public int graftTextureCreate(
      Call current,
      long texture,
      long resource,
      long array,
      long mipmap,
      long descriptor,
      long view) {
    return objects.texture(texture, resource, array, mipmap, descriptor, view);
  }

  @Override
  public int graftSurfaceCreate(Call current, long surface, long resource, long array) {
    return objects.surface(surface, resource, array);
  }

  @Override
  public int cuIpcGetMemHandle(Call current, long handle, long address) {
    return sharing.giveMemory(handle, address);
  }

  @Override
  public int graftIpcOpenMemory(Call current, long address, long bytes, long handle, int flags) {
    return sharing.openMemory(address, bytes, handle, flags);
  }

  @Override
  public int cuIpcGetEventHandle(Call current, long handle, long event) {
    return sharing.giveEvent(handle, event);
  }

  @Override
  public int graftIpcOpenEvent(Call current, long event, long handle) {
    return sharing.openEvent(event, handle);
  }

  @Override
  public int graftMemoryExport(Call current, long handle, long memory) {
    return sharing.givePhysical(handle, memory);
  }

  @Override
  public int graftMemoryImport(Call current, long memory, long handle) {
    return sharing.openPhysical(memory, handle);
  }

  @Override
  public int graftPoolExport(Call current, long handle, long pool) {
    return sharing.givePool(handle, pool);
  }

  @Override
  public int graftPoolImport(Call current, long pool, long handle) {
    return sharing.openPool(pool, handle);
  }

  @Override
  public int graftPoolPointerExport(Call current, long handle, long pointer) {
    return sharing.giveOfPool(handle, pointer);
  }

  @Override
  public int graftPoolPointerImport(
      Call current, long pointer, long bytes, long pool, long handle) {
    return sharing.openOfPool(pointer, bytes, pool, handle);
  }

  @Override
  public int graftRegionMap(Call current, long offset, long bytes) {
    return region.map(offset, bytes);
  }

  @Override
  public int graftRegionTake(Call current, long bytes, long offset) {
    return region.take(bytes, offset);
  }

  @Override
  public int graftRegionUnmap(Call current, long offset, long bytes) {
    return region.unmap(offset, bytes);
  }

  @Override
  public int graftTwinMap(Call current, long address, long bytes) {
    return twins.map(address, bytes);
  }

  @Override
  public int graftTwinUnmap(Call current, long address, long bytes) {
    return twins.unmap(address, bytes);
  }

  @Override
  public int graftCopyFromRegion(Call current, long dst, long address, long bytes, long stream) {
    return region.copyFrom(dst, address, bytes, stream);
  }

  @Override
  public int graftCopyToRegion(Call current, long address, long src, long bytes, long stream) {
    return region.copyTo(address, src, bytes, stream);
  }

  @Override
  public int graftSignal(Call current, long address, int value, long stream) {
    return region.signal(address, value, stream);
  }
}
