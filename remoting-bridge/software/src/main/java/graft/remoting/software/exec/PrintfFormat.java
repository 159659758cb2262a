package graft.remoting.software.exec;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Formats the text of a device printf as C does (CUDA programming guide, "Formatted Output"). */
final class PrintfFormat {
  private final DeviceCalls.Reader memory;
  private final StringBuilder out = new StringBuilder();
  private long next;
  private int arguments;

  PrintfFormat(DeviceCalls.Reader memory) {
    this.memory = memory;
  }

  /** Number of arguments that were formatted. */
  int arguments() {
    return arguments;
  }

  /** Formats; the arguments are packed by their natural alignment. */
  byte[] format(long formatAddress, long argumentAddress) {
    String format = memory.text(formatAddress);
    next = argumentAddress;
    for (int i = 0; i < format.length(); ) {
      char c = format.charAt(i);
      if (c != '%') {
        out.append(c);
        i++;
      } else {
        i = conversion(format, i + 1);
      }
    }
    return out.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private int int32() {
    next = (next + 3) & ~3L;
    int value = memory.i32(next);
    next += 4;
    return value;
  }

  private long int64() {
    next = (next + 7) & ~7L;
    long value = memory.i64(next);
    next += 8;
    return value;
  }

  private int conversion(String format, int start) {
    int i = start;
    String flags = "";
    while (i < format.length() && "-+ #0".indexOf(format.charAt(i)) >= 0) {
      flags += format.charAt(i++);
    }
    int[] number = {0};
    int width = 0;
    int precision = -1;
    i = number(format, i, number);
    width = number[0];
    if (width < 0) {
      flags += "-";
      width = -width;
    }
    if (i < format.length() && format.charAt(i) == '.') {
      i = number(format, i + 1, number);
      precision = number[0];
    }
    boolean wide = false;
    while (i < format.length() && "hljztL".indexOf(format.charAt(i)) >= 0) {
      wide |= "ljztL".indexOf(format.charAt(i)) >= 0;
      i++;
    }
    if (i >= format.length()) {
      out.append(format.substring(start - 1));
      return i;
    }
    char conversion = format.charAt(i);
    if (conversion == '%') {
      out.append('%');
      return i + 1;
    }
    arguments++;
    String text =
        switch (conversion) {
          case 'd', 'i' -> signed(wide ? int64() : int32(), flags, precision);
          case 'u' -> digits(unsigned(wide), 10, precision);
          case 'o' -> (flags.contains("#") ? "0" : "") + digits(unsigned(wide), 8, precision);
          case 'x', 'X' -> hex(unsigned(wide), flags, precision, conversion);
          case 'c' -> String.valueOf((char) (int32() & 0xff));
          case 's' -> {
            String s = memory.text(int64());
            yield precision >= 0 && precision < s.length() ? s.substring(0, precision) : s;
          }
          case 'p' -> "0x" + Long.toHexString(int64());
          case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A' ->
              floating(Double.longBitsToDouble(int64()), flags, precision, conversion);
          default -> {
            arguments--;
            yield format.substring(start - 1, i + 1);
          }
        };
    pad(
        text,
        flags,
        width,
        "cs".indexOf(conversion) < 0 && !(precision >= 0 && "diuoxX".indexOf(conversion) >= 0));
    return i + 1;
  }

  private int number(String format, int start, int[] result) {
    int i = start;
    if (i < format.length() && format.charAt(i) == '*') {
      result[0] = int32();
      return i + 1;
    }
    result[0] = 0;
    while (i < format.length() && Character.isDigit(format.charAt(i))) {
      result[0] = Math.min(result[0] * 10 + format.charAt(i++) - '0', 100_000);
    }
    return i;
  }

  private long unsigned(boolean wide) {
    return wide ? int64() : int32() & 0xffffffffL;
  }

  private static String signed(long value, String flags, int precision) {
    String sign = value < 0 ? "-" : flags.contains("+") ? "+" : flags.contains(" ") ? " " : "";
    String digits = value < 0 ? Long.toString(value).substring(1) : Long.toString(value);
    return sign + zeros(digits, precision);
  }

  private static String digits(long value, int radix, int precision) {
    return zeros(Long.toUnsignedString(value, radix), precision);
  }

  private static String zeros(String digits, int precision) {
    return "0".repeat(Math.max(0, precision - digits.length())) + digits;
  }

  private static String hex(long value, String flags, int precision, char conversion) {
    String text = (flags.contains("#") && value != 0 ? "0x" : "") + digits(value, 16, precision);
    return conversion == 'X' ? text.toUpperCase(Locale.ROOT) : text;
  }

  private static String floating(double value, String flags, int precision, char conversion) {
    String sign =
        Double.doubleToRawLongBits(value) < 0 && !Double.isNaN(value)
            ? "-"
            : flags.contains("+") ? "+" : flags.contains(" ") ? " " : "";
    double magnitude = Math.abs(value);
    char lower = Character.toLowerCase(conversion);
    String text;
    if (Double.isNaN(value)) {
      text = "nan";
    } else if (Double.isInfinite(value)) {
      text = "inf";
    } else if (lower == 'a') {
      text = Double.toHexString(magnitude).replace(".0p", "p").replaceFirst("p(?=\\d)", "p+");
    } else {
      int p = precision < 0 ? 6 : precision;
      text =
          switch (lower) {
            case 'f' -> fixed(magnitude, p);
            case 'e' -> scientific(magnitude, p);
            default -> general(magnitude, Math.max(1, p), flags.contains("#"));
          };
    }
    text = sign + text;
    return Character.isUpperCase(conversion) ? text.toUpperCase(Locale.ROOT) : text;
  }

  private static String fixed(double value, int precision) {
    return new BigDecimal(value).setScale(precision, RoundingMode.HALF_EVEN).toPlainString();
  }

  private static String scientific(double value, int precision) {
    if (value == 0) {
      return fixed(0, precision) + "e+00";
    }
    BigDecimal rounded =
        new BigDecimal(value).round(new MathContext(precision + 1, RoundingMode.HALF_EVEN));
    int exponent = rounded.precision() - rounded.scale() - 1;
    String digits = rounded.unscaledValue().toString();
    digits += "0".repeat(Math.max(0, precision + 1 - digits.length()));
    digits = digits.substring(0, precision + 1);
    String mantissa = precision == 0 ? digits : digits.charAt(0) + "." + digits.substring(1);
    return mantissa
        + "e"
        + (exponent < 0 ? "-" : "+")
        + (Math.abs(exponent) < 10 ? "0" : "")
        + Math.abs(exponent);
  }

  private static String general(double value, int precision, boolean keepZeros) {
    String e = scientific(value, precision - 1);
    int exponent = Integer.parseInt(e.substring(e.indexOf('e') + 1).replace("+", ""));
    boolean plain = exponent >= -4 && exponent < precision;
    String text = plain ? fixed(value, precision - 1 - exponent) : e;
    if (keepZeros) {
      return text;
    }
    int end = plain ? text.length() : text.indexOf('e');
    String mantissa = text.substring(0, end);
    if (mantissa.contains(".")) {
      mantissa = mantissa.replaceFirst("0+$", "").replaceFirst("\\.$", "");
    }
    return mantissa + text.substring(end);
  }

  private void pad(String text, String flags, int width, boolean numeric) {
    int missing = width - text.length();
    if (missing <= 0) {
      out.append(text);
    } else if (flags.contains("-")) {
      out.append(text).append(" ".repeat(missing));
    } else if (flags.contains("0") && numeric && !text.endsWith("nan") && !text.endsWith("inf")) {
      int prefix = text.startsWith("-") || text.startsWith("+") || text.startsWith(" ") ? 1 : 0;
      if (text.startsWith("0x", prefix) || text.startsWith("0X", prefix)) {
        prefix += 2;
      }
      out.append(text, 0, prefix).append("0".repeat(missing)).append(text.substring(prefix));
    } else {
      out.append(" ".repeat(missing)).append(text);
    }
  }
}
