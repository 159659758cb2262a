package graft.comparison.report;

import graft.comparison.statistics.Summary;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** The CSV report, with one line for each observation. */
final class CsvReport {
  private CsvReport() {}

  static String write(Findings findings) {
    StringBuilder out =
        new StringBuilder("setting,workload,case,figure,size,unit,state,block,value,outlier\r\n");
    for (FigureKey key : findings.figures()) {
      for (String setting : findings.settings()) {
        if (findings.summary(key, setting).isPresent()) {
          Summary summary = findings.summary(key, setting).get();
          Iterator<Boolean> outlier = summary.outliers().iterator();
          for (Map.Entry<Integer, Double> value : findings.values(key, setting).entrySet()) {
            out.append(
                Csv.line(
                    List.of(
                        setting,
                        key.workload(),
                        key.run(),
                        key.figure(),
                        Long.toString(key.size()),
                        key.unit(),
                        key.state().toString(),
                        value.getKey().toString(),
                        Csv.number(value.getValue()),
                        outlier.next().toString())));
          }
        }
      }
    }
    return out.toString();
  }
}
