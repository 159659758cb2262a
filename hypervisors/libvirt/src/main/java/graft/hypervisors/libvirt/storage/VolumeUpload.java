package graft.hypervisors.libvirt.storage;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.libvirt.jna.ConnectionPointer;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.SizeT;
import org.libvirt.jna.StorageVolPointer;
import org.libvirt.jna.StreamPointer;

/** Sends bytes into a volume over a libvirt stream, which works to remote hosts too. */
final class VolumeUpload {

  /** Below the 256 KiB that one libvirt stream packet of old daemons holds. */
  private static final int PIECE = 128 * 1024;

  private final Attempt attempt;
  private final ConnectionPointer connection;
  private final StorageVolPointer volume;
  private final Libvirt calls = LibvirtLibrary.calls();

  VolumeUpload(Attempt attempt, ConnectionPointer connection, StorageVolPointer volume) {
    this.attempt = attempt;
    this.connection = connection;
    this.volume = volume;
  }

  void copy(InputStream content, MemorySize size) {
    StreamPointer stream = attempt.check(calls.virStreamNew(connection, 0));
    boolean finished = false;
    try {
      attempt.check(calls.virStorageVolUpload(volume, stream, 0, size.bytes(), 0));
      send(stream, content, size.bytes());
      attempt.check(calls.virStreamFinish(stream));
      finished = true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      if (!finished) {
        calls.virStreamAbort(stream);
      }
      calls.virStreamFree(stream);
    }
  }

  private void send(StreamPointer stream, InputStream content, long size) throws IOException {
    byte[] piece = new byte[PIECE];
    ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE);
    long left = size;
    while (left > 0) {
      int count = content.readNBytes(piece, 0, (int) Math.min(PIECE, left));
      if (count == 0) {
        throw new EOFException("the content ended " + left + " bytes early");
      }
      int sent = 0;
      while (sent < count) {
        buffer.clear().put(piece, sent, count - sent).flip();
        sent += attempt.check(calls.virStreamSend(stream, buffer, new SizeT(count - sent)));
      }
      left -= count;
    }
  }
}
