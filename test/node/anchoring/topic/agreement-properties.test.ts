import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { MirrorMessage } from '../../../../node/anchoring/ledger/mirror-shapes.ts';
import { INITIAL_HEAD, LinkError } from '../../../../node/anchoring/topic/topic-links.ts';
import { Agreement, CONSENSUS } from '../../../../node/anchoring/topic/agreement.ts';
import type { TopicPoint } from '../../../../node/anchoring/ledger/topic-point.ts';
import { type NodeId, nodeId } from '../../../../protocol/ids.ts';
import { chain, forkOf, pointAt, texts, TOPIC } from './topic-chain.ts';
import { fc } from '../../../fixtures/properties.ts';

const LENGTH = 14;
/** Small, so that a lie arrives in parts. */
const PAGE = 4;
const STORIES = 2;

/**
 * `truth`; a story that others may tell too; nothing past a place; some messages late; the truth and a story by turns.
 */
type Manner =
  | { readonly kind: 'truth' | 'withholds' | 'lags' }
  | { readonly kind: 'lies' | 'wavers'; readonly story: number };

interface Plan {
  readonly forks: readonly number[];
  /** Of each member its mirrors, and what consensus nodes tell it; null where it does not ask them. */
  readonly members: readonly {
    readonly mirrors: readonly Manner[];
    readonly consensus: Manner | null;
    readonly lies: boolean;
  }[];
  readonly steps: readonly number[];
}

