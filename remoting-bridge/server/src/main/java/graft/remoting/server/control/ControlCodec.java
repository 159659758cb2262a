package graft.remoting.server.control;

import graft.remoting.server.control.ControlMessage.AddConnection;
import graft.remoting.server.control.ControlMessage.AddPeer;
import graft.remoting.server.control.ControlMessage.AskLease;
import graft.remoting.server.control.ControlMessage.EndSession;
import graft.remoting.server.control.ControlMessage.Ended;
import graft.remoting.server.control.ControlMessage.Failed;
import graft.remoting.server.control.ControlMessage.Find;
import graft.remoting.server.control.ControlMessage.FindContent;
import graft.remoting.server.control.ControlMessage.Give;
import graft.remoting.server.control.ControlMessage.KeepContent;
import graft.remoting.server.control.ControlMessage.KnownContents;
import graft.remoting.server.control.ControlMessage.LeaseGranted;
import graft.remoting.server.control.ControlMessage.LimitReached;
import graft.remoting.server.control.ControlMessage.OpenPeer;
import graft.remoting.server.control.ControlMessage.Program;
import graft.remoting.server.control.ControlMessage.Ready;
import graft.remoting.server.control.ControlMessage.RegionUse;
import graft.remoting.server.control.ControlMessage.Shared;
import graft.remoting.server.control.ControlMessage.StartSession;
import graft.remoting.server.control.ControlMessage.Used;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.exchange.GuestProgram;
import graft.remoting.server.exchange.Limit;
import graft.remoting.server.exchange.PeerTicket;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Bytes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Encodes control messages as a letter for the kind, followed by the fields. A worker may be
 * compromised, so that strings and counts are checked as they are read.
 */
final class ControlCodec {
  private static final int LONGEST_TEXT = 1000;

  private static final List<Kind<?>> KINDS =
      List.of(
          new Kind<>(
              'R',
              Ready.class,
              (m, out) -> {
                out.writeUTF(m.device());
                out.writeUTF(m.uuid());
              },
              in -> new Ready(text(in), text(in))),
          new Kind<>(
              'F', Failed.class, (m, out) -> put(out, m.reason()), in -> new Failed(text(in))),
          new Kind<>(
              'U',
              Used.class,
              (m, out) -> {
                out.writeLong(m.bytesIn());
                out.writeLong(m.bytesOut());
                out.writeLong(m.calls());
                out.writeLong(m.roundTrips());
                out.writeLong(m.memory());
                out.writeLong(m.peak());
              },
              in -> new Used(count(in), count(in), count(in), count(in), count(in), count(in))),
          new Kind<>(
              'M',
              RegionUse.class,
              (m, out) -> {
                out.writeLong(m.region());
                out.writeLong(m.lacked());
              },
              in -> new RegionUse(count(in), count(in))),
          new Kind<>(
              'P',
              Program.class,
              (m, out) -> {
                out.writeUTF(m.program().name());
                out.writeLong(m.program().process());
                out.writeUTF(m.program().job());
              },
              in -> new Program(new GuestProgram(text(in), count(in), text(in)))),
          new Kind<>(
              'X',
              EndSession.class,
              (m, out) -> put(out, m.reason()),
              in -> new EndSession(text(in))),
          new Kind<>('E', Ended.class, (m, out) -> put(out, m.reason()), in -> new Ended(text(in))),
          new Kind<>(
              'Q',
              LimitReached.class,
              (m, out) -> out.writeByte(m.limit().number()),
              in -> new LimitReached(limit(in))),
          new Kind<>('S', StartSession.class, ControlCodec::putStart, ControlCodec::start),
          new Kind<>(
              'L',
              AddConnection.class,
              (m, out) -> {
                out.writeInt(m.purpose());
                out.write(m.welcome().array());
                put(out, m.tlsKey());
              },
              in -> new AddConnection(in.readInt(), welcome(in), bytes(in))),
          new Kind<>(
              'l',
              AddPeer.class,
              (m, out) -> {
                out.writeInt(m.link());
                put(out, m.welcome());
                put(out, m.tlsKey());
              },
              in -> new AddPeer(in.readInt(), bytes(in), bytes(in))),
          new Kind<>(
              'O',
              OpenPeer.class,
              (m, out) -> {
                out.writeInt(m.link());
                out.writeLong(m.ticket().session());
                out.writeUTF(m.ticket().name());
                put(out, m.ticket().secret());
              },
              in ->
                  new OpenPeer(
                      in.readInt(), new PeerTicket(in.readLong(), in.readUTF(), bytes(in)))),
          new Kind<>(
              'G',
              Give.class,
              (m, out) -> {
                put(out, m.token());
                put(out, m.handle());
              },
              in -> new Give(bytes(in), bytes(in))),
          new Kind<>('?', Find.class, (m, out) -> put(out, m.token()), in -> new Find(bytes(in))),
          new Kind<>('A', AskLease.class, (m, out) -> {}, in -> new AskLease()),
          new Kind<>('T', LeaseGranted.class, (m, out) -> {}, in -> new LeaseGranted()),
          new Kind<>(
              'k',
              KnownContents.class,
              (m, out) -> out.writeByte(m.kind().number()),
              in -> new KnownContents(contents(in))),
          new Kind<>(
              'c',
              KeepContent.class,
              (m, out) -> {
                out.writeByte(m.kind().number());
                put(out, m.hash());
              },
              in -> new KeepContent(contents(in), bytes(in))),
          new Kind<>(
              'f',
              FindContent.class,
              (m, out) -> {
                out.writeByte(m.kind().number());
                put(out, m.hash());
              },
              in -> new FindContent(contents(in), bytes(in))),
          new Kind<>(
              'H', Shared.class, (m, out) -> put(out, m.handle()), in -> new Shared(bytes(in))));

