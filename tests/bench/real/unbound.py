"""usage: unbound.py PORT UPSTREAM CONTROL ROUNDS

A session with a resolver that listens at PORT and forwards to UPSTREAM, which is served from here:
the address of nN.* is 10.0.0.N, cN.* is another name for nN.*, nothing else is there. Three clients
ask the same names and names of their own, and compare the answers. Then the resolver is told to
stop, at its control socket."""
import socket
import struct
import sys
import threading
import time

port, upstream, control, rounds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
IN_A = struct.pack('>HH', 1, 1)
NO_SUCH_NAME = 3


def question(number, name):
    labels = b''.join(bytes([len(label)]) + label for label in name.split(b'.'))
    return struct.pack('>HHHHHH', number, 0x100, 1, 0, 0, 0) + labels + b'\0' + IN_A


def address(owner, last):
    return owner + struct.pack('>HHIHBBBB', 1, 1, 300, 4, 10, 0, 0, last)


def answer(asked):
    end = asked.index(b'\0', 12) + 5
    label = asked[13:13 + asked[12]]
    if not label[1:].isdigit():
        return asked[:2] + b'\x81\x83' + asked[4:6] + bytes(6) + asked[12:end]
    n, count = int(label[1:]), 1
    records = address(b'\xc0\x0c', n)
    if label[:1] == b'c':
        target = b'\x02n%d' % n + asked[13 + asked[12]:end - 4]
        records = b'\xc0\x0c' + struct.pack('>HHIH', 5, 1, 300, len(target)) + target + address(target, n)
        count = 2
    return asked[:2] + b'\x81\x80' + asked[4:6] + struct.pack('>HHH', count, 0, 0) + asked[12:end] + records


def serve(world):
    while True:
        asked, peer = world.recvfrom(512)
        world.sendto(answer(asked), peer)


def ask(s, number, name):
    for _ in range(40):
        s.sendto(question(number, name), ('127.0.0.1', port))
        try:
            while True:
                got = s.recv(512)
                if struct.unpack('>H', got[:2])[0] == number:
                    return got
        except socket.timeout:
            pass
    raise SystemExit('no answer to %s' % name)


def client(me, failures):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(2)
    try:
        for k in range(rounds):
            names = [(b'www.example', b'\xc0\x00\x02\x01'), (b'n%d.org' % (k % 4), bytes([10, 0, 0, k % 4])),
                     (b'c%d.net' % (k % 3), bytes([10, 0, 0, k % 3])),
                     (b'n%d.own%d.com' % (k % 3, me), bytes([10, 0, 0, k % 3]))]
            for n, (name, wanted) in enumerate(names):
                got = ask(s, (20000 * me + 10 * k + n) & 0xffff, name)
                if got[3] & 15 or wanted not in got:
                    failures.append((name, got))
            if ask(s, (20000 * me + 10 * k + 9) & 0xffff, b'missing.org')[3] & 15 != NO_SUCH_NAME:
                failures.append('missing.org')
    except BaseException as e:
        failures.append(e)


def command(text):
    for _ in range(600):
        c = socket.socket(socket.AF_UNIX)
        try:
            c.connect(control)
            break
        except OSError:
            time.sleep(0.05)
    else:
        raise SystemExit('the server does not listen')
    c.sendall(b'UBCT1 %s\n' % text)
    return c.makefile('rb').read()


def main():
    failures = []
    world = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    world.bind(('127.0.0.1', upstream))
    threading.Thread(target=serve, args=(world,), daemon=True).start()
    if not command(b'status').startswith(b'version'):
        failures.append('status')
    clients = [threading.Thread(target=client, args=(i, failures)) for i in range(3)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    if b'total.num.queries=' not in command(b'stats_noreset'):
        failures.append('stats')
    command(b'flush n1.org')
    command(b'stop')
    for f in failures:
        print(f, file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
