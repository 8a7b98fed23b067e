import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keyDigest } from '../../../../node/accounts/key-text.ts';
import { keyState } from '../../../../node/accounts/api-key.ts';
import { accountTable } from '../../../../node/accounts/account.ts';
import { SIGN_UP } from '../../../../node/accounts/limits/route-weights.ts';
import { dueOperation, statedVersionTable } from '../../../../node/accounts/statements/statement-tables.ts';
import { ACCOUNT_SOURCE } from '../../../../protocol/accounts/statement.ts';
import { refusalSource } from '../../../../protocol/accounts/refused-key.ts';
import type { NodeId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { projectedRows } from '../../../../node/records/record-tables.ts';
import type { KeyId } from '../../../../node/accounts/key-id.ts';
import { RecordChain } from '../../../fixtures/federation-record.ts';
import { until } from '../../../fixtures/until.ts';
import { type Fate, NODE, temporaryDirectory } from '../../intake/intake-fixture.ts';
import { requireWholeStore } from '../../intake/stored-records.ts';
import { SG, type Stated, StatementFixture, US } from './statement-fixture.ts';

const test = suite('the publisher of statements');

const ADA = 'acc_eu_ada';
const FULL = { preset: 'admin' } as const;

function numbers(stated: readonly Stated[]): number[] {
  return stated.map(({ statement }) => statement.version);
}

test('an account that names other nodes is stated with its keys in force, anew for each change of keys, tier and nodes', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await StatementFixture.open(directory.path);
  const { accounts } = fixture;
  await accounts.create({ id: ADA, tier: 'standard', nodes: [US, NODE] });
  const { apiKey, key } = await accounts.keys.create(
    ADA,
    { ...FULL, sources: ['loans'], addresses: ['10.0.0.0/8'] },
    'operator',
  );
  const other = await accounts.keys.create(ADA, { preset: 'ingest', expiresAt: '2999-01-01T00:00:00Z' }, 'operator');
  await fixture.settled();
  const [last, ...rest] = (await fixture.stated(ADA)).toReversed();
  assert.equal(last?.statement.nodes, [NODE, US]);
  assert.equal([last?.statement.tier, last?.statement.account], ['standard', ADA]);
  const stated = last?.statement.keys.find(({ id }) => id === key.id);
  assert.equal(stated, {
    addresses: ['10.0.0.0/8'],
    expiresAt: null,
    from: null,
    hash: `sha256:${keyDigest(apiKey)}`,
    id: key.id,
    scopes: key.scopes,
    sources: ['loans'],
    to: null,
  });
  assert.is(last?.statement.keys.find(({ id }) => id === other.key.id)?.expiresAt, '2999-01-01T00:00:00.000Z');
  const { kind, sourceId, claims } = last?.record ?? {};
  assert.equal([kind, sourceId], ['account', ACCOUNT_SOURCE]);
  assert.equal(claims, { channel: 'tiered', nodes: [NODE, US], version: rest.length + 1 });

  const before = rest.length + 1;
  const changes = [
    () => accounts.keys.revoke(ADA, other.key.id, 'operator'),
    () => accounts.setTier(ADA, 'enterprise'),
    () => accounts.nodes.set(ADA, [SG, US, NODE], 'operator'),
    () => accounts.keys.rotate(ADA, key.id, 0, 'operator'),
  ];
  for (const change of changes) {
    await change();
    await fixture.settled();
  }
  const all = await fixture.stated(ADA);
  assert.equal(
    numbers(all),
    Array.from({ length: before + changes.length }, (_, i) => i + 1),
  );
  const [revoked, tier, nodes, rotated] = all.slice(before).map(({ statement }) => statement);
  assert.equal(
    revoked?.keys.map(({ id }) => id),
    [key.id],
    'a revoked key is left out',
  );
  assert.is(tier?.tier, 'enterprise');
  assert.equal(nodes?.nodes, [NODE, SG, US]);
  assert.is(
    rotated?.keys.some(({ id }) => id === key.id),
    false,
    'so is one that has ended',
  );
  assert.is(rotated?.keys.length, 1);
  await requireWholeStore(fixture.store);
});

