import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { NamingTerms } from '../../../node/anchoring/anchoring.ts';
import type { RosterVote } from '../../../node/federation/roster-votes.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { certifySigningKey, readNodeKeys } from '../../../node/keys/node-keys.ts';
import { StatementNamer } from '../../../node/federation/statement-namer.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { NamedStatement } from '../../../protocol/log/naming.ts';
import { revocationStatement } from '../../../protocol/log/revocation.ts';
import { encodeSignature, signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf, timestampOfConsensus } from '../../../protocol/time.ts';
import { openKeys } from '../../fixtures/federation-keys.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { inForce, nextRoster, vote } from './roster-voting.ts';
import { genesisOf, Topic } from '../../protocol/log/topic.ts';
import { LogStore } from '../log/log-store.ts';

const VOTED_AT = timestampOf(Date.UTC(2026, 5, 1));

/** A namer of `us` over a topic, which holds a revocation of `eu`, and what it wants named with which terms. */
async function openFixture() {
  const resources = new AsyncDisposableStack();
  const { store } = resources.use(await LogStore.open());
  const federation = await TestFederation.create({ nodes: ['us', 'eu', 'ca'], signerOf: nativeSigner });
  const keys = await openKeys(store, federation.given);
  for (const certificate of federation.certificates) await keys.learnCertificate(certificate);
  const topic = new Topic(genesisOf(['us', 'eu', 'ca']));
  const named: { readonly statement: NamedStatement; readonly terms: NamingTerms }[] = [];
  const fixture: { next: RosterVote | undefined } = { next: undefined };
  const namer = resources.use(
    new StatementNamer({
      self: nodeId('us'),
      keys,
      votes: { next: async () => fixture.next },
      federationLog: {
        get state() {
          return topic.state;
        },
        timeOf: async (index) => {
          const decision = topic.decisions[index];
          if (decision === undefined) throw new RangeError(`no decision ${index}`);
          return timestampOfConsensus(decision.consensusTimestamp);
        },
      },
      sealingKeys: async () => new Map(),
      witnessingKeys: () => [],
      ensure: async (statement, terms) => void named.push({ statement, terms }),
      log: pino({ level: 'silent' }),
      lookMs: 20,
    }),
  );
  return {
    topic,
    namer,
    named,
    /** Lets `us` vote for this roster. */
    vote(text: string) {
      fixture.next = { signed: { statement: text, signature: encodeSignature(new Uint8Array(1)) }, at: VOTED_AT };
    },
    async revoke() {
      const signed = await federation.revokeKey('eu');
      await keys.learnRevocation(signed);
      return signed.statement;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

test('the roster that its operator signed last is named until the log shows that name, again when it shows another', async () => {
  await using fixture = await openFixture();
  const { topic, namer, named } = fixture;
  const [one, other] = [topic.next({ name: 'one' }), topic.next({ name: 'other' })];
  const text = topic.texts.get(one.statement) ?? '';
  fixture.vote(text);
  namer.start();
  await until('it is named, over and over while the log does not show it', () => named.length >= 2);
  assert.equal(named[0]?.statement, { type: 'roster', text });
  assert.is(named[0]?.terms.since, VOTED_AT, 'a name from before the vote counts no more');
  topic.say('us', one);
  const settled = named.length + 1;
  namer.name();
  namer.name();
  await until('it looks once more', async () => {
    await namer[Symbol.asyncDispose]();
    return true;
  });
  assert.ok(named.length <= settled, 'one that was under way at most');
  topic.say('us', other);
  assert.is(topic.state.open.us?.roster, other.statement);
  const before = named.length;
  namer.start();
  await until('it is named again', () => named.length > before);
});

test('a revocation that is held is named until it is decided, after a change of rosters anew', async () => {
  await using fixture = await openFixture();
  const { topic, namer, named } = fixture;
  const text = await fixture.revoke();
  namer.start();
  await until('it is named', () => named.length > 0);
  assert.equal([named[0]?.statement, named[0]?.terms.since], [{ type: 'revocation', text }, null]);
  topic.say(['us', 'eu'], topic.next({ name: 'second' }));
  const at = topic.decisions.at(-1)?.consensusTimestamp;
  assert.ok(at);
  await until('it is named anew', () => named.at(-1)?.terms.since === timestampOfConsensus(at));
});

test('who is not in the roster in force names nothing', async () => {
  await using fixture = await openFixture();
  const { topic, namer, named } = fixture;
  await fixture.revoke();
  topic.say(['us', 'eu'], topic.next({ members: genesisOf(['eu', 'ca']).members }));
  assert.is(topic.state.members.us, undefined);
  namer.start();
  await namer[Symbol.asyncDispose]();
  assert.equal(named, []);
});

test('a revocation whose name fell with a roster that came into force is named again at once', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us'], quorum: 1, ledger: 'local' });
  const nodes = [network.node('eu'), network.node('us')];
  const [eu, us] = [network.node('eu'), network.node('us')];
  const { keys } = eu.context;
  const { identity } = await readNodeKeys(eu.config.home);
  const signer = nativeSigner(randomBytes(32));
  const issuedAt = timestampOf(Date.now());
  const certificate = await certifySigningKey(nodeId('eu'), { identity, signer }, issuedAt, 1);
  const common = { v: 2, type: 'revocation', node: nodeId('eu'), keyId: signer.keyId } as const;
  const revocation = await signStatement(
    revocationStatement,
    { ...common, reason: 'rotated', compromisedSince: null, issuedAt },
    identity,
  );
  await keys.learnCertificate(certificate);
  await keys.learnRevocation(revocation);
  const isDecided = () => us.context.federationLog.state.revoked.eu?.[signer.keyId] !== undefined;
  await until(
    'eu to have named it',
    () => isDecided() || eu.context.federationLog.state.open.eu?.revocations.length === 1,
  );
  const text = nextRoster(eu, { name: 'second' });
  for (const node of nodes) await vote(node, text);
  await inForce(nodes, text);
  // In a federation of two both must name it, under this roster: the name of `eu` came before.
  await us.context.keys.learnCertificate(certificate);
  await us.context.keys.learnRevocation(revocation);
  await until('it is decided', isDecided);
});

test.run();
