"""A memory of traced calls: a transition program is run once for each way it can go, and then no more.

What a deterministic program does follows from the answers to what it asks the state (`Recording`). The first
time, the program runs and its questions are noted; they form a path of a trie, one trie an action:

    question → answer → question → answer → ... → what it wrote

Later calls walk the trie, a dictionary lookup a question, and never run Python. This pays for programs that
look at a few objects or places (`one`, `at`), and not for those that look at everything: every state is new
to them. The memory counts its hits and says whether it pays.

A program that keeps something between calls, or draws random numbers, would be remembered wrongly. Remembered
steps are computed again now and then, and two calls that got the same answers must ask the same next
question; either failing ends the memory for good. A plan that was found is replayed without it
(`planning.plan`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from worldcoder.errors import ProgramError
from worldcoder.programs.inside.counting import Calls
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction, Verdict
from worldcoder.world.live import LiveState, Snapshot, part_of
from worldcoder.world.objects import Version
from worldcoder.world.recording import Where, start_recording, stop_recording, where
from worldcoder.world.values import Action
from worldcoder.world.views import Reads

Node = tuple[int, Snapshot]
"""A state during a search: its hash and the versions of its objects."""

Trie = dict[Any, Any]
"""From an answer to a `(question, Trie)` or to a `Leaf`. A trie's root has the single answer None."""

TRIAL = 2_000
"""Calls after which the memory is judged: it pays if at least half of them were remembered."""
GLANCE = 50
"""Calls after which it is judged where the program looks at everything."""
REST = 5_000
"""Nodes for which the program runs by itself when the memory did not pay, before it is tried again."""
LEAVES = 200_000
"""Paths that are kept at most; the memory starts over beyond that."""
NO_REWARD: Verdict = (0.0, False, 0)
"""The verdict where there is no reward program."""
VERIFY = 1_000
"""One in so many remembered steps is computed again."""


class Leaf:
    """What a call did.

    writes: the new versions. delta: what they add to the hash. error: how the call failed, or None.
    rewards: what the reward program said of this call, by its own questions.
    """

    __slots__ = ("action", "count", "delta", "error", "kinds", "rewards", "share", "writes")

    def __init__(self, action: Action, writes: tuple[Version, ...], delta: int, error: str | None) -> None:
        self.action = action
        self.writes = writes
        self.delta = delta
        self.error = error
        self.kinds: tuple[str, ...] | None = None  # for which `share` was computed
        self.share: Any = None
        self.rewards: Trie = {}


