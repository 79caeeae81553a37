"""WebSocket as others speak it: `websocket.py URL GUARDED_URL TOKEN`, each with a bash inside."""

import asyncio
import base64
import json
import sys
import traceback
from contextlib import asynccontextmanager

import websockets

# The longest that one message is waited for, in seconds.
WITHIN = 15

broken = 0


class Talk:
    """One connection: says events, and waits for those it is told."""

    def __init__(self, socket):
        self.socket = socket
        # Messages that came while another one was waited for, oldest first.
        self.passed = []

    async def say(self, event, **fields):
        await self.socket.send(json.dumps({"event": event, **fields}))

    async def hear(self):
        return json.loads(await asyncio.wait_for(self.socket.recv(), WITHIN))

    async def until(self, fulfils):
        """The first message that fulfils; others are kept for later."""

        async def search():
            for message in self.passed:
                if fulfils(message):
                    self.passed.remove(message)
                    return message
            while not fulfils(message := await self.hear()):
                self.passed.append(message)
            return message

        try:
            return await asyncio.wait_for(search(), WITHIN)
        except asyncio.TimeoutError:
            raise AssertionError(f"not among {self.passed}") from None

    async def ask(self, event, **fields):
        """The answer to a message, found by its request_id."""
        await self.say(event, request_id=f"of-{event}", **fields)
        return await self.until(lambda message: message.get("request_id") == f"of-{event}")

    async def closed(self):
        """The close code, after whatever else still comes; the connection must end in order, not break off."""

        try:
            while True:
                await asyncio.wait_for(self.socket.recv(), WITHIN)
        except websockets.ConnectionClosed as end:
            holds(end.rcvd and end.__cause__ is None, f"{end}, because of {end.__cause__!r}")
            return end.rcvd.code


@asynccontextmanager
async def talk(url, path, **options):
    url = url.replace("http://", "ws://") + path
    async with websockets.connect(url, open_timeout=WITHIN, max_size=None, proxy=None, **options) as socket:
        yield Talk(socket)


async def check(promise, promised):
    global broken
    try:
        await promised
        print(f"ok - {promise}", flush=True)
    except Exception:
        broken += 1
        print(f"not ok - {promise}", flush=True)
        for line in traceback.format_exc().splitlines():
            print(f"#   {line}", flush=True)


def holds(fact, shown):
    assert fact, shown


async def pings(url):
    async with talk(url, "/ws?mode=state") as one:
        message = await one.ask("ping")
        holds(message["event"] == "pong", message)
        await asyncio.wait_for(await one.socket.ping(b"frame"), WITHIN)


async def state_comes_first(url):
    async with talk(url, "/ws?mode=state") as one:
        message = await one.hear()
        holds(message["event"] == "transition" and message["prev"] == message["next"] == "unknown", message)
        holds(isinstance(message["seq"], int) and message["prompt"] is None, message)


async def input_is_answered(url):
    async with talk(url, "/ws?mode=raw") as one:
        answer = await one.ask("input", text="echo sum-$((40+2))", enter=True)
        holds(answer["event"] == "input:result" and answer["bytes_written"] == 19, answer)
        seen = b""
        while b"sum-42" not in seen:
            chunk = await one.until(lambda message: message["event"] == "output")
            seen += base64.b64decode(chunk["data"])
        answer = await one.ask("wait", text="sum-42")
        holds(answer["event"] == "wait:result" and answer["matched"], answer)


async def screens_follow(url):
    async with talk(url, "/ws?mode=screen") as one:
        first = await one.hear()
        holds(first["event"] == "screen" and len(first["lines"]) == first["rows"], first)
        await one.say("keys", keys=["e", "c", "h", "o", " ", "K", "enter"])
        await one.until(lambda message: message["event"] == "screen" and "K" in message["lines"])
        await one.say("resize", cols=90, rows=20)
        await one.until(lambda message: message["event"] == "screen" and (message["cols"], message["rows"]) == (90, 20))
        answer = await one.ask("screen:get", format="ansi", cursor=False)
        holds(answer["event"] == "screen" and answer["cursor"] is None, answer)


async def replay_goes_on_where_it_ended(url):
    async with talk(url, "/ws?mode=state") as one:
        first = await one.ask("replay", offset=0, limit=10)
        holds(first["event"] == "replay_result" and first["offset"] == 0 and first["next_offset"] == 10, first)
        rest = await one.ask("replay", offset=first["next_offset"])
        together = base64.b64decode(first["data"]) + base64.b64decode(rest["data"])
        holds(len(together) == rest["next_offset"] == rest["total_written"], rest)
        holds(b"sum-42" in together, together)


async def lock_is_of_the_connection(url):
    async with talk(url, "/ws?mode=state") as one, talk(url, "/ws?mode=state") as other:
        answer = await one.ask("lock", action="acquire")
        holds(answer["event"] == "lock:result" and answer["held"], answer)
        answer = await other.ask("input", text="x")
        holds(answer["event"] == "error" and answer["code"] == "WRITER_BUSY", answer)
        answer = await one.ask("input", text="", enter=True)
        holds(answer["event"] == "input:result", answer)
        await one.socket.close()
        answer = await other.ask("lock", action="acquire")
        holds(answer["held"], answer)
        answer = await other.ask("lock", action="release")
        holds(not answer["held"], answer)


