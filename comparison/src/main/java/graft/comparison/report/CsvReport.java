package graft.comparison.report;

import graft.comparison.statistics.Summary;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;

/** The CSV report (RFC 4180), with one line for each observation. */
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
            out.append(field(setting)).append(',').append(field(key.workload())).append(',');
            out.append(field(key.run())).append(',').append(field(key.figure())).append(',');
            out.append(key.size()).append(',').append(field(key.unit())).append(',');
            out.append(key.state()).append(',');
            out.append(value.getKey()).append(',');
            out.append(String.format(Locale.ROOT, "%.9g", value.getValue())).append(',');
            out.append(outlier.next()).append("\r\n");
          }
        }
      }
    }
    return out.toString();
  }

  private static String field(String text) {
    return text.matches("[^,\"\r\n]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