test('what it does not say makes no version, nor does an account that names its home alone', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await StatementFixture.open(directory.path);
  const { accounts } = fixture;
  await accounts.create({ id: 'acc_eu_bob', tier: 'standard', nodes: [NODE] });
  await accounts.keys.create('acc_eu_bob', FULL, 'operator');
  await accounts.create({ id: ADA, tier: 'standard', nodes: [NODE, US] });
  await fixture.settled();
  await accounts.setCompression(ADA, true);
  await accounts.nodes.set(ADA, [US, NODE, US], 'operator');
  assert.equal(await fixture.due(), []);
  assert.equal([numbers(await fixture.stated('acc_eu_bob')), numbers(await fixture.stated(ADA))], [[], [1]]);

  await accounts.nodes.set(ADA, [NODE], 'operator');
  await fixture.settled();
  const last = (await fixture.stated(ADA)).at(-1)?.statement;
  assert.equal([last?.version, last?.nodes], [2, [NODE]], 'the others are told that they are named no more');
  await accounts.keys.create(ADA, FULL, 'operator');
  assert.equal(await fixture.due(), []);
});

test('while nothing is recorded changes are made at once and stay due; one version carries them all', async () => {
  await using directory = await temporaryDirectory();
  let accepts = false;
  await using fixture = await StatementFixture.open(directory.path, { accepts: () => accepts });
  fixture.publisher.start();
  await fixture.accounts.create({ id: ADA, tier: 'standard', nodes: [NODE, US] });
  const { key } = await fixture.accounts.keys.create(ADA, FULL, 'operator');
  await until('a refusal', () => fixture.log.length > 0);
  await fixture.accounts.keys.revoke(ADA, key.id, 'operator');
  assert.equal([await fixture.due(), await fixture.stated(ADA)], [[ADA, ADA, ADA], []]);
  // One that was drawn up before the key ended may be under way: the second refusal from now on is of what holds.
  const refused = fixture.log.length;
  await until('two more refusals', () => {
    fixture.publisher.poke();
    return fixture.log.length >= refused + 2;
  });
  accepts = true;
  await fixture.settled();
  assert.equal(
    (await fixture.stated(ADA)).map(({ statement }) => [statement.version, statement.keys]),
    [[1, []]],
  );
});

/** Two accounts and changes of both, the publisher at work meanwhile. Rejects where the disk refuses. */
async function changeBoth({ accounts, publisher }: StatementFixture): Promise<void> {
  publisher.start();
  await accounts.create({ id: ADA, tier: 'standard', nodes: [NODE, US] });
  await accounts.create({ id: 'acc_eu_bob', tier: 'standard', nodes: [NODE, SG] });
  const { key } = await accounts.keys.create(ADA, FULL, 'operator');
  await accounts.keys.create('acc_eu_bob', FULL, 'operator');
  await accounts.keys.rotate(ADA, key.id, 0, 'operator');
}

for (const [how, last] of [
  ['before', 'refused'],
  ['after', 'kept-unsaid'],
] as const) {
  test(`a node that is killed ${how} any of its writes states each account as it is, without a gap`, async () => {
    for (let writes = 0, isOver = false; !isOver; writes++) {
      await using directory = await temporaryDirectory();
      let left = writes;
      const fate = (): Fate => (left-- > 0 ? 'kept' : left === -1 ? last : 'refused');
      {
        await using fixture = await StatementFixture.open(directory.path, { fate });
        isOver = await changeBoth(fixture).then(
          () => true,
          () => false,
        );
        if (isOver) await until('the end', async () => left < 0 || (await fixture.due()).length === 0);
        isOver &&= left >= 0;
      }
      await using fixture = await StatementFixture.open(directory.path);
      await fixture.settled();
      for (const { id, nodes } of await fixture.accounts.accountStore.accounts(10)) {
        const stated = await fixture.stated(id);
        assert.equal(
          numbers(stated),
          stated.map((_, i) => i + 1),
        );
        const held = (await fixture.accounts.accountStore.keys(id)).filter(
          ({ key }) => keyState(key, Date.now()) === 'active',
        );
        assert.equal(
          stated.at(-1)?.statement.keys.map(({ hash }) => hash),
          held.map(({ digest }) => `sha256:${digest}`),
        );
        assert.equal(stated.at(-1)?.statement.nodes, nodes);
        assert.is(await statedVersionTable.get(fixture.store, id), stated.length);
      }
      await requireWholeStore(fixture.store);
    }
  });
}

