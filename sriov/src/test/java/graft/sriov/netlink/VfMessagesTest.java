package graft.sriov.netlink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.values.MacAddress;
import graft.sriov.Guid;
import graft.sriov.VfPolicy;
import graft.sriov.VfRate;
import graft.sriov.VfSettings;
import graft.sriov.files.Errno;
import graft.sriov.host.NetInterface;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The expected bytes come from {@code sendmsg} calls of {@code ip link set dev veth0 vf 3 ...}
 * (iproute2 6.1.0, x86-64, {@code strace -e trace=sendmsg -e write=3}). Only the sequence number,
 * which iproute2 takes from the time of day, was set to 1.
 */
class VfMessagesTest {
  private static final Guid GUID = Guid.parse("00:11:22:33:44:55:66:77");
  private static final NetInterface LOOPBACK = new NetInterface("lo", 1, 772, 0, "", "", "unknown");

  @BeforeEach
  void theBytesAreThoseOfALittleEndianMachine() {
    assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN);
  }

  @Test
  void nodeGuid() {
    assertThat(sent(VfSettings.NONE.withNodeGuid(GUID)))
        .isEqualTo(
            """
            3c000000 10000500 01000000 00000000
            00000000 02000000 00000000 00000000
            1c001600 18000100 14000a00 03000000
            00000000 77665544 33221100""");
  }

  @Test
  void portGuid() {
    assertThat(sent(VfSettings.NONE.withPortGuid(GUID)))
        .isEqualTo(
            """
            3c000000 10000500 01000000 00000000
            00000000 02000000 00000000 00000000
            1c001600 18000100 14000b00 03000000
            00000000 77665544 33221100""");
  }

  @Test
  void linkState() {
    String expected =
        """
        34000000 10000500 01000000 00000000
        00000000 02000000 00000000 00000000
        14001600 10000100 0c000500 03000000
        """;
    assertThat(sent(VfSettings.NONE.withPolicy(VfPolicy.FOLLOW))).isEqualTo(expected + "00000000");
    assertThat(sent(VfSettings.NONE.withPolicy(VfPolicy.UP))).isEqualTo(expected + "01000000");
    assertThat(sent(VfSettings.NONE.withPolicy(VfPolicy.DOWN))).isEqualTo(expected + "02000000");
  }

  @Test
  void trust() {
    assertThat(sent(VfSettings.NONE.withTrust(true)))
        .isEqualTo(
            """
            34000000 10000500 01000000 00000000
            00000000 02000000 00000000 00000000
            14001600 10000100 0c000900 03000000
            01000000""");
  }

  @Test
  void rate() {
    assertThat(sent(VfSettings.NONE.withRate(new VfRate(10, 1000))))
        .isEqualTo(
            """
            38000000 10000500 01000000 00000000
            00000000 02000000 00000000 00000000
            18001600 14000100 10000600 03000000
            0a000000 e8030000""");
  }

  @Test
  void mac() {
    assertThat(sent(VfSettings.NONE.withMac(MacAddress.parse("02:00:00:00:00:01"))))
        .isEqualTo(
            """
            50000000 10000500 01000000 00000000
            00000000 02000000 00000000 00000000
            30001600 2c000100 28000100 03000000
            02000000 00010000 00000000 00000000
            00000000 00000000 00000000 00000000""");
  }

  @Test
  void question() {
    assertThat(hex(VfMessages.get(3, 1)))
        .isEqualTo(
            """
            28000000 12000100 01000000 00000000
            00000000 03000000 00000000 00000000
            08001d00 09000000""");
  }

  @Test
  void severalSettingsAreSeveralMessagesWithNumbersOfTheirOwn() {
    List<byte[]> messages =
        VfMessages.set(2, 3, VfSettings.NONE.withGuids(GUID, GUID).withPolicy(VfPolicy.UP), 7);
    assertThat(messages)
        .extracting(message -> ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).getInt(8))
        .containsExactly(7, 8, 9);
  }

  @Test
  void anAnswerIsReadByVfWhateverTheOrderOfItsAttributes() {
    byte[] answer =
        answer(
            vfInfo(attribute(5, words(1, 1)), attribute(11, guid(1, GUID.value())), unknown()),
            vfInfo(
                attribute(10, guid(0, GUID.value())),
                attribute(11, guid(0, 0)),
                attribute(5, words(0, 0)),
                attribute(1, mac(0)),
                attribute(9, words(0, 1)),
                attribute(6, words(0, 5, 50))));

    assertThat(VfMessages.parse(answer, true))
        .as("InfiniBand: 0 is unknown, Ethernet settings mean nothing")
        .containsExactly(
            VfSettings.NONE.withNodeGuid(GUID).withPolicy(VfPolicy.FOLLOW),
            VfSettings.NONE.withPortGuid(GUID).withPolicy(VfPolicy.UP));
    assertThat(VfMessages.parse(answer, false).get(0))
        .isEqualTo(
            VfSettings.NONE
                .withNodeGuid(GUID)
                .withPolicy(VfPolicy.FOLLOW)
                .withMac(MacAddress.parse("02:00:00:00:00:09"))
                .withTrust(true)
                .withRate(new VfRate(5, 50)));
  }

  @Test
  void aBrokenAnswerIsReadAsFarAsItGoes() {
    byte[] answer = answer(vfInfo(attribute(5, words(0, 1))));
    for (int length = VfMessages.HEADER + 16; length < answer.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(answer, length);
      assertThat(VfMessages.parse(cut, true)).hasSizeLessThanOrEqualTo(1);
    }
  }

  @Test
  void theKernelAnswersForAnInterfaceWithoutVfs() {
    RtNetlink netlink = new RtNetlink(Duration.ofSeconds(20));
    assertThat(netlink.read(LOOPBACK)).isEmpty();
    assertThatThrownBy(() -> netlink.set(LOOPBACK, 0, VfSettings.NONE.withNodeGuid(GUID)))
        .isInstanceOfSatisfying(
            NetlinkException.class,
            failure ->
                // The first error occurs as root, the second one without root's privileges.
                assertThat(failure.errno()).isIn(Errno.EOPNOTSUPP, Errno.EPERM))
        .hasMessageContaining("lo");
    NetInterface none = new NetInterface("none", 0x7ffffff0, 1, 0, "", "", "down");
    assertThatThrownBy(() -> netlink.read(none))
        .isInstanceOfSatisfying(
            NetlinkException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
  }

  private static String sent(VfSettings single) {
    List<byte[]> messages = VfMessages.set(2, 3, single, 1);
    assertThat(messages).hasSize(1);
    return hex(messages.get(0));
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < bytes.length; i += 4) {
      text.append(i == 0 ? "" : i % 16 == 0 ? "\n" : " ")
          .append(HexFormat.of().formatHex(bytes, i, i + 4));
    }
    return text.toString();
  }

  private static byte[] answer(byte[]... infos) {
    byte[] list = attribute(22 | 0x8000, join(infos));
    byte[] name = attribute(3, new byte[] {'i', 'b', '0', 0});
    byte[] body = join(new byte[32], name, list);
    ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).putInt(body.length).putShort((short) 16);
    return body;
  }

  private static byte[] vfInfo(byte[]... attributes) {
    return attribute(1, join(attributes));
  }

  private static byte[] unknown() {
    return attribute(200, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
  }

  private static byte[] attribute(int type, byte[] value) {
    ByteBuffer all =
        ByteBuffer.allocate((4 + value.length + 3) & ~3).order(ByteOrder.LITTLE_ENDIAN);
    return all.putShort((short) (4 + value.length)).putShort((short) type).put(value).array();
  }

  private static byte[] words(int... words) {
    ByteBuffer all = ByteBuffer.allocate(4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int word : words) {
      all.putInt(word);
    }
    return all.array();
  }

  private static byte[] guid(int vf, long bits) {
    ByteBuffer all = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    return all.putInt(vf).putInt(0).putLong(bits).array();
  }

  private static byte[] mac(int vf) {
    ByteBuffer all = ByteBuffer.allocate(36).order(ByteOrder.LITTLE_ENDIAN);
    return all.putInt(vf).put(new byte[] {2, 0, 0, 0, 0, 9}).array();
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }
}
