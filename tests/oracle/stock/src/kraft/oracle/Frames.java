package kraft.oracle;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;

/** Commands on stdin and answers on stdout, each a frame: a length of four bytes, then so many bytes. */
public final class Frames {
    private static final int FRAME_BYTES_MAX = 64 << 20;

    /** Answers one command. */
    @FunctionalInterface
    public interface Server {
        byte[] answer(byte[] frame) throws Exception;
    }

    private Frames() {
    }

    /** Serve until stdin ends. What else is printed goes to stderr. */
    public static void serve(Server server) throws IOException {
        OutputStream out = System.out;
        System.setOut(new PrintStream(System.err, true));
        DataInputStream commands = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream answers = new DataOutputStream(new BufferedOutputStream(out, 1 << 16));
        while (true) {
            int length;
            try {
                length = commands.readInt();
            } catch (EOFException end) {
                break;
            }
            if (length < 1 || length > FRAME_BYTES_MAX) {
                throw new IOException("a frame of " + length + " bytes");
            }
            byte[] frame = new byte[length];
            commands.readFully(frame);
            byte[] answer;
            try {
                answer = server.answer(frame);
            } catch (Throwable wrong) {
                // Threads of the controller would keep a process alive that nobody can use any more.
                wrong.printStackTrace();
                System.exit(1);
                return;
            }
            answers.writeInt(answer.length);
            answers.write(answer);
            if (commands.available() == 0) {
                answers.flush();
            }
        }
        System.exit(0);
    }
}
