import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { revocationsToName } from '../../../node/log/revocations-to-name.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { KnownRevocation } from '../../../protocol/keys/known-revocations.ts';
import { type Revocation, revocationStatement } from '../../../protocol/log/revocation.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { genesisOf, hashOf, Topic } from '../../protocol/log/topic.ts';
import { fc } from '../../fixtures/properties.ts';

const [EU, US] = [nodeId('eu'), nodeId('us')];
const DAY = Date.UTC(2026, 5, 1);
const NAMES_A_DAY = 8;

/** A revocation of a key of `eu`, as anyone who holds an identity key of it signs one. */
function revoking(key: string, since: number | null = null, issuedAt = DAY): KnownRevocation {
  const revocation: Revocation = {
    v: 2,
    type: 'revocation',
    node: EU,
    keyId: hashOf(key),
    reason: since === null ? 'rotated' : 'compromised',
    compromisedSince: since === null ? null : timestampOf(since),
    issuedAt: timestampOf(issuedAt),
  };
  const statement = revocationStatement.write(revocation);
  return { revocation, signed: { statement, signature: encodeSignature(new Uint8Array(1)) }, hash: hashOf(statement) };
}

const sealing = new Map([
  [hashOf('sealing'), 40],
  [hashOf('sealing before'), 30],
]);
const witnessing = new Set([hashOf('witnessing')]);
const keysOf = (uncertified: readonly string[] = []) => ({
  isCertified: (keyId: string) => !uncertified.some((key) => hashOf(key) === keyId),
  sealing,
  witnessing,
});

/** What `us` names of these, given that `named` of the day are spent. */
function namesOf(topic: Topic, held: readonly KnownRevocation[], named = 0): KnownRevocation[] {
  let spent = named;
  return revocationsToName(topic.state, US, held, keysOf()).flatMap(({ known, leaves }) => {
    if (spent >= NAMES_A_DAY - leaves) return [];
    spent++;
    return [known];
  });
}

/** These members name it. */
function say(
  topic: Topic,
  names: readonly string[],
  { revocation: { keyId }, hash: statement }: KnownRevocation,
): void {
  topic.say(names, { ...topic.revocation('eu'), keyId, statement });
}

const junk = Array.from({ length: 200 }, (_, i) => revoking(`invented ${i}`));

test('the day’s names are not used up by revocations of keys that nobody saw in use', () => {
  const topic = new Topic(genesisOf(['us', 'eu', 'ca']));
  const spent = namesOf(topic, junk);
  assert.is(spent.length, 4);
  for (const known of spent) say(topic, ['us', 'ca'], known);
  assert.equal(namesOf(topic, junk, spent.length), [], 'not one more on that day');
  const stolen = revoking('sealing', DAY - 1000);
  assert.equal(namesOf(topic, [...junk, stolen], spent.length), [stolen]);
});

test('the key that seals comes first, then those that sealed before, then what witnesses or says more, then all others', () => {
  const topic = new Topic(genesisOf(['us', 'eu', 'ca']));
  const rotated = revoking('sealing before');
  say(topic, ['us', 'ca'], rotated);
  const [stolen, more] = [revoking('sealing'), revoking('sealing before', DAY)];
  const witness = revoking('witnessing', DAY + 1);
  const held = [...junk.slice(0, 2), witness, more, rotated, stolen];
  assert.equal(namesOf(topic, held).slice(0, 3), [stolen, more, witness]);
  assert.is(namesOf(topic, held).length, 4, 'of the others one alone');
});

test('of one key the one that reaches furthest back is named, and another only where it says more', () => {
  const topic = new Topic(genesisOf(['us', 'eu', 'ca']));
  const [early, late, never] = [revoking('sealing', DAY - 9000), revoking('sealing', DAY - 1000), revoking('sealing')];
  assert.equal(namesOf(topic, [never, late, early]), [early]);
  say(topic, ['us', 'ca'], late);
  assert.equal(namesOf(topic, [never, late]), [], 'a rotation says nothing more');
  assert.equal(
    namesOf(topic, [never, revoking('sealing', DAY - 1000, DAY + 1), late]),
    [],
    'nor does one that reaches as far',
  );
  assert.equal(namesOf(topic, [never, late, early]), [early]);
  say(topic, ['us'], early);
  assert.equal(namesOf(topic, [never, late, early]), [], 'it is named, and waits for others');
  assert.equal(namesOf(topic, [never, early]), [], 'what is in force has no text here');
});

test('of a key that its node has not certified nothing is named', () => {
  const topic = new Topic(genesisOf(['us', 'eu', 'ca']));
  const held = [revoking('uncertified'), revoking('certified')];
  const names = revocationsToName(topic.state, US, held, keysOf(['uncertified'])).map(({ known }) => known);
  assert.equal(names, held.slice(1));
});

test('undecided names of junk keep no key in use waiting, and stay within what counts of a member', () => {
  const topic = new Topic(genesisOf(['us', 'eu', 'ca']));
  for (const known of junk.slice(0, 8)) say(topic, ['us'], known);
  const stolen = revoking('sealing', DAY);
  const names = revocationsToName(topic.state, US, [...junk, stolen], keysOf()).map(({ known }) => known);
  assert.equal(names, [stolen]);
});

test('members that learned of revocations in another order name the same', () => {
  const topic = new Topic(genesisOf(['us', 'eu', 'ca']));
  const held = [
    ...junk.slice(0, 12),
    ...['sealing', 'sealing before', 'witnessing'].flatMap((key) => [
      revoking(key),
      revoking(key, DAY),
      revoking(key, DAY + 1),
    ]),
  ];
  const expected = namesOf(topic, held).map(({ hash }) => hash);
  fc.assert(
    fc.property(fc.shuffledSubarray(held, { minLength: held.length }), (shuffled) => {
      assert.equal(
        namesOf(topic, shuffled).map(({ hash }) => hash),
        expected,
      );
    }),
  );
});

test.run();
