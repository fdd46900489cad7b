# SPDX-License-Identifier: Apache-2.0
"""A terminal for the cases of the viewer and of top: shows what they draw, and says how they left
it. Nothing here waits for a time: each step waits for what must come."""
import fcntl, os, pty, re, select, struct, sys, termios, time

LONG = 120  # nothing waits that long unless something is wrong

class Screen:
    """What a terminal shows that obeys the sequences that the viewer sends, and fails at others."""
    def __init__(self, command, lines, columns, term="xterm"):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = term
            self.fd = 0
            self.size(lines, columns)
            os.execvp(command[0], command)
        self.written = b""
        self.before = termios.tcgetattr(self.fd)
        self.rest = b""
        self.cells = {}
        self.at = [0, 0]

    def size(self, lines, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def obey(self, data):
        text = (self.rest + data).decode("utf-8", "ignore")
        self.rest = b""
        for part in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x1b]*\x1b\\|[^\x1b]", text):
            if part[0] != "\x1b":
                if part == "\n":
                    self.at = [self.at[0] + 1, 0]
                elif part != "\r":
                    self.cells[tuple(self.at)] = part
                    self.at[1] += 1
            elif part[-1] == "H":
                numbers = part[2:-1].split(";") if len(part) > 3 else [1, 1]
                self.at = [int(numbers[0]) - 1, int(numbers[1]) - 1]
            elif part[-1] == "J":
                self.cells = {}
            elif part[-1] == "K":
                for place in [p for p in self.cells if p[0] == self.at[0] and p[1] >= self.at[1]]:
                    del self.cells[place]

    def text(self):
        lines = {}
        for (line, column), character in self.cells.items():
            lines.setdefault(line, {})[column] = character
        return "\n".join("".join(lines.get(i, {}).get(k, " ") for k in range(300)).rstrip()
                         for i in range(100))

    def read(self):
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.written += data
        self.obey(data)
        return bool(data)

    def wait(self, is_enough, what):
        end = time.monotonic() + LONG
        while not is_enough():
            if time.monotonic() > end or not self.read():
                print("never came:", what)
                print(self.text().rstrip())
                sys.exit(1)

    def expect(self, *texts):
        self.wait(lambda: all(text in self.text() for text in texts), texts)

    def press(self, keys, *texts):
        os.write(self.fd, keys)
        self.expect(*texts)

    def end(self):
        """Its wait status, when all that it wrote was read."""
        while self.read():
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                while select.select([self.fd], [], [], 0)[0] and self.read():
                    pass
                return status
        return os.waitpid(self.pid, 0)[1]

    def left(self, name):
        after = termios.tcgetattr(self.fd)
        entered, gone = self.written.count(b"\x1b[?1049h"), self.written.count(b"\x1b[?1049l")
        print(name, "keys as before", after[3] == self.before[3],
              "screen left", entered == gone and entered > 0,
              "cursor shown", self.written.rfind(b"\x1b[?25h") > self.written.rfind(b"\x1b[?25l"))
