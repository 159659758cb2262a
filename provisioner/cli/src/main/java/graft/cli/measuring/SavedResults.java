package graft.cli.measuring;

import graft.cli.terminal.Output;
import graft.common.json.Json;
import graft.comparison.report.ResultsPlot;
import graft.comparison.results.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Prints results and, if a folder is given, writes them there as Markdown, JSON and a drawing. */
record SavedResults(Output output, Results results, String table, Map<String, Object> tree) {

  void show(Path folder, String name, String baseline) throws IOException {
    output.say(table);
    output.result(tree);
    if (folder == null) {
      return;
    }
    Files.createDirectories(folder);
    Files.writeString(folder.resolve(name + ".md"), table);
    Files.writeString(folder.resolve(name + ".json"), Json.line(tree) + "\n");
    Files.writeString(folder.resolve(name + ".svg"), new ResultsPlot(results, baseline).draw());
    output.err().println("wrote " + folder.resolve(name + ".{md,json,svg}"));
    output.err().flush();
  }
}
