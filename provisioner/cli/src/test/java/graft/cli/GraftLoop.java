package graft.cli;

import graft.cli.terminal.Logging;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;

/**
 * {@code GraftLoop SOCKET}: runs the commands that come by a socket, one after the other, in one
 * process. Java's start costs more than most commands, so a test starts it once for all of them. A
 * command is the number of its words and its words; the answer is its exit code.
 */
final class GraftLoop {
  private GraftLoop() {}

  public static void main(String[] args) throws IOException {
    Logging.quiet();
    try (SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(args[0]))) {
      DataInputStream in = new DataInputStream(Channels.newInputStream(socket));
      DataOutputStream out = new DataOutputStream(Channels.newOutputStream(socket));
      while (true) {
        String[] command = new String[in.readInt()];
        for (int i = 0; i < command.length; i++) {
          command[i] = in.readUTF();
        }
        out.writeInt(Main.run(command));
      }
    } catch (EOFException e) {
      System.exit(0); // the test has ended
    }
  }
}
