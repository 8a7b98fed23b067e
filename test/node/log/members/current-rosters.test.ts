import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  givenRostersTable,
  openGivenRosters,
  readNewestRosters,
  RosterFileError,
} from '../../../../node/log/members/given-rosters.ts';
import { CurrentRosters } from '../../../../node/log/members/current-rosters.ts';
import { nativeSigner, nativeSuite } from '../../../../node/keys/native-suite.ts';
import { FederationLog } from '../../../../node/log/federation-log.ts';
import type { TopicMessage } from '../../../../protocol/log/decide.ts';
import type { GivenRosters } from '../../../../protocol/keys/roster-file.ts';
import type { RosterChain } from '../../../../protocol/keys/roster-chain.ts';
import { rosterStatement } from '../../../../protocol/log/roster.ts';
import { TestFederation } from '../../../fixtures/federation.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';
import { Topic } from '../../../protocol/log/topic.ts';

const federation = await TestFederation.create({ nodes: ['us', 'eu', 'ca'], quorum: 1, signerOf: nativeSigner });
const { genesis } = federation;
const founding = rosterStatement.parse(genesis.statement);

/** A topic on which two rosters come into force, one after the other, and their texts. */
function topicOfTwo(): { readonly messages: readonly TopicMessage[]; readonly texts: readonly string[] } {
  const topic = new Topic(founding);
  for (const name of ['second', 'third']) {
    const message = topic.next({ name });
    for (const { accounts } of founding.members.slice(0, 2)) for (const payer of accounts) topic.pay(payer, message);
  }
  return { messages: topic.messages, texts: [...topic.texts.values()] };
}

const { messages, texts } = topicOfTwo();
const [second = '', third = ''] = texts;

interface Home {
  readonly rows: MemoryRows;
  readonly log: FederationLog;
  readonly currentRosters: CurrentRosters;
}

async function open(later: readonly string[], rows = new MemoryRows()): Promise<Home> {
  const chain = await openGivenRosters(rows, { genesis, later });
  const log = await FederationLog.open(rows, chain.signedGenesis.statement);
  return { rows, log, currentRosters: await CurrentRosters.open(log, chain) };
}

function namesOf({ rosters }: RosterChain): string[] {
  return rosters.map(({ name }) => name);
}

/** Lets the log read so many messages, and the book follow it. */
async function read({ log, currentRosters }: Home, count: number): Promise<void> {
  for (const text of texts) await log.keepRoster(text);
  await log.take(messages.slice(log.state.sequence, count));
  await currentRosters.follow();
}

test('a roster is in force once the log has decided it, for all that ask, and after a restart', async () => {
  const home = await open([]);
  const told: string[] = [];
  home.currentRosters.onRoster(({ name }) => told.push(name));
  await read(home, 1);
  assert.equal([namesOf(home.currentRosters.chain), told], [['test'], []], 'one of three has named it');
  await read(home, 2);
  assert.equal([namesOf(home.currentRosters.chain), told], [['test', 'second'], ['second']]);
  await read(home, 4);
  assert.equal(told, ['second', 'third']);
  assert.equal(namesOf((await open([], home.rows)).currentRosters.inForce), ['test', 'second', 'third']);
});

test('rosters that were given are gone by until the log has reached them, and are not in force', async () => {
  const home = await open([second, third]);
  assert.equal(namesOf(home.currentRosters.chain), ['test', 'second', 'third']);
  assert.equal(namesOf(home.currentRosters.inForce), ['test']);
  assert.is(
    await home.log.rosterText(federation.chain.follow(nativeSuite, second).hash),
    second,
    'the log may come to need it',
  );
  await read(home, 2);
  assert.equal(
    [namesOf(home.currentRosters.chain), namesOf(home.currentRosters.inForce)],
    [
      ['test', 'second', 'third'],
      ['test', 'second'],
    ],
  );
  await read(home, 4);
  assert.is(home.currentRosters.chain.hash, home.currentRosters.inForce.hash);
  assert.is(home.currentRosters.contradiction, null);
});

test('where the log comes to another roster than was given, the log holds', async () => {
  const other = rosterStatement.write({ ...rosterStatement.parse(second), name: 'only given' });
  const home = await open([other]);
  assert.equal(namesOf(home.currentRosters.chain), ['test', 'only given']);
  await read(home, 2);
  assert.equal(namesOf(home.currentRosters.chain), ['test', 'second']);
  const { contradiction } = home.currentRosters;
  assert.equal([contradiction?.version, contradiction?.inForce], [2, home.currentRosters.chain.hash]);
  assert.ok((await open([other], home.rows)).currentRosters.contradiction, 'and at the next start');
  assert.is((await open([], home.rows)).currentRosters.contradiction, null);
});

test('a store shows by itself what its node goes by; one of another federation is refused', async () => {
  const home = await open([second]);
  assert.equal(namesOf((await readNewestRosters(home.rows)) ?? federation.chain), ['test', 'second']);
  await read(home, 4);
  assert.equal(namesOf((await readNewestRosters(home.rows)) ?? federation.chain), ['test', 'second', 'third']);
  assert.is(await readNewestRosters(new MemoryRows()), null);
  const stranger = await TestFederation.create({ nodes: ['us'], quorum: 0, seed: 'another', signerOf: nativeSigner });
  await refused(home.rows, stranger.given, RosterFileError);
  await refused(home.rows, { genesis: { ...genesis, signatures: genesis.signatures.slice(1) }, later: [] }, Error);
  const [[, row] = []] = await Array.fromAsync(givenRostersTable.under(home.rows, []));
  assert.equal(row?.later, [second], 'what was given last');
});

async function refused(rows: MemoryRows, given: GivenRosters, kind: new () => Error): Promise<void> {
  await openGivenRosters(rows, given).then(
    () => assert.unreachable('it opened'),
    (error: unknown) => assert.instance(error, kind),
  );
}

test.run();