/** The record by which a node refuses a key arrives. */
async function refuse(
  { store, publisher }: StatementFixture,
  node: NodeId,
  key: KeyId,
  account: string,
): Promise<void> {
  const { record } = new RecordChain(`${node}/${key}`, node).append(
    { kind: 'account_key_refused', account, sourceId: refusalSource(key) },
    timestampOf(Date.now()),
  );
  await store.write([...projectedRows(record), ...publisher.rowsOf([record])]);
  publisher.onWritten([record]);
}

test('a key that a named node refuses ends at home too, for good, and so in the next version; what others say ends nothing', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await StatementFixture.open(directory.path);
  const { accounts } = fixture;
  await accounts.create({ id: ADA, tier: 'standard', nodes: [NODE, US] });
  const [kept, lost, late] = await Promise.all([1, 2, 3].map(() => accounts.keys.create(ADA, FULL, 'operator')));
  if (kept === undefined || lost === undefined || late === undefined) throw new Error('no keys');
  await fixture.settled();
  const before = (await fixture.stated(ADA)).length;
  const arrive = (node: NodeId, key: KeyId, account = ADA): Promise<void> => refuse(fixture, node, key, account);
  const wordOf = async (apiKey: string) => {
    const found = await accounts.authenticate(apiKey);
    return typeof found === 'string' ? found : 'valid';
  };
  assert.is(await wordOf(lost.apiKey), 'valid');
  await arrive(SG, kept.key.id);
  await arrive(SG, late.key.id);
  await arrive(US, lost.key.id);
  await arrive(US, kept.key.id, 'acc_us_other');
  await until('the refused key to be stated no more', async () => (await fixture.stated(ADA)).length > before);
  await fixture.settled();
  assert.equal(
    [await wordOf(kept.apiKey), await wordOf(lost.apiKey), await wordOf(late.apiKey)],
    ['valid', 'revoked', 'valid'],
  );
  const last = (await fixture.stated(ADA)).at(-1);
  assert.equal(
    [last?.statement.version, last?.statement.keys.map(({ id }) => id).sort()],
    [before + 1, [kept.key.id, late.key.id].sort()],
  );

  // Once it is named, what a node refused before counts.
  await accounts.nodes.set(ADA, [NODE, US, SG], 'operator');
  await until('its refusals to hold', async () => (await wordOf(kept.apiKey)) === 'revoked');
  await fixture.settled();
  assert.equal((await fixture.stated(ADA)).at(-1)?.statement.keys, []);
});

test('a node that the last version names has its say until the next one is made without it', async () => {
  await using directory = await temporaryDirectory();
  let isAccepting = true;
  await using fixture = await StatementFixture.open(directory.path, { accepts: () => isAccepting });
  const { accounts } = fixture;
  await accounts.create({ id: ADA, tier: 'standard', nodes: [NODE, US] });
  const { key, apiKey } = await accounts.keys.create(ADA, FULL, 'operator');
  await fixture.settled();
  isAccepting = false;
  await accounts.nodes.set(ADA, [NODE], 'operator');
  await refuse(fixture, US, key.id, ADA);
  await until('the refused key to end', async () => (await accounts.authenticate(apiKey)) === 'revoked');
});

