package graft.cli.slurm;

import graft.common.GraftException;
import graft.common.grants.Share;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What the scripts of the pool know: the file {@code pool.conf}, which shells read.
 *
 * @param slurmConf the cluster's slurm.conf
 * @param server the address of the server, as clients take it
 * @param state the folder with the tokens file and the accounts, which controller and server share
 * @param client the folder of the client on the nodes; empty if their linker finds it by itself
 * @param licenses how many licences the pool has
 * @param gpus the GPUs of the server, each for an equal part of the licences
 * @param share the class of jobs
 * @param shares the class of the jobs of some partitions
 * @param memory the device memory of a job for each of its licences, in bytes
 * @param cron the file that has cron run the sweep; empty if there is none
 */
record SlurmPool(
    String slurmConf,
    String server,
    String state,
    Optional<String> client,
    int licenses,
    int gpus,
    Share.Type share,
    Map<String, Share.Type> shares,
    OptionalLong memory,
    Optional<String> cron) {
  private static final Pattern LINE = Pattern.compile("([A-Z]+)='([^']*)'");

  /** Texts that are neither special in a shell, nor in slurm.conf, cron or Lua. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_./:,+@\\[\\]-]*");

  /** The names of partitions that stand in a list of words. */
  private static final Pattern PARTITION = Pattern.compile("[A-Za-z0-9_.-]+");

  /** Checks that the parts agree. */
  SlurmPool {
    shares = Map.copyOf(shares);
    if (licenses < 1 || licenses > 100_000 || gpus < 1 || licenses % gpus != 0) {
      throw new GraftException(
          licenses + " licences cannot be divided among " + gpus + " GPUs",
          "give --licenses a multiple of --gpus: each licence is an equal part of one GPU");
    }
    if (licenses / gpus > 100 && share.hasPercent()) {
      throw new GraftException(
          licenses / gpus + " licences for one GPU are more than the 100 percent of its time",
          "give at most 100 for each GPU, or --class best-effort");
    }
    for (String text : new String[] {slurmConf, server, state, client.orElse("")}) {
      if (!PLAIN.matcher(text).matches()) {
        throw new GraftException(
            "'" + text + "' has characters that a shell or Slurm could take for its own",
            "use letters, digits and . / : , + @ [ ] - _ only");
      }
    }
    for (String partition : shares.keySet()) {
      if (!PARTITION.matcher(partition).matches()) {
        throw new GraftException("'" + partition + "' cannot be a partition's name", "");
      }
    }
  }

  /** The most licences of one job: its vGPU is on one GPU. */
  int most() {
    return gpus > 1 ? 1 : licenses;
  }

  /**
   * The text of {@code pool.conf}.
   *
   * @param path where the scripts look for programs
   */
  String text(String path) {
    if (!PLAIN.matcher(path).matches()) {
      throw new GraftException("PATH has characters that a shell could take for its own", "");
    }
    Map<String, String> values = new LinkedHashMap<>();
    values.put("PATH", path);
    values.put("CONF", slurmConf);
    values.put("SERVER", server);
    values.put("STATE", state);
    values.put("CLIENT", client.orElse(""));
    values.put("LICENSES", String.valueOf(licenses));
    values.put("GPUS", String.valueOf(gpus));
    values.put("CLASS", share.toString());
    values.put(
        "CLASSES",
        shares.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue())
            .sorted()
            .collect(Collectors.joining(" ")));
    values.put("MEMORY", memory.isPresent() ? String.valueOf(memory.getAsLong()) : "");
    values.put("CRON", cron.orElse(""));
    return values.entrySet().stream()
        .map(entry -> entry.getKey() + "='" + entry.getValue() + "'\n")
        .collect(
            Collectors.joining("", "# Written by graft slurm install; scripts read it.\n", ""));
  }

  /**
   * The values of a {@code pool.conf} by their names, as far as they are there.
   *
   * @throws GraftException if the text is something else
   */
  static Map<String, String> read(String text) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String line : text.lines().filter(line -> !line.startsWith("#")).toList()) {
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches()) {
        throw new GraftException("pool.conf has a line that graft did not write: " + line, "");
      }
      values.put(matcher.group(1), matcher.group(2));
    }
    return values;
  }
}
