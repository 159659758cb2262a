package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;

import graft.remoting.server.CudaClient.Parameters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * The objects of a session that make an attack valid except for one address: an object of each kind
 * that has a handle, memory of each kind that has an address, and a number of each kind. What a
 * device cannot create stays 0.
 */
final class AttackWorld {
  /** Bytes of the allocation that records name. */
  static final long ALLOCATED = 64 << 10;

  /** The bytes of the mapping and of the reserved range, of which one half is mapped. */
  static final long GRANULE = 2 << 20;

  private static final String PTX =
      ".version 7.0\n.target sm_70\n.address_size 64\n.global .b32 x[4];\n"
          + ".visible .entry k(.param .u64 p) { ret; }\n\0";

  private static long nextShadowMapping = 0x3f00_0000_0000L;

  private final CudaClient client;
  private final Map<String, Long> ids = new HashMap<>();
  private final int id;

  final long memory;
  final long mapping;
  final long reserved;
  final long mapped;
  final long physical;
  final long texture;
  final long surface;
  final long condition;

  /**
   * Creates all objects.
   *
   * @param id the client's next id for objects
   */
  AttackWorld(CudaClient client, int id) throws IOException {
    this.client = client;
    this.id = id;
    ids.put("context", 1L);
    object("stream", "cuStreamCreate", with(id, 1));
    object("event", "cuEventCreate", with(id, 0));
    object("module", "graftModuleLoad", with(id, ptx().length, 0, 0, 0, 0, 0), ptx());
    object("library", "graftLibraryLoad", with(id, ptx().length), ptx());
    object("function", "graftModuleGetFunction", with(id, id).text("k").put(0).put(0).put(0));
    object("graph", "cuGraphCreate", with(id, 0));
    object("node", "graftGraphAddNode", emptyNode());
    object("exec", "graftGraphInstantiate", with(id, id, 0, 0, 0, 0));
    object("array", "cuArrayCreate_v2", with(id).block(array(24, 16)));
    object("mipmap", "cuMipmappedArrayCreate", with(id).block(array(40, 24)).put(1));
    object("pool", "cuMemPoolCreate", with(id).block(onDevice(88, 8)));
    object("link", "graftLinkCreate", with(id, 0, 0));
    object("texref", "cuTexRefCreate", with(id));
    memory = number("cuMemAlloc_v2", with(1, ALLOCATED));
    done("cuMemsetD8_v2", with(memory, 0, ALLOCATED)); // a wait for 0 at this address ends
    mapping = mapping();
    reserved = number("cuMemAddressReserve", with(1, 2 * GRANULE, 0, 0, 0));
    physical = number("cuMemCreate", with(1, GRANULE).block(onDevice(32, 8)).put(0));
    mapped = done("cuMemMap", with(reserved, GRANULE, 0, physical, 0)) ? reserved : 0;
    done("cuMemSetAccess", with(reserved, GRANULE).block(access()).put(1));
    byte[] linear = linear();
    texture =
        number(
            "graftTextureCreate", with(1).block(linear).put(0).put(0).block(new byte[104]).put(0));
    surface = number("graftSurfaceCreate", with(1).block(new byte[144]).put(id));
    condition = number("cuGraphConditionalHandleCreate", with(1, id, 1, 0, 0));
  }

  private static byte[] ptx() {
    return PTX.getBytes(StandardCharsets.US_ASCII);
  }

  /** CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR: 64 x 64 bytes, for surfaces too. */
  static byte[] array(int bytes, int format) {
    ByteBuffer d = WireClient.little(bytes).putLong(0, 64).putLong(8, 64);
    d.putInt(format, 1).putInt(format + 4, 1);
    if (bytes == 40) {
      d.putInt(32, 2);
    }
    return WireClient.bytes(d, 0, bytes);
  }

  /** CUmemAllocationProp and CUmemPoolProps: pinned memory on device 0. */
  static byte[] onDevice(int bytes, int location) {
    return WireClient.little(bytes).putInt(0, 1).putInt(location, 1).array();
  }

  private static byte[] access() {
    return WireClient.little(12).putInt(0, 1).putInt(8, 3).array();
  }

  private byte[] linear() {
    return WireClient.little(144)
        .putInt(0, 2)
        .putLong(8, memory)
        .putInt(16, 1)
        .putInt(20, 1)
        .putLong(24, 64)
        .array();
  }

  private Parameters emptyNode() {
    Parameters p = with(id, id).put(0).put(0).put(0);
    p.block(WireClient.little(256).putInt(0, 5).array());
    return p.put(0).put(0).put(0).put(0).put(0).put(0).put(0).put(0).put(0).put(0).put(0).put(0);
  }

  private void object(String kind, String name, Parameters p) throws IOException {
    object(kind, name, p, new byte[0]);
  }

  private void object(String kind, String name, Parameters p, byte[] bulk) throws IOException {
    ids.put(kind, done(name, p, bulk) ? id : 0L);
  }

  private boolean done(String name, Parameters p) throws IOException {
    return done(name, p, new byte[0]);
  }

  private boolean done(String name, Parameters p, byte[] bulk) throws IOException {
    try {
      client.call(name, p, bulk);
      return true;
    } catch (CudaClient.CudaError e) {
      return false;
    }
  }

  private long number(String name, Parameters p) throws IOException {
    try {
      return client.call(name, p).getLong(0);
    } catch (CudaClient.CudaError e) {
      return 0;
    }
  }

  private synchronized long mapping() throws IOException {
    long at = nextShadowMapping;
    nextShadowMapping -= 2 * GRANULE;
    return done("graftTwinMap", with(at, GRANULE)) ? at : 0;
  }

  /** Ends the capture that a call may have begun. */
  void endCapture() throws IOException {
    done("cuStreamEndCapture", with(id("stream"), 1));
  }

  /** The id of the object of a kind. */
  long id(String kind) {
    return ids.getOrDefault(kind, 0L);
  }
}