test('a refusal that arrives while a version is being made ends its key too, wherever it comes in between', async () => {
  for (let pause = 0, isOver = false; !isOver; pause++) {
    await using directory = await temporaryDirectory();
    let left = Infinity;
    let arrive = async (): Promise<void> => {};
    await using fixture = await StatementFixture.open(directory.path, {
      afterReading: async () => void (left-- === 0 && (await arrive())),
    });
    const { accounts } = fixture;
    await accounts.create({ id: ADA, tier: 'standard', nodes: [NODE, US] });
    const { key, apiKey } = await accounts.keys.create(ADA, FULL, 'operator');
    await fixture.settled();
    arrive = () => refuse(fixture, US, key.id, ADA);
    left = pause;
    await accounts.setTier(ADA, 'enterprise');
    await fixture.settled();
    isOver = left >= 0;
    if (isOver) break;
    await until(
      `a key refused at pause ${pause} to end`,
      async () => (await accounts.authenticate(apiKey)) === 'revoked',
    );
    await fixture.settled();
    assert.equal((await fixture.stated(ADA)).at(-1)?.statement.keys, []);
  }
});

test('where the chain has a newer version than the rows were published as, nothing is made of them, and the log says so', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await StatementFixture.open(directory.path);
  await fixture.accounts.create({ id: ADA, tier: 'standard', nodes: [NODE, US] });
  await fixture.settled();
  await fixture.accounts.setTier(ADA, 'enterprise');
  await fixture.settled();
  // As a copy of the store from between the two, which took the second record back.
  await fixture.store.write([statedVersionTable.put([ADA], 1)]);
  await fixture.accounts.setTier(ADA, 'developer');
  await fixture.accounts.create({ id: 'acc_eu_bob', tier: 'standard', nodes: [NODE, US] });
  await until('the other account to be stated', async () => (await fixture.due()).every((account) => account === ADA));
  await until('the hold', () => fixture.publisher.held.has(ADA));
  assert.equal([await fixture.due(), numbers(await fixture.stated(ADA))], [[ADA], [1, 2]]);
  assert.is(fixture.log.filter((line) => line.includes('OLDER COPY')).length, 1);

  await fixture.accounts.nodes.restate(ADA);
  await fixture.settled();
  const last = (await fixture.stated(ADA)).at(-1)?.statement;
  assert.equal([last?.version, last?.tier, fixture.publisher.held.size], [3, 'developer', 0]);
});

test('a restored copy from before other nodes were named is held back too, and one that is no older is not', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await StatementFixture.open(directory.path);
  await fixture.accounts.create({ id: ADA, tier: 'standard', nodes: [NODE, US] });
  await fixture.settled();
  // A version that was taken back from others is looked at; its rows are as new.
  await fixture.store.write([dueOperation(ADA, 'taken-back', Date.now())]);
  await fixture.settled();
  assert.equal(numbers(await fixture.stated(ADA)), [1]);

  const { nodes: _later, ...before } = (await fixture.accounts.accountStore.account(ADA)) ?? {
    id: ADA,
    tier: 'standard',
  };
  await fixture.store.write([accountTable.put([ADA], before), statedVersionTable.del(ADA)]);
  await fixture.accounts.keys.create(ADA, FULL, 'operator');
  await until('the hold', () => fixture.publisher.held.has(ADA));
  assert.equal(numbers(await fixture.stated(ADA)), [1], 'the others are not told that they are named no more');
  // So is an account whose rows are of a later time than the copy.
  await fixture.store.write([accountTable.del(ADA), dueOperation(ADA, 'taken-back', Date.now())]);
  fixture.publisher.poke();
  await until('both rows to stay', async () => (await fixture.due()).length === 2);
});

test('a sign-up that names other nodes leaves no more for ever than it weighs', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await StatementFixture.open(directory.path);
  await fixture.accounts.create({
    id: 'acc_eu_k3v9x2m7p1q8r4t6',
    tier: 'developer',
    email: `${'a'.repeat(64)}@example.org`,
    nodes: [NODE, SG, US],
  });
  await fixture.accounts.keys.create('acc_eu_k3v9x2m7p1q8r4t6', FULL, 'operator');
  await fixture.settled();
  let bytes = 0;
  for await (const [key, value] of fixture.store.range({})) bytes += key.length + value.length;
  const versions = (await fixture.stated('acc_eu_k3v9x2m7p1q8r4t6')).length;
  assert.ok(bytes / versions <= SIGN_UP.permanentBytes, `${bytes} bytes, ${versions} versions`);
});

test.run();
