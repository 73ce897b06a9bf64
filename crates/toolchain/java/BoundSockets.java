import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.rmi.server.RMISocketFactory;
import java.util.Arrays;

/**
 * Runs the main class that its first argument names. All sockets that this JVM listens on for RMI are bound to the
 * address in java.rmi.server.hostname. RMI has no option for that: without this class, TLC listens on every address.
 *
 * After a change: javac --release 8 -g:none BoundSockets.java
 */
public final class BoundSockets extends RMISocketFactory {
    @Override
    public ServerSocket createServerSocket(int port) throws IOException {
        return new ServerSocket(port, 0, InetAddress.getByName(System.getProperty("java.rmi.server.hostname")));
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return new Socket(host, port);
    }

    public static void main(String[] args) throws Exception {
        RMISocketFactory.setSocketFactory(new BoundSockets());
        Object rest = Arrays.copyOfRange(args, 1, args.length);
        Class.forName(args[0]).getMethod("main", String[].class).invoke(null, rest);
    }
}