class _Parts(dict[Version, int]):
    """What each version adds to the number of all objects of some kinds."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, version: Version) -> int:
        part = self[version] = part_of(version, self._kinds)
        return part


class Memory:
    """The remembered calls of one transition and one reward program on one live state."""

    def __init__(
        self, live: LiveState, transition: TransitionFunction, reward: RewardFunction | None, calls: Calls
    ) -> None:
        self._live = live
        self._program_calls = calls
        self._snapshot: Snapshot = ()
        self._total = 0
        self._transition = transition
        self._reward = reward
        self._trusted = True
        self._judge_at = GLANCE
        self._calls = self._misses = self._whole = 0
        self._resting = 0
        self._verdict = NO_REWARD
        self.crashed = 0
        self.last_error: str | None = None
        self._clear()

    def _clear(self) -> None:
        self._generation = self._live.generation
        self._roots: dict[Action, Trie] = {}
        self._actions: Sequence[Action] | None = None
        self._tries: list[Trie] = []
        self._leaves = 0
        self._follow_kinds()

    def _follow_kinds(self) -> None:
        """The reward program was seen to read other kinds: forget what was remembered of it."""
        self._kinds = None if self._reward is None else self._reward.kinds
        self._parts = _Parts(self._kinds or ())
        self._shares: dict[Any, int] = {}
        self._results: dict[int, dict[int, Verdict]] = {}

    # ── whether it pays ──────────────────────────────────────────────────────────────────────────────────

    def pays(self) -> bool:
        """Whether to ask the memory for the next node; False while running the program is faster."""
        if not self._trusted:
            return False
        if self._resting:
            self._resting -= 1
            return False
        if self._calls >= self._judge_at:
            whole = 2 * self._whole > self._calls
            if whole or (self._judge_at == TRIAL and 2 * self._misses > self._calls):
                self._resting = REST
            self._judge_at = GLANCE if whole else TRIAL
            self._calls = self._misses = self._whole = 0
            if self._resting:
                return False
        if self._leaves > LEAVES or self._generation != self._live.generation:
            self._clear()
        return True

    # ── one node's steps ─────────────────────────────────────────────────────────────────────────────────

    def successors(self, node: Node, actions: Sequence[Action]) -> Iterator[tuple[Action, int, float, bool]]:
        """The steps that leave a node, as `planning.Model.successors`."""
        total, snapshot = node
        live = self._live
        self._snapshot = snapshot = live.padded(snapshot)
        if live.has_references:
            total = live.hash_of(snapshot)  # objects may have been told apart since
        self._total = total
        self._where: Where | None = None
        self._before: int | None = None
        self._kept: tuple[Leaf, Node] | None = None
        standing: Where | None = None
        if actions is not self._actions:
            self._actions = actions
            self._tries = [self._roots.setdefault(action, {}) for action in actions]
        tries, reward, kinds = self._tries, self._reward, self._kinds
        results: dict[int, Verdict] = {}
        gained: Verdict | None = NO_REWARD
        calls = self._calls
        self._calls = calls + len(actions)
        verify = -1 if calls // VERIFY == self._calls // VERIFY else calls % len(actions)
        for i, action in enumerate(actions):
            leaf = tries[i].get(None)
            while leaf.__class__ is tuple:
                question, answers = leaf
                if question >= 0:
                    leaf = answers.get(snapshot[question])
                else:
                    if standing is None:
                        standing = self._where = self._where or where(snapshot)
                    leaf = answers.get(standing.get(question))
            if leaf is None or i == verify:
                leaf = self._trace(snapshot, action, leaf)
                if tries is not self._tries:  # it starts over
                    self._tries = tries = [self._roots.setdefault(action, {}) for action in actions]
                    self._actions, kinds = actions, self._kinds
                    self._snapshot = snapshot = self._live.padded(snapshot)
                    self._total = total = self._live.hash_before
                    standing = self._where = self._before = self._kept = None
            self._leaf = leaf
            if leaf.error is not None:
                self.crashed += 1
                self.last_error = leaf.error
                continue
            if reward is not None:
                gained = None
                if kinds is not None and kinds is reward.kinds:
                    if self._before is None:
                        self._before = sum(map(self._parts.__getitem__, snapshot))
                        results = self._results.setdefault(self._before, {})
                    gained = results.get(leaf.share if leaf.kinds is kinds else self._share(leaf))
                if gained is None:
                    try:
                        gained = self._compute_reward(snapshot, leaf)
                    except ProgramError as error:
                        self.crashed += 1
                        self.last_error = str(error)
                        self._program_calls.note(self._live, snapshot, action, error)
                        continue
                    finally:
                        kinds = self._kinds
            assert gained is not None
            self._verdict = gained
            yield action, total + leaf.delta, gained[0], gained[1]

    def keep(self) -> Node:
        """The node after the current step."""
        leaf = self._leaf
        if self._kept is None or self._kept[0] is not leaf:
            self._kept = leaf, (self._total + leaf.delta, self._after(self._snapshot, leaf))
        return self._kept[1]

    def atoms(self) -> list[int]:
        """A number for what each object that can change is after the current step."""
        return [v.z for v in self.keep()[1] if v.z]

    def changed_atoms(self) -> list[int]:
        """Those of `atoms` that the current step brought about."""
        return [v.z for v in self._leaf.writes if v.z]

    def unmet(self) -> int:
        """How many parts of the goal are open after the current step."""
        if self._verdict[2] < 0:
            assert self._reward is not None
            self._reward.counts = True
            self._verdict = self._compute_reward(self._snapshot, self._leaf)
        return self._verdict[2]

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _trace(self, snapshot: Snapshot, action: Action, remembered: Leaf | None) -> Leaf:
        """Run the program, and remember what it asked and did; `remembered` is checked if given."""
        live = self._live
        self._program_calls.count(live, snapshot, action)
        live.restore(snapshot)
        recording = start_recording(live)
        error: ProgramError | None = None
        try:
            self._transition(recording, action)
        except ProgramError as caught:
            error = caught
        finally:
            stop_recording(recording)
        asked, whole = recording.asked, recording.whole
        if error is None:
            try:
                total = live.settle()
            except ProgramError as caught:
                error = caught
            else:
                writes = tuple(live.changes)
                leaf = Leaf(action, writes, total - live.hash_before, None)
        if live.has_references and live.lost():  # which is an error where something refers to it
            asked.update(dict.fromkeys(live.referring()))
        live.undo()
        if error is not None:
            leaf = Leaf(action, (), 0, str(error))
            self._program_calls.note(live, snapshot, action, error)
        if remembered is not None:
            if (remembered.writes, remembered.error) != (leaf.writes, leaf.error):
                self._trusted = False
                self._clear()
            return leaf
        self._misses += 1
        if live.generation != self._generation:
            self._clear()  # what was learned about the places of a snapshot is out of date
        elif not whole and self._trusted:
            self._insert(self._roots.setdefault(action, {}), tuple(asked), snapshot, leaf)
            self._leaves += 1
        self._whole += whole
        return leaf

    def _insert(self, trie: Trie, asked: tuple[int, ...], snapshot: Snapshot, last: Any) -> None:
        """Add a path to a trie."""
        if self._where is None:
            self._where = where(snapshot)
        standing = self._where
        answer: Any = None
        for question in asked:
            step = trie.get(answer)
            if step is None:
                step = trie[answer] = (question, {})
            elif step.__class__ is not tuple or step[0] != question:
                self._trusted = False  # the same answers, another question: no function of its arguments
                return
            trie = step[1]
            answer = snapshot[question] if question >= 0 else standing.get(question)
        if trie.get(answer).__class__ is tuple:
            self._trusted = False
            return
        trie[answer] = last

    def _share(self, leaf: Leaf) -> int:
        """A small number for the action and what the call changed among the kinds that rewards read."""
        if leaf.kinds is not self._kinds:
            parts = self._parts
            delta = sum([parts[v] - parts[self._snapshot[v.obj._place]] for v in leaf.writes])
            relevant = None if self._reward is None else self._reward.relevant(leaf.action)
            leaf.kinds = self._kinds
            leaf.share = self._shares.setdefault((relevant, delta), len(self._shares))
        return leaf.share  # type: ignore[no-any-return]

    def _after(self, snapshot: Snapshot, leaf: Leaf) -> Snapshot:
        """The state that a step leads to; the snapshot is padded."""
        after = list(snapshot)
        for version in leaf.writes:
            after[version.obj._place] = version
        return tuple(after)

    def _compute_reward(self, snapshot: Snapshot, leaf: Leaf) -> Verdict:
        """Call the reward program, and remember what it said; raises ProgramError."""
        reward, live = self._reward, self._live
        assert reward is not None
        self._program_calls.count(live, snapshot, leaf.action)
        if reward.kinds is None:
            return self._trace_reward(snapshot, leaf)
        after = self._after(snapshot, leaf)
        result = reward.judge(live, snapshot, after, leaf.action, Reads(), self._where)
        if reward.kinds is not self._kinds:
            self._follow_kinds()
            self._before = None
        elif self._before is not None:
            self._results[self._before][self._share(leaf)] = result
        return result

    def _trace_reward(self, snapshot: Snapshot, leaf: Leaf) -> Verdict:
        """The same for a program that reads by other ways than kinds: by the questions it asks."""
        reward, live = self._reward, self._live
        assert reward is not None
        step = leaf.rewards.get(None)
        while step.__class__ is tuple:
            question, answers = step
            if question < 0 and self._where is None:
                self._where = where(snapshot)
            step = answers.get(snapshot[question] if question >= 0 else (self._where or {}).get(question))
        if step is not None and (step[0][2] >= 0 or not reward.counts):
            return step[0]  # type: ignore[no-any-return]
        reads, after = Reads(questions=True), self._after(snapshot, leaf)
        result = reward.judge(live, snapshot, after, leaf.action, reads, self._where)
        if step is not None:
            step[0] = result
        elif not reads.whole and live.generation == self._generation and self._trusted:
            self._insert(leaf.rewards, tuple(reads.asked or ()), snapshot, [result])
            self._leaves += 1
        return result
