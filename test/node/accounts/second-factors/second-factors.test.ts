import { createHmac, randomBytes } from 'node:crypto';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AccountError } from '../../../../node/accounts/account-error.ts';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { challengeFor, NOTHING_SHOWN, type ShownFactor } from '../../../../node/accounts/second-factors/proof.ts';
import { passkeySite } from '../../../../node/accounts/second-factors/passkeys.ts';
import { type Holder, SecondFactors } from '../../../../node/accounts/second-factors/second-factors.ts';
import { type Timestamp, timestampOf } from '../../../../protocol/time.ts';
import { AccountFixture, refusal } from '../account-fixture.ts';

const ADA: Holder = { account: 'acc_eu_ada', holder: 'owner' };
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const payloadKey = randomBytes(32);

/** HOTP (RFC 4226 §5.3) by the steps of TOTP (RFC 6238 §4.2). */
function totp(secret: Uint8Array, seconds: number, digits: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(seconds / 30)));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

function bytesOf(base32: string): Uint8Array {
  const bits = [...base32].map((char) => BASE32.indexOf(char).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

/** As a node of this account has them; `at`: its address, `copiedAt`: when the copy was taken that it comes from. */
function openIn(fixture: AccountFixture, at = 'https://eu.example', copiedAt: Timestamp | null = null) {
  return SecondFactors.open({
    store: fixture.store,
    accountStore: fixture.accounts.accountStore,
    people: { addressOf: async () => 'ada@example.org', requireWithin: async () => {} },
    payloadKey,
    copiedAt,
    mailer: null,
    baseUrl: () => at,
    log: pino({ level: 'silent' }),
  });
}

async function withApp(fixture: AccountFixture) {
  const factors = await openIn(fixture);
  const id = factors.newId();
  const secret = bytesOf((await factors.setupOf(ADA, id)).secret);
  const now = () => totp(secret, fixture.now / 1000, 6);
  const codes = await factors.addTotp(ADA, { id, name: 'App', code: now() }, NOTHING_SHOWN, 'operator');
  return { factors, id, codes, now };
}

test('the codes are those of RFC 6238', async () => {
  const secret = Buffer.from('12345678901234567890');
  for (const [seconds, code] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const) {
    assert.is(totp(secret, seconds, 8), code);
  }
  await using fixture = await AccountFixture.open();
  const { factors, now } = await withApp(fixture);
  fixture.now += 30_000;
  assert.is((await factors.prove(ADA, { ...NOTHING_SHOWN, code: now() }))?.kind, 'totp');
  const before = now();
  fixture.now += 30_000;
  assert.is((await factors.prove(ADA, { ...NOTHING_SHOWN, code: before }))?.kind, 'totp', 'a clock half a minute late');
  fixture.now += 30_000;
  assert.is(await refusal(factors.prove(ADA, { ...NOTHING_SHOWN, code: before })), 'second-factor-wrong');
});

test('another account, another person and another node have other codes', async () => {
  await using fixture = await AccountFixture.open();
  const { factors, id } = await withApp(fixture);
  const { secret } = await factors.setupOf(ADA, id);
  assert.is.not((await factors.setupOf({ ...ADA, account: 'acc_eu_grace' }, id)).secret, secret);
  assert.is.not((await factors.setupOf(ADA, factors.newId())).secret, secret);
  assert.is((await factors.setupOf(ADA, id)).secret, secret);
  assert.not.match(JSON.stringify(await fixture.rows()), secret);
});

test('in a restored copy the recovery codes that are as old are void, and the apps stay', async () => {
  await using fixture = await AccountFixture.open();
  const { codes } = await withApp(fixture);
  const [code = ''] = codes;
  const later = await openIn(fixture, undefined, timestampOf(fixture.now - 1));
  assert.is((await later.of(ADA))?.recoveryCodes.length, codes.length, 'made since the copy');
  const restored = await openIn(fixture, undefined, timestampOf(fixture.now));
  assert.is(await refusal(restored.prove(ADA, { ...NOTHING_SHOWN, code })), 'second-factor-wrong');
  assert.is((await restored.of(ADA))?.factors.length, 1);
});

test('what a browser makes up is no passkey, and no address without a name has any', async () => {
  await using fixture = await AccountFixture.open();
  const factors = await openIn(fixture);
  const credential = { id: 'AAAA', rawId: 'AAAA', type: 'public-key' };
  const response = { clientDataJSON: 'AAAA', attestationObject: 'AAAA' };
  for (const passkey of ['', 'null', '{}', '[', JSON.stringify({ ...credential, response }), '9'.repeat(10_000)]) {
    const add = factors.addPasskey(ADA, { name: 'Key', passkey, secret: 'a sign-in' }, NOTHING_SHOWN, 'operator');
    assert.is(await refusal(add), 'second-factor-wrong', passkey.slice(0, 80));
  }
  assert.is(await factors.of(ADA), undefined);
  for (const address of ['https://192.0.2.1', 'https://[2001:db8::1]:8443', 'http://eu.example']) {
    assert.is(passkeySite(address), null, address);
  }
  assert.equal(passkeySite('https://eu.example/verify'), { host: 'eu.example', origin: 'https://eu.example' });
});

test('codes are not guessed by who is signed in: ten are judged in an hour, and a right one is not after them', async () => {
  await using fixture = await AccountFixture.open();
  const { factors, id, now } = await withApp(fixture);
  fixture.now += 30_000;
  const remove = (code: string) => factors.remove(ADA, id, { ...NOTHING_SHOWN, code }, 'operator');
  for (let tries = 0; tries < 10; tries++) assert.is(await refusal(remove('000000')), 'second-factor-wrong');
  const late = await codeOf(remove(now()));
  assert.is(late, 'rate-limited');
  assert.is((await factors.of(ADA))?.factors.length, 1);
  assert.is((await factors.prove(ADA, { ...NOTHING_SHOWN, code: now() }))?.kind, 'totp', 'a link is judged by itself');
});

test('codes are not guessed by who has links mailed: twenty are judged in a day, and a right one is not after them', async () => {
  await using fixture = await AccountFixture.open();
  const { factors, now } = await withApp(fixture);
  fixture.now += 30_000;
  const prove = (code: string, passkey = '') => factors.prove(ADA, { ...NOTHING_SHOWN, code, passkey });
  for (let right = 0; right < 25; right++) assert.is((await prove(now()))?.kind, 'totp', 'a right one is not counted');
  const crowd = await Promise.all(Array.from({ length: 30 }, () => codeOf(prove('000000'))));
  assert.is(crowd.filter((code) => code === 'second-factor-wrong').length, 20);
  assert.is(crowd.filter((code) => code === 'rate-limited').length, 10);
  assert.is(await codeOf(prove('')), 'second-factor-needed', 'nothing shown is no try');
  assert.is(await codeOf(prove(now())), 'rate-limited');
  assert.is(await codeOf(prove('', 'forged')), 'second-factor-wrong', 'a passkey is judged');
});

test('a passkey is not counted as a code that somebody guesses beside a link', async () => {
  await using fixture = await AccountFixture.open();
  const { factors, now } = await withApp(fixture);
  fixture.now += 30_000;
  const prove = (shown: Partial<ShownFactor>) => factors.prove(ADA, { ...NOTHING_SHOWN, ...shown });
  for (let n = 0; n < 25; n++) assert.is(await codeOf(prove({ passkey: 'forged' })), 'second-factor-wrong');
  assert.is((await prove({ code: now() }))?.kind, 'totp');
});

function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'taken',
    (error: unknown) => (error instanceof LimitError || error instanceof AccountError ? error.code : String(error)),
  );
}

