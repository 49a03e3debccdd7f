"""Many long polls of one job, a probe meanwhile, and the job's end: http_polls.py PORT JOB COUNT"""
import http.client
import json
import resource
import select
import socket
import sys
import time

port, job, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
if count + 100 > hard:
    print(f"  only {hard} files may be open: {hard - 100} long polls")
    count = hard - 100


def call(method, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def probe(times):
    """The longest of some requests that do not wait, in milliseconds."""
    longest = 0
    for _ in range(times):
        began = time.monotonic()
        status, _ = call("GET", "/live")
        assert status == 200, status
        longest = max(longest, (time.monotonic() - began) * 1000)
    return longest


request = (f"GET /v1/jobs/{job} HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=60\r\n\r\n").encode()
poller, waiting = select.epoll(), {}
for n in range(count):
    one = socket.create_connection(("127.0.0.1", port))
    one.sendall(request)
    waiting[one.fileno()] = (one, bytearray())
    poller.register(one.fileno(), select.EPOLLIN)
longest = probe(50)
early = len(poller.poll(0, count))
status, metrics = call("GET", "/metrics")
open_now = [line for line in metrics.decode().splitlines() if line.startswith("foretell_http_connections ")]
began = time.monotonic()
status, _ = call("DELETE", f"/v1/jobs/{job}")
assert status == 204, status
done = wrong = 0
during = 0
while waiting and time.monotonic() - began < 60:
    for descriptor, _ in poller.poll(1, 1000):
        one, text = waiting[descriptor]
        piece = one.recv(65536)
        text += piece
        head, blank, body = bytes(text).partition(b"\r\n\r\n")
        if piece and (not blank or len(body) < int(head.lower().split(b"content-length: ")[1].split()[0])):
            continue
        good = head.startswith(b"HTTP/1.1 200 ") and json.loads(body)["state"] == "cancelled"
        done, wrong = done + good, wrong + (not good)
        poller.unregister(descriptor)
        one.close()
        del waiting[descriptor]
    if not during:
        during = probe(1)
took = time.monotonic() - began
print(f"{count} long polls ({open_now[0].split()[1]} connections): the probe answered within "
      f"{longest:.1f} ms, {during:.1f} ms while they ended; {done} answered within {took:.2f} s, {wrong} wrongly")
sys.exit(0 if done == count and early == 0 else 1)
