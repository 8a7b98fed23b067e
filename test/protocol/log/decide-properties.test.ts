import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { decide } from '../../../protocol/log/decide.ts';
import type { Decision } from '../../../protocol/log/decision.ts';
import {
  type DecisionState,
  decisionStateText,
  knownNode,
  MAX_OPEN_NAMES,
  nextBatch,
} from '../../../protocol/log/decision-state.ts';
import { initialState } from '../../../protocol/log/in-force.ts';
import { type LedgerMessage, parseLedgerMessage } from '../../../protocol/log/message.ts';
import { type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { fc } from '../../fixtures/properties.ts';
import { referenceDecisions } from './reference-decisions.ts';
import { accountOf, FOUNDERS, genesisOf, memberOf, STRANGER, Topic } from './topic.ts';

const RUNS = { numRuns: 200 };
/** What the open names of one member take at most in a state's text. */
const OPEN_NAMES_CHARACTERS = 26_000;
const NODES = [...FOUNDERS, 'za'];

/**
 * What one or several say, one after another. Which batch number and which roster that is depends on what was before.
 */
interface Chorus {
  readonly names: readonly string[];
  readonly what: 'batch' | 'own-batch' | 'revocation' | 'roster' | 'noise';
  readonly node: string;
  /** From the node's next batch number. */
  readonly ahead: number;
  readonly envelope: string;
  readonly keyId: string;
  readonly roster: number;
}

const chorus: fc.Arbitrary<Chorus> = fc.record({
  names: fc.shuffledSubarray([...NODES, ...NODES, 'stranger'], { minLength: 1, maxLength: 8 }),
  what: fc.constantFrom('batch', 'batch', 'own-batch', 'own-batch', 'revocation', 'roster', 'noise'),
  node: fc.constantFrom(...NODES),
  ahead: fc.constantFrom(0, 0, 0, 0, 1, -1),
  envelope: fc.constantFrom('a', 'a', 'b'),
  keyId: fc.constantFrom('k1', 'k1', 'k2', 'k3'),
  roster: fc.nat({ max: 5 }),
});
const talk = fc.array(chorus, { maxLength: 40 });

function changeOf(topic: Topic, which: number): Partial<Roster> {
  const { members } = topic.roster;
  const of = (names: readonly string[]) => names.map((name) => memberOf(name));
  const changes: readonly Partial<Roster>[] = [
    { members: members.filter(({ node }) => node !== 'jp') },
    { members: of(NODES) },
    { members: of(FOUNDERS), name: 'again' },
    { name: `after ${topic.state.size}` },
    { quorum: 200 },
    { members: of(['us', 'eu', 'za']) },
  ];
  return changes[which] ?? {};
}

function speak(topic: Topic, { names, what, node, ahead, envelope, keyId, roster }: Chorus): void {
  const of = (origin: string): LedgerMessage => {
    const state = knownNode(topic.state, nodeId(origin));
    const batch = Math.max(1, (state === undefined ? 1 : nextBatch(state)) + ahead);
    return topic.batch(origin, batch, envelope, keyId);
  };
  const next = what === 'roster' ? topic.next(changeOf(topic, roster)) : 'no roster';
  const said = {
    batch: () => of(node),
    'own-batch': (name: string) => of(name === 'stranger' ? node : name),
    revocation: () => topic.revocation(node, keyId, envelope),
    roster: () => next,
    noise: () => `noise ${envelope}`,
  }[what];
  for (const name of names) {
    topic.pay(name === 'stranger' ? STRANGER : accountOf(name, 1 + (ahead & 1)), said(name));
  }
}

function topicOf(said: readonly Chorus[]): Topic {
  const topic = new Topic();
  for (const one of said) speak(topic, one);
  return topic;
}

function namedBy({ message }: Decision): LedgerMessage {
  return parseLedgerMessage(message);
}

/** Reads a topic once more, with a change of the state before each message. */
function reread(topic: Topic, change: (state: DecisionState, at: number) => DecisionState) {
  let state = initialState(nativeSuite, rosterStatement.write(genesisOf()));
  const decisions: Decision[] = [];
  for (const [at, message] of topic.messages.entries()) {
    const outcome = decide(nativeSuite, change(state, at), message, (hash) => topic.texts.get(hash));
    assert.is.not(outcome.kind, 'needs-roster');
    if (outcome.kind === 'needs-roster') continue;
    state = outcome.state;
    if (outcome.kind === 'decided') decisions.push(outcome.decision);
  }
  return { state, decisions };
}

test('decides what a naive reading of everything that was said decides', () => {
  const seen: Record<string, number> = { batch: 0, rescue: 0, roster: 0, revocation: 0 };
  fc.assert(
    fc.property(talk, (said) => {
      const topic = topicOf(said);
      const expected = referenceDecisions(genesisOf(), topic.state.federation, topic.messages, (statement) => {
        const text = topic.texts.get(statement) ?? '';
        return keepsRules(text) ? text : null;
      });
      assert.equal(
        topic.decisions.map(({ sequence }) => Number(sequence)),
        expected,
      );
      for (const decision of topic.decisions) {
        const named = namedBy(decision);
        const isRescue = named.type === 'batch' && topic.state.accounts[decision.payer] !== named.node;
        const what = isRescue ? 'rescue' : named.type;
        seen[what] = (seen[what] ?? 0) + 1;
      }
    }),
    RUNS,
  );
  console.log(`decided: ${JSON.stringify(seen)}`);
  for (const [what, times] of Object.entries(seen)) assert.ok(times > 15, `${what} ${times}`);
});

test('goes on from a state that was written and read back, at any place, and changes none that it was given', () => {
  fc.assert(
    fc.property(talk, fc.array(fc.boolean(), { minLength: 1 }), (said, cuts) => {
      const topic = topicOf(said);
      const again = reread(topic, (state, at) =>
        frozen(cuts[at % cuts.length] === true ? decisionStateText.parse(decisionStateText.write(state)) : state),
      );
      assert.equal(again.decisions, topic.decisions);
      assert.is(decisionStateText.write(again.state), decisionStateText.write(topic.state));
    }),
    RUNS,
  );
});

test('decisions are numbered without gap, and so are the batches of each node, each number once', () => {
  fc.assert(
    fc.property(talk, (said) => {
      const { decisions, state } = topicOf(said);
      assert.equal(
        decisions.map(({ index }) => index),
        decisions.map((_, at) => at),
      );
      assert.is(state.size, decisions.length);
      const last = new Map<string, number>();
      for (const named of decisions.map(namedBy)) {
        if (named.type !== 'batch') continue;
        assert.is(named.batch, (last.get(named.node) ?? 0) + 1);
        last.set(named.node, named.batch);
      }
      for (const [node, { last: decided }] of Object.entries({ ...state.past, ...state.members })) {
        assert.is(decided?.batch ?? 0, last.get(node) ?? 0);
      }
    }),
    RUNS,
  );
});

test('a stranger moves the read position and nothing else', () => {
  fc.assert(
    fc.property(talk, chorus, (said, one) => {
      const topic = topicOf(said);
      const { sequence: _, runningHash: __, ...before } = topic.state;
      speak(topic, { ...one, names: ['stranger'] });
      const { sequence, runningHash, ...after } = topic.state;
      assert.equal(after, before);
      assert.is(sequence, topic.messages.length);
      assert.is(runningHash, topic.messages.at(-1)?.runningHash);
    }),
    RUNS,
  );
});

test('a minority decides nothing but its own batches, whatever the others say of theirs', () => {
  const liars = fc.shuffledSubarray(FOUNDERS, { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(liars, talk, (names, said) => {
      const honest = FOUNDERS.filter((name) => !names.includes(name));
      const topic = new Topic();
      for (const one of said) {
        const isOwn = one.what === 'own-batch' && one.ahead === 0;
        speak(topic, { ...one, names: isOwn ? [...names, ...honest] : names });
      }
      for (const decision of topic.decisions) {
        const named = namedBy(decision);
        assert.is(named.type, 'batch');
        if (named.type === 'batch') assert.is(topic.state.accounts[decision.payer], named.node);
      }
      assert.is(topic.state.rosters.length, 1);
      assert.equal(topic.state.revoked, {});
    }),
    RUNS,
  );
});

test('a rival never takes the place of what was decided, and is told of', () => {
  fc.assert(
    fc.property(talk, fc.constantFrom('us', 'eu', 'sg'), (said, name) => {
      const topic = topicOf(said);
      const before = topic.state.members[nodeId(name)]?.last;
      if (before === null || before === undefined) return;
      topic.say(name, topic.batch(name, before.batch, 'rival', 'key that nobody revoked'));
      assert.equal(topic.state.members[nodeId(name)]?.last, before);
      assert.is(topic.rivals.at(-1)?.sequence, topic.messages.length);
      assert.is(topic.rivals.at(-1)?.decided, before.envelope);
    }),
    RUNS,
  );
});

test(`whatever its members say, a state keeps at most ${OPEN_NAMES_CHARACTERS} characters of each`, () => {
  const letter = (i: number) => String.fromCharCode(97 + (i % 26));
  const names = Array.from({ length: 90 }, (_, i) => `a${letter(i)}${10 + Math.floor(i / 26)}`);
  const topic = new Topic(genesisOf(names));
  const nothing = decisionStateText.write(topic.state).length;
  const liars = names.slice(0, 3);
  for (let i = 0; i < 4 * MAX_OPEN_NAMES; i++) {
    for (const liar of liars) {
      const other = names[3 + (i % 87)] ?? '';
      topic.say(liar, topic.batch(other, 1, `${liar}-${i}`, `${i}`));
      topic.say(liar, topic.revocation(other, `${liar}-${i}`));
      topic.say(liar, topic.next({ name: `${liar}-${i % 3}` }));
    }
  }
  const { length } = decisionStateText.write(topic.state);
  assert.ok(length - nothing > liars.length * 20_000, `${length - nothing} characters`);
  assert.ok(length - nothing <= liars.length * OPEN_NAMES_CHARACTERS, `${length - nothing} characters`);
  assert.is(topic.state.size, 0);
  for (const liar of liars) {
    const open = topic.state.open[liar];
    assert.is(open?.batches.length, MAX_OPEN_NAMES);
    assert.is(open?.revocations.length, MAX_OPEN_NAMES);
  }
});

/** Of the rosters that are named here, those break a rule whose quorum does not fit their members. */
function keepsRules(text: string): boolean {
  const { quorum, members } = rosterStatement.parse(text);
  return quorum <= members.length - 1;
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

test.run();
