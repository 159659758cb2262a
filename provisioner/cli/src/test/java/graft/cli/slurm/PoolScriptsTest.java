package graft.cli.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.grants.Grant;
import graft.common.grants.Share;
import graft.common.grants.TokensFile;
import graft.common.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The controller's scripts of a pool, with a stub of squeue in place of Slurm. */
@Timeout(60)
class PoolScriptsTest {
  private static final String OTHER = "alice " + "5a".repeat(32) + " memory=1024";

  @TempDir Path temp;
  private Path folder;
  private Path state;
  private Path bin;

  @BeforeEach
  void install() throws IOException {
    bin = Files.createDirectory(temp.resolve("bin"));
    squeue("exit 1");
    program("scontrol", "exit 0");
    write(2, 1);
  }

  private void write(int licenses, int gpus) throws IOException {
    folder = temp.resolve("pool" + gpus);
    state = temp.resolve("state" + gpus);
    SlurmPool pool =
        new SlurmPool(
            temp.resolve("slurm.conf").toString(),
            "tcp://gpu1:8450",
            state.toString(),
            Optional.empty(),
            licenses,
            gpus,
            Share.Type.GUARANTEED,
            Map.of("spare", Share.Type.BEST_EFFORT),
            OptionalLong.of(1000),
            Optional.empty());
    new PoolFiles(folder).write(pool, Files.getOwner(temp), bin + ":/usr/bin:/bin");
    tokens(OTHER);
  }

  private void tokens(String... lines) throws IOException {
    Path file = state.resolve("tokens");
    Files.writeString(file, String.join("\n", lines) + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  private void squeue(String script) throws IOException {
    program("squeue", script);
  }

  private void program(String name, String script) throws IOException {
    Path file = bin.resolve(name);
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Runs a script as slurmctld does, with these variables alone. Returns its exit code. */
  private int run(String script, Map<String, String> variables) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(folder.resolve(script).toString())
            .redirectErrorStream(true)
            .redirectOutput(temp.resolve("said").toFile());
    builder.environment().clear();
    builder.environment().putAll(variables);
    Process process = builder.start();
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }

  private static Map<String, String> job(String number, String licenses) {
    return new HashMap<>(
        Map.of(
            "SLURM_JOB_ID",
            number,
            "SLURM_JOB_UID",
            "1000",
            "SLURM_JOB_LICENSES",
            licenses,
            "SLURM_JOB_PARTITION",
            "all"));
  }

  private Map<String, Grant> grants() throws IOException {
    return new TokensFile(state.resolve("tokens")).read();
  }

  @Test
  void aJobGetsItsPartOfTheGpuUntilItEnds() throws Exception {
    LocalDateTime end =
        LocalDateTime.now(ZoneId.systemDefault()).plusMinutes(10).truncatedTo(ChronoUnit.SECONDS);
    squeue("echo " + asSlurmPrints(end));
    assertThat(run("prolog-slurmctld", job("7", "matlab:3,graft:1"))).isZero();
    Grant grant = grants().get("slurm-7");
    assertThat(grant.share()).contains(new Share(Share.Type.GUARANTEED, 50, Share.Priority.NORMAL));
    assertThat(grant.guestMemory()).hasValue(1000);
    assertThat(grant.expires()).hasValue(end.atZone(ZoneId.systemDefault()).toEpochSecond() + 300);
    assertThat(grants().get("alice").memory()).hasValue(1024);

    String token = grant.token();
    Map<String, String> spare = job("8", "graft:2");
    spare.put("SLURM_JOB_PARTITION", "spare");
    assertThat(run("prolog-slurmctld", spare)).isZero();
    assertThat(grants().get("slurm-8").share().orElseThrow().type())
        .isEqualTo(Share.Type.BEST_EFFORT);
    assertThat(grants().get("slurm-8").token()).isNotEqualTo(token);

    assertThat(run("epilog-slurmctld", job("7", "graft:1"))).isZero();
    assertThat(grants()).containsOnlyKeys("alice", "slurm-8");
    assertThat(run("prolog-slurmctld", job("7", "graft:1"))).isZero();
    assertThat(grants().get("slurm-7").token()).as("a node computes the same").isEqualTo(token);
  }

  @Test
  void aControllerThatDoesNotAnswerGivesADay() throws Exception {
    assertThat(run("prolog-slurmctld", job("7", "graft"))).isZero();
    long left = grants().get("slurm-7").expires().orElseThrow() - Instant.now().getEpochSecond();
    assertThat(left).isBetween(86_000L, 86_400L);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "matlab:1", "graft2:1", "xgraft:1", "graft:", "graft:x", "graft:$(id)"})
  void aJobWithoutALicenceGetsNothing(String licenses) throws Exception {
    assertThat(run("prolog-slurmctld", job("7", licenses))).isZero();
    assertThat(grants()).containsOnlyKeys("alice");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "7;id", "$(id)", "../7", "7 alice", "7\nx", "99999999999", "-1"})
  void aNumberThatIsNoneChangesNothing(String number) throws Exception {
    byte[] before = Files.readAllBytes(state.resolve("tokens"));
    assertThat(run("prolog-slurmctld", job(number, "graft:1"))).isEqualTo(1);
    assertThat(run("epilog-slurmctld", job(number, "graft:1"))).isEqualTo(1);
    Map<String, String> user = job("7", "graft:1");
    user.put("SLURM_JOB_UID", number);
    assertThat(run("prolog-slurmctld", user)).isEqualTo(1);
    assertThat(Files.readAllBytes(state.resolve("tokens"))).isEqualTo(before);
  }

