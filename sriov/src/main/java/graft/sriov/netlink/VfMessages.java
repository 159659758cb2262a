package graft.sriov.netlink;

import graft.common.values.MacAddress;
import graft.sriov.Guid;
import graft.sriov.VfPolicy;
import graft.sriov.VfRate;
import graft.sriov.VfSettings;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The routing netlink messages about VFs, in the machine's byte order (rtnetlink(7); Linux,
 * include/uapi/linux/if_link.h). The result of {@code set} equals, byte for byte, the messages of
 * iproute2's {@code ip link set dev X vf N ...}.
 */
final class VfMessages {
  static final int HEADER = 16;
  static final int NLMSG_ERROR = 2;
  static final int NLMSG_DONE = 3;
  static final int RTM_NEWLINK = 16;
  private static final int RTM_GETLINK = 18;
  private static final int NLM_F_REQUEST = 1;
  private static final int NLM_F_ACK = 4;
  private static final int IFINFOMSG = 16;

  private static final int IFLA_VFINFO_LIST = 22;
  private static final int IFLA_EXT_MASK = 29;
  private static final int RTEXT_FILTER_VF = 1;
  private static final int RTEXT_FILTER_SKIP_STATS = 8;
  private static final int IFLA_VF_INFO = 1;

  private static final int IFLA_VF_MAC = 1;
  private static final int IFLA_VF_LINK_STATE = 5;
  private static final int IFLA_VF_RATE = 6;
  private static final int IFLA_VF_TRUST = 9;
  private static final int IFLA_VF_IB_NODE_GUID = 10;
  private static final int IFLA_VF_IB_PORT_GUID = 11;
  private static final int MAX_ADDR_LEN = 32;

  /** This is not an attribute's number but a flag: the attribute's value consists of attributes. */
  private static final int NLA_F_NESTED = 0x8000;

  private VfMessages() {}

  /** Requests an interface with its VFs and without their counters. */
  static byte[] get(int index, int sequence) {
    ByteBuffer message = message(HEADER + IFINFOMSG + 8, RTM_GETLINK, NLM_F_REQUEST, sequence);
    interfaceInfo(message, index);
    message.putShort((short) 8).putShort((short) IFLA_EXT_MASK);
    message.putInt(RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
    return bytes(message);
  }

  /** One message for each setting, in the order node GUID, port GUID, policy, MAC, trust, rate. */
  static List<byte[]> set(int index, int vf, VfSettings wanted, int firstSequence) {
    List<byte[]> values = new ArrayList<>();
    List<Integer> types = new ArrayList<>();
    wanted.nodeGuid().ifPresent(guid -> add(values, types, IFLA_VF_IB_NODE_GUID, guid(vf, guid)));
    wanted.portGuid().ifPresent(guid -> add(values, types, IFLA_VF_IB_PORT_GUID, guid(vf, guid)));
    wanted
        .policy()
        .ifPresent(policy -> add(values, types, IFLA_VF_LINK_STATE, words(vf, policy.linkState())));
    wanted.mac().ifPresent(mac -> add(values, types, IFLA_VF_MAC, mac(vf, mac)));
    wanted.trust().ifPresent(trust -> add(values, types, IFLA_VF_TRUST, words(vf, trust ? 1 : 0)));
    wanted
        .rate()
        .ifPresent(
            rate -> add(values, types, IFLA_VF_RATE, words(vf, rate.minimum(), rate.maximum())));
    List<byte[]> messages = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      messages.add(set(index, types.get(i), values.get(i), firstSequence + i));
    }
    return messages;
  }

  private static void add(List<byte[]> values, List<Integer> types, int type, byte[] value) {
    values.add(value);
    types.add(type);
  }

  private static byte[] set(int index, int type, byte[] value, int sequence) {
    int attribute = 4 + value.length;
    ByteBuffer message =
        message(
            HEADER + IFINFOMSG + 8 + attribute, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, sequence);
    interfaceInfo(message, index);
    message.putShort((short) (attribute + 8)).putShort((short) IFLA_VFINFO_LIST);
    message.putShort((short) (attribute + 4)).putShort((short) IFLA_VF_INFO);
    message.putShort((short) attribute).putShort((short) type).put(value);
    return bytes(message);
  }

  /** struct ifla_vf_guid: the compiler aligns the 64 bits to 8 bytes. */
  private static byte[] guid(int vf, Guid guid) {
    return bytes(buffer(16).putInt(vf).putInt(0).putLong(guid.value()));
  }

