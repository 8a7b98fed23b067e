import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AgentTally } from '../../../../node/governance/agents/agent-tally.ts';
import {
  agentRecordTable,
  agentTallyTable,
  type AgentTallyRow,
  lastDays,
} from '../../../../node/governance/agents/agent-tally-table.ts';
import { agentPart } from '../../../../node/governance/agents/agent-tables.ts';
import { AgentTallyWalk } from '../../../../node/fsck/agent-tally-walk.ts';
import { Report } from '../../../../node/fsck/report.ts';
import type { Draft } from '../../../../node/intake/draft.ts';
import { Intake } from '../../../../node/intake/intake.ts';
import type { Operation } from '../../../../node/store/operation.ts';
import { RecordCounters } from '../../../../node/records/record-counters.ts';
import { Store } from '../../../../node/store/store.ts';
import { encodeSignature } from '../../../../protocol/statement/statement.ts';
import type { RecordId } from '../../../../protocol/ids.ts';
import { draftOf, NODE, signer, temporaryDirectory, cipher } from '../../intake/intake-fixture.ts';
import { recordsOf } from '../../records/counts/tally-fixture.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 9, 1, 12);
const SIGNATURE = encodeSignature(new Uint8Array(8));
const AGENT = 'triage';

/** The clock, in epoch milliseconds, and whether the disk takes what is written. */
interface World {
  now: number;
  isKept: boolean;
}

/** Intake whose records are counted by agent, over a real store whose disk can refuse. */
class Fixture implements AsyncDisposable {
  readonly store: Store;
  readonly intake: Intake;
  readonly world: World;

  private constructor(store: Store, intake: Intake, world: World) {
    this.store = store;
    this.intake = intake;
    this.world = world;
  }

  static async open(directory: string): Promise<Fixture> {
    const store = await Store.open(join(directory, 'store'));
    const write = store.write.bind(store);
    const world = { now: START, isKept: true };
    store.write = (operations) => (world.isKept ? write(operations) : Promise.reject(new Error('the disk refused')));
    const intake = await Intake.open({
      node: NODE,
      store,
      signer: () => signer,
      cipher,
      now: () => world.now,
      projections: [],
      counters: new RecordCounters(store, [new AgentTally(store, NODE)]),
      onCommitted: () => undefined,
    });
    intake.start();
    return new Fixture(store, intake, world);
  }

  async record(draft: Draft): Promise<RecordId> {
    return (await this.intake.submit(draft)).record.id;
  }

  tally(agentId = AGENT): Promise<AgentTallyRow | undefined> {
    return agentTallyTable.get(this.store, agentPart(agentId));
  }

  /** What the walk over the records finds wrong with the rows. */
  async faults(): Promise<string[]> {
    const report = new Report();
    const walk = new AgentTallyWalk({
      store: this.store,
      report,
      signal: undefined,
      keys: null,
      own: NODE,
      cipher: null,
      agentKeys: null,
      held: null,
    });
    const records = await recordsOf(this.store);
    for (let at = 0; at < records.length; at += 3) await walk.take(records.slice(at, at + 3));
    await walk.finish();
    return report.findings.map(({ key, detail }) => `${key ?? ''} ${detail}`).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.intake[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

function signedDraft(more: Partial<Draft> = {}): Draft {
  return draftOf('s', {}, { claims: { channel: 'direct', agentId: AGENT, agentSignature: SIGNATURE }, ...more });
}

function assertedDraft(): Draft {
  return draftOf('s', {}, { account: 'x402:0x1', claims: { channel: 'tiered', agentId: AGENT } });
}

function reviewOf(original: RecordId, account = 'acme'): Draft {
  return draftOf('s', {}, { kind: 'human_override', account, claims: { channel: 'direct' }, links: { original } });
}

test('what an agent signed is its own; what others say in its name, or of its records, is not', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await Fixture.open(directory.path);
  const first = await fixture.record(signedDraft());
  await fixture.record(assertedDraft());
  await fixture.record(reviewOf(first));
  await fixture.record(reviewOf(first, 'stranger'));
  const second = await fixture.record(signedDraft());
  const incident: Partial<Draft> = {
    kind: 'incident',
    claims: { channel: 'direct' },
    links: { related: [first, second] },
  };
  await fixture.record(draftOf('s', {}, incident));
  await fixture.record(draftOf('s', {}, { kind: 'agent_record', claims: { channel: 'tiered', agentId: AGENT } }));
  const tally = await fixture.tally();
  assert.equal(
    [tally?.count, tally?.asserted.count, tally?.overrides, tally?.incidents, tally?.kinds],
    [2, 1, 1, 1, { decision: 2 }],
  );
  const places = await Array.fromAsync(agentRecordTable.under(fixture.store, [agentPart(AGENT)]));
  assert.equal(
    places.map(([[seq], count]) => [Number(seq), count]),
    [
      [1, 1],
      [5, 2],
    ],
  );
  assert.equal(await fixture.faults(), []);
});

test('days are counted one by one, and only the last thirty of them', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await Fixture.open(directory.path);
  for (let day = 0; day < 40; day += 2, fixture.world.now += 2 * DAY_MS) {
    await fixture.record(signedDraft());
    await fixture.record(signedDraft());
  }
  const tally = await fixture.tally();
  assert.ok(tally);
  const last = fixture.world.now - 2 * DAY_MS;
  assert.equal([tally.count, lastDays(tally, last)], [40, 30]);
  assert.is(lastDays(tally, last + 2 * DAY_MS), 28);
  assert.is(lastDays(tally, last + 30 * DAY_MS), 0);
  assert.equal(await fixture.faults(), []);
});

test('a write that the disk refused counts nothing', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await Fixture.open(directory.path);
  await fixture.record(signedDraft());
  fixture.world.isKept = false;
  await fixture.record(signedDraft()).then(assert.unreachable, () => undefined);
  fixture.world.isKept = true;
  await fixture.record(signedDraft());
  assert.is((await fixture.tally())?.count, 2);
  assert.equal(await fixture.faults(), []);
});

test('a count that is wrong, missing or of no record is named', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await Fixture.open(directory.path);
  for (let i = 0; i < 4; i++) await fixture.record(signedDraft());
  const tally = await fixture.tally();
  assert.ok(tally);
  const agent = agentPart(AGENT);
  const stranger = agentPart('stranger');
  const damage: [Operation, string][] = [
    [agentTallyTable.put([agent], { ...tally, count: 9 }), `agent-tally/${agent} does not count`],
    [agentTallyTable.del(agent), `agent-tally/${agent} is missing`],
    [agentTallyTable.put([stranger], tally), `agent-tally/${stranger} belongs to no record`],
    [agentRecordTable.put([agent, 2], 3), `${agentRecordTable.key(agent, 2)} holds 3, not 2`],
    [agentRecordTable.put([stranger, 2], 1), `${agentRecordTable.key(stranger, 2)} belongs to no record`],
  ];
  for (const [operation, found] of damage) {
    const before = await fixture.store.get(operation.key);
    await fixture.store.write([operation]);
    const [fault = ''] = await fixture.faults();
    assert.ok(fault.startsWith(found), fault);
    const { key } = operation;
    await fixture.store.write([before === undefined ? { type: 'del', key } : { type: 'put', key, value: before }]);
  }
  assert.equal(await fixture.faults(), []);
});

test.run();