  @Test
  void whatAJobsOwnerMayChooseIsNeverRun() throws Exception {
    Map<String, String> hostile = job("7", "graft:1,*,`touch attacked`,$(touch attacked)");
    for (String name : List.of("NAME", "COMMENT", "ACCOUNT", "USER", "WORK_DIR", "PARTITION")) {
      hostile.put(
          "SLURM_JOB_" + name, "$(touch " + temp + "/attacked)`touch " + temp + "/attacked`");
    }
    hostile.put("SPANK_X", "x\nslurm-1 " + "00".repeat(32));
    assertThat(run("prolog-slurmctld", hostile)).isZero();
    assertThat(grants()).containsOnlyKeys("alice", "slurm-7");
    assertThat(temp.resolve("attacked")).doesNotExist();
  }

  @Test
  void moreThanThePartOfOneGpuIsRefused() throws Exception {
    assertThat(run("prolog-slurmctld", job("7", "graft:3"))).isEqualTo(1);
    assertThat(grants()).containsOnlyKeys("alice");
  }

  @Test
  void jobsAreSpreadOverTheGpus() throws Exception {
    write(4, 2);
    for (String number : List.of("1", "2", "3")) {
      assertThat(run("prolog-slurmctld", job(number, "graft:1"))).isZero();
    }
    assertThat(run("epilog-slurmctld", job("1", "graft:1"))).isZero();
    assertThat(run("prolog-slurmctld", job("4", "graft:1"))).isZero();
    assertThat(grants().get("slurm-2").device()).hasValue(1);
    assertThat(grants().get("slurm-3").device()).hasValue(0);
    assertThat(run("prolog-slurmctld", job("5", "graft:1"))).isZero();
    long onTheFirst =
        grants().values().stream().filter(g -> g.device().equals(OptionalInt.of(0))).count();
    assertThat(onTheFirst).isEqualTo(2);
  }

  @Test
  void withoutATokensFileOrAKeyNothingIsMade() throws Exception {
    Files.delete(folder.resolve("key"));
    assertThat(run("prolog-slurmctld", job("7", "graft:1"))).isEqualTo(1);
    assertThat(grants()).containsOnlyKeys("alice");
    Files.delete(state.resolve("tokens"));
    assertThat(run("epilog-slurmctld", job("7", "graft:1"))).isNotZero();
    assertThat(state.resolve("tokens")).doesNotExist();
  }

  private static String line(int job, long expires) {
    return "slurm-" + job + " " + "6b".repeat(32) + " class=best-effort expires=" + expires;
  }

