package graft.remoting.server.worker;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.exchange.HandleExchange;
import graft.remoting.server.exchange.PeerExchange;
import graft.remoting.server.exchange.PeerTicket;
import graft.remoting.server.exchange.SharedHandle;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The worker's side of the exchanges: sends requests to the server, one at a time. */
final class WorkerExchange implements HandleExchange, PeerExchange {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerExchange.class);
  private static final int LIMIT_SECONDS = 10;

  private final ControlSocket control;
  private final SynchronousQueue<ControlSocket.Received> answers = new SynchronousQueue<>();

  WorkerExchange(ControlSocket control) {
    this.control = control;
  }

  /**
   * Passes the server's answer to the waiting thread. The thread that receives the server's
   * messages calls this.
   */
  void answered(ControlSocket.Received answer) throws IOException {
    try {
      if (!answers.offer(answer, LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("the server sent an answer without a request");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean give(Bytes token, SharedHandle handle, int fd) {
    ControlSocket.Received answer =
        ask(new ControlMessage.Give(token, Bytes.of(handle.encode())), fd);
    return answer != null && handleOf(answer).length > 0;
  }

  @Override
  public Found find(Bytes token) {
    ControlSocket.Received answer = ask(new ControlMessage.Find(token), -1);
    byte[] handle = answer == null ? new byte[0] : handleOf(answer);
    return handle.length == 0 ? null : new Found(SharedHandle.decode(handle), answer.fd());
  }

  /** Returns the exchange of one kind of contents. */
  ContentExchange contents(ContentExchange.Kind kind) {
    return new ContentExchange() {
      @Override
      public Bytes known() {
        ControlSocket.Received answer = ask(new ControlMessage.KnownContents(kind), -1);
        return Bytes.of(answer == null ? new byte[0] : handleOf(answer));
      }

      @Override
      public boolean keep(Bytes hash, int fd) {
        ControlSocket.Received answer = ask(new ControlMessage.KeepContent(kind, hash), fd);
        return answer != null && handleOf(answer).length > 0;
      }

      @Override
      public int find(Bytes hash) {
        ControlSocket.Received answer = ask(new ControlMessage.FindContent(kind, hash), -1);
        return answer == null ? -1 : answer.fd();
      }
    };
  }

  @Override
  public boolean open(int link, PeerTicket ticket) {
    ControlSocket.Received answer = ask(new ControlMessage.OpenPeer(link, ticket), -1);
    return answer != null && handleOf(answer).length > 0;
  }

  private static byte[] handleOf(ControlSocket.Received answer) {
    return ((ControlMessage.Shared) answer.message()).handle().array();
  }

  private synchronized ControlSocket.Received ask(ControlMessage question, int fd) {
    try {
      control.send(question, fd);
      return answers.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (IOException e) {
      LOG.debug("the server has ended: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return null;
  }
}