test('what a passkey signs is another thing after each use of a factor', async () => {
  await using fixture = await AccountFixture.open();
  const { factors, now } = await withApp(fixture);
  const before = await factors.of(ADA);
  fixture.now += 30_000;
  const used = await factors.prove(ADA, { ...NOTHING_SHOWN, code: now() });
  await fixture.store.write(used?.operations ?? []);
  const after = await factors.of(ADA);
  if (before === undefined || after === undefined) throw new Error('it is gone');
  assert.is.not(hexOf(challengeFor(before, 's')), hexOf(challengeFor(after, 's')));
  assert.is.not(hexOf(challengeFor(after, 's')), hexOf(challengeFor(after, 't')));
});

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('somebody has five at most', async () => {
  await using fixture = await AccountFixture.open();
  const { factors, now } = await withApp(fixture);
  const add = async (isProven = true): Promise<unknown> => {
    const id = factors.newId();
    fixture.now += 30_000;
    const code = totp(bytesOf((await factors.setupOf(ADA, id)).secret), fixture.now / 1000, 6);
    const proof = isProven ? { ...NOTHING_SHOWN, code: now() } : NOTHING_SHOWN;
    return factors.addTotp(ADA, { id, name: 'App', code }, proof, 'operator');
  };
  assert.is(await refusal(add(false)), 'second-factor-needed', 'who has one shows it to add another');
  for (let count = 1; count < 5; count++) assert.equal(await add(), [], 'recovery codes come with the first');
  assert.is(await refusal(add()), 'too-many-second-factors');
});

test.run();