  /** With seconds, also at the beginning of a minute. */
  private static String asSlurmPrints(LocalDateTime time) {
    return time.format(DateTimeFormatter.ISO_LOCAL_DATE_TIME);
  }

  @Test
  void theSweepTakesTheTokensOfJobsThatDoNotRunAlone() throws Exception {
    long now = Instant.now().getEpochSecond();
    tokens("# a comment", line(1, now + 50), OTHER, line(2, now + 50), line(3, now + 86_000));
    LocalDateTime end =
        LocalDateTime.now(ZoneId.systemDefault()).plusMinutes(30).truncatedTo(ChronoUnit.SECONDS);
    String printed = asSlurmPrints(end);
    squeue("echo '2 " + printed + "'; echo '3 N/A'; echo '11 " + printed + "'");
    assertThat(run("sweep", Map.of())).isZero();
    assertThat(grants()).containsOnlyKeys("alice", "slurm-2", "slurm-3");
    assertThat(grants().get("slurm-2").expires())
        .hasValue(end.atZone(ZoneId.systemDefault()).toEpochSecond() + 300);
    assertThat(grants().get("slurm-3").expires()).as("is renewed later").hasValue(now + 86_000);
    assertThat(Files.readString(state.resolve("tokens"))).startsWith("# a comment\n");

    tokens(line(3, now + 50));
    assertThat(run("sweep", Map.of())).isZero();
    assertThat(grants().get("slurm-3").expires().orElseThrow()).isGreaterThan(now + 86_000);
  }

  @Test
  void aTokenThatComesWhileTheSweepAsksStays() throws Exception {
    long now = Instant.now().getEpochSecond();
    tokens(line(1, now + 50));
    String late = line(2, now + 50);
    squeue("echo '" + late + "' >>" + state.resolve("tokens"));
    assertThat(run("sweep", Map.of())).isZero();
    assertThat(grants()).containsOnlyKeys("slurm-2");
  }

  @Test
  void aControllerThatGivesNoListTakesNobodysToken() throws Exception {
    tokens(line(1, Instant.now().getEpochSecond() + 50));
    byte[] before = Files.readAllBytes(state.resolve("tokens"));
    squeue("echo 'slurm_load_jobs error'; exit 1");
    assertThat(run("sweep", Map.of())).isEqualTo(1);
    assertThat(Files.readAllBytes(state.resolve("tokens"))).isEqualTo(before);
  }

  @Test
  void theAccountIsTheSumOfTheJobsOwnSessions() throws Exception {
    program("scontrol", "echo 'AccountingStorageType   = accounting_storage/slurmdbd'");
    program("sacctmgr", "echo \"$*\" >" + temp.resolve("updated"));
    String other = "{\"who\":\"slurm-77\",\"claimedProgram\":\"\\\"who\\\":\\\"slurm-7\\\"\",";
    Files.writeString(
        state.resolve("accounting.jsonl"),
        "{\"who\":\"slurm-7\",\"gpuSeconds\":1.25,\"claimedJob\":\"7\"}\n"
            + other
            + "\"gpuSeconds\":100,\"claimedJob\":\"7\"}\n");
    Files.writeString(
        state.resolve("accounting.jsonl.1"), "{\"who\":\"slurm-7\",\"gpuSeconds\":0.5}\n");
    assertThat(run("epilog-slurmctld", job("7", "graft:2"))).isZero();
    Path updated = temp.resolve("updated");
    while (!Files.exists(updated) || Files.size(updated) == 0) {
      Thread.sleep(20);
    }
    assertThat(Files.readString(updated, StandardCharsets.UTF_8))
        .isEqualTo(
            "-i modify job where jobid=7 set SystemComment=graft gpu-seconds=1.750 sessions=2\n");
    assertThat(Json.readObject(Files.readString(state.resolve("jobs.jsonl"))))
        .containsEntry("user", 1000L)
        .containsEntry("licenses", 2L)
        .containsEntry("gpuSeconds", 1.75)
        .containsEntry("sessions", 2L);
  }
}
