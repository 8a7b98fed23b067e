import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { MirrorMessage } from '../../../../node/anchoring/ledger/mirror-shapes.ts';
import { INITIAL_HEAD, LinkError } from '../../../../node/anchoring/topic/topic-links.ts';
import { Agreement, CONSENSUS } from '../../../../node/anchoring/topic/agreement.ts';
import { WINDOW_MESSAGES } from '../../../../node/anchoring/topic/trail.ts';
import { type NodeId, nodeId } from '../../../../protocol/ids.ts';
import { chain, forkOf, pointAt, texts, TOPIC } from './topic-chain.ts';

const SELF = nodeId('eu');
const [US, AP, SA, AF] = [nodeId('us'), nodeId('ap'), nodeId('sa'), nodeId('af')];
const FIVE = [SELF, US, AP, SA, AF];
const TRUTH = chain(texts(20));

function agreementOf(sources: readonly string[], members: readonly NodeId[] = [SELF]): Agreement {
  return new Agreement({ topicId: TOPIC, head: INITIAL_HEAD, sources, self: SELF, members });
}

/** Reads a source, which shows these messages, as far as it may be read. Whether it linked. */
function read(agreement: Agreement, source: string, shown: readonly MirrorMessage[]): boolean {
  for (;;) {
    const after = agreement.nextRead(source);
    if (after === null) return true;
    const page = shown.slice(after, after + 100);
    try {
      const taken = agreement.takePage(source, after, page);
      if (page.length < 100 || taken === 0) return true;
    } catch (error) {
      if (error instanceof LinkError) return false;
      throw error;
    }
  }
}

