package graft.hypervisors.kvm;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;

/** A guest's network card without a guest: exchanges Ethernet frames as QEMU does. */
final class FrameCard implements AutoCloseable {
  /** The time to wait for frames that must not come. */
  private static final int SILENCE_MS = 300;

  private static final byte[] MAC = HexFormat.of().parseHex("525400000001");
  private static final byte[] EVERYBODY = HexFormat.of().parseHex("ffffffffffff");
  private static final int SYN = 2;
  private static final int ACK = 16;

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final byte[] address;
  private int sourcePort = 20000;

  FrameCard(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    in = new DataInputStream(socket.getInputStream());
    out = new DataOutputStream(socket.getOutputStream());
    address = ip("10.0.2.15");
  }

  /** Introduces the guest, as every guest does before it sends to an address. */
  FrameCard introduced() throws IOException {
    ByteBuffer arp = ByteBuffer.allocate(28);
    arp.putShort((short) 1).putShort((short) 0x800).put((byte) 6).put((byte) 4).putShort((short) 1);
    arp.put(MAC).put(address).put(new byte[6]).put(ip("10.0.2.2"));
    send(ethernet(EVERYBODY, 0x806, arp.array()));
    if (receive(10_000).isEmpty()) {
      throw new IOException("no answer to ARP");
    }
    return this;
  }

  void send(byte[] frame) throws IOException {
    sendRaw(frame.length, frame);
  }

  /** Sends a frame with any length before it. */
  void sendRaw(int length, byte[] frame) throws IOException {
    out.writeInt(length);
    out.write(frame);
    out.flush();
  }

  /** The next frame; empty after a time without one. */
  private Optional<byte[]> receive(int milliseconds) throws IOException {
    socket.setSoTimeout(milliseconds);
    try {
      byte[] frame = new byte[in.readInt()];
      in.readFully(frame);
      return Optional.of(frame);
    } catch (SocketTimeoutException e) {
      return Optional.empty();
    }
  }

  /** Whether nothing comes back for a frame. */
  boolean isIgnored(byte[] frame) throws IOException {
    send(frame);
    return receive(SILENCE_MS).isEmpty();
  }

  /** Whether the other end closes the connection. */
  boolean isClosed() throws IOException {
    socket.setSoTimeout(10_000);
    try {
      return in.read() < 0;
    } catch (SocketException e) {
      return true; // reset, since the other end had not read everything
    }
  }

  /** The TCP flags of the answer to a connection; 0 if there is none. */
  int connect(String to, int port) throws IOException {
    int from = sourcePort++;
    send(ipv4(to, 6, tcp(to, from, port, SYN, 100, 0)));
    for (Optional<byte[]> frame = receive(2000); frame.isPresent(); frame = receive(2000)) {
      ByteBuffer answer = ByteBuffer.wrap(frame.get());
      if (answer.getShort(12) == 0x800 && answer.get(23) == 6 && answer.getShort(36) == from) {
        int flags = answer.get(47) & 0xff;
        if (flags == (SYN | ACK)) {
          send(ipv4(to, 6, tcp(to, from, port, ACK, 101, answer.getInt(38) + 1)));
        }
        return flags;
      }
    }
    return 0;
  }

  /** A datagram. */
  byte[] udp(String to, int port, byte[] data) throws IOException {
    ByteBuffer udp = ByteBuffer.allocate(8 + data.length);
    udp.putShort((short) 5000).putShort((short) port).putShort((short) (8 + data.length));
    udp.putShort((short) 0).put(data); // 0: without a checksum
    return ipv4(to, 17, udp.array());
  }

  byte[] ping(String to) throws IOException {
    ByteBuffer echo = ByteBuffer.allocate(8).put((byte) 8).put((byte) 0);
    echo.putShort(2, checksum(echo.array()));
    return ipv4(to, 1, echo.array());
  }

  /** A router solicitation of IPv6, to which a network with IPv6 answers. */
  byte[] routerSolicitation() throws IOException {
    byte[] source = InetAddress.getByName("fe80::5054:ff:fe00:1").getAddress();
    byte[] routers = InetAddress.getByName("ff02::2").getAddress();
    ByteBuffer icmp = ByteBuffer.allocate(8).put((byte) 133);
    ByteBuffer summed = ByteBuffer.allocate(40 + 8).put(source).put(routers);
    summed.putInt(8).putInt(58).put(icmp.array());
    icmp.putShort(2, checksum(summed.array()));
    ByteBuffer packet = ByteBuffer.allocate(48).putInt(0x60000000).putShort((short) 8);
    packet.put((byte) 58).put((byte) 255).put(source).put(routers).put(icmp.array());
    return ethernet(HexFormat.of().parseHex("333300000002"), 0x86dd, packet.array());
  }

  private byte[] tcp(String to, int from, int port, int flags, int sequence, int acknowledged)
      throws IOException {
    ByteBuffer tcp = ByteBuffer.allocate(20);
    tcp.putShort((short) from).putShort((short) port).putInt(sequence).putInt(acknowledged);
    tcp.put((byte) (5 << 4)).put((byte) flags).putShort((short) 65000);
    ByteBuffer summed = ByteBuffer.allocate(12 + 20).put(address).put(ip(to));
    summed.put((byte) 0).put((byte) 6).putShort((short) 20).put(tcp.array());
    return tcp.putShort(16, checksum(summed.array())).array();
  }

  byte[] ipv4(String to, int protocol, byte[] data) throws IOException {
    ByteBuffer packet = ByteBuffer.allocate(20 + data.length);
    packet.putShort((short) 0x4500).putShort((short) packet.capacity()).putInt(0x00010000);
    packet.put((byte) 64).put((byte) protocol).putShort((short) 0).put(address).put(ip(to));
    packet.put(data);
    packet.putShort(10, checksum(java.util.Arrays.copyOf(packet.array(), 20)));
    return ethernet(HexFormat.of().parseHex("52550a000202"), 0x800, packet.array());
  }

  private static byte[] ethernet(byte[] to, int type, byte[] data) {
    return ByteBuffer.allocate(14 + data.length)
        .put(to)
        .put(MAC)
        .putShort((short) type)
        .put(data)
        .array();
  }

  /** The Internet checksum, RFC 1071. */
  private static short checksum(byte[] data) {
    int sum = 0;
    for (int i = 0; i < data.length; i += 2) {
      sum += (data[i] & 0xff) << 8 | (i + 1 < data.length ? data[i + 1] & 0xff : 0);
    }
    while (sum >> 16 != 0) {
      sum = (sum & 0xffff) + (sum >> 16);
    }
    return (short) ~sum;
  }

  private static byte[] ip(String address) throws IOException {
    return InetAddress.getByName(address).getAddress();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
