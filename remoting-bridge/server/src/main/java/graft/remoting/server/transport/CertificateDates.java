package graft.remoting.server.transport;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;

/** What of the certificates in libvirt's layout has to be renewed. */
public final class CertificateDates {
  private static final Duration NOTICE = Duration.ofDays(30);

  private CertificateDates() {}

  /**
   * Returns a line for each certificate that ends within 30 days, and for a list of revoked
   * certificates that is out of date. Files that are not there, or cannot be read, have none.
   *
   * @param folder usually {@code /etc/pki}
   */
  public static List<String> warnings(Path folder, Instant now) {
    List<String> warnings = new ArrayList<>();
    for (String file :
        List.of("CA/cacert.pem", "libvirt/servercert.pem", "libvirt/clientcert.pem")) {
      warnings.addAll(certificate(folder.resolve(file), now));
    }
    warnings.addAll(revocations(folder.resolve("CA/cacrl.pem"), now));
    return warnings;
  }

  private static List<String> certificate(Path file, Instant now) {
    List<String> warnings = new ArrayList<>();
    try (InputStream in = Files.newInputStream(file)) {
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        X509Certificate certificate = (X509Certificate) each;
        Instant end = certificate.getNotAfter().toInstant();
        if (end.isBefore(now.plus(NOTICE))) {
          warnings.add(
              "the certificate of "
                  + certificate.getSubjectX500Principal()
                  + " in "
                  + file
                  + (end.isBefore(now) ? " has ended at " : " ends at ")
                  + end
                  + ": renew it");
        }
      }
    } catch (IOException | GeneralSecurityException e) {
      return List.of();
    }
    return warnings;
  }

  private static List<String> revocations(Path file, Instant now) {
    try (InputStream in = Files.newInputStream(file)) {
      X509CRL list = (X509CRL) CertificateFactory.getInstance("X.509").generateCRL(in);
      Date next = list.getNextUpdate();
      return next != null && next.toInstant().isBefore(now)
          ? List.of(
              "the list of revoked certificates in "
                  + file
                  + " was to be renewed at "
                  + next.toInstant()
                  + ": every certificate is refused until it is")
          : List.of();
    } catch (IOException | GeneralSecurityException e) {
      return List.of();
    }
  }
}