function deliver(agreement: Agreement): number[] {
  const sequences: number[] = [];
  for (let page = agreement.nextFinal(100); page.length > 0; page = agreement.nextFinal(100)) {
    assert.ok(page.length <= 100);
    sequences.push(...page.map(({ sequence }) => sequence));
    agreement.advance(page);
  }
  return sequences;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('two mirrors agree as far as both tell the same; one alone makes nothing final', () => {
  const agreement = agreementOf(['a', 'b']);
  read(agreement, 'a', TRUTH.slice(0, 9));
  assert.is(agreement.final().sequence, 0);
  read(agreement, 'b', TRUTH.slice(0, 6));
  assert.equal(agreement.agreedBySources(), pointAt(TRUTH, 6));
  assert.equal(agreement.final(), pointAt(TRUTH, 6));
  assert.equal(deliver(agreement), upTo(6));
  assert.equal(agreement.nextFinal(100), []);
});

test('to a reader from outside two mirrors are enough, and so are one and a majority of members', () => {
  const outside = (sources: readonly string[]) =>
    new Agreement({ topicId: TOPIC, head: INITIAL_HEAD, sources, self: null, members: FIVE });
  const two = outside(['a', 'b']);
  for (const source of ['a', 'b']) read(two, source, TRUTH.slice(0, 6));
  assert.equal(two.final(), pointAt(TRUTH, 6), 'though members keep silent');

  const one = outside(['a']);
  read(one, 'a', forkOf(TRUTH, 9, 'made up'));
  for (const [member, sequence] of [
    [SELF, 4],
    [US, 7],
  ] as const) {
    one.noteTold(member, pointAt(TRUTH, sequence));
  }
  assert.is(one.final().sequence, 0, 'two of five');
  one.noteTold(AP, pointAt(TRUTH, 6));
  assert.equal(one.final(), pointAt(TRUTH, 4), 'as far as the third goes');
  for (const member of [SELF, US, AP, SA, AF]) one.noteTold(member, pointAt(TRUTH, 12));
  assert.equal(deliver(one), upTo(4), 'what the mirror made up from 9 on is told by none');

  const torn = outside(['a', 'b']);
  read(torn, 'a', forkOf(TRUTH, 3, 'made up'));
  read(torn, 'b', TRUTH.slice(0, 8));
  assert.is(torn.final().sequence, 2, 'two mirrors that part, and nobody else');
  for (const member of [SELF, US, AP]) torn.noteTold(member, pointAt(TRUTH, 8));
  assert.equal(torn.final(), pointAt(TRUTH, 8));
  assert.is(torn.contradictionOf('a')?.kind, 'final');
});

test('the receipt of a message confirms every message before it, and none past it', () => {
  const agreement = agreementOf(['a']);
  read(agreement, 'a', TRUTH.slice(0, 9));
  agreement.noteConsensus(pointAt(TRUTH, 7));
  assert.equal(agreement.final(), pointAt(TRUTH, 7));
  agreement.noteConsensus(pointAt(TRUTH, 12));
  assert.is(agreement.final().sequence, 7, 'what no mirror shows yet is nothing');
  read(agreement, 'a', TRUTH.slice(0, 15));
  assert.is(agreement.final().sequence, 12);
});

test('final is what a majority told at that place or past it', () => {
  const agreement = agreementOf(['a', 'b'], FIVE);
  for (const source of ['a', 'b']) read(agreement, source, TRUTH.slice(0, 10));
  agreement.noteTold(US, pointAt(TRUTH, 8));
  assert.is(agreement.final().sequence, 0, 'two of five');
  agreement.noteTold(nodeId('xx'), pointAt(TRUTH, 8));
  assert.is(agreement.final().sequence, 0, 'a stranger is not heard');
  agreement.noteTold(AP, pointAt(TRUTH, 14));
  assert.is(agreement.final().sequence, 0, 'what no source shows cannot be placed');
  read(agreement, 'a', TRUTH.slice(0, 14));
  assert.equal(agreement.final(), pointAt(TRUTH, 8), 'one source shows that the later point comes after the earlier');
  agreement.noteTold(SA, pointAt(TRUTH, 10));
  assert.is(agreement.final().sequence, 10);
  agreement.noteTold(US, pointAt(TRUTH, 14));
  assert.is(agreement.final().sequence, 10, 'the node itself does not tell more than two of its sources say');
});

test('a member that tells less takes back what it told; one whose word contradicts what is final is named until it holds', () => {
  const agreement = agreementOf(['a', 'b'], [SELF, US, AP]);
  const lie = forkOf(TRUTH, 4, 'lie');
  agreement.noteTold(US, pointAt(TRUTH, 5));
  agreement.noteTold(US, pointAt(TRUTH, 2));
  for (const source of ['a', 'b']) read(agreement, source, TRUTH.slice(0, 6));
  assert.is(agreement.final().sequence, 2);
  agreement.noteTold(AP, pointAt(TRUTH, 6));
  agreement.noteTold(US, pointAt(lie, 5));
  assert.is(agreement.final().sequence, 6);
  deliver(agreement);
  agreement.noteTold(US, pointAt(lie, 5));
  assert.equal(agreement.contradictions(), [{ who: US, kind: 'final', sequence: 5 }]);
  agreement.noteTold(US, pointAt(TRUTH, 6));
  assert.equal(agreement.contradictions(), []);
});

test('a mirror that makes up a longer topic confirms nothing; it is named once two others say otherwise, and read again', () => {
  const agreement = agreementOf(['liar', 'a', 'b']);
  const lie = forkOf(TRUTH, 7, 'lie', { length: 12 });
  read(agreement, 'liar', lie);
  for (const source of ['a', 'b']) read(agreement, source, TRUTH.slice(0, 6));
  assert.is(agreement.final().sequence, 6);
  assert.equal(agreement.contradictions(), []);
  for (const source of ['a', 'b']) read(agreement, source, TRUTH.slice(0, 9));
  assert.is(agreement.final().sequence, 9);
  assert.equal(agreement.contradictions(), [{ who: 'liar', kind: 'final', sequence: 9 }]);
  assert.equal(deliver(agreement), upTo(9));
  assert.not.ok(read(agreement, 'liar', lie), 'it goes on lying');
  assert.is(agreement.contradictions()[0]?.kind, 'final');
  assert.ok(read(agreement, 'liar', TRUTH.slice(0, 10)));
  assert.equal(agreement.contradictions(), []);
  read(agreement, 'a', TRUTH.slice(0, 10));
  assert.is(agreement.final().sequence, 10, 'and is a source again');
});

test('a source that told a lie stays named while it tells nothing else, however far the others go on', () => {
  const agreement = agreementOf(['a', 'b', 'liar']);
  const lie = forkOf(TRUTH, 5, 'made up', { length: 6 });
  for (const source of ['a', 'b']) read(agreement, source, TRUTH.slice(0, 4));
  read(agreement, 'liar', lie);
  deliver(agreement);
  for (const end of [8, 12, 16]) {
    for (const source of ['a', 'b']) read(agreement, source, TRUTH.slice(0, end));
    deliver(agreement);
    read(agreement, 'liar', lie);
    assert.is(agreement.contradictionOf('liar')?.who, 'liar', `at ${end}`);
  }
  read(agreement, 'liar', TRUTH);
  assert.is(agreement.contradictionOf('liar'), null);
});

test('where two mirrors part, nothing past the fork is final until consensus nodes show who is right', () => {
  const agreement = agreementOf(['liar', 'a']);
  read(agreement, 'liar', forkOf(TRUTH, 5, 'lie'));
  read(agreement, 'a', TRUTH.slice(0, 10));
  assert.is(agreement.final().sequence, 4);
  assert.is(agreement.dispute(), 5);
  agreement.noteConsensus(pointAt(TRUTH, 8));
  assert.equal(agreement.final(), pointAt(TRUTH, 8));
  assert.is(agreement.contradictionOf('liar')?.sequence, 8);
  assert.equal(deliver(agreement), upTo(8));
});

test('where two sources part from two others, the node tells the fork alone, and a majority of others shows who is right', () => {
  const agreement = agreementOf(['x', 'y', 'a', 'b'], FIVE);
  const lie = forkOf(TRUTH, 5, 'lie');
  for (const source of ['x', 'y']) read(agreement, source, lie);
  for (const source of ['a', 'b']) read(agreement, source, TRUTH.slice(0, 10));
  assert.equal(agreement.agreedBySources(), pointAt(TRUTH, 4));
  for (const member of [US, AP]) agreement.noteTold(member, pointAt(TRUTH, 9));
  assert.is(agreement.final().sequence, 4, 'its own word does not count past the fork');
  agreement.noteTold(SA, pointAt(TRUTH, 9));
  assert.equal(agreement.final(), pointAt(TRUTH, 9));
  assert.equal(
    agreement.contradictions().map(({ who }) => who),
    ['x', 'y'],
  );
  assert.is(agreement.agreedBySources().sequence, 10);
});

test('where members told two lines that part, neither is final past the fork', () => {
  const agreement = agreementOf(['x', 'y', 'a', 'b'], FIVE);
  const lie = forkOf(TRUTH, 5, 'lie');
  for (const source of ['x', 'y']) read(agreement, source, lie);
  for (const source of ['a', 'b']) read(agreement, source, TRUTH);
  for (const member of [US, AP]) {
    agreement.noteTold(member, pointAt(TRUTH, 6));
    agreement.noteTold(member, pointAt(lie, 9));
  }
  agreement.setMembers([SELF, US, AP]);
  assert.is(agreement.final().sequence, 4);
});

test('consensus nodes that contradict two mirrors are named', () => {
  const agreement = agreementOf(['a', 'b']);
  agreement.noteConsensus(pointAt(forkOf(TRUTH, 3, 'lie'), 6));
  for (const source of ['a', 'b']) read(agreement, source, TRUTH.slice(0, 8));
  assert.is(agreement.final().sequence, 8);
  assert.equal(agreement.contradictions(), [{ who: CONSENSUS, kind: 'final', sequence: 6 }]);
  agreement.noteConsensus(pointAt(TRUTH, 8));
  assert.equal(agreement.contradictions(), []);
});

test('a receipt that comes after its message was processed is still compared', () => {
  const agreement = agreementOf(['a', 'b']);
  for (const source of ['a', 'b']) read(agreement, source, TRUTH);
  deliver(agreement);
  agreement.noteConsensus(pointAt(forkOf(TRUTH, 15, 'lie'), 16));
  assert.equal(agreement.contradictions(), [{ who: CONSENSUS, kind: 'final', sequence: 16 }]);
});

test('a source that shows its last message no more, or another in its place, is read again from the position', () => {
  const agreement = agreementOf(['a', 'b'], FIVE);
  read(agreement, 'a', forkOf(TRUTH, 5, 'lie', { length: 30 }));
  for (let i = 0; i < 3; i++) read(agreement, 'a', TRUTH.slice(0, 9));
  assert.is(agreement.headOf('a').sequence, 0);
  read(agreement, 'a', TRUTH.slice(0, 9));
  assert.equal(agreement.headOf('a').runningHash, pointAt(TRUTH, 9).runningHash);
  assert.not.ok(read(agreement, 'a', forkOf(TRUTH, 9, 'lie')));
  assert.equal(agreement.contradictions(), [{ who: 'a', kind: 'itself', sequence: 9 }]);
  assert.is(agreement.headOf('a').sequence, 0);
});

test('a message that no transaction could hold is a lie', () => {
  const agreement = agreementOf(['a', 'b']);
  assert.not.ok(read(agreement, 'a', chain(['x'.repeat(6_145)])));
  assert.ok(read(agreement, 'a', chain(['x'.repeat(6_144)])));
});

test('a roster with other members has another majority', () => {
  const agreement = agreementOf(['a', 'b'], FIVE);
  for (const source of ['a', 'b']) read(agreement, source, TRUTH);
  agreement.noteTold(US, pointAt(TRUTH, 20));
  assert.is(agreement.final().sequence, 0);
  agreement.setMembers([SELF, US, AP]);
  assert.is(agreement.final().sequence, 20);
  const removed = agreementOf(['a', 'b'], [US, AP, SA]);
  for (const source of ['a', 'b']) read(removed, source, TRUTH);
  removed.noteTold(US, pointAt(TRUTH, 20));
  assert.is(removed.final().sequence, 0, 'one that is no member does not count itself');
  removed.noteTold(AP, pointAt(TRUTH, 20));
  assert.is(removed.final().sequence, 20);
});

test('a mirror that invents without end is read as far as may be held, and no further', () => {
  const agreement = agreementOf(['liar', 'a']);
  read(agreement, 'liar', chain(texts(3 * WINDOW_MESSAGES)));
  assert.is(agreement.headOf('liar').sequence, WINDOW_MESSAGES);
  assert.is(agreement.nextRead('liar'), null);
  const bulky = agreementOf(['liar', 'a']);
  read(bulky, 'liar', chain(texts(400).map((text) => text.padEnd(6_000, '.'))));
  assert.ok(bulky.headOf('liar').sequence <= 175, 'counted in bytes too');
});

test('a topic far longer than may be held is caught up with, from one mirror and the newest point that others know', () => {
  const long = chain(texts(6_000));
  const agreement = agreementOf(['a'], [SELF, US, AP]);
  agreement.noteConsensus(pointAt(long, 5_900));
  agreement.noteTold(US, pointAt(long, 5_950));
  const delivered: number[] = [];
  for (let round = 0; round < 20 && delivered.length < 5_900; round++) {
    read(agreement, 'a', long);
    delivered.push(...deliver(agreement));
  }
  assert.equal(delivered, upTo(5_900));
  assert.equal(agreement.final(), pointAt(long, 5_900));
});

test('in such a topic, a lie below the newest point is found, and the other mirror is read on', () => {
  const long = chain(texts(4_000));
  const agreement = agreementOf(['liar', 'a']);
  agreement.noteConsensus(pointAt(long, 4_000));
  const delivered: number[] = [];
  for (let round = 0; round < 20 && delivered.length < 4_000; round++) {
    read(agreement, 'liar', forkOf(long, 2_500, 'lie'));
    read(agreement, 'a', long);
    delivered.push(...deliver(agreement));
  }
  assert.equal(delivered, upTo(4_000));
  assert.is(agreement.contradictionOf('liar')?.kind, 'final');
});

test.run();
