package graft.hypervisors.libvirt.calls;

/**
 * The last error that libvirt recorded for a thread.
 *
 * @param code a virErrorNumber
 * @param domain a virErrorDomain: the part of libvirt that failed
 * @param message libvirt's text
 */
public record LibvirtError(int code, int domain, String message) {

  /** virErrorDomain's VIR_FROM_RPC: the client's end of the connection to the daemon. */
  private static final int FROM_RPC = 7;

  /**
   * Whether the connection to the daemon was lost: the first error is a broken pipe, later ones are
   * a closed socket, neither with a specific code (seen with libvirt 9.0).
   */
  public boolean isLostConnection() {
    return domain == FROM_RPC
        && (code == Code.SYSTEM_ERROR.number() || code == Code.INTERNAL_ERROR.number());
  }

  /** libvirt's name of the code if {@link Code} contains it, else the number. */
  public String codeName() {
    Code known = Code.of(code);
    return known == null ? "libvirt error " + code : "VIR_ERR_" + known.name();
  }

  /** The codes that Graft handles; the numbers are those of libvirt/virterror.h. */
  public enum Code {
    INTERNAL_ERROR(1),
    NO_SUPPORT(3),
    UNKNOWN_HOST(4),
    NO_CONNECT(5),
    INVALID_CONN(6),
    INVALID_ARG(8),
    OPERATION_FAILED(9),
    XML_ERROR(27),
    DOM_EXIST(28),
    OPERATION_DENIED(29),
    XML_DETAIL(35),
    NETWORK_EXIST(37),
    SYSTEM_ERROR(38),
    RPC(39),
    NO_DOMAIN(42),
    NO_NETWORK(43),
    AUTH_FAILED(45),
    NO_STORAGE_POOL(49),
    NO_STORAGE_VOL(50),
    NO_NODE_DEVICE(53),
    OPERATION_INVALID(55),
    CONFIG_UNSUPPORTED(67),
    OPERATION_TIMEOUT(68),
    ARGUMENT_UNSUPPORTED(74),
    NO_DOMAIN_METADATA(80),
    OPERATION_UNSUPPORTED(84),
    AGENT_UNRESPONSIVE(86),
    RESOURCE_BUSY(87),
    ACCESS_DENIED(88),
    STORAGE_VOL_EXIST(90),
    CPU_INCOMPATIBLE(91),
    XML_INVALID_SCHEMA(92),
    AUTH_UNAVAILABLE(94),
    AGENT_UNSYNCED(97),
    DEVICE_MISSING(99);

    private final int number;

    Code(int number) {
      this.number = number;
    }

    /** libvirt's number. */
    public int number() {
      return number;
    }

    static Code of(int number) {
      for (Code code : values()) {
        if (code.number == number) {
          return code;
        }
      }
      return null;
    }
  }
}
