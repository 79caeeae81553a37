"""An agent from Python: messages and answers with witnesses, and states that survive a broken line."""

import threading
import unittest.mock

import coop
import grpc

from .support import PATIENCE, Case, Line


class Agents(Case):
    def test_a_message_is_delivered_when_a_witness_saw_it_arrive(self):
        agent = self.agent()
        delivery = agent.nudge("hello there", timeout=PATIENCE).check()
        self.assertEqual((delivery.phase, delivery.witness), ("accepted", "hooks: UserPromptSubmit"))
        agent.wait_text("You said: hello there", PATIENCE)
        agent.wait_idle(PATIENCE)
        self.assertEqual(agent.state(), "idle")

    def test_a_prompt_is_answered_and_another_one_is_not(self):
        agent = self.agent()
        self.assertTrue(agent.nudge("you need a permission", timeout=PATIENCE))
        agent.wait_state("prompt", timeout=PATIENCE)
        prompt = agent.agent_state().prompt
        self.assertEqual(prompt.tool, "Bash")
        busy = agent.nudge("are you there?")
        self.assertEqual((bool(busy), busy.reason, busy.state, busy.phase), (False, "agent_busy", "prompt", ""))
        with self.assertRaisesRegex(coop.NotDelivered, "agent_busy"):
            busy.check()
        with self.assertRaises(coop.StateChanged):
            agent.respond(type(prompt)(id="p99"), accept=True)
        agent.respond(prompt, accept=True, timeout=PATIENCE).check()
        agent.wait_text("allowed", PATIENCE)
        agent.wait_idle(PATIENCE)
        self.assertEqual(agent.respond(accept=True).reason, "no_prompt")

    def test_only_who_can_be_steered_is(self):
        agent = self.agent()
        with self.assertRaisesRegex(coop.BadRequest, "steer"):
            agent.nudge("another way", steer=True)

    def test_a_stream_that_is_cut_goes_on_without_loss_or_doubles(self):
        agent = self.agent()
        line = Line(agent.address)
        self.addCleanup(line.close)
        whole = iter(agent.states())
        seen, turns = [], 0
        with coop.connect(line.url) as session:
            for event in session.states():
                self.assertFalse(event.lost)
                if not seen:
                    self.assertEqual(next(whole).seq, event.seq)
                seen.append(event.seq)
                if event.state != "idle":
                    continue
                if turns == 2:
                    break
                turns += 1
                # A whole turn happens while the line is down.
                line.cut(True)
                agent.nudge("turn", timeout=PATIENCE).check()
                agent.wait_idle(PATIENCE)
                line.cut(False)
            self.assertGreaterEqual(event.reconnects, 2)
        self.assertEqual(seen[1:], [next(whole).seq for _ in seen[1:]])
        whole.close()

    def test_another_coop_at_the_same_address_is_told(self):
        agent, other = self.agent(), self.shell()
        agent.nudge("so that its numbers are higher", timeout=PATIENCE).check()
        agent.wait_idle(PATIENCE)
        line = Line(agent.address)
        self.addCleanup(line.close)
        with coop.connect(line.url) as session:
            states = session.states()
            self.assertEqual(next(states).state, "idle")
            line.target = other.address
            line.cut(False)
            event = next(states)
            self.assertEqual((event.state, event.lost), ("unknown", True))
            states.close()

    def test_another_coop_is_told_even_if_its_numbers_are_higher(self):
        first, other = self.shell(), self.agent()
        other.nudge("so that its numbers are higher", timeout=PATIENCE).check()
        other.wait_idle(PATIENCE)
        line = Line(first.address)
        self.addCleanup(line.close)
        with coop.connect(line.url) as session:
            states = session.states()
            self.assertEqual(next(states).state, "unknown")
            line.target = other.address
            line.cut(False)
            event = next(states)
            self.assertEqual((event.state, event.lost), ("idle", True))
            states.close()

    def stalled(self, late_answer, **options):
        """The states of a shell that exits while the line is held; late_answer(line, session) hears of each answer that did not
        come in time."""
        shell = self.shell()
        line = Line(shell.address)
        self.addCleanup(line.close)
        with coop.connect(line.url) as session:
            ask = session.calls.GetStatus

            def look(*request, **limits):
                try:
                    return ask(*request, **limits)
                except grpc.RpcError as error:
                    if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                        late_answer(line, session)
                    raise

            session.calls.GetStatus = look
            states = session.states(**options)
            yield next(states)
            line.hold()
            shell.type("exit")
            with unittest.mock.patch("coop.session.ANSWER_WITHIN", 0.5):
                yield from states

    def test_a_stream_outlives_a_coop_that_stalls_behind_a_proxy(self):
        late = []

        def late_answer(line, _):
            late.append(line)
            if len(late) == 2:
                line.let_through()

        for event in self.stalled(late_answer):
            self.assertFalse(event.lost)
            if event.state == "exited":
                break
        self.assertGreaterEqual(len(late), 2)

    def test_a_stream_that_stalls_is_closed_or_given_up(self):
        closed = self.stalled(lambda _, session: session.close())
        self.assertEqual([event.state for event in closed], ["unknown"])
        with self.assertRaisesRegex(coop.Unreachable, "given up"):
            list(self.stalled(lambda *_: None, give_up_after=1))

    def test_a_stream_gives_up_is_refused_and_is_closed(self):
        session = self.shell()
        line = Line(session.address)
        self.addCleanup(line.close)
        with coop.connect(line.url) as through, self.assertRaisesRegex(coop.Unreachable, "given up"):
            for _ in through.states(give_up_after=1):
                line.cut(True)
        guarded = self.start("cat", token="a")
        with coop.Session(guarded.address, "wrong") as wrong, self.assertRaises(coop.Unauthorized):
            next(wrong.states())
        with coop.connect(socket=session.address.removeprefix("unix:")) as closing:
            states = closing.states()
            next(states)
            threading.Timer(0.1, closing.close).start()
            self.assertEqual(list(states), [])
