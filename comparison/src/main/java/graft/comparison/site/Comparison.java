package graft.comparison.site;

import graft.common.GraftException;
import graft.comparison.report.Findings;
import graft.comparison.report.ReportFolder;
import graft.comparison.run.Entry;
import graft.comparison.run.Progress;
import graft.comparison.run.ResultsLog;
import graft.comparison.run.Runner;
import graft.comparison.run.Site;
import graft.comparison.run.Stop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Consumer;

/** A comparison with a folder for its results. It can be run, resumed and reported. */
public final class Comparison implements AutoCloseable {
  private final SuiteFile file;
  private final Path folder;
  private final ReportFolder reports;
  private final ResultsLog log;

  private Comparison(SuiteFile file, Path folder, ReportFolder reports, ResultsLog log) {
    this.file = file;
    this.folder = folder;
    this.reports = reports;
    this.log = log;
  }

  /** Opens the folder, which may hold the measurements of an interrupted run of the same suite. */
  public static Comparison open(SuiteFile file, Path folder) throws IOException {
    ReportFolder reports;
    try {
      reports = ReportFolder.open(folder);
    } catch (IOException e) {
      throw new GraftException("cannot make " + folder + ": " + e.getMessage(), "", e);
    }
    return new Comparison(file, folder, reports, ResultsLog.open(reports.log()));
  }

  /** The folder holds the results of a different text of the suite and must not be changed. */
  private static final class OtherSuiteException extends GraftException {
    private static final long serialVersionUID = 1;

    OtherSuiteException(Path folder) {
      super(
          folder + " holds the results of another text of the suite",
          "name another --output-dir, or put the suite back as it was");
    }
  }

  /**
   * Runs the remaining part of the plan. Measurements can be reported even if the run ends early,
   * for any reason.
   *
   * @param resumed receives the start time of the interrupted run that this run continues
   * @param failed receives the reason if the run ends early
   * @return whether the plan is complete
   */
  public boolean run(
      Site site, Progress progress, Stop stop, Consumer<String> resumed, Consumer<String> failed)
      throws IOException {
    try {
      Entry.Begin begin = begin(site, resumed);
      boolean whole = new Runner(file.suite(), site, log, progress, stop).run(begin.seed());
      if (!whole) {
        log.add(new Entry.Stopped("it was interrupted"));
      }
      return whole;
    } catch (OtherSuiteException e) {
      throw e;
    } catch (IOException e) {
      String why = "the results cannot be written: " + e.getMessage();
      failed.accept(why);
      reports.giveRoom();
      noteStop(why);
    } catch (Exception e) {
      failed.accept(e.getMessage());
      noteStop(String.valueOf(e.getMessage()));
    }
    return false;
  }

  private void noteStop(String why) throws IOException {
    if (!log.entries().isEmpty()) {
      log.add(new Entry.Stopped(why));
    }
  }

  private Entry.Begin begin(Site site, Consumer<String> resumed) throws IOException {
    String digest = digest();
    if (log.entries().isEmpty()) {
      int seed = file.suite().seed().orElseGet(() -> new SecureRandom().nextInt(1_000_000));
      String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
      log.add(new Entry.Begin(digest, file.suite().name(), seed, now, site.describe()));
    }
    Entry.Begin begin = (Entry.Begin) log.entries().get(0);
    if (!begin.digest().equals(digest)) {
      throw new OtherSuiteException(folder);
    }
    if (log.entries().size() > 1) {
      resumed.accept(begin.at());
    }
    return begin;
  }

  private String digest() {
    byte[] text = file.text().getBytes(StandardCharsets.UTF_8);
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text), 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /**
   * Writes the report; empty if nothing was measured.
   *
   * @param noPdf receives the reason if the figures are not written as PDF
   */
  public Optional<Findings> report(Consumer<String> noPdf) throws IOException {
    if (log.entries().isEmpty()) {
      return Optional.empty();
    }
    Findings findings = new Findings(file.suite(), log.entries());
    reports.write(findings, file.published(), file.text()).ifPresent(noPdf);
    return Optional.of(findings);
  }

  /** The HTML report. */
  public Path html() {
    return reports.html();
  }

  /** The folder of the report's figures. */
  public Path figures() {
    return reports.figures();
  }

  @Override
  public void close() throws IOException {
    log.close();
  }
}