  private static byte[] mac(int vf, MacAddress mac) {
    return bytes(buffer(4 + MAX_ADDR_LEN).putInt(vf).put(mac.octets()));
  }

  private static byte[] words(int... words) {
    ByteBuffer value = buffer(4 * words.length);
    for (int word : words) {
      value.putInt(word);
    }
    return bytes(value);
  }

  private static ByteBuffer message(int length, int type, int flags, int sequence) {
    // The port number stays 0: the kernel fills in the sender's number.
    return buffer(length)
        .putInt(length)
        .putShort((short) type)
        .putShort((short) flags)
        .putInt(sequence)
        .putInt(0);
  }

  private static void interfaceInfo(ByteBuffer message, int index) {
    message.putInt(0).putInt(index).putInt(0).putInt(0);
  }

  private static byte[] bytes(ByteBuffer whole) {
    byte[] bytes = new byte[whole.capacity()];
    whole.get(0, bytes);
    return bytes;
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
  }

  /**
   * Parses the VFs of one RTM_NEWLINK message.
   *
   * @param message the message with its header
   * @param infiniband whether the interface is IPoIB, for which the addresses, trust and rates that
   *     the kernel always fills in have no meaning
   */
  static List<VfSettings> parse(byte[] message, boolean infiniband) {
    ByteBuffer all = ByteBuffer.wrap(message).order(ByteOrder.nativeOrder());
    SortedMap<Integer, VfSettings> vfs = new TreeMap<>();
    attributes(
        slice(all, HEADER + IFINFOMSG, all.limit()),
        (type, list) -> {
          if (type == IFLA_VFINFO_LIST) {
            attributes(
                list,
                (infoType, info) -> {
                  if (infoType == IFLA_VF_INFO) {
                    attributes(info, (key, value) -> read(vfs, key, value, infiniband));
                  }
                });
          }
        });
    return List.copyOf(vfs.values());
  }

  private static void read(
      SortedMap<Integer, VfSettings> vfs, int type, ByteBuffer value, boolean infiniband) {
    if (value.remaining() < 8) {
      return;
    }
    int vf = value.getInt(0);
    VfSettings before = vfs.getOrDefault(vf, VfSettings.NONE);
    VfSettings after =
        switch (type) {
          case IFLA_VF_IB_NODE_GUID ->
              value.getLong(8) == 0 ? before : before.withNodeGuid(new Guid(value.getLong(8)));
          case IFLA_VF_IB_PORT_GUID ->
              value.getLong(8) == 0 ? before : before.withPortGuid(new Guid(value.getLong(8)));
          case IFLA_VF_LINK_STATE -> policy(before, value.getInt(4));
          case IFLA_VF_MAC -> infiniband ? before : mac(before, value);
          case IFLA_VF_TRUST ->
              infiniband || (value.getInt(4) & ~1) != 0
                  ? before
                  : before.withTrust(value.getInt(4) == 1);
          case IFLA_VF_RATE ->
              infiniband ? before : before.withRate(new VfRate(value.getInt(4), value.getInt(8)));
          default -> null;
        };
    if (after != null) {
      vfs.put(vf, after);
    }
  }

  private static VfSettings policy(VfSettings before, int state) {
    for (VfPolicy policy : VfPolicy.values()) {
      if (policy.linkState() == state) {
        return before.withPolicy(policy);
      }
    }
    return before;
  }

  private static VfSettings mac(VfSettings before, ByteBuffer value) {
    long mac = 0;
    for (int i = 0; i < 6; i++) {
      mac = (mac << 8) | (value.get(4 + i) & 0xff);
    }
    return mac == 0 ? before : before.withMac(new MacAddress(mac));
  }

  private interface Visitor {
    void attribute(int type, ByteBuffer value);
  }

  private static void attributes(ByteBuffer all, Visitor visitor) {
    int at = 0;
    while (at + 4 <= all.limit()) {
      int length = all.getShort(at) & 0xffff;
      if (length < 4 || at + length > all.limit()) {
        return;
      }
      int type = all.getShort(at + 2) & 0xffff & ~NLA_F_NESTED;
      visitor.attribute(type, slice(all, at + 4, at + length));
      at += (length + 3) & ~3;
    }
  }

  private static ByteBuffer slice(ByteBuffer all, int from, int to) {
    return all.slice(from, to - from).order(ByteOrder.nativeOrder());
  }
}
