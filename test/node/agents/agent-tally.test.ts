import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AgentTally } from '../../../node/agents/agent-tally.ts';
import {
  agentRecordTable,
  agentTallyTable,
  type AgentTallyRow,
  lastDays,
} from '../../../node/agents/agent-tally-table.ts';
import { agentPart } from '../../../node/agents/agent-tables.ts';
import { AgentTallyWalk } from '../../../node/fsck/agent-tally-walk.ts';
import { Report } from '../../../node/fsck/report.ts';
import type { Draft } from '../../../node/intake/draft.ts';
import { Intake } from '../../../node/intake/intake.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { Store } from '../../../node/store/store.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { draftOf, NODE, signer, temporaryDirectory, vault } from '../intake/intake-room.ts';
import { recordsOf } from '../tally/tally-room.ts';

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
class Room implements AsyncDisposable {
  readonly store: Store;
  readonly intake: Intake;
  readonly world: World;

  private constructor(store: Store, intake: Intake, world: World) {
    this.store = store;
    this.intake = intake;
    this.world = world;
  }

  static async open(directory: string): Promise<Room> {
    const store = await Store.open(join(directory, 'store'));
    const write = store.write.bind(store);
    const world = { now: START, isKept: true };
    store.write = (operations) => (world.isKept ? write(operations) : Promise.reject(new Error('the disk refused')));
    const intake = await Intake.open({
      node: NODE,
      store,
      signer: () => signer,
      vault,
      now: () => world.now,
      projections: [],
      counters: new RecordCounters(store, [new AgentTally(store, NODE)]),
      onCommitted: () => undefined,
    });
    intake.start();
    return new Room(store, intake, world);
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
      vault: null,
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
  await using room = await Room.open(directory.path);
  const first = await room.record(signedDraft());
  await room.record(assertedDraft());
  await room.record(reviewOf(first));
  await room.record(reviewOf(first, 'stranger'));
  const second = await room.record(signedDraft());
  const incident: Partial<Draft> = {
    kind: 'incident',
    claims: { channel: 'direct' },
    links: { related: [first, second] },
  };
  await room.record(draftOf('s', {}, incident));
  await room.record(draftOf('s', {}, { kind: 'agent_record', claims: { channel: 'tiered', agentId: AGENT } }));
  const tally = await room.tally();
  assert.equal(
    [tally?.count, tally?.asserted.count, tally?.overrides, tally?.incidents, tally?.kinds],
    [2, 1, 1, 1, { decision: 2 }],
  );
  const places = await Array.fromAsync(agentRecordTable.under(room.store, [agentPart(AGENT)]));
  assert.equal(
    places.map(([[seq], count]) => [Number(seq), count]),
    [
      [1, 1],
      [5, 2],
    ],
  );
  assert.equal(await room.faults(), []);
});

test('days are counted one by one, and only the last thirty of them', async () => {
  await using directory = await temporaryDirectory();
  await using room = await Room.open(directory.path);
  for (let day = 0; day < 40; day += 2, room.world.now += 2 * DAY_MS) {
    await room.record(signedDraft());
    await room.record(signedDraft());
  }
  const tally = await room.tally();
  assert.ok(tally);
  const last = room.world.now - 2 * DAY_MS;
  assert.equal([tally.count, lastDays(tally, last)], [40, 30]);
  assert.is(lastDays(tally, last + 2 * DAY_MS), 28);
  assert.is(lastDays(tally, last + 30 * DAY_MS), 0);
  assert.equal(await room.faults(), []);
});

test('a write that the disk refused counts nothing', async () => {
  await using directory = await temporaryDirectory();
  await using room = await Room.open(directory.path);
  await room.record(signedDraft());
  room.world.isKept = false;
  await room.record(signedDraft()).then(assert.unreachable, () => undefined);
  room.world.isKept = true;
  await room.record(signedDraft());
  assert.is((await room.tally())?.count, 2);
  assert.equal(await room.faults(), []);
});

test('a count that is wrong, missing or of no record is named', async () => {
  await using directory = await temporaryDirectory();
  await using room = await Room.open(directory.path);
  for (let i = 0; i < 4; i++) await room.record(signedDraft());
  const tally = await room.tally();
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
    const before = await room.store.get(operation.key);
    await room.store.write([operation]);
    const [fault = ''] = await room.faults();
    assert.ok(fault.startsWith(found), fault);
    const { key } = operation;
    await room.store.write([before === undefined ? { type: 'del', key } : { type: 'put', key, value: before }]);
  }
  assert.equal(await room.faults(), []);
});

test.run();
