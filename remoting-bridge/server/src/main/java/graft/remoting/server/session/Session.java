package graft.remoting.server.session;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.HandleFiles;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.PeerTicket;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.session.call.AddressChecks;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.CallEngine;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.session.call.HandleTables;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.code.CodeCalls;
import graft.remoting.server.session.code.CodeSearch;
import graft.remoting.server.session.code.KeptCode;
import graft.remoting.server.session.code.LinkCalls;
import graft.remoting.server.session.code.PrintingCode;
import graft.remoting.server.session.code.SystemAtomics;
import graft.remoting.server.session.copy.CopyCalls;
import graft.remoting.server.session.copy.DirectAccess;
import graft.remoting.server.session.copy.KeptData;
import graft.remoting.server.session.copy.PeerCalls;
import graft.remoting.server.session.copy.PeerLink;
import graft.remoting.server.session.copy.RegionCalls;
import graft.remoting.server.session.launch.GraphCalls;
import graft.remoting.server.session.launch.GraphNodes;
import graft.remoting.server.session.launch.LaunchCalls;
import graft.remoting.server.session.launch.TensorMapCalls;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.session.memory.AddressSpace;
import graft.remoting.server.session.memory.HostCountedDevice;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.session.memory.MemoryLimit;
import graft.remoting.server.session.memory.RecyclingDevice;
import graft.remoting.server.session.memory.TrackedDevice;
import graft.remoting.server.session.state.CallbackConnection;
import graft.remoting.server.session.state.DeviceOutput;
import graft.remoting.server.session.state.GpuMeter;
import graft.remoting.server.session.state.QueuedWork;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.session.state.Waiters;
import graft.remoting.server.system.NativeSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session on a CUDA device: executes records in order, keeps the client's objects, and sends the
 * replies. The calls that the session executes itself, instead of the device, are in the classes
 * that this class creates in {@link #calls}.
 */
public final class Session implements RecordHandler {
  private static final Logger LOG = LoggerFactory.getLogger(Session.class);
  private static final int WRITE = Dispatcher.number("graftWrite");
  private static final int STREAM_DESTROY = Dispatcher.number("cuStreamDestroy_v2");

  private final RecyclingDevice recycling;
  private final TrackedDevice tracked;
  private final AccountedDevice device;
  private final SessionState state;
  private final GpuMeter meter;
  private final HostMemory memory;
  private final HostCountedDevice counted;
  private final HandleTables handles;
  private final Call call;
  private final Dispatcher dispatcher;
  private final CopyCalls copies;
  private final ShadowMappingCalls mappings;
  private final PeerCalls peers;
  private final ProfileCalls profile = new ProfileCalls();

  /**
   * Creates a session.
   *
   * @param warmContexts one bit for each device whose primary context is already retained
   * @param memoryIsOurs whether a device pointer is a pointer of this process
   * @param gpu whether the channel can access the device's memory
   */
  public Session(
      CudaDevice driver,
      Channel channel,
      SessionTerms terms,
      long warmContexts,
      boolean memoryIsOurs,
      GpuDirect gpu) {
    this.memory = new HostMemory(terms.limits().hostMemory(), terms.guest(), terms.reached());
    this.handles = new HandleTables(memory);
    QueuedWork work = new QueuedWork(driver, handles.usedStreams());
    this.recycling =
        new RecyclingDevice(
            driver, () -> mayErase(terms, gpu) && work.isOver(), this::fits, System::nanoTime);
    this.tracked = new TrackedDevice(recycling);
    this.counted = new HostCountedDevice(tracked, memory);
    this.device =
        new AccountedDevice(
            counted, new MemoryLimit(terms.limits().memory(), terms.guest(), terms.reached()));
    this.state = new SessionState(device, memory, channel, terms.spinMicros(), terms.lease());
    this.call = new Call(channel);
    this.copies =
        new CopyCalls(
            device,
            state,
            new DirectAccess(device, work, memoryIsOurs, gpu),
            new KeptData(terms.data(), memory));
    this.mappings = new ShadowMappingCalls(device, memory);
    this.peers =
        new PeerCalls(
            device,
            state,
            (link, session, name, secret) ->
                terms.peers().open(link, new PeerTicket(session, name, secret)),
            terms.spinMicros());
    SessionCalls calls = calls(channel, terms, warmContexts, HandleFiles.of(driver));
    AddressChecks checks = new AddressChecks(tracked.space(), tracked.numbers(), handles);
    this.dispatcher = new Dispatcher(device, handles, calls, checks);
    this.meter = state.meter();
    handles.usedStreams().tell(meter::names, meter::forget);
    channel.whenIdle(this::idle);
    Waiters.relaxCapture(device);
  }

  /** Creates the groups of calls that the session executes itself. */
  private SessionCalls calls(
      Channel channel, SessionTerms terms, long warmContexts, HandleFiles files) {
    PrintingCode printing = new PrintingCode();
    SystemAtomics atomics = new SystemAtomics();
    CodeCalls code =
        new CodeCalls(
            device,
            counted,
            memory,
            handles,
            printing,
            atomics,
            new CodeSearch(),
            new KeptCode(terms.code(), memory));
    return new SessionCalls(
        new LinkCalls(device, memory),
        new WaitCalls(device, state, handles.usedStreams(), printing),
        new GraphCalls(device, handles),
        new SharingCalls(device, files, terms.handles()),
        new ContextCalls(device, tracked, counted, handles, state, warmContexts),
        new ProgramCalls(terms.program(), terms.guest(), atomics),
        new SensorCalls(device),
        profile,
        copies,
        new RegionCalls(device, channel),
        mappings,
        peers,
        code,
        new LaunchCalls(device, code.parameters()),
        state.hostFunctions(),
        new GraphNodes(device, tracked, code.parameters(), state.hostFunctions()),
        new TensorMapCalls(device),
        new ObjectCalls(device));
  }

  /**
   * Returns whether memory may be kept that is freed, and so be erased. Nobody counts the work of
   * erasing, so that none is done while other guests want the GPU.
   */
  private static boolean mayErase(SessionTerms terms, GpuDirect gpu) {
    return !gpu.isThere() && terms.lease().isUnbounded();
  }

  private boolean fits(long bytes) {
    return device.wouldFit(bytes);
  }

  private void idle() {
    meter.mark();
    recycling.release();
  }

  /** Lets the session name memory that it has not allocated. The warm-up uses this. */
  public void lend(long address, long bytes) {
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
      handles.inContext(state.context().handle());
      result = dispatch();
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
      state.replies().limitOutput();
    }
    if (call.function() == WRITE) {
      call.attendBulk();
    }
  }

  /** Executes the call, when the session has its turn if the call queues work. */
  private int dispatch() {
    if (!Dispatcher.works(call.function())) {
      if (call.function() == STREAM_DESTROY) {
        meter.mark();
      } else {
        meter.otherCall();
      }
      return dispatcher.execute(call);
    }
    meter.beginCall(state.context(), CallEngine.of(call));
    int number = call.number();
    int result;
    profile.begin(number);
    try {
      result = dispatcher.execute(call);
    } catch (RefusedCallException e) {
      queued(); // it may have queued a part
      throw e;
    } finally {
      profile.end(number);
    }
    queued();
    return result;
  }

  private void queued() {
    long stream = dispatcher.stream();
    handles.usedStreams().add(stream); // a call that names no stream uses the legacy one
    meter.endCall(stream);
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
  public void addConnection(int connection, Channel added) {
    if (connection == HandshakeMessages.CONNECTION_MAPPINGS) {
      MappingConnection.start(added, mappings.mappings());
    } else {
      CallbackConnection.start(added, state.hostFunctions());
    }
  }

  @Override
  public Consumer<NativeSocket> link(int number) {
    PeerLink link = peers.link(number);
    return link == null ? null : link::add;
  }

  @Override
  public void sendAlong(DeviceOutput output) {
    state.replies().sendAlong(output);
  }

  @Override
  public void finishWork() {
    Waiters.relaxCapture(device);
    state.finishWork();
  }

  @Override
  public long memory() {
    return device.used();
  }

  @Override
  public long peakMemory() {
    return device.peak();
  }
}
