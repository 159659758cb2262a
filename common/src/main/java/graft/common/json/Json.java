package graft.common.json;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes and reads JSON with Jackson's streaming API alone: data binding would delay each start of
 * the command line by a tenth of a second. {@link RecordTrees} binds records.
 *
 * <p>A tree consists of {@link Map} (keys are strings), {@link List}, {@link String}, {@link Long}
 * or {@link Integer}, {@link Double}, {@link Boolean} and null; a whole number that is too large
 * for a {@link Long} is read as a {@link java.math.BigInteger}. Any other object is written as its
 * {@link Object#toString} text.
 */
public final class Json {
  private static final JsonFactory FACTORY = new JsonFactory();

  private Json() {}

  /** Returns the tree as JSON on one line. */
  public static String line(Object tree) {
    return text(tree, false);
  }

  /** Returns the tree as indented JSON on several lines. */
  public static String pretty(Object tree) {
    return text(tree, true);
  }

  private static String text(Object tree, boolean pretty) {
    StringWriter out = new StringWriter();
    try (JsonGenerator generator = FACTORY.createGenerator(out)) {
      if (pretty) {
        DefaultIndenter indenter = new DefaultIndenter("  ", "\n");
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
        printer.indentArraysWith(indenter);
        printer.indentObjectsWith(indenter);
        generator.setPrettyPrinter(printer);
      }
      write(generator, tree);
    } catch (IOException e) {
      throw new UncheckedIOException("writing JSON to memory", e);
    }
    return out.toString();
  }

  private static void write(JsonGenerator out, Object tree) throws IOException {
    if (tree instanceof Map<?, ?> map) {
      out.writeStartObject();
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.writeFieldName(String.valueOf(entry.getKey()));
        write(out, entry.getValue());
      }
      out.writeEndObject();
    } else if (tree instanceof Iterable<?> list) {
      out.writeStartArray();
      for (Object item : list) {
        write(out, item);
      }
      out.writeEndArray();
    } else if (tree == null) {
      out.writeNull();
    } else if (tree instanceof Boolean truth) {
      out.writeBoolean(truth);
    } else if (tree instanceof Double || tree instanceof Float) {
      out.writeNumber(((Number) tree).doubleValue());
    } else if (tree instanceof Number number) {
      out.writeNumber(number.longValue());
    } else {
      out.writeString(tree.toString());
    }
  }

  /**
   * Reads one object.
   *
   * @throws IOException if the text is not one whole JSON object
   */
  public static Map<String, Object> readObject(String text) throws IOException {
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("not a JSON object: " + text);
      }
      Map<String, Object> read = object(parser);
      if (parser.nextToken() != null) {
        throw new IOException("more than one JSON object: " + text);
      }
      return read;
    } catch (JacksonException e) {
      throw new IOException(e.getOriginalMessage(), e);
    }
  }

  /**
   * Reads a sequence of objects.
   *
   * @throws IOException if the text is anything else
   */
  public static List<Map<String, Object>> readObjects(String text) throws IOException {
    List<Map<String, Object>> objects = new ArrayList<>();
    try (JsonParser parser = FACTORY.createParser(text)) {
      for (JsonToken next = parser.nextToken(); next != null; next = parser.nextToken()) {
        if (next != JsonToken.START_OBJECT) {
          throw new IOException("not a sequence of JSON objects, but " + next);
        }
        objects.add(object(parser));
      }
      return objects;
    } catch (JacksonException e) {
      throw new IOException(e.getOriginalMessage(), e);
    }
  }

  private static Map<String, Object> object(JsonParser parser) throws IOException {
    Map<String, Object> map = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      map.put(name, value(parser));
    }
    return map;
  }

  private static List<Object> array(JsonParser parser) throws IOException {
    List<Object> list = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      list.add(value(parser));
    }
    return list;
  }

  private static Object value(JsonParser parser) throws IOException {
    JsonToken token = parser.currentToken();
    if (token == null) {
      throw new IOException("JSON ends in the middle");
    }
    return switch (token) {
      case START_OBJECT -> object(parser);
      case START_ARRAY -> array(parser);
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT ->
          parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
              ? parser.getBigIntegerValue()
              : (Object) parser.getLongValue();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new IOException("unexpected " + token + " in JSON");
    };
  }
}
