import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_LAST_BATCHES, Rescue, RESCUE_AFTER_MS, type RescueOptions } from '../../../node/log/rescue.ts';
import { FROM_TOLERANCE_MS } from '../../../protocol/chain/chain-state.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText, writeSha384 } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { DecisionState, NodeState } from '../../../protocol/log/decision-state.ts';
import { initialState } from '../../../protocol/log/in-force.ts';
import {
  fastFederation,
  MemberFixture,
  silent,
  temporaryHome,
  type TemporaryHome,
} from '../federation/member-fixture.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import type { TestFederation } from '../../fixtures/federation.ts';

const [EU, US] = [nodeId('eu'), nodeId('us')];
const STEP_MS = 15_000;
const STEPS = RESCUE_AFTER_MS / STEP_MS;
const NO_HASH = writeSha384(new Uint8Array(48));

/** `us`, which holds batches of `eu` beside a log, a ledger and a clock that a test moves. */
class RescueFixture implements AsyncDisposable {
  readonly federation: TestFederation;
  readonly fixture: MemberFixture;
  readonly named: string[] = [];
  state: DecisionState;
  mayRescue = true;
  /** When `eu` was removed. */
  removedAt: Timestamp | null = null;
  /** Whether the ledger answers, and whether what it shows waits for others. */
  answers = true;
  waits = false;
  #now = 1_000_000;
  #rescue: Rescue | undefined;
  readonly #home: TemporaryHome;

  private constructor(federation: TestFederation, fixture: MemberFixture, home: TemporaryHome) {
    this.federation = federation;
    this.fixture = fixture;
    this.#home = home;
    this.state = initialState(nativeSuite, federation.rosters[0] ?? '');
  }

  static async open(): Promise<RescueFixture> {
    const federation = await fastFederation(['eu', 'us', 'ca']);
    const home = await temporaryHome();
    const rescue = new RescueFixture(federation, await MemberFixture.open(home.path, federation, 'us'), home);
    await rescue.start();
    return rescue;
  }

  /** As at a start. */
  async start(): Promise<void> {
    this.#rescue = await Rescue.open(this.#options());
  }

  get rescue(): Rescue {
    if (this.#rescue === undefined) throw new Error('not open');
    return this.#rescue;
  }

  async hold(): Promise<TestBatch> {
    const batch = await this.federation.sealBatch('eu', [{}]);
    await this.fixture.hold(batch);
    return batch;
  }

  /** Lets time pass in looks of fifteen seconds. */
  async pass(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.#now += STEP_MS;
      await this.rescue.look();
    }
  }

  /** The process stands still. */
  async sleep(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
    await this.rescue.look();
  }

  decide({ envelope, hash }: TestBatch): void {
    this.change(EU, { last: { batch: envelope.batch, envelope: hash, index: 0 } });
  }

  change(node: typeof EU, change: Partial<NodeState>): void {
    const before = this.state.members[node];
    if (before === undefined) throw new Error(`${node} is no member`);
    this.state = { ...this.state, members: { ...this.state.members, [node]: { ...before, ...change } } };
  }

  /** A roster without `eu` comes into force. */
  async remove(at: Timestamp): Promise<void> {
    this.removedAt = at;
    const { [EU]: removed, ...members } = this.state.members;
    if (removed === undefined) throw new Error('eu is no member');
    this.state = { ...this.state, members, past: { [EU]: removed } };
    await this.rescue.noteRoster();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rescue[Symbol.asyncDispose]();
    await this.fixture[Symbol.asyncDispose]();
    await this.#home[Symbol.asyncDispose]();
  }

  #options(): RescueOptions {
    const state = () => this.state;
    return {
      self: US,
      store: this.fixture.store,
      chains: this.fixture.chains,
      federationLog: {
        get state() {
          return state();
        },
      },
      readingState: () => ({
        position: { sequence: 0, runningHash: NO_HASH, consensusTimestamp: null },
        final: { sequence: 0, runningHash: NO_HASH },
        agreed: { sequence: 0, runningHash: NO_HASH },
        sources: [
          {
            host: 'mirror',
            position: 0,
            lastAnswerAt: this.answers ? this.#now : null,
            failure: null,
            contradiction: null,
            paused: false,
          },
        ],
        consensus: null,
        members: [],
        waitingFor: this.waits ? 'members' : 'nothing',
        secondSourceSince: null,
      }),
      removalTime: async () => this.removedAt,
      mayRescue: () => this.mayRescue,
      ensure: async ({ envelope }) => void this.named.push(`${envelope.node}/${envelope.batch}`),
      now: () => this.#now,
      log: silent,
    };
  }
}

test('a held batch is named after ten minutes in which the ledger answered, and not before', async () => {
  await using fixture = await RescueFixture.open();
  await fixture.hold();
  await fixture.pass(STEPS);
  assert.equal(fixture.named, []);
  await fixture.pass(1);
  assert.equal(fixture.named, ['eu/1']);
});

test('time in which the ledger was silent, waited for others or the process stood still does not count', async () => {
  await using fixture = await RescueFixture.open();
  await fixture.hold();
  await fixture.pass(1);
  fixture.answers = false;
  await fixture.pass(2 * STEPS);
  fixture.answers = true;
  fixture.waits = true;
  await fixture.pass(2 * STEPS);
  fixture.waits = false;
  await fixture.sleep(RESCUE_AFTER_MS);
  await fixture.pass(STEPS - 3);
  assert.equal(fixture.named, []);
  await fixture.pass(1);
  assert.equal(fixture.named, ['eu/1']);
});

