package graft.common.grants;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a token or a certificate allows: one line of the tokens file.
 *
 * @param name the name of the guest
 * @param token 32 secret bytes in hexadecimal; empty if the guest has a certificate instead
 * @param certificate the name for which the guest's certificate has to be; empty if it has a token
 * @param settings the text after the token, from which the following components are parsed, without
 *     {@link #END_OTHERS}, which belongs to the token and not to the guest
 * @param memory the limit of a session's device memory, in bytes
 * @param guestMemory the limit of the device memory of all its sessions together, in bytes
 * @param maxSessions the most sessions at one time
 * @param device the index of the device at the server
 * @param cid the guest's context id, the only context id that may use the token over vsock
 * @param region the file on this host that is the guest's shared memory, empty if it has none
 * @param domain the name of the guest's Xen domain, empty if it has none
 * @param endsOthers whether sessions that were opened with another token of the guest end
 * @param mayBePlaintext whether the guest may connect over a network without encryption
 * @param share the guest's share of the GPU's time, empty if nothing is said of it
 * @param expires the second of Unix time from which the line gives nobody a session, and ends those
 *     that were opened with it; empty if it does not expire
 */
public record Grant(
    String name,
    String token,
    String certificate,
    String settings,
    OptionalLong memory,
    OptionalLong guestMemory,
    OptionalInt maxSessions,
    OptionalInt device,
    OptionalLong cid,
    String region,
    String domain,
    boolean endsOthers,
    boolean mayBePlaintext,
    Optional<Share> share,
    OptionalLong expires) {
  /** The longest name, in bytes of UTF-8. */
  private static final int MAX_NAME = 63;

  private static final Pattern NAME = Pattern.compile("[^\\s\\p{Cntrl}#=]+");
  private static final Pattern TOKEN = Pattern.compile("[0-9a-fA-F]{64}");
  private static final String CERTIFICATE = "certificate=";

  /** A certificate's name is compared as a whole, so that a pattern would never be found. */
  private static final Pattern CERTIFICATE_NAME = Pattern.compile("[^\\s\\p{Cntrl}=*?\"]{1,253}");

  /** The setting that ends the sessions of the guest's other tokens. */
  public static final String END_OTHERS = "sessions=own";

  private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

  /** What may be the name of a setting; a token is longer. */
  private static final Pattern KEY = Pattern.compile("[a-z][a-z-]{0,31}");

  private static final String POSSIBLE =
      "after the token may come memory=BYTES, guest-memory=BYTES, max-sessions=NUMBER,"
          + " device=INDEX, cid=NUMBER, region=/FILE, domain=NAME, sessions=own,"
          + " encryption=optional, expires=SECONDS, class=guaranteed|burstable|best-effort,"
          + " compute=PERCENT and priority=normal|high only";

  /** Whether a text has the form of a token. */
  public static boolean isToken(String text) {
    return TOKEN.matcher(text).matches();
  }

  /**
   * Parses a line of the tokens file.
   *
   * @throws IllegalArgumentException if the line is invalid; the message never shows a token
   */
  static Grant parse(String line) {
    return parse(
        line,
        reason -> {
          throw new IllegalArgumentException(reason + ": " + POSSIBLE);
        });
  }

  /**
   * Parses a line of the tokens file, and leaves out settings that are unknown or wrong.
   *
   * @param wrong is told of each setting that was left out
   * @throws IllegalArgumentException if the name or the token is invalid; the message never shows a
   *     token
   */
  static Grant parse(String line, Consumer<String> wrong) {
    List<String> fields = List.of(line.split("\\s+"));
    String name = fields.get(0);
    if (!isName(name)) {
      throw new IllegalArgumentException(
          "a name has at most " + MAX_NAME + " bytes and none of # =");
    }
    String credential = fields.size() < 2 ? "" : fields.get(1);
    String certificate = certificate(credential);
    if (certificate.isEmpty() && !TOKEN.matcher(credential).matches()) {
      throw new IllegalArgumentException(
          "after the name comes a token of 64 hexadecimal digits, or certificate=NAME with the DNS"
              + " name of a certificate, or its common name, without patterns");
    }
    List<String> settings = fields.subList(2, fields.size());
    OptionalLong memory = OptionalLong.empty();
    OptionalLong guestMemory = OptionalLong.empty();
    OptionalInt maxSessions = OptionalInt.empty();
    OptionalInt device = OptionalInt.empty();
    OptionalLong cid = OptionalLong.empty();
    OptionalLong expires = OptionalLong.empty();
    String region = "";
    String domain = "";
    boolean endsOthers = false;
    boolean plaintext = false;
    Share.Parser share = new Share.Parser();
    for (String field : settings) {
      String value = field.substring(field.indexOf('=') + 1);
      boolean number = NUMBER.matcher(value).matches();
      if (field.startsWith("memory=") && number) {
        memory = OptionalLong.of(Long.parseLong(value));
      } else if (field.startsWith("guest-memory=") && number) {
        guestMemory = OptionalLong.of(Long.parseLong(value));
      } else if (field.startsWith("max-sessions=") && number && value.length() < 5) {
        maxSessions = OptionalInt.of(Integer.parseInt(value));
      } else if (field.startsWith("device=") && number && value.length() < 5) {
        device = OptionalInt.of(Integer.parseInt(value));
      } else if (field.startsWith("cid=") && number) {
        cid = OptionalLong.of(Long.parseLong(value));
      } else if (field.startsWith("expires=") && number) {
        expires = OptionalLong.of(Long.parseLong(value));
      } else if (field.startsWith("region=/")) {
        region = value;
      } else if (field.startsWith("domain=") && !value.isEmpty()) {
        domain = value;
      } else if (field.equals(END_OTHERS)) {
        endsOthers = true;
      } else if (field.equals("encryption=optional")) {
        plaintext = true;
      } else if (!share.take(field)) {
        wrong.accept(reason(field, settings.indexOf(field)));
      }
    }
    return new Grant(
        name,
        certificate.isEmpty() ? credential : "",
        certificate,
        settings.stream()
            .filter(setting -> !setting.equals(END_OTHERS))
            .collect(Collectors.joining(" ")),
        memory,
        guestMemory,
        maxSessions,
        device,
        cid,
        region,
        domain,
        endsOthers,
        plaintext,
        share(share, wrong),
        expires);
  }

  private static Optional<Share> share(Share.Parser parser, Consumer<String> wrong) {
    try {
      return parser.share();
    } catch (IllegalArgumentException e) {
      wrong.accept(e.getMessage());
      return Optional.empty();
    }
  }

  /** Names a setting, but not its value: a misplaced token may be in it. */
  private static String reason(String field, int index) {
    String key = field.substring(0, Math.max(0, field.indexOf('=')));
    if (!KEY.matcher(key).matches()) {
      return "setting " + (index + 1) + " after the token is none";
    }
    return "the setting " + key + "= is unknown or has a wrong value";
  }

  /** Returns whether a word may be a guest's name. */
  static boolean isName(String word) {
    return NAME.matcher(word).matches() && word.getBytes(StandardCharsets.UTF_8).length <= MAX_NAME;
  }

  /** Returns the name in the field that stands in place of a token; empty if it is none. */
  private static String certificate(String credential) {
    String name =
        credential.startsWith(CERTIFICATE) ? credential.substring(CERTIFICATE.length()) : "";
    return CERTIFICATE_NAME.matcher(name).matches() ? name : "";
  }

  /** Whether the line gives nobody a session any more. */
  public boolean isExpired(Instant now) {
    return expires.isPresent() && now.getEpochSecond() >= expires.getAsLong();
  }

  /** Whether the guest authenticates with a certificate, and not with a token. */
  public boolean hasCertificate() {
    return !certificate.isEmpty();
  }

  /**
   * Returns what identifies the token or the certificate without revealing it: the same for equal
   * ones, different for different ones.
   */
  public String fingerprint() {
    try {
      String credential = hasCertificate() ? CERTIFICATE + certificate : token;
      byte[] bytes = credential.toLowerCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** Omits the token, so that no log can show it. */
  @Override
  public String toString() {
    return "Grant[" + name + "]";
  }
}
