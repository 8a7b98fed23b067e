import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { envelopeTable } from '../../node/records/batch-tables.ts';
import { groupTable } from '../../node/records/record-tables.ts';
import type { Commit } from '../../node/store/operation.ts';
import { Store } from '../../node/store/store.ts';
import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import { hashText } from '../../protocol/hash.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { signatureHolds } from '../../protocol/statement/statement.ts';
import { failOnDisk } from '../fixtures/failing-disk.ts';
import { rowsOf } from '../node/federation/member-fixture.ts';
import { NODE, signer } from '../node/intake/intake-fixture.ts';
import { AnewFixture, other } from '../node/intake/sealing/anew-fixture.ts';
import { BESIDE_KEY, SealingFixture } from '../node/intake/sealing/sealing-fixture.ts';

/** Of one record each: their receipts take more than one write. */
const GROUPS = [2, 70, 60];
const UNSEALED = 3;
/** Three of receipts, and one of envelopes. */
const WRITES = 4;
/** The log has decided the first batch. */
const standing = () => ({ decided: 1, isRevoked: (keyId: string) => keyId === signer.keyId });

/** The disk has no room for the write, or the node dies right after it. */
const FAULTS = ['full', 'killed'] as const;

/** A node's disk fails, or the node dies, at every write by which it signs again what a revoked key signed. */
const test = suite('signing anew');

const scratch = await mkdtemp(join(tmpdir(), 'anew-'));
const home = join(scratch, 'home');
await fill();
/** Rows of the records, as they were. */
let records: ReadonlyMap<string, string> | undefined;
const before = await chainIn(home);

test.after(() => rm(scratch, { recursive: true, force: true }));

for (const fault of FAULTS) {
  for (let write = 1; write <= WRITES; write++) {
    test(`write ${write} of ${WRITES}: ${fault}`, async () => {
      const folder = join(scratch, `${fault}-${write}`);
      const copy = join(folder, 'copy');
      cpSync(home, folder, { recursive: true });
      let writes = 0;
      const gate = async (commit: Commit) => {
        if (++writes !== write) return commit.sync();
        try {
          await (fault === 'full' ? failOnDisk(fault, commit) : commit.sync());
        } finally {
          cpSync(join(folder, 'store'), join(copy, 'store'), { recursive: true });
        }
      };
      {
        await using fixture = await AnewFixture.open(folder, { gate, standing });
        fixture.sealer.start();
        await fixture.sealer.signAnew();
        assert.equal(fixture.steps.slice(-2), ['signed 2,3', 'resume'], 'it is tried until the disk takes it');
        assert.ok(writes >= WRITES);
      }
      requireAnew(await chainIn(folder));

      // As a kill at that moment would have left it.
      const left = await chainIn(copy);
      const isAnew = fault === 'killed' && write === WRITES;
      assert.equal(
        left.envelopes.slice(1).map(({ keyId }) => keyId === other.keyId),
        [isAnew, isAnew],
      );
      await using fixture = await AnewFixture.open(copy, { standing });
      fixture.sealer.start();
      await fixture.sealer.signAnew();
      await fixture.sealer.seal();
      await fixture[Symbol.asyncDispose]();
      requireAnew(await chainIn(copy));
    });
  }
}

test.run();

async function fill(): Promise<void> {
  await using fixture = await SealingFixture.open(home);
  for (const groups of GROUPS) {
    for (let i = 0; i < groups; i++) await fixture.record(1);
    await fixture.sealer.seal();
  }
  for (let i = 0; i < UNSEALED; i++) await fixture.record(1);
}

interface Chain {
  readonly envelopes: readonly Envelope[];
  readonly groups: readonly Group[];
  readonly besides: ReadonlyMap<string, string>;
}

/**
 * The chain in a stopped node's store. Fails unless every signature and link holds, and the records are those that
 * were.
 */
async function chainIn(folder: string): Promise<Chain> {
  await using store = await Store.open(join(folder, 'store'));
  const envelopes: Envelope[] = [];
  const groups: Group[] = [];
  let prev: string | null = null;
  for await (const [, signed] of envelopeTable.under(store, [NODE])) {
    const envelope = envelopeStatement.parse(signed.statement);
    assert.ok(signatureHolds(nativeSuite, envelopeStatement, signed, keyOf(envelope)));
    assert.is(envelope.prev, prev);
    prev = hashText(nativeSuite, signed.statement);
    envelopes.push(envelope);
  }
  for await (const [, signed] of groupTable.under(store, [NODE])) {
    const group = groupStatement.parse(signed.statement);
    assert.ok(signatureHolds(nativeSuite, groupStatement, signed, keyOf(group)));
    groups.push(group);
  }
  records ??= await rowsOf(store, ['body', 'record']);
  assert.equal(await rowsOf(store, ['body', 'record']), records);
  return { envelopes, groups, besides: await rowsOf(store, [BESIDE_KEY]) };
}

function keyOf({ keyId }: { readonly keyId: string }): Uint8Array {
  return keyId === other.keyId ? other.publicKey : signer.publicKey;
}

/** Fails unless all that is undecided is by the new key, and nothing but keys and links changed. */
function requireAnew({ envelopes, groups, besides }: Chain): void {
  const [first, ...undecided] = envelopes;
  assert.equal(first, before.envelopes[0], 'what was decided stays');
  const isAnew = ({ keyId }: { readonly keyId: string }) => keyId === other.keyId;
  assert.ok(undecided.every(isAnew));
  assert.equal(
    groups.map(isAnew),
    groups.map((_, i) => i >= (GROUPS[0] ?? 0)),
  );
  assert.equal(
    groups.map((group) => ({ ...group, keyId: null })),
    before.groups.map((group) => ({ ...group, keyId: null })),
  );
  const content = (envelope: Envelope) => ({ ...envelope, keyId: null, prev: null });
  assert.equal(envelopes.slice(0, GROUPS.length).map(content), before.envelopes.map(content));
  assert.equal(
    [...besides.keys()],
    undecided.map(({ batch }) => `${BESIDE_KEY}/${batch}`),
    'they are named again',
  );
}
