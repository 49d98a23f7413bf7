"""What the goals that were met teach about one that was not: reward programs lifted over the words of goals.

Goals of one form ("move the {color} {kind}") are learned together: what is said of a step is said a second time with
slots in the place of what the goal names there, and one decision list is sought for the steps of all of them. What
goes with the words is then shortest said with slots, and what stays the same without. A goal that was not met gets
the list with its own names in the slots, before anything was done for it.

Which goals mean the same is decided by the data: the steps of two are explained by one list where that is not longer
than two lists. Likeness of words only says what is tried first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log

from worldcoder.synthesis.rules.clauses import Compound, take_apart
from worldcoder.synthesis.rules.effects import Effect
from worldcoder.synthesis.rules.language import Literal
from worldcoder.synthesis.rules.lists import UNFINISHED_COST, DecisionList, Literals, Rule, search
from worldcoder.synthesis.rules.rewards import Rewards, reward_literal_cost
from worldcoder.synthesis.rules.rows import Rows
from worldcoder.synthesis.rules.scene import KIND
from worldcoder.synthesis.rules.sentences import Names, Sentence, lexicon_of, read
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Goal, State, Transition

_MOST_READINGS = 5
_SLOT_GAIN = 0.9
"""By how much a slot is cheaper than what it stands for: there are fewer of them than of kinds and values. So, of what
the data cannot tell apart, what describes a thing with all the words of the goal is the shortest. Of what ends without
a reward the broadest is likelier, without this gain: who is careful with more than needed loses little."""
_SUPPORT = 1.5
"""By how many nats a reading is likelier that e times as many goals support."""
_EXCEPTION = 1.5
"""How much more than its parts the whole may cost where a goal refines what others teach: less than another rule."""
_UNUSED = 4.0
"""What a reading costs in nats that makes nothing of something that the goal names."""
_MAIN = 1.0
"""By how many nats the reward that goes with most of what a goal names is likelier alone than with others."""
_NOT_REACHED = ("reward", 0.0, False)
_MOST_GOALS = 24
"""Of how many goals the data are looked at, the likest."""
_LIKE = 0.4
"""How alike two sentences are that are taken to mean the same, where others of their sort mean something else."""
_UNLIKE = 3.0
"""What a reading costs in nats that rests on a sentence without a word in common."""


@dataclass(frozen=True)
class Slot:
    """What a goal names in its n-th place, in one of its roles."""

    place: int
    role: str


@dataclass(frozen=True)
class Reading:
    """What a goal might reward, by the goals that were met.

    decisions: over the literals of the goal's own `Rewards`. goals: those reached that it rests on, the likest first.
    new: its words that are in none of them. cost: the lower, the likelier. founded: whether its words say that it is
    meant like these; not so where goals of its sort mean different things, and its words are mostly others.
    """

    decisions: DecisionList
    goals: tuple[Goal, ...]
    new: tuple[str, ...]
    cost: float
    founded: bool = True

    @property
    def meaning(self) -> str:
        """What it rests on, and which words of the goal mean nothing to it."""
        unknown = ", ".join(f'"{word}"' for word in self.new)
        return f'it is as with "{self.goals[0]}"' + (f" (words not met before: {unknown})" if unknown else "")


def lifted(literal: Literal, names: Sequence[Names]) -> Iterator[Literal]:
    """A literal with slots for all of its parts that are named; in each way where something is named twice."""
    form, *parts = literal
    choices = []
    for part in parts:
        slots = [
            Slot(place, role)
            for place, named in enumerate(names)
            for role, name in named.items()
            if isinstance(part, str) and part == name
        ]
        choices.append(slots or [part])
    for choice in product(*choices):
        if any(isinstance(part, Slot) for part in choice):
            yield (form, *choice)


def filled(literal: Literal, names: Sequence[Names]) -> Literal | None:
    """A literal with what a goal names in its slots; None where it names nothing of that sort there."""
    parts = []
    for part in literal:
        if isinstance(part, Slot):
            if part.place >= len(names) or part.role not in names[part.place]:
                return None
            part = names[part.place][part.role]
        parts.append(part)
    return tuple(parts)


def _slots(literal: Literal) -> int:
    return sum(isinstance(part, Slot) for part in literal)


def _price(literal: Literal) -> float:
    return reward_literal_cost(literal) - _SLOT_GAIN * _slots(literal)


class _Together:
    """Goals that are learned together."""

    def __init__(self) -> None:
        self.literals = Literals(_price)
        self.rows = Rows()
        self.lists: list[DecisionList] = []
        self._read: dict[Goal, int] = {}

    def fit(self, goals: Iterable[tuple[Rewards, Sentence]]) -> None:
        """Bring the lists up to the data of these goals."""
        for rewards, sentence in goals:
            begun = self._read.get(rewards.goal, 0)
            for i, (mask, label) in enumerate(rewards.steps[begun:], begun):
                lost = _is_success(label) and _is_lost(rewards.transitions, i, sentence.names)
                if lost or i in rewards.aside:
                    continue
                row = self._row(rewards, sentence, mask)
                self.rows.add(row, {label: rewards.price(label)}, i)
                self.lists = [one for one in self.lists if one.effect(row) == label]
            self._read[rewards.goal] = len(rewards.steps)
        if not self.lists:
            self.lists = search(self.rows, self.literals, beam=8)

    def _row(self, rewards: Rewards, sentence: Sentence, mask: int) -> int:
        """What is said of a step of one goal, with slots as well."""
        said = rewards.literals.of(mask)
        return self.literals.mask([*said, *(new for one in said for new in lifted(one, sentence.names))])

    def rewarding(self, rewards: Rewards, sentence: Sentence) -> Iterator[Rule]:
        """The rules by which steps of one goal were rewarded."""
        for mask, label in rewards.kept:
            if label[2] and label[1] > 0:
                yield self.lists[0].rule(self._row(rewards, sentence, mask))

    @property
    def cost(self) -> float:
        """How much it takes to say all of it; without end where it cannot be said."""
        if self.rows.contradictions:
            return UNFINISHED_COST
        return self.lists[0].cost

    def readings(self, sentence: Sentence, own: Literals) -> Iterator[DecisionList]:
        """The lists with what a sentence names in their slots."""
        places = len(sentence.names)
        variants = (one for known in self.lists for one in (*self._main(known), known))
        for decisions in [one for variant in variants for one in self._narrowed(variant, places)]:
            rules, cost = [], decisions.cost
            for rule in decisions.rules:
                said = self.literals.of(rule.condition)
                literals = [filled(literal, sentence.names) for literal in said]
                if None in literals:
                    break
                if not _is_reached(rule):
                    cost += _SLOT_GAIN * sum(map(_slots, said))
                rules.append(Rule(own.mask(one for one in literals if one is not None), rule.effect))
            else:
                if any(map(_is_reached, rules)):
                    yield DecisionList(tuple(rules), cost)

    def _places(self, rule: Rule) -> set[int]:
        """Which of the things that a goal names a rule speaks of."""
        literals = self.literals.of(rule.condition)
        return {part.place for one in literals for part in one if isinstance(part, Slot)}

    def _main(self, decisions: DecisionList) -> Iterator[DecisionList]:
        """A list without the rewards that go less with what a goal names, where others go with more of it.

        Such a reward may have come by chance, or by what no state shows.
        """
        told = {rule: len(self._places(rule)) for rule in decisions.rules if _is_reached(rule)}
        weak = {rule for rule, places in told.items() if places < max(told.values())}
        if weak:
            kept = (Rule(r.condition, _NOT_REACHED) if r in weak else r for r in decisions.rules)
            yield DecisionList(tuple(kept), decisions.cost - _MAIN)

    def _narrowed(self, decisions: DecisionList, places: int) -> list[DecisionList]:
        """A list, and the same with all that a goal names in it.

        What is named is named for a reason. Where nothing else was ever done, the data do not tell which.
        """
        reached = [rule for rule in decisions.rules if _is_reached(rule)]
        used = {place for rule in reached for place in self._places(rule)}
        unused = [place for place in range(places) if place not in used]
        found = [DecisionList(decisions.rules, decisions.cost + _UNUSED * len(unused))]
        if not unused or len(reached) != 1:
            return found
        always = -1
        for row in self.rows.by_mask.values():
            if decisions.rule(row.mask) is reached[0]:
                always &= row.mask
        if always < 0:
            return found
        added, cost = 0, decisions.cost
        for place in unused:
            naming = [
                one
                for one in self.literals.of(always)
                if any(isinstance(part, Slot) and part.place == place for part in one)
            ]
            if not naming:
                cost += _UNUSED
                continue
            cheapest = min(naming, key=_price)
            added |= self.literals.mask([cheapest])
            cost += _price(cheapest)
        rules = (Rule(r.condition | added, r.effect) if r is reached[0] else r for r in decisions.rules)
        return [DecisionList(tuple(rules), cost), *found] if added else found


class Lifting:
    """Learns from the rewards of all goals what one of them might mean."""

    def __init__(self) -> None:
        self._together: dict[tuple[Goal, ...], _Together] = {}
        self._known: object = None
        self._sentences: dict[Goal, Sentence] = {}
        self._compounds: tuple[object, dict[Goal, Compound | None]] = (None, {})
        self._simple: list[Sentence] = []  # those that were reached and are of one clause

    def compounds(self, every: Mapping[Goal, Rewards], vocabulary: Vocabulary) -> dict[Goal, Compound]:
        """Which goals are made of several clauses, each of a form in which some other goal was reached."""
        self._renew(every, vocabulary)
        found = {goal: self._compound(goal, every) for goal in every}
        return {goal: compound for goal, compound in found.items() if compound is not None}

    def _compound(self, goal: Goal, every: Mapping[Goal, Rewards]) -> Compound | None:
        reached = tuple(one for one in every if every[one].succeeded)
        if self._compounds[0] != (self._known, reached):
            found: dict[Goal, Compound | None] = {}
            self._simple = []
            # the shortest first: what can be taken apart by others is no form of its own
            for one in sorted(reached, key=lambda one: len(self._sentences[one].form)):
                found[one] = take_apart(one, self._sentences[one], self._simple)
                if found[one] is None:
                    self._simple.append(self._sentences[one])
            self._compounds = (self._known, reached), found
        known = self._compounds[1]
        if goal not in known:
            known[goal] = take_apart(goal, self._sentences[goal], self._simple)
        return known[goal]

    def readings(self, goal: Goal, every: Mapping[Goal, Rewards], vocabulary: Vocabulary) -> list[Reading]:
        """What a goal might reward, the likeliest first; nothing where no goal of its form was reached.

        every: the rewards of all goals that were met, among them its own. Its own steps are explained as well.
        """
        compounds = self.compounds(every, vocabulary)
        mine = self._sentences[goal]
        same = (one for one in every if one not in compounds)
        alike = [one for one in same if self._sentences[one].roles == mine.roles]
        others = [one for one in alike if one != goal and every[one].transitions]
        if not mine.names or not others:
            return []
        others = sorted(others, key=lambda one: -mine.likeness(self._sentences[one]))[:_MOST_GOALS]
        found: list[Reading] = []
        groups = self._groups([one for one in alike if one in others], every, vocabulary)
        meanings = sum(self._meanings(group, every, vocabulary) for group in groups)
        for group in groups:
            reached = [one for one in others if one in group and every[one].succeeded]
            together = self._fit((*group, goal), every, vocabulary)
            alone = sum(self._fit(part, every, vocabulary).cost for part in (group, (goal,)))
            if not reached or together.cost > alone + _EXCEPTION:
                continue
            met = {word for one in reached for word in self._sentences[one].words}
            new = tuple(word for word in dict.fromkeys(mine.words) if word not in met)
            likeness = mine.likeness(self._sentences[reached[0]])
            cost = _UNLIKE * (1 - likeness) - _SUPPORT * log(len(reached))
            for decisions in together.readings(mine, every[goal].literals):
                if _explains(decisions, every[goal]):
                    extra = decisions.cost - together.lists[0].cost
                    founded = meanings < 2 or likeness >= _LIKE
                    found.append(Reading(decisions, tuple(reached), new, cost + extra, founded))
        return sorted(found, key=lambda reading: reading.cost)[:_MOST_READINGS]

    def _meanings(
        self, group: tuple[Goal, ...], every: Mapping[Goal, Rewards], vocabulary: Vocabulary
    ) -> int:
        """By how many rules goals that are explained together were rewarded."""
        together = self._fit(group, every, vocabulary)
        return len({rule for one in group for rule in together.rewarding(every[one], self._sentences[one])})

    def _groups(
        self, goals: Sequence[Goal], every: Mapping[Goal, Rewards], vocabulary: Vocabulary
    ) -> list[tuple[Goal, ...]]:
        """Goals that are explained together: each joins the likest group with which that is not longer."""
        groups: list[tuple[Goal, ...]] = []
        for goal in goals:
            sentence = self._sentences[goal]
            groups.sort(key=lambda group: -max(sentence.likeness(self._sentences[one]) for one in group))
            for i, group in enumerate(groups):
                one = self._fit((*group, goal), every, vocabulary).cost
                two = sum(self._fit(part, every, vocabulary).cost for part in (group, (goal,)))
                if one <= two and one < UNFINISHED_COST:
                    groups[i] = (*group, goal)
                    break
            else:
                groups.append((goal,))
        return groups

    def _fit(
        self, goals: tuple[Goal, ...], every: Mapping[Goal, Rewards], vocabulary: Vocabulary
    ) -> _Together:
        together = self._together.setdefault(goals, _Together())
        for goal in goals:
            every[goal].read(vocabulary)
        together.fit((every[goal], self._sentences[goal]) for goal in goals)
        return together

    def _renew(self, every: Mapping[Goal, Rewards], vocabulary: Vocabulary) -> None:
        """Read the goals with the names that the world is known to have now."""
        lexicon = lexicon_of(vocabulary)
        known = vocabulary.structure(), tuple(lexicon)
        if known != self._known:
            self._known = known
            self._together = {}
            self._sentences = {}
        for goal in every:
            if goal not in self._sentences:
                self._sentences[goal] = read(goal, lexicon)


def _is_reached(rule: Rule) -> bool:
    return bool(rule.condition) and _is_success(rule.effect)


def _is_success(label: Effect) -> bool:
    _, reward, done = label
    return bool(done and reward > 0)


def _is_lost(transitions: Sequence[Transition], last: int, names: Sequence[Names]) -> bool:
    """Whether something that a goal names was there when an episode began, and is gone before this step of it.

    What is rewarded then rests on what no state shows, and teaches nothing of other goals.
    """
    first = last
    while (
        first
        and not transitions[first - 1].done
        and transitions[first - 1].next_state == transitions[first].state
    ):
        first -= 1
    begun, now = transitions[first].state, transitions[last].state
    return any(_is_there(begun, named) and not _is_there(now, named) for named in names)


def _is_there(state: State, named: Names) -> bool:
    """Whether there is something of a kind, or with a value, that is called so."""
    return any(
        o.kind == name if role == KIND else o.attributes.get(role) == name
        for role, name in named.items()
        for o in state.objects
    )


def _explains(decisions: DecisionList, rewards: Rewards) -> bool:
    """Whether a list says what happened in all steps under a goal."""
    return all(decisions.effect(mask) == label for mask, label in rewards.kept)
