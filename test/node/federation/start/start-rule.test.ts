import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  answersNeeded,
  mayName,
  sealedByAnother,
  type StartFacts,
  startWaits,
} from '../../../../node/federation/start/start-rule.ts';
import { nodeId, type NodeId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { fc } from '../../../fixtures/properties.ts';

const OTHERS = ['us', 'jp', 'ca', 'sg'].map(nodeId);
const LIMIT = timestampOf(Date.UTC(2026, 0, 1));
const MAJORITY = 3;

/** A restart of one of five, about which nothing is known yet. */
function facts(more: Partial<StartFacts> = {}): StartFacts {
  return {
    isAlone: false,
    hasSigned: true,
    wasStopped: true,
    topicRead: 'nothing',
    isTopicEmpty: false,
    others: OTHERS,
    majority: MAJORITY,
    answered: new Set(),
    limitAt: LIMIT,
    held: 4,
    known: 4,
    provisional: null,
    other: null,
    ...more,
  };
}

function waited(more: Partial<StartFacts>): readonly string[] {
  return startWaits(facts(more)).map((wait) => wait.for);
}

test('a node signs once the topic was read to its end and every other member answered', () => {
  const answered = new Set(OTHERS);
  assert.equal(waited({}), ['ledger', 'members']);
  assert.equal(waited({ answered }), ['ledger']);
  assert.equal(waited({ topicRead: 'start' }), ['members']);
  assert.equal(waited({ answered, topicRead: 'start' }), []);
});

test('where one does not answer, enough others do once the topic was read again after the limit', () => {
  const one = new Set(OTHERS.slice(0, 1));
  const two = new Set(OTHERS.slice(0, 2));
  assert.equal(waited({ answered: two, topicRead: 'start' }), ['members']);
  assert.equal(waited({ answered: one, topicRead: 'limit' }), ['members']);
  assert.equal(waited({ answered: two, topicRead: 'limit' }), []);
  const [wait] = startWaits(facts({ answered: one, topicRead: 'limit' }));
  assert.equal(wait, { for: 'members', answered: ['us'], missing: ['jp', 'ca', 'sg'], needed: 2, until: LIMIT });
});

test('who is no member is no answer', () => {
  const answered = new Set([...OTHERS.slice(0, 1), nodeId('de')]);
  assert.equal(waited({ answered, topicRead: 'limit' }), ['members']);
});

test('nobody waits at the first start on an empty topic, and everybody does on one that is not', () => {
  const first = { hasSigned: false, wasStopped: false };
  assert.equal(
    waited({ ...first, isTopicEmpty: true }),
    ['ledger', 'members'],
    'what was not read is not known to be empty',
  );
  assert.equal(waited({ ...first, isTopicEmpty: true, topicRead: 'start' }), []);
  assert.equal(waited({ ...first, topicRead: 'start' }), ['members']);
  assert.equal(waited({ isTopicEmpty: true, topicRead: 'start' }), ['members'], 'it signed before');
});

test('a federation of one waits for the limit, unless it was stopped in order', () => {
  const alone = { others: [], majority: 1, topicRead: 'start' } as const;
  assert.equal(waited(alone), []);
  assert.equal(waited({ ...alone, wasStopped: false }), ['time']);
  assert.equal(waited({ ...alone, wasStopped: false, topicRead: 'limit' }), []);
  assert.equal(waited({ ...alone, wasStopped: false, topicRead: 'nothing' }), ['ledger', 'time']);
});

test('the operator’s word replaces the others and the limit, and neither the topic nor what is lacking', () => {
  const isAlone = true;
  assert.equal(waited({ isAlone }), ['ledger']);
  assert.equal(waited({ isAlone, topicRead: 'start' }), []);
  assert.equal(waited({ isAlone, topicRead: 'start', known: 5 }), ['batches']);
  assert.equal(waited({ isAlone, topicRead: 'start', provisional: 4 }), ['decision']);
});

test('what was taken back is named once nothing else is waited for', () => {
  const known = { topicRead: 'start', answered: new Set(OTHERS), provisional: 4 } as const;
  assert.ok(mayName(startWaits(facts(known))));
  assert.not(mayName(startWaits(facts({ ...known, known: 5 }))));
  assert.not(mayName(startWaits(facts({ ...known, topicRead: 'nothing' }))));
  assert.not(mayName(startWaits(facts({ ...known, other: { batch: 4, sealedAt: LIMIT } }))));
});

test('a batch that came since the start and was sealed after it is another’s, and none else is', () => {
  const [before, after] = [timestampOf(Date.parse(LIMIT) - 1), timestampOf(Date.parse(LIMIT) + 1)];
  const other = { batch: 5, sealedAt: after };
  assert.equal(sealedByAnother(other, 4, LIMIT), other);
  assert.is(sealedByAnother(undefined, 4, LIMIT), null);
  assert.is(sealedByAnother(other, 5, LIMIT), null, 'it was held at the start, whatever the clock says');
  for (const sealedAt of [before, LIMIT]) assert.is(sealedByAnother({ batch: 5, sealedAt }, 4, LIMIT), null);
  assert.equal(waited({ topicRead: 'start', answered: new Set(OTHERS), other }), ['other']);
  assert.equal(waited({ topicRead: 'start', isAlone: true, other }), ['other']);
});

test('of every majority that could name in its place, one has answered', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.boolean(), (members, isMember) => {
      const majority = Math.floor(members / 2) + 1;
      const others = isMember ? members - 1 : members;
      const silent = others - answersNeeded(others, majority);
      assert.ok(silent < majority, `${silent} of ${members} did not answer`);
      // And no more are asked for than that takes.
      assert.ok(answersNeeded(others, majority) === 0 || silent + 1 >= majority);
    }),
  );
});

test('more answers, a later reading or a longer chain never make a node wait that did not', () => {
  const someFacts = fc.record({
    isAlone: fc.boolean(),
    hasSigned: fc.boolean(),
    wasStopped: fc.boolean(),
    isTopicEmpty: fc.boolean(),
    topicRead: fc.constantFrom('nothing' as const, 'start' as const, 'limit' as const),
    answered: fc.subarray(OTHERS).map((nodes): ReadonlySet<NodeId> => new Set(nodes)),
    others: fc.subarray(OTHERS),
    held: fc.nat(6),
    known: fc.nat(6),
  });
  fc.assert(
    fc.property(someFacts, fc.subarray(OTHERS), fc.nat(6), (some, more, longer) => {
      const majority = Math.floor((some.others.length + 1) / 2) + 1;
      const before = facts({ ...some, majority });
      if (startWaits(before).length > 0) return;
      assert.is.not(before.topicRead, 'nothing');
      assert.ok(before.held >= before.known);
      const after = {
        ...before,
        answered: new Set([...before.answered, ...more]),
        topicRead: 'limit' as const,
        held: before.held + longer,
      };
      assert.equal(startWaits(after), []);
    }),
  );
});

test.run();
