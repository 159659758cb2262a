package graft.deployment.hosts;

import graft.common.GraftException;
import graft.common.bind.RecordWriter;
import graft.common.values.Name;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.HostPart;
import graft.deployment.descriptor.HostSplit;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.descriptor.hosts.OnFailure;
import graft.deployment.state.DeploymentLock;
import graft.deployment.state.StateFolder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * A deployment over many hosts, as its operator works on it. Each command asks the Graft of each
 * host to do the same for what the descriptor has there.
 */
public final class ManyHosts {
  /** Commands that change nothing wait for hosts and the network, not for this machine. */
  private static final int MOST_ASKED = 100;

  private static final String NOT_BEGUN =
      "no host was changed; free some space if the disk is full";
  private static final String CHANGED =
      "the hosts were changed, as graft status says; free some space if the disk is full, and run the"
          + " same command again";

  private static final String MOVED =
      " when it was applied; if that is another machine, remove what is there first: apply the"
          + " descriptor once without this host";

  private final Name deployment;
  private final Optional<DescriptorFile> file;
  private final StateFolder folder;
  private final Function<KnownHost, HostLink> links;
  private final BiConsumer<Name, String> progress;

  /**
   * A deployment.
   *
   * @param file the descriptor, for the commands that need it
   * @param links the way to each host
   * @param progress gets what the hosts say while they work; called from several threads
   */
  ManyHosts(
      Name deployment,
      Optional<DescriptorFile> file,
      Function<KnownHost, HostLink> links,
      BiConsumer<Name, String> progress) {
    this.deployment = deployment;
    this.file = file;
    this.folder = OperatorRecord.folder(deployment);
    this.links = links;
    this.progress = progress;
  }

  /** A deployment whose hosts are reached by ssh, and get these programs in this version. */
  public static ManyHosts bySsh(
      Name deployment,
      Optional<DescriptorFile> file,
      HostBundle bundle,
      String version,
      BiConsumer<Name, String> progress) {
    return new ManyHosts(
        deployment,
        file,
        host -> new SshLink(host.name(), host.login(), host.folder().text(), bundle, version),
        progress);
  }

  /** Whether this machine has applied a deployment over many hosts by that name. */
  public static boolean isKnown(Name deployment) {
    return OperatorRecord.exists(OperatorRecord.folder(deployment));
  }

  /**
   * The host of a deployment that has one, reached by libvirt's URI: its descriptor need not name
   * the host again.
   */
  public static Optional<Host> only(Name deployment) {
    List<KnownHost> hosts = OperatorRecord.read(OperatorRecord.folder(deployment)).hosts();
    return Optional.of(hosts)
        .filter(known -> known.size() == 1 && known.get(0).libvirt().isPresent())
        .map(known -> known.get(0).host());
  }

  /**
   * Refuses a host beside that on which this machine has applied the deployment.
   *
   * @throws GraftException if the deployment is on another machine
   */
  public static void refuseBeside(Name deployment, Host given) {
    for (KnownHost known : OperatorRecord.read(OperatorRecord.folder(deployment)).hosts()) {
      Host before = known.host();
      if (!before.ssh().host().equals(given.ssh().host()) || before.sshPort() != given.sshPort()) {
        throw new GraftException(
            "the deployment '" + deployment + "' is on " + before.ssh().target() + " already",
            "graft destroy "
                + deployment
                + " removes it there; or give the descriptor another"
                + " 'name'");
      }
    }
  }

  /** The descriptor that was applied last; empty if none was. */
  public static Optional<Path> applied(Name deployment) {
    return Optional.of(OperatorRecord.read(OperatorRecord.folder(deployment)).descriptor())
        .filter(path -> !path.isEmpty())
        .map(Path::of);
  }

  public Name deployment() {
    return deployment;
  }

