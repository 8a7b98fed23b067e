import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KeyedLock } from '../../../node/concurrency/keyed-lock.ts';
import { AccountSpeakers } from '../../../node/governance/account-records.ts';
import { HoldsElsewhere } from '../../../node/governance/holds-elsewhere.ts';
import { lockEnds } from '../../../node/governance/lock-ends.ts';
import { LOCK_PROJECTIONS } from '../../../node/governance/lock-tables.ts';
import { Locks } from '../../../node/governance/locks.ts';
import { AccountVersions } from '../../../node/verification/account-versions.ts';
import { rereadRecord } from '../../../protocol/chain/record.ts';
import { nodeId, type RecordId } from '../../../protocol/ids.ts';
import { HOME, HOME_ACCOUNT as ACCOUNT, versionDraft } from '../../fixtures/account-statement.ts';
import { type LogDraft, recordAt, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { keepBatch } from '../../fixtures/linked-store.ts';
import { openNodeLog } from '../../fixtures/node-log.ts';
import { Ledger } from '../../trust/ledger.ts';

const LOANS = { account: ACCOUNT, sourceId: 'loans' };
const HOLD: LogDraft = {
  kind: 'retention_lock',
  claims: { scope: ['all'], retentionDays: 1825, legalHold: true },
};
/** Holds of a node over a source that are looked at, and one more. */
const LOOKED_AT = 256;
const MANY = LOOKED_AT + 1;
/** More versions of a statement than other answers look for. */
const MANY_VERSIONS = 20;

function releaseOf(lock: RecordId): LogDraft {
  return { kind: 'retention_lock', claims: { scope: ['all'], legalHold: false }, links: { lock } };
}

/** What nodes record, one batch after the other. */
class Story {
  readonly #ledger: Ledger;
  readonly #batches: SealedBatch[] = [];

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** The id of the first one. */
  async record(node: string, ...drafts: readonly LogDraft[]): Promise<RecordId> {
    return recordAt(await this.#seal(node, drafts), 0).id;
  }

  async recordAll(node: string, drafts: readonly LogDraft[]): Promise<readonly RecordId[]> {
    return (await this.#seal(node, drafts)).records.map(({ id }) => id);
  }

  /** Ids of the locks whose ends a node tells of, its own and all that it was sent being these batches. */
  async endsAt(self: string): Promise<readonly string[]> {
    await using node = await openNodeLog(this.#ledger, []);
    const { store, knowledge } = node;
    for (const sealed of this.#batches) {
      await keepBatch(store, sealed);
      const own = sealed.node === self ? sealed.records.map((texts) => rereadRecord(texts)) : [];
      const rows = own.flatMap((record) => LOCK_PROJECTIONS.flatMap(({ rowsOf }) => rowsOf(record)));
      if (rows.length > 0) await store.write(rows);
    }
    const versions = new AccountVersions({ store, decisionOf: (of, batch) => knowledge.decisionOf(of, batch) });
    const elsewhere = new HoldsElsewhere(store, nodeId(self), new AccountSpeakers(store, versions));
    const locks = new Locks(store, new KeyedLock(), elsewhere);
    const ends = lockEnds({ store, locks }, ACCOUNT, { after: 0, before: Number.MAX_SAFE_INTEGER, limit: 10 });
    return await Array.fromAsync(ends, ({ lock }) => lock);
  }

  /** Ids of the holds that others have, as this node sees it, and whether all were looked at. */
  async seenBy(self: string): Promise<readonly [holds: readonly RecordId[], isWhole: boolean]> {
    await using node = await openNodeLog(this.#ledger, []);
    const { store, knowledge } = node;
    for (const sealed of this.#batches) await keepBatch(store, sealed);
    const versions = new AccountVersions({ store, decisionOf: (of, batch) => knowledge.decisionOf(of, batch) });
    const elsewhere = new HoldsElsewhere(store, nodeId(self), new AccountSpeakers(store, versions));
    const { holds, isWhole } = await elsewhere.over(LOANS);
    return [holds.map(({ id }) => id), isWhole];
  }

  async #seal(node: string, drafts: readonly LogDraft[]): Promise<SealedBatch> {
    const sealed = await this.#ledger.record(node, drafts);
    this.#batches.push(sealed);
    return sealed;
  }
}

test('a hold counts at every other node where its node spoke for the account, until that node releases it', async () => {
  const story = new Story(await Ledger.create());
  await story.record('us', HOLD);
  await story.record(HOME, versionDraft(1, ['eu', 'us']));
  await story.record('ca', HOLD);
  const kept = await story.record('us', HOLD);
  const released = await story.record('us', HOLD);
  const atHome = await story.record(HOME, HOLD);
  await story.record('ca', releaseOf(kept));
  await story.record(HOME, releaseOf(kept));
  await story.record('us', releaseOf(released));
  await story.record('us', { ...HOLD, claims: { ...HOLD.claims, legalHold: false } });
  await story.record(HOME, versionDraft(2, ['eu', 'sg']));
  await story.record('us', HOLD);
  assert.equal(await story.seenBy('eu'), [[kept], true]);
  assert.equal(await story.seenBy('sg'), [[atHome, kept], true]);
  assert.equal(await story.seenBy('us'), [[atHome], true]);
});

test('however many versions of the statement lie between, each hold is judged by the one before it', async () => {
  const story = new Story(await Ledger.create());
  const counted: RecordId[] = [];
  for (let version = 1; version <= MANY_VERSIONS; version++) {
    const isNamed = version % 2 === 0;
    await story.record(HOME, versionDraft(version, isNamed ? ['eu', 'us'] : ['eu']));
    const id = await story.record('us', HOLD);
    if (isNamed) counted.push(id);
  }
  assert.equal(await story.seenBy('eu'), [counted, true]);
});

test('the end of a lock is not told of while another node holds what it keeps', async () => {
  const story = new Story(await Ledger.create());
  await story.record(HOME, versionDraft(1, ['eu', 'us']));
  const lock = await story.record('eu', { ...HOLD, claims: { ...HOLD.claims, legalHold: false } });
  assert.equal(await story.endsAt('eu'), [lock]);
  const hold = await story.record('us', HOLD);
  assert.equal(await story.endsAt('eu'), []);
  await story.record('us', releaseOf(hold));
  assert.equal(await story.endsAt('eu'), [lock]);
});

test('a node that made more holds than are looked at holds whatever it may, where it speaks for the account', async () => {
  const story = new Story(await Ledger.create());
  await story.record(HOME, versionDraft(1, ['eu', 'us']));
  await story.record('ca', ...Array.from({ length: MANY }, () => HOLD));
  assert.equal(await story.seenBy('eu'), [[], true]);
  await story.record('us', ...Array.from({ length: MANY }, () => HOLD));
  const [holds, isWhole] = await story.seenBy('eu');
  assert.ok(holds.length > 0 && holds.length < MANY);
  assert.is(isWhole, false);
});

test('of as many holds as are looked at nothing is left once all are released', async () => {
  const story = new Story(await Ledger.create());
  await story.record(HOME, versionDraft(1, ['eu', 'us']));
  const holds = await story.recordAll(
    'us',
    Array.from({ length: LOOKED_AT }, () => HOLD),
  );
  await story.record('us', ...holds.map(releaseOf));
  assert.equal(await story.seenBy('eu'), [[], true]);
});

test.run();