async def mistakes_are_named(url):
    async with talk(url, "/ws?mode=state") as one:
        answer = await one.ask("input", txet="x")
        holds(answer["event"] == "error" and answer["code"] == "BAD_REQUEST" and "txet" in answer["message"], answer)
        answer = await one.ask("dance")
        holds(answer["event"] == "error" and answer["code"] == "BAD_REQUEST", answer)
        await one.socket.send("no json")
        answer = await one.until(lambda message: message["event"] == "error")
        holds(answer["code"] == "BAD_REQUEST", answer)


async def auth_message_opens(url, token):
    async with talk(url, "/ws?mode=state") as one:
        answer = await one.ask("ping")
        holds(answer["event"] == "pong", answer)
        answer = await one.ask("screen:get")
        holds(answer["event"] == "error" and answer["code"] == "UNAUTHORIZED", answer)
        await one.say("auth", token=token)
        await one.until(lambda message: message["event"] == "transition")
        answer = await one.ask("screen:get")
        holds(answer["event"] == "screen", answer)


async def wrong_auth_closes(url):
    async with talk(url, "/ws?mode=state") as one:
        await one.say("auth", token="wrong")
        answer = await one.until(lambda message: message["event"] == "error")
        holds(answer["code"] == "UNAUTHORIZED", answer)
        code = await one.closed()
        holds(code == 4401, code)


async def wrong_token_is_refused_at_the_door(url):
    for path, headers in [("/ws?token=wrong", {}), ("/ws", {"Authorization": "Bearer wrong"})]:
        try:
            async with talk(url, path, additional_headers=headers):
                raise AssertionError(f"{path} {headers} was let in")
        except websockets.InvalidStatus as refusal:
            holds(refusal.response.status_code == 401, refusal)


async def token_opens_at_the_door(url, token):
    for path, headers in [(f"/ws?token={token}&mode=state", {}), ("/ws?mode=state", {"Authorization": f"Bearer {token}"})]:
        async with talk(url, path, additional_headers=headers) as one:
            message = await one.hear()
            holds(message["event"] == "transition", message)


async def other_origins_are_refused(url):
    try:
        async with talk(url, "/ws", origin="http://evil.example"):
            raise AssertionError("a page of another origin was let in")
    except websockets.InvalidStatus as refusal:
        holds(refusal.response.status_code == 403, refusal)


async def attaches(url):
    async with talk(url, "/api/v1/attach") as one:
        await one.say("hello", cols=70, rows=10)
        ready = await one.hear()
        holds(ready["event"] == "ready" and (ready["cols"], ready["rows"]) == (70, 10), ready)
        await one.socket.send(b"echo attached-$((1+1))\r")
        seen = b""
        while b"attached-2" not in seen:
            message = await asyncio.wait_for(one.socket.recv(), WITHIN)
            seen += message if isinstance(message, bytes) else b""


async def exit_and_close(url):
    async with talk(url, "/ws?subscribe=state") as one, talk(url, "/ws?mode=all") as other:
        await one.say("input", text="exit 7", enter=True)
        for each in (one, other):
            message = await each.until(lambda message: message["event"] == "exit")
            holds(message["code"] == 7 and message["signal"] is None, message)
        answer = await one.ask("input", text="x")
        holds(answer["event"] == "error" and answer["code"] == "EXITED", answer)
        await one.say("shutdown")
        codes = [await one.closed(), await other.closed()]
        holds(codes == [1001, 1001], codes)


async def main(url, guarded, token):
    await check("websockets gets pong for ping, and for ping frames", pings(url))
    await check("websockets is told the current state first", state_comes_first(url))
    await check("websockets gets its request_id back and reads the echo", input_is_answered(url))
    await check("websockets follows the screen, keys and sizes", screens_follow(url))
    await check("websockets replays output to the byte", replay_goes_on_where_it_ended(url))
    await check("websockets holds the lock as long as its connection", lock_is_of_the_connection(url))
    await check("websockets is told its mistakes and stays connected", mistakes_are_named(url))
    await check("websockets attaches as a terminal, in binary frames", attaches(url))
    await check("websockets of another origin is refused", other_origins_are_refused(url))
    await check("websockets with the auth message is let in", auth_message_opens(guarded, token))
    await check("websockets with a wrong auth message is closed with 4401", wrong_auth_closes(guarded))
    await check("websockets with a wrong token gets 401", wrong_token_is_refused_at_the_door(guarded))
    await check("websockets with the token in header or address is let in", token_opens_at_the_door(guarded, token))
    await check("websockets is told the exit and closed with 1001 at shutdown", exit_and_close(url))


asyncio.run(main(*sys.argv[1:]))
sys.exit(1 if broken else 0)
