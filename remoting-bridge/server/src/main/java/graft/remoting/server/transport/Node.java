package graft.remoting.server.transport;

import graft.remoting.server.system.Bytes;
import java.io.ByteArrayInputStream;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A machine whose certificate is valid.
 *
 * @param secret what this connection's two ends have agreed on, 32 bytes
 * @param names the names for which the certificate is: its DNS names, or, if it has no alternative
 *     names (SAN) of any kind, its common name, as certificates by libvirt's documentation have
 */
public record Node(Bytes secret, List<String> names) {
  private static final String ALTERNATIVE_NAMES = "2.5.29.17";
  private static final int DNS_NAME = 2;
  private static final String COMMON_NAME = "CN=";

  /** What can be a machine's name; others are in no line of the tokens file. */
  private static final Pattern NAME = Pattern.compile("[\\p{Graph}&&[^\\\\\"#;<>]]+");

  /** Copies the names. */
  public Node {
    names = List.copyOf(names);
  }

  /**
   * Reads the names of a certificate.
   *
   * @param certificate DER
   */
  static Node of(byte[] secret, byte[] certificate) throws CertificateException {
    X509Certificate parsed =
        (X509Certificate)
            CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(certificate));
    return new Node(Bytes.of(secret), names(parsed));
  }

  private static List<String> names(X509Certificate certificate) throws CertificateException {
    if (certificate.getExtensionValue(ALTERNATIVE_NAMES) == null) {
      return commonName(certificate.getSubjectX500Principal().getName());
    }
    List<String> names = new ArrayList<>();
    Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
    for (List<?> name : alternatives == null ? List.<List<?>>of() : alternatives) {
      if (Integer.valueOf(DNS_NAME).equals(name.get(0)) && isName((String) name.get(1))) {
        names.add((String) name.get(1));
      }
    }
    return names;
  }

  /**
   * Returns the common name of a distinguished name if there is exactly one.
   *
   * @param subject as RFC 2253 writes it. A value in which a character had to be escaped is no name
   *     of a machine.
   */
  static List<String> commonName(String subject) {
    List<String> names = new ArrayList<>();
    int start = 0;
    for (int i = 0; i <= subject.length(); i++) {
      char at = i < subject.length() ? subject.charAt(i) : ',';
      if (at == '\\') {
        i++;
      } else if (at == ',' || at == '+') {
        String part = subject.substring(start, i);
        if (part.startsWith(COMMON_NAME)) {
          names.add(part.substring(COMMON_NAME.length()));
        }
        start = i + 1;
      }
    }
    return names.size() == 1 && isName(names.get(0)) ? names : List.of();
  }

  private static boolean isName(String text) {
    return NAME.matcher(text).matches();
  }

  /** Returns whether the certificate is for that name; upper and lower case are the same. */
  public boolean isFor(String name) {
    return names.stream().anyMatch(name::equalsIgnoreCase);
  }
}