test('of several the next is named as soon as the one before is decided: all have waited', async () => {
  await using fixture = await RescueFixture.open();
  const first = await fixture.hold();
  await fixture.hold();
  await fixture.pass(STEPS + 1);
  assert.equal(fixture.named, ['eu/1']);
  fixture.decide(first);
  await fixture.pass(1);
  assert.equal(fixture.named, ['eu/1', 'eu/2']);
});

test('what this member named stays named, and is named again where its name fell', async () => {
  await using fixture = await RescueFixture.open();
  const batch = await fixture.hold();
  const { keyId } = batch.envelope;
  const open = { node: EU, batch: 1, envelope: batch.hash, keyId };
  const before = fixture.state;
  fixture.state = { ...before, open: { [US]: { roster: null, batches: [open], revocations: [] } } };
  await fixture.pass(STEPS + 10);
  assert.equal(fixture.named, []);
  fixture.state = before;
  await fixture.pass(1);
  assert.equal(fixture.named, ['eu/1']);
});

test('nothing is named that decides nothing: a rival of the decided chain, a revoked key, by one that is no member', async () => {
  await using fixture = await RescueFixture.open();
  const first = await fixture.hold();
  const second = await fixture.hold();
  const { state } = fixture;
  fixture.change(EU, { last: { batch: 1, envelope: hashText(nativeSuite, 'another'), index: 0 } });
  await fixture.pass(STEPS + 1);
  fixture.state = state;
  fixture.decide(first);
  const revocation = { statement: second.hash, index: 1, consensusTimestamp: second.anchor.consensusTimestamp };
  fixture.state = { ...fixture.state, revoked: { [EU]: { [second.envelope.keyId]: [revocation] } } };
  await fixture.pass(STEPS + 1);
  const { [US]: self, ...members } = state.members;
  assert.ok(self);
  fixture.state = { ...state, members };
  await fixture.pass(STEPS + 1);
  assert.equal(fixture.named, []);
});

test('nothing is named that this member may not speak for', async () => {
  await using fixture = await RescueFixture.open();
  await fixture.hold();
  fixture.mayRescue = false;
  await fixture.pass(STEPS + 1);
  assert.equal(fixture.named, []);
  fixture.mayRescue = true;
  await fixture.pass(1);
  assert.equal(fixture.named, ['eu/1']);
});

test('of a removed node is named what was held, and what it brings later and began before, also after a restart', async () => {
  await using fixture = await RescueFixture.open();
  const batches = [await fixture.hold()];
  await fixture.remove(batches[0]?.envelope.from ?? fixture.federation.tick());
  batches.push(await fixture.hold());
  // By then it knew.
  for (let i = 0; i <= FROM_TOLERANCE_MS / 1000; i++) fixture.federation.tick();
  await fixture.hold();
  await fixture.start();
  await fixture.pass(STEPS + 1);
  assert.equal(fixture.named, ['eu/1']);
  for (const [i, { hash }] of batches.entries()) {
    const past = fixture.state.past[EU];
    if (past === undefined) return assert.unreachable();
    fixture.state = { ...fixture.state, past: { [EU]: { ...past, last: { batch: i + 1, envelope: hash, index: 0 } } } };
    await fixture.pass(STEPS + 1);
  }
  assert.equal([...new Set(fixture.named)], ['eu/1', 'eu/2'], 'the third began after the removal');
});

test('a removed node brings a bounded number of batches, however early they claim to begin', async () => {
  await using fixture = await RescueFixture.open();
  await fixture.hold();
  assert.is(fixture.rescue.lastToCome(EU), Number.POSITIVE_INFINITY, 'a member goes on');
  await fixture.remove(timestampOf(Date.UTC(2100, 0, 1)));
  assert.is(fixture.rescue.lastToCome(EU), 1 + MAX_LAST_BATCHES);
  await fixture.start();
  assert.is(fixture.rescue.lastToCome(EU), 1 + MAX_LAST_BATCHES, 'a restart changes nothing');
});

test('of a removed node all that was decided may come, wherever this member was when the removal was decided', async () => {
  await using fixture = await RescueFixture.open();
  const last = { envelope: fixture.state.federation, index: 0 };
  fixture.change(EU, { last: { batch: 1_000, ...last } });
  await fixture.remove(timestampOf(Date.UTC(2100, 0, 1)));
  assert.is(fixture.rescue.lastToCome(US), Number.POSITIVE_INFINITY);
  assert.is(fixture.rescue.lastToCome(EU), 1_000 + MAX_LAST_BATCHES);
  await fixture.start();
  const past = fixture.state.past[EU];
  if (past === undefined) return assert.unreachable();
  fixture.state = { ...fixture.state, past: { [EU]: { ...past, last: { batch: 2_000, ...last } } } };
  assert.is(fixture.rescue.lastToCome(EU), 2_000, 'a majority held more of it');
});

test('a chain that was replaced waits anew', async () => {
  await using fixture = await RescueFixture.open();
  await fixture.hold();
  await fixture.pass(STEPS);
  fixture.rescue.forget(EU);
  await fixture.pass(2);
  assert.equal(fixture.named, []);
  await fixture.pass(STEPS);
  assert.equal(fixture.named[0], 'eu/1');
});

test.run();
