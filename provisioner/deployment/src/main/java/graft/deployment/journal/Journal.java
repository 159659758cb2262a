package graft.deployment.journal;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.common.disk.StateDisk;
import graft.common.json.Json;
import graft.deployment.step.Step;
import graft.deployment.step.StepCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Appends records to a journal, one JSON object a line. Records of a beginning are synced to disk
 * before the call returns; records of an end are synced with the next one. If the record of an end
 * is lost, the step is done or undone again, which steps have to support.
 *
 * <p>A crash can cut off only the last record, whose step had not begun yet: the record is dropped.
 * A record that does not fit on the disk leaves nothing in the file. On a disk that is full, steps
 * can still be undone: {@link #reserve} keeps the space for that.
 *
 * <p>Thread-safe: the chains of a plan share it.
 */
public final class Journal implements AutoCloseable {
  /**
   * The version of the records, which each run states at its beginning. Journals of version 1 state
   * none and name steps by their classes; since version 2 they name them by their ids.
   */
  static final int VERSION = 2;

  /** The space that is kept, in bytes: for any plan, and for each of its steps. */
  private static final int LEAST_RESERVE = 256 << 10;

  private static final int RESERVE_OF_STEP = 2 << 10;

  private final Path file;
  private final Path reserve;
  private final StateDisk.Output output;
  private final Clock clock;
  private final StepCodec codec;
  private final JournalReplay replay;
  private final Object disk = new Object();
  private long written;
  private long synced;
  private long length;

  private Journal(
      Path file, StateDisk.Output output, StepCodec codec, Clock clock, JournalReplay replay) {
    this.file = file;
    this.reserve = file.resolveSibling(file.getFileName() + ".reserve");
    this.output = output;
    this.codec = codec;
    this.clock = clock;
    this.replay = replay;
    this.length = replay.wholeBytes();
  }

  /** Opens a journal for appending; creates it if it does not exist. */
  public static Journal open(Path file, StepCodec codec, Clock clock) {
    try {
      JournalReplay replay = JournalReplay.of(file, codec);
      StateDisk disk = StateDisk.get();
      StateDisk.Output output = disk.append(file, replay.wholeBytes());
      // A new file survives a power cut only if its folder is synced too.
      disk.syncFolder(file.toAbsolutePath().getParent());
      return new Journal(file, output, codec, clock, replay);
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }

  /**
   * Reads a journal without opening it for writing; {@link JournalState#EMPTY} if there is none.
   */
  public static JournalState read(Path file, StepCodec codec) {
    try {
      return JournalReplay.of(file, codec).state();
    } catch (IOException e) {
      throw new GraftException("cannot read the journal " + file + ": " + e.getMessage(), "", e);
    }
  }

  /** The entry of a step by the records so far. */
  public synchronized Optional<Entry> entry(String stepId) {
    return replay.entry(stepId);
  }

  /** The state by the records so far. */
  public synchronized JournalState state() {
    return replay.state();
  }

  /**
   * Keeps space on the disk with which the steps of a plan can be undone when the disk is full.
   *
   * @throws GraftException if there is not as much
   */
  public void reserve(int steps) {
    int bytes = Math.max(LEAST_RESERVE, steps * RESERVE_OF_STEP);
    try {
      if (!Files.exists(reserve) || Files.size(reserve) < bytes) {
        byte[] real = new byte[bytes];
        new Random(0).nextBytes(real); // zeros take no space where the file system compresses
        PrivateFiles.write(reserve, real);
      }
    } catch (IOException e) {
      throw unwritable(reserve, e);
    }
  }

  /** Records the beginning of an apply, and returns the number of the run. */
  public long apply(String descriptor, String uri) {
    long number = state().lastRun() + 1;
    Map<String, Object> record = run("apply");
    record.put("run", number);
    record.put("descriptor", descriptor);
    record.put("uri", uri);
    sync(write(record, false));
    return number;
  }

  /** Records the beginning of another command, for readers of the file. */
  public void note(String command) {
    append(run(command));
  }

  private Map<String, Object> run(String command) {
    Map<String, Object> record = record("run");
    record.put("version", VERSION);
    record.put("command", command);
    return record;
  }

  /**
   * Records that a step is about to begin.
   *
   * @param before the values of the host before it
   */
  public void begin(long run, Step step, Map<String, Object> before) {
    Map<String, Object> record = record("begin");
    record.put("run", run);
    record.put("id", step.id());
    record.put("kind", codec.id(step));
    record.put("step", StepCodec.write(step));
    if (!before.isEmpty()) {
      record.put("before", before);
    }
    sync(write(record, false));
  }

  public void done(Step step, Map<String, Object> result) {
    Map<String, Object> record = about("done", step);
    record.put("result", result);
    write(record, true);
  }

  public void failed(Step step, String error) {
    Map<String, Object> record = about("failed", step);
    record.put("error", error);
    append(record);
  }

  public void undoing(Step step) {
    append(about("undoing", step));
  }

  public void undone(Step step) {
    write(about("undone", step), true);
  }

  /** Records how a run ended, for readers of the file. */
  public void end(long run, String outcome) {
    Map<String, Object> record = record("end");
    record.put("run", run);
    record.put("outcome", outcome);
    append(record);
  }

  private Map<String, Object> about(String event, Step step) {
    Map<String, Object> record = record(event);
    record.put("id", step.id());
    return record;
  }

  private Map<String, Object> record(String event) {
    Map<String, Object> record = new LinkedHashMap<>();
    record.put("event", event);
    record.put("at", clock.instant().toString());
    return record;
  }

  private void append(Map<String, Object> record) {
    sync(write(record, true));
  }

  /**
   * Writes a record, and returns the number of records.
   *
   * @param always whether the record may use the reserved space: those that begin something may not
   */
  private long write(Map<String, Object> record, boolean always) {
    String line = Json.line(record) + "\n";
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    synchronized (this) {
      try {
        try {
          write(bytes);
        } catch (IOException e) {
          if (!always || !StateDisk.get().delete(reserve)) {
            throw e;
          }
          write(bytes);
        }
        replay.accept(Json.readObject(line));
      } catch (IOException e) {
        throw unwritable(file, e);
      }
      return ++written;
    }
  }

  /** Part of a record would spoil the next one. */
  private void write(byte[] line) throws IOException {
    try {
      output.write(ByteBuffer.wrap(line));
      length += line.length;
    } catch (IOException e) {
      output.truncate(length);
      throw e;
    }
  }

  private synchronized long written() {
    return written;
  }

  /**
   * Group commit: chains that wait at the same time share one sync, which covers all that is
   * written.
   */
  private void sync(long records) {
    synchronized (disk) {
      if (synced < records) {
        long all = written();
        try {
          output.sync();
        } catch (IOException e) {
          throw unwritable(file, e);
        }
        synced = all;
      }
    }
  }

  private static GraftException unwritable(Path file, IOException e) {
    return new GraftException(
        "cannot write the journal " + file + ": " + e.getMessage(),
        "nothing is done without it; free some space on its disk",
        e);
  }

  @Override
  public void close() {
    try {
      output.sync();
      output.close();
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }
}