  private static final Map<Class<?>, Kind<?>> BY_TYPE =
      KINDS.stream().collect(Collectors.toUnmodifiableMap(Kind::type, Function.identity()));

  private static final Map<Byte, Kind<?>> BY_LETTER =
      KINDS.stream()
          .collect(Collectors.toUnmodifiableMap(kind -> (byte) kind.letter(), Function.identity()));

  private ControlCodec() {}

  private interface Writer<M> {
    void write(M message, DataOutputStream out) throws IOException;
  }

  private interface Reader {
    ControlMessage read(DataInputStream in) throws IOException;
  }

  /** One kind of message. */
  private record Kind<M extends ControlMessage>(
      char letter, Class<M> type, Writer<M> writer, Reader reader) {
    void write(ControlMessage message, DataOutputStream out) throws IOException {
      out.writeByte(letter);
      writer.write(type.cast(message), out);
    }
  }

  static byte[] encode(ControlMessage message) {
    ByteArrayOutputStream packet = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(packet)) {
      BY_TYPE.get(message.getClass()).write(message, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return packet.toByteArray();
  }

  static ControlMessage decode(byte[] packet) throws IOException {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(packet))) {
      byte letter = in.readByte();
      Kind<?> kind = BY_LETTER.get(letter);
      if (kind == null) {
        throw new IOException("a control message of kind " + letter);
      }
      return kind.reader().read(in);
    }
  }

  private static void putStart(StartSession start, DataOutputStream out) throws IOException {
    out.writeLong(start.id());
    out.writeUTF(start.name());
    SessionLimits limits = start.limits();
    out.writeLong(limits.memory());
    out.writeLong(limits.hostMemory());
    out.writeLong(limits.guestMemory());
    out.writeLong(limits.guestHostMemory());
    out.writeLong(limits.idleSeconds());
    out.writeInt(start.slots());
    out.writeInt(start.slot());
    out.writeInt(start.channel());
    out.writeLong(start.apiHash());
    put(out, start.shared());
    put(out, start.problem());
    out.write(start.welcome().array());
    put(out, start.tlsKey());
  }

  private static StartSession start(DataInputStream in) throws IOException {
    return new StartSession(
        in.readLong(),
        in.readUTF(),
        new SessionLimits(
            in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong()),
        in.readInt(),
        in.readInt(),
        in.readInt(),
        in.readLong(),
        bytes(in),
        in.readUTF(),
        welcome(in),
        bytes(in));
  }

  private static Limit limit(DataInputStream in) throws IOException {
    int number = in.readUnsignedByte();
    return Limit.of(number).orElseThrow(() -> new IOException("a limit of kind " + number));
  }

  private static Bytes welcome(DataInputStream in) throws IOException {
    return Bytes.of(in.readNBytes(HandshakeMessages.WELCOME));
  }

  private static void put(DataOutputStream out, Bytes bytes) throws IOException {
    byte[] array = bytes.array();
    out.writeShort(array.length);
    out.write(array);
  }

  private static Bytes bytes(DataInputStream in) throws IOException {
    return Bytes.of(in.readNBytes(in.readUnsignedShort()));
  }

  private static void put(DataOutputStream out, String text) throws IOException {
    out.writeUTF(clip(text));
  }

  private static String clip(String text) {
    return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT);
  }

  /** Reads a string for the log and for users. */
  private static String text(DataInputStream in) throws IOException {
    return WorkerLog.printable(clip(in.readUTF()));
  }

  private static ContentExchange.Kind contents(DataInputStream in) throws IOException {
    int number = in.readByte();
    return Arrays.stream(ContentExchange.Kind.values())
        .filter(kind -> kind.number() == number)
        .findFirst()
        .orElseThrow(() -> new IOException("contents of kind " + number));
  }

  private static long count(DataInputStream in) throws IOException {
    long count = in.readLong();
    if (count < 0) {
      throw new IOException("a count of " + count);
    }
    return count;
  }
}
