package graft.remoting.server.profile;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.jna.Callback;
import com.sun.jna.CallbackThreadInitializer;
import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import graft.remoting.device.Memory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * NVIDIA's profiling library (CUPTI) in this process. It records when work ran on the GPU, which
 * events around the work would tell less exactly, and of a graph not at all. The operator names the
 * library by {@code graft serve --profiler-library}.
 *
 * <p>{@link #number} and {@link #endNumber} belong to the thread that queues the work; the library
 * gives its records on any thread.
 */
public final class Cupti {
  private static final Logger LOG = LoggerFactory.getLogger(Cupti.class);

  /** The variable by which the server or graft-starter tells a worker the library's path. */
  public static final String VARIABLE = "GRAFT_PROFILER_LIBRARY";

  private static final int SUCCESS = 0;
  private static final int NO_MORE_RECORDS = 12; // CUPTI_ERROR_MAX_LIMIT_REACHED
  private static final int OURS = 3; // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
  private static final long BUFFER = 256 << 10;

  /** So many names of kernels are kept for the next record with them. */
  private static final int MOST_NAMES = 4096;

  private static final List<Integer> KINDS =
      List.of(
          CuptiRecords.CONCURRENT_KERNEL,
          CuptiRecords.MEMCPY,
          CuptiRecords.MEMCPY_BETWEEN_DEVICES,
          CuptiRecords.MEMSET,
          // The library notes the number of a call of the driver, if it records that call.
          CuptiRecords.DRIVER,
          CuptiRecords.EXTERNAL_CORRELATION);

  /** How the names of the driver's functions begin that queue work with a number. */
  private static final List<String> QUEUEING =
      List.of("cuLaunch", "cuGraphLaunch", "cuMemset", "cuMemcpy");

  /** No function of the driver has a number of the library's beyond. */
  private static final int MOST_FUNCTIONS = 4096;

  private static final int DRIVER_API = 1; // CUPTI_CB_DOMAIN_DRIVER_API

  /** CUpti_BuffersCallbackRequestFunc. */
  interface Request extends Callback {
    void invoke(Pointer buffer, Pointer size, Pointer most);
  }

  /** CUpti_BuffersCallbackCompleteFunc. */
  interface Complete extends Callback {
    void invoke(Pointer context, int stream, Pointer buffer, long size, long valid);
  }

  private final NativeLibrary library;
  private final Function push;
  private final Function pop;

  // Held here because the library keeps only their addresses.
  private final Request request = this::give;
  private final Complete complete = (context, stream, buffer, size, valid) -> take(buffer, valid);

  @GuardedBy("this")
  private final Numbers numbers = new Numbers();

  @GuardedBy("this")
  private final Map<String, String> names = new HashMap<>();

  /** The functions that queue nothing, by the library's numbers, once that is known. */
  private List<Integer> others = List.of();

  private boolean isRegistered;
  private boolean isOn;

  private Cupti(NativeLibrary library) {
    this.library = library;
    push = library.getFunction("cuptiActivityPushExternalCorrelationId");
    pop = library.getFunction("cuptiActivityPopExternalCorrelationId");
  }

  /** Loads the library that the environment names; empty if it names none, or one without use. */
  public static Optional<Cupti> ofEnvironment() {
    String path = System.getenv(VARIABLE);
    return path == null || path.isEmpty() ? Optional.empty() : load(path);
  }

  static Optional<Cupti> load(String path) {
    try {
      return Optional.of(new Cupti(NativeLibrary.getInstance(path)));
    } catch (UnsatisfiedLinkError e) {
      LOG.warn("programs get no times of the profiling library {}: {}", path, e.getMessage());
      return Optional.empty();
    }
  }

  /** Begins to record. Returns false if the library refuses, which the log says. */
  public boolean begin() {
    if (isOn) {
      return true;
    }
    if (!isRegistered) {
      CallbackThreadInitializer named = new CallbackThreadInitializer(true, false, "graft-cupti");
      Native.setCallbackThreadInitializer(request, named);
      Native.setCallbackThreadInitializer(complete, named);
      isRegistered = call("cuptiActivityRegisterCallbacks", request, complete);
    }
    isOn = isRegistered && KINDS.stream().allMatch(kind -> call("cuptiActivityEnable", kind));
    if (isOn) {
      leaveOutOthers();
    } else {
      disable();
    }
    return isOn;
  }

  /** Calls that queue no work are not recorded, where the library can leave them out. */
  private void leaveOutOthers() {
    Function select;
    try {
      select = library.getFunction("cuptiActivityEnableDriverApi");
    } catch (UnsatisfiedLinkError older) {
      return;
    }
    if (others.isEmpty()) {
      others = functionsThatQueueNothing();
    }
    for (int function : others) {
      select.invokeInt(new Object[] {function, (byte) 0});
    }
  }

  /** Returns the numbers that the library has for them; it numbers functions from 1 on. */
  private List<Integer> functionsThatQueueNothing() {
    Function name = library.getFunction("cuptiGetCallbackName");
    PointerByReference text = new PointerByReference();
    List<Integer> found = new ArrayList<>();
    for (int function = 1; function < MOST_FUNCTIONS; function++) {
      int result = name.invokeInt(new Object[] {DRIVER_API, function, text});
      boolean isNamed = result == SUCCESS && text.getValue() != null;
      if (isNamed && QUEUEING.stream().noneMatch(text.getValue().getString(0)::startsWith)) {
        found.add(function);
      }
    }
    return found;
  }

  /** Ends the recording. What is not over yet is lost. */
  public void end() {
    if (isOn) {
      isOn = false;
      disable();
    }
  }

  private void disable() {
    for (int kind : KINDS) {
      library.getFunction("cuptiActivityDisable").invokeInt(new Object[] {kind});
    }
  }

  public boolean isOn() {
    return isOn;
  }

  /** Returns the library's time, in nanoseconds. */
  public long now() {
    LongByReference time = new LongByReference();
    call("cuptiGetTimestamp", time);
    return time.getValue();
  }

  /** Gives the work that this thread queues from now on the client's number. */
  public void number(int number) {
    push.invokeInt(new Object[] {OURS, Integer.toUnsignedLong(number)});
  }

  /** Ends that. */
  public void endNumber() {
    pop.invokeInt(new Object[] {OURS, new LongByReference()});
  }

  /** Gives out the numbered work that is over, for as long as the receiver takes it. */
  void read(Numbers.Receiver receiver) {
    call("cuptiActivityFlushAll", 0);
    LongByReference dropped = new LongByReference();
    call("cuptiActivityGetNumDroppedRecords", Pointer.NULL, 0, dropped);
    synchronized (this) {
      numbers.lose(dropped.getValue());
      numbers.give(receiver);
    }
  }

  /** Returns how many records were lost since the last call. */
  synchronized long takeLost() {
    return numbers.takeLost();
  }

  private boolean call(String function, Object... arguments) {
    int result = library.getFunction(function).invokeInt(arguments);
    if (result != SUCCESS) {
      LOG.warn("{} of {} returned {}", function, library.getName(), result);
    }
    return result == SUCCESS;
  }

  /** Gives the library memory for records, as many as it holds. */
  private void give(Pointer buffer, Pointer size, Pointer most) {
    buffer.setPointer(0, new Pointer(Memory.allocate(BUFFER)));
    size.setLong(0, BUFFER);
    most.setLong(0, 0);
  }

  /** Takes the memory back with the records in it. */
  private void take(Pointer buffer, long valid) {
    long address = Pointer.nativeValue(buffer);
    if (valid > 0) {
      readRecords(buffer, valid);
    }
    Memory.free(address);
  }

  private synchronized void readRecords(Pointer buffer, long valid) {
    Function next = library.getFunction("cuptiActivityGetNextRecord");
    LongByReference record = new LongByReference();
    int result = next.invokeInt(new Object[] {buffer, valid, record});
    while (result == SUCCESS) {
      long at = record.getValue();
      if (CuptiRecords.kind(at) == CuptiRecords.EXTERNAL_CORRELATION) {
        numbers.name(CuptiRecords.numbered(at), (int) CuptiRecords.number(at));
      } else {
        CuptiRecords.work(at, this::oneCopy).ifPresent(numbers::add);
      }
      result = next.invokeInt(new Object[] {buffer, valid, record});
    }
    if (result != NO_MORE_RECORDS) {
      LOG.warn("cuptiActivityGetNextRecord returned {}", result);
    }
  }

  private synchronized String oneCopy(String name) {
    if (names.size() >= MOST_NAMES) {
      names.clear();
    }
    return names.computeIfAbsent(name, same -> same);
  }
}