  /** What one command asks of which hosts. */
  private record Asking(
      List<Schedule.Task> tasks, Map<Name, HostRequest> requests, Map<Name, KnownHost> hosts) {
    Asking() {
      this(new ArrayList<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
    }

    void add(KnownHost host, Set<Name> after, HostRequest request) {
      tasks.add(new Schedule.Task(host.name(), after));
      requests.put(host.name(), request);
      hosts.put(host.name(), host);
    }
  }

  /** What apply would do on each host. */
  public List<HostReply> plan() throws Exception {
    return look(HostRequest.Command.PLAN);
  }

  /** The state of the deployment on each host. */
  public List<HostReply> status() throws Exception {
    return look(HostRequest.Command.STATUS);
  }

  private List<HostReply> look(HostRequest.Command command) throws Exception {
    OperatorRecord record = OperatorRecord.read(folder);
    HostTokens tokens = new HostTokens(described(), record.tokens());
    Asking asking = new Asking();
    for (HostPart part : parts(tokens)) {
      asking.add(known(part), Set.of(), request(command, part, tokens, "", false, false));
    }
    if (command == HostRequest.Command.PLAN && !tokens.made().equals(record.tokens())) {
      record.withTokens(tokens.made()).write(folder, NOT_BEGUN);
    }
    return ask(asking, MOST_ASKED, OnFailure.LEAVE);
  }

  /** The hosts that have something of the deployment, and nothing in the descriptor any more. */
  public List<Name> departed() {
    OperatorRecord record = OperatorRecord.read(folder);
    Set<Name> there = new HashSet<>();
    parts(new HostTokens(described(), record.tokens())).forEach(part -> there.add(part.name()));
    return record.hosts().stream()
        .map(KnownHost::name)
        .filter(name -> !there.contains(name))
        .toList();
  }

  /** What an operator should know before the hosts are changed, each a sentence. */
  public List<String> warnings() {
    Map<Name, KnownHost> before = new HashMap<>();
    OperatorRecord record = OperatorRecord.read(folder);
    record.hosts().forEach(host -> before.put(host.name(), host));
    return parts(new HostTokens(described(), record.tokens())).stream()
        .map(this::known)
        .filter(now -> before.containsKey(now.name()))
        .filter(now -> !before.get(now.name()).address().equals(now.address()))
        .map(now -> now.name() + " was at " + before.get(now.name()).address() + MOVED)
        .toList();
  }

  /**
   * Changes the hosts to match the descriptor. Hosts that left it lose what they have of the
   * deployment.
   */
  public List<HostReply> apply(boolean deleteData, boolean keep) throws Exception {
    return DeploymentLock.holding(folder, () -> locked(deleteData, keep));
  }

  private List<HostReply> locked(boolean deleteData, boolean keep) throws Exception {
    OperatorRecord before = OperatorRecord.read(folder);
    HostTokens tokens = new HostTokens(described(), before.tokens());
    String id = before.open() ? before.apply() : UUID.randomUUID().toString();
    Asking asking = new Asking();
    Set<Name> there = new HashSet<>();
    for (HostPart part : parts(tokens)) {
      there.add(part.name());
      asking.add(
          known(part),
          part.after(),
          request(HostRequest.Command.APPLY, part, tokens, id, deleteData, keep));
    }
    Set<Name> departed = new HashSet<>();
    for (KnownHost host : before.hosts()) {
      if (!there.contains(host.name())) {
        departed.add(host.name());
        Set<Name> after = new HashSet<>(there); // those that use its GPUs have to leave them first
        asking.add(
            host, after, HostRequest.of(HostRequest.Command.DESTROY, deployment, "", deleteData));
      }
    }
    String path = described().path().toAbsolutePath().normalize().toString();
    OperatorRecord begun =
        before
            .withHosts(List.copyOf(asking.hosts().values()))
            .withTokens(tokens.made())
            .withApply(path, id, true);
    begun.write(folder, NOT_BEGUN);
    Descriptor descriptor = described().descriptor();
    List<HostReply> replies = ask(asking, descriptor.parallel(), descriptor.onFailure());
    Set<Name> gone = new HashSet<>();
    replies.stream()
        .filter(reply -> reply.isDone() && departed.contains(reply.host()))
        .forEach(reply -> gone.add(reply.host()));
    boolean isWhole = replies.stream().allMatch(HostReply::isDone);
    boolean isChanged = !isWhole || replies.stream().anyMatch(reply -> reply.number("steps") > 0);
    // Undo undoes the last apply that changed something.
    String last = isChanged || before.open() || before.apply().isEmpty() ? id : before.apply();
    begun
        .withHosts(without(begun.hosts(), gone))
        .withApply(path, last, !isWhole)
        .write(folder, CHANGED);
    return replies;
  }

  /** Takes back what the last apply did on each host. */
  public List<HostReply> undo(boolean deleteData) throws Exception {
    return DeploymentLock.holding(
        folder,
        () -> {
          OperatorRecord record = OperatorRecord.read(folder);
          if (record.apply().isEmpty()) {
            throw unknown();
          }
          List<HostReply> replies = back(HostRequest.Command.UNDO, record, deleteData);
          if (replies.stream().allMatch(HostReply::isDone)) {
            forget(record, empty(replies));
          }
          return replies;
        });
  }

  /** Takes back everything on each host. */
  public List<HostReply> destroy(boolean deleteData) throws Exception {
    return DeploymentLock.holding(
        folder,
        () -> {
          OperatorRecord record = OperatorRecord.read(folder);
          if (record.hosts().isEmpty() && file.isPresent()) {
            HostTokens tokens = new HostTokens(described(), record.tokens());
            record = record.withHosts(parts(tokens).stream().map(this::known).toList());
          } else if (record.hosts().isEmpty()) {
            throw unknown();
          }
          List<HostReply> replies = back(HostRequest.Command.DESTROY, record, deleteData);
          forget(record, empty(replies));
          return replies;
        });
  }

  private GraftException unknown() {
    return new GraftException(
        "this machine has applied no deployment '" + deployment + "' over many hosts",
        "give the descriptor to graft destroy, or run graft undo on each host");
  }

  private static Set<Name> empty(List<HostReply> replies) {
    Set<Name> empty = new HashSet<>();
    replies.stream()
        .filter(reply -> reply.isDone() && Boolean.TRUE.equals(reply.tree().get("empty")))
        .forEach(reply -> empty.add(reply.host()));
    return empty;
  }

  private void forget(OperatorRecord record, Set<Name> gone) {
    List<KnownHost> left = without(record.hosts(), gone);
    if (left.isEmpty()) {
      OperatorRecord.delete(folder);
    } else {
      record.withHosts(left).write(folder, CHANGED);
    }
  }

  private static List<KnownHost> without(List<KnownHost> hosts, Set<Name> gone) {
    return hosts.stream().filter(host -> !gone.contains(host.name())).toList();
  }

  /** Asks those first that use GPUs of others. */
  private List<HostReply> back(
      HostRequest.Command command, OperatorRecord record, boolean deleteData) throws Exception {
    Map<Name, Set<Name>> users = new HashMap<>();
    for (KnownHost host : record.hosts()) {
      for (Name owner : host.after()) {
        users.computeIfAbsent(owner, name -> new HashSet<>()).add(host.name());
      }
    }
    Asking asking = new Asking();
    for (KnownHost host : record.hosts()) {
      asking.add(
          reachedNow(host),
          users.getOrDefault(host.name(), Set.of()),
          HostRequest.of(command, deployment, record.apply(), deleteData));
    }
    int most = file.map(f -> f.descriptor().parallel()).orElse(Descriptor.DEFAULT_PARALLEL);
    return ask(asking, most, OnFailure.LEAVE);
  }

  /**
   * A host of the record, with the login that the descriptor has for it by now. At another address
   * there may be another machine, which would say that it has nothing of the deployment.
   */
  private KnownHost reachedNow(KnownHost host) {
    return file.flatMap(
            read ->
                read.descriptor().hosts().stream()
                    .filter(one -> one.name().equals(host.name()))
                    .map(one -> one.login(read::resolve))
                    .filter(login -> login.address().equals(host.login().address()))
                    .findFirst()
                    .map(host::withLogin))
        .orElse(host);
  }

  private List<HostReply> ask(Asking asking, int most, OnFailure policy)
      throws InterruptedException {
    Schedule schedule =
        new Schedule(
            most,
            policy,
            host ->
                link(asking, host)
                    .ask(
                        HostRequest.of(HostRequest.Command.INTERRUPT, deployment, "", false),
                        line -> {}));
    return schedule.run(
        asking.tasks(),
        host ->
            link(asking, host)
                .ask(asking.requests().get(host), line -> progress.accept(host, line)));
  }

  private HostLink link(Asking asking, Name host) {
    return links.apply(asking.hosts().get(host));
  }

  private DescriptorFile described() {
    return file.orElseThrow(
        () ->
            new GraftException(
                "the descriptor of '" + deployment + "' is not there any more",
                "name its file in place of the deployment"));
  }

  private KnownHost known(HostPart part) {
    return KnownHost.of(part, described()::resolve);
  }

  /** What each host has that has anything, in the order in which they are applied. */
  private List<HostPart> parts(HostTokens tokens) {
    DescriptorFile read = described();
    return HostSplit.split(read.descriptor(), read.positions(), tokens).stream()
        .filter(part -> !part.isEmpty())
        .toList();
  }

  private HostRequest request(
      HostRequest.Command command,
      HostPart part,
      HostTokens tokens,
      String id,
      boolean deleteData,
      boolean keep) {
    return new HostRequest(
        command,
        deployment,
        tree(part.descriptor()),
        tokens.filesOf(part.descriptor()),
        id,
        deleteData,
        keep);
  }

  /** A host's descriptor, in which nothing says any more on which host it is. */
  static Map<String, Object> tree(Descriptor descriptor) {
    Map<String, Object> tree = RecordWriter.tree(descriptor);
    for (String key : List.of("gpus", "guests", "networks")) {
      placed(tree.get(key));
    }
    if (tree.get("fabric") instanceof Map<?, ?> fabric) {
      placed(fabric.get("adapters"));
    }
    return tree;
  }

  private static void placed(Object list) {
    if (list instanceof List<?> objects) {
      objects.forEach(object -> ((Map<?, ?>) object).remove("host"));
    }
  }
}