const manner: fc.Arbitrary<Manner> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Manner>({ kind: 'truth' }) },
  { weight: 1, arbitrary: fc.constantFrom<Manner>({ kind: 'withholds' }, { kind: 'lags' }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom<'lies' | 'wavers'>('lies', 'wavers'), story: fc.nat(STORIES - 1) }),
  },
);
const plans: fc.Arbitrary<Plan> = fc.record({
  forks: fc.array(fc.integer({ min: 1, max: LENGTH }), { minLength: STORIES, maxLength: STORIES }),
  members: fc.array(
    fc.record({
      mirrors: fc.array(manner, { minLength: 1, maxLength: 4 }),
      consensus: fc.option(manner),
      lies: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  steps: fc.array(fc.nat(), { minLength: 20, maxLength: 250 }),
});

const TRUTH = chain(texts(LENGTH));

/** Whether two sources of this member can tell one and the same lie, or it is a liar itself. */
function isFooled({ mirrors, consensus, lies }: Plan['members'][number]): boolean {
  const told = [...mirrors, ...(consensus === null ? [] : [consensus])];
  const count = (story: number): number => told.filter((one) => 'story' in one && one.story === story).length;
  return lies || Array.from({ length: STORIES }, (_, story) => count(story)).some((liars) => liars >= 2);
}

function isSafe({ members }: Plan): boolean {
  return members.filter(isFooled).length < Math.floor(members.length / 2) + 1;
}

class SimulatedFederation {
  readonly members: readonly SimulatedMember[];
  readonly stories: readonly (readonly MirrorMessage[])[];
  readonly forks: readonly number[];
  shown = 0;
  healed = false;

  constructor({ forks, members }: Plan) {
    this.forks = forks;
    this.stories = forks.map((from, index) => forkOf(TRUTH, from, `story ${index}`, { length: LENGTH + 2 }));
    const ids = members.map((_, index) => nodeId(`n${'abcde'[index]}`));
    this.members = members.map((member, index) => new SimulatedMember(this, member, ids[index] ?? nodeId('na'), ids));
  }

  /** What somebody of this manner shows of the topic now. */
  shownBy(one: Manner, turn: number): readonly MirrorMessage[] {
    const isTrue = this.healed || one.kind === 'truth' || (one.kind === 'wavers' && turn % 2 === 0);
    if (isTrue || !('story' in one)) {
      const end = isTrue ? this.shown : one.kind === 'lags' ? this.shown - 2 : Math.min(this.shown, 4);
      return TRUTH.slice(0, Math.max(0, end));
    }
    // A story may be ahead of the ledger, but nobody foretells what the ledger takes.
    const isPastFork = this.shown + 1 >= (this.forks[one.story] ?? 0);
    return (this.stories[one.story] ?? []).slice(0, isPastFork ? this.shown + 2 : this.shown);
  }

  step(number: number): void {
    const member = this.members[number % this.members.length];
    const rest = Math.floor(number / this.members.length);
    if (member === undefined) return;
    const kind = rest % 7;
    const turn = Math.floor(rest / 7);
    if (kind === 0) this.shown = Math.min(LENGTH, this.shown + 1 + (turn % 2));
    else if (kind === 1) member.askConsensus(turn);
    else if (kind === 2) member.deliver(1 + (turn % PAGE));
    else if (kind <= 4) member.tellTo(this.members[turn % this.members.length], turn);
    else member.read(turn % member.mirrors, turn);
  }

  /** Everybody is asked and tells, until nothing changes. */
  settle(): void {
    for (let round = 0; round < 4 * LENGTH; round++) {
      for (const member of this.members) {
        for (let mirror = 0; mirror < member.mirrors; mirror++) member.read(mirror, round);
        member.askConsensus(round);
        for (const other of this.members) member.tellTo(other, round);
        member.deliver(PAGE);
      }
    }
  }
}

class SimulatedMember {
  readonly id: NodeId;
  readonly plan: Plan['members'][number];
  readonly agreement: Agreement;
  readonly delivered: TopicPoint[] = [];
  readonly #federation: SimulatedFederation;

  constructor(federation: SimulatedFederation, plan: Plan['members'][number], id: NodeId, members: readonly NodeId[]) {
    this.#federation = federation;
    this.plan = plan;
    this.id = id;
    const sources = plan.mirrors.map((_, index) => `mirror ${index}`);
    this.agreement = new Agreement({ topicId: TOPIC, head: INITIAL_HEAD, sources, self: id, members });
  }

  get mirrors(): number {
    return this.plan.mirrors.length;
  }

  read(mirror: number, turn: number): void {
    const source = `mirror ${mirror}`;
    const after = this.agreement.nextRead(source);
    const one = this.plan.mirrors[mirror];
    if (after === null || one === undefined) return;
    const page = this.#federation.shownBy(one, turn).slice(after, after + PAGE);
    try {
      this.agreement.takePage(source, after, page);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
    }
  }

  askConsensus(turn: number): void {
    const { consensus } = this.plan;
    if (consensus === null) return;
    const shown = this.#federation.shownBy(consensus, turn);
    if (shown.length > 0) {
      this.agreement.noteConsensus(pointAt(shown, shown.length - (turn % Math.min(2, shown.length))));
    }
  }

  /** A member that lies tells anybody any place of any story. */
  tellTo(other: SimulatedMember | undefined, turn: number): void {
    if (other === undefined || other === this) return;
    const story = this.#federation.stories[turn % STORIES] ?? [];
    const point = this.plan.lies ? pointAt(story, turn % story.length) : this.agreement.agreedBySources();
    other.agreement.noteTold(this.id, point);
  }

  deliver(limit: number): void {
    const messages = this.agreement.nextFinal(limit);
    this.delivered.push(...messages);
    this.agreement.advance(messages);
  }
}

function requireTrue(federation: SimulatedFederation): void {
  for (const { agreement, delivered } of federation.members) {
    const final = agreement.final();
    assert.equal(final, pointAt(TRUTH, final.sequence), 'what is final is true');
    assert.ok(final.sequence <= federation.shown, 'and the ledger has it');
    for (const [index, { sequence, runningHash }] of delivered.entries()) {
      assert.equal({ sequence, runningHash }, pointAt(TRUTH, index + 1), 'what is handed out is in order, and true');
    }
  }
}

test('what is final anywhere is true while fewer than a majority can be fooled, whatever comes in whatever order', () => {
  fc.assert(
    fc.property(plans.filter(isSafe), (drawn) => {
      const federation = new SimulatedFederation(drawn);
      for (const step of drawn.steps) {
        federation.step(step);
        requireTrue(federation);
      }
    }),
    { numRuns: 200 },
  );
});

test('once honest sources answer, all that is true becomes final, though others go on lying', () => {
  let lies = 0;
  fc.assert(
    fc.property(plans.filter(isSafe), (drawn) => {
      // Two honest sources each, or what is told is not enough to end a dispute.
      const members = drawn.members.map((member) => ({
        ...member,
        mirrors: [
          ...member.mirrors.filter(({ kind }) => kind === 'lies' || kind === 'wavers'),
          { kind: 'truth' } as const,
        ],
        consensus: { kind: 'truth' } as const,
      }));
      const federation = new SimulatedFederation({ ...drawn, members });
      for (const step of drawn.steps) federation.step(step);
      federation.shown = LENGTH;
      federation.settle();
      requireTrue(federation);
      const unfooled = members.filter((member) => !isFooled(member)).length;
      fc.pre(unfooled > members.length / 2);
      for (const { plan: own, agreement, delivered } of federation.members) {
        if (isFooled(own)) continue;
        lies += own.mirrors.length - 1;
        assert.is(agreement.final().sequence, LENGTH);
        assert.is(delivered.length, LENGTH);
      }
    }),
    { numRuns: 200 },
  );
  assert.ok(lies > 100, 'enough lies were told');
});

test('once all sources are honest again, everything becomes final at all, also at those who were fooled', () => {
  fc.assert(
    fc.property(plans.filter(isSafe), (drawn) => {
      const able = drawn.members.every(({ mirrors, consensus }) => mirrors.length + (consensus === null ? 0 : 1) >= 2);
      fc.pre(able && drawn.members.every(({ lies }) => !lies));
      const federation = new SimulatedFederation(drawn);
      for (const step of drawn.steps) federation.step(step);
      federation.healed = true;
      federation.shown = LENGTH;
      federation.settle();
      requireTrue(federation);
      for (const { agreement, delivered } of federation.members) {
        assert.is(agreement.final().sequence, LENGTH);
        assert.is(agreement.agreedBySources().sequence, LENGTH);
        assert.is(delivered.length, LENGTH);
        const open = agreement.contradictions().filter(({ who }) => who !== CONSENSUS && !who.startsWith('n'));
        for (const { sequence } of open) {
          assert.ok(sequence > LENGTH, 'only what the ledger does not have is left open');
        }
      }
    }),
    { numRuns: 200 },
  );
});

test.run();
