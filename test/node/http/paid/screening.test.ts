import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { privateKeyToAccount } from 'viem/accounts';
import { MISSING_AFTER_MS, STALE_AFTER_MS } from '../../../../node/screening/lists/freshness.ts';
import { LIST_IDS } from '../../../../node/screening/lists/list-id.ts';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { decodeBase64url } from '../../../../protocol/bytes.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { commit, commitText } from '../../../../protocol/payload/commitment.ts';
import { SERVICES, type ServiceName } from '../../../../protocol/payments/prices.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { payingFetch } from '../../../fixtures/chain-payer.ts';
import { paymentHeader } from '../../../fixtures/payment-header.ts';
import { importSampleLists } from '../../../fixtures/sample-lists.ts';
import { filesHolding } from '../../../fixtures/store-files.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';

/**
 * What the node's clock is ahead of the real one, in milliseconds: it starts in the past, so that its lists can be old.
 */
let ahead = -9 * 86_400_000;
const chain = await TestChain.start();
const network = await TestNetwork.start({
  ledger: 'local',
  config: { payments: chain.config(), batchIntervalMs: 100 },
  overrides: { now: () => Date.now() + ahead, recordClock: Date.now },
});
const node = network.node();
ahead = 0;

const SCREENING = SERVICES['attested-screening'].path;
const COUNTERPARTY = '/v1/x402/check-counterparty/';
const LISTED = '0x53414D504c450000000000000000000000000001';
const NAME = 'Fictitious Trading Co Ltd';
const PRICE = 10_000n;

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});
test.after.each(() => {
  ahead = 0;
});

interface Bought {
  readonly status: number;
  readonly body: JsonObject;
  /** What the payee has more. */
  readonly gain: bigint;
}

/** One call through the stock client. */
async function buy(path: string, body?: JsonObject): Promise<Bought> {
  const before = await chain.balanceOf(chain.payTo);
  const headers = { 'content-type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers };
  const answer = await payingFetch(await chain.wallet())(node.baseUrl + path, init);
  const value: unknown = await answer.json();
  assert.ok(isJsonObject(value));
  return { status: answer.status, body: value, gain: (await chain.balanceOf(chain.payTo)) - before };
}

const screen = (name: string): Promise<Bought> => buy(SCREENING, { name });

/** A header that pays for a call, to be shown more than once. */
async function headerFor(service: ServiceName, path: string): Promise<string> {
  return paymentHeader(await chain.wallet(), chain.payTo, service, node.baseUrl + path);
}

function member(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
}

function items(value: JsonValue | undefined): readonly JsonObject[] {
  return value !== undefined && isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** The canonical text that a record commits to, made of an answer. */
function payloadOf(answer: JsonObject): string {
  const others = new Set(['success', 'salt', 'warnings', 'attestation', 'payment']);
  return canonicalize(Object.fromEntries(Object.entries(answer).filter(([name]) => !others.has(name))));
}

/** A call that shows a payment without having asked for the price. */
async function payUnasked(service: ServiceName, path: string, init: RequestInit = {}): Promise<Bought> {
  const before = await chain.balanceOf(chain.payTo);
  const headers = { 'content-type': 'application/json', 'payment-signature': await headerFor(service, path) };
  const answer = await fetch(node.baseUrl + path, { ...init, headers });
  const value: unknown = await answer.json();
  assert.ok(isJsonObject(value));
  return { status: answer.status, body: value, gain: (await chain.balanceOf(chain.payTo)) - before };
}

test('without all lists no price is named, nothing is screened, and nothing is charged', async () => {
  const [missing = 'us-ofac-sdn', ...others] = LIST_IDS;
  await importSampleLists(node, others);
  const body = JSON.stringify({ name: NAME });
  for (const attempt of [
    screen(NAME),
    buy(COUNTERPARTY + LISTED),
    payUnasked('attested-screening', SCREENING, { method: 'POST', body }),
    payUnasked('check-counterparty', COUNTERPARTY + LISTED),
  ]) {
    const { status, body: said, gain } = await attempt;
    assert.equal([status, said.code, gain], [503, 'list-unavailable', 0n]);
    assert.equal(said.lists, [{ listId: missing, state: 'missing' }]);
  }
  await importSampleLists(node, [missing]);
});

test('a screening is sold for exactly its price; whoever asked can compute both hashes again; it verifies', async () => {
  const { status, body, gain } = await buy(SCREENING, { name: NAME, queryId: 'q-1' });
  assert.is(status, 200, JSON.stringify(body));
  assert.is(gain, PRICE);
  assert.equal([body.result, body.matchCount, body.queryId, body.sample], ['match', 1, 'q-1', true]);
  assert.equal(body.matchMethod, {
    normalization: 'NFKD, strip marks, casefold, punctuation->space, collapse',
    insideWords: {
      listed: 'punctuation->space or nothing',
      asked: 'apostrophes and quotes->space or nothing, other punctuation->space',
    },
    rules: ['exact', 'substring'],
  });
  assert.equal(
    items(body.lists).map(({ listId, sample, stale }) => [listId, sample, stale]),
    LIST_IDS.map((listId) => [listId, true, false]),
  );
  assert.equal(
    body.warnings,
    LIST_IDS.map((listId) => `${listId}: a sample of made-up entries, and no real list`),
  );
  const [list] = items(body.lists);
  const [match] = items(list?.matches);
  assert.equal(
    [match?.entryId, match?.matchType, match?.matchedOn, match?.name],
    ['900002', 'exact', 'primary', 'FICTITIOUS TRADING CO., LTD.'],
  );
  assert.is(list?.fileHash, node.context.lists.current().get('us-ofac-sdn')?.fileHash);
  const salt = decodeBase64url(String(body.salt));
  assert.is(body.queryHash, commit(nativeSuite, 'meridian/input/1', salt, NAME));
  const payloadHash = commitText(nativeSuite, 'meridian/payload/1', salt, payloadOf(body));
  assert.is(member(body.attestation, 'payloadHash'), payloadHash);
  const id = String(member(body.attestation, 'attestationId'));
  const verified = async (): Promise<JsonObject> => (await node.get(`/v1/verify/${id}`)).body;
  await until('it verifies', async () => (await verified()).verified === true);
  const { cryptoVerification, payloadState, complianceStatus, complianceDetail } = await verified();
  assert.equal([member(cryptoVerification, 'checks', 'payloadHashMatch'), payloadState], [true, 'available']);
  assert.is(member(complianceStatus, 'article12_3b'), true);
  assert.is(member(complianceDetail, 'article12_3c'), true);
});

test('a name that is on no list is no match, and is charged', async () => {
  const { status, body, gain } = await screen('Tobias Pemberhythe');
  assert.equal([status, body.result, body.matchCount, body.queryId, gain], [200, 'no-match', 0, null, PRICE]);
});

test('what is no name is refused by its field, and costs nothing', async () => {
  const records = node.context.intake.recorded;
  const refused: [JsonObject, string][] = [
    [{}, 'missing-field'],
    [{ name: ' A ' }, 'invalid-field'],
    [{ name: 'x'.repeat(501) }, 'invalid-field'],
    [{ name: '  ...  ' }, 'invalid-field'],
    [{ name: 'a\u0000b' }, 'invalid-field'],
  ];
  for (const [request, code] of refused) {
    const { status, body, gain } = await buy(SCREENING, request);
    assert.equal(
      [status, body.code, items(body.errors)[0]?.field, gain],
      [400, code, 'name', 0n],
      JSON.stringify(request),
    );
  }
  for (const request of [
    { name: NAME, queryId: 'q'.repeat(129) },
    { name: NAME, fuzzy: true },
  ]) {
    assert.equal([(await buy(SCREENING, request)).status], [400]);
  }
  assert.is((await screen(`${' '.repeat(9)}${'x'.repeat(500)}${' '.repeat(9)}`)).status, 200);
  assert.is(node.context.intake.recorded, records + 1);
});

test('the name is in no log, no answer and no payload', async () => {
  const name = 'Wolfhardine Unheard-Of Zzyzx';
  const { body } = await screen(name);
  const said = [JSON.stringify(body), ...node.log].join('\n').toLowerCase();
  assert.not(said.includes('wolfhardine'));
  assert.not(said.includes('zzyzx'));
  const id = String(member(body.attestation, 'attestationId'));
  const bundle = await node.get(`/v1/bundles/${id}?partial=1&disclosure=1`);
  assert.not(bundle.text.toLowerCase().includes('zzyzx'));
});

test('the name is in no row and no file, and is guessed from none of their hashes', async () => {
  const name = 'Wolfhardine Unheard-Of Zzyzx';
  const body = JSON.stringify({ name });
  const sold = await payUnasked('attested-screening', SCREENING, { method: 'POST', body });
  assert.is(sold.status, 200);
  const { store } = node.context;
  const digest = hash('sha256', body, 'hex');
  const request = hash('sha256', ['POST', SCREENING, '', digest].join('\n'), 'hex');
  const guesses = [name, digest, request];
  for (const guess of guesses) assert.equal(await filesHolding(store.directory, Buffer.from(guess)), [], guess);
  const rows = await Array.fromAsync(store.range({}));
  const telling = rows.filter(([, value]) => guesses.some((text) => Buffer.from(value).includes(text)));
  assert.equal(
    telling.map(([key]) => key),
    [],
  );
});

/** As if the lists had last been compared with their sources so long ago. In milliseconds. */
async function ageLists(age: number): Promise<void> {
  ahead = -age;
  await importSampleLists(node);
  ahead = 0;
}

test('stale lists answer, and say so; lists that are too old do not, and nothing is charged', async () => {
  await ageLists(STALE_AFTER_MS + 60_000);
  const { status, body } = await screen(NAME);
  assert.is(status, 200);
  assert.ok(items(body.lists).every(({ stale }) => stale === true));
  const { body: checked } = await buy(COUNTERPARTY + LISTED.replace('1', '9'));
  assert.is(checked.verdict, 'review');
  assert.is(items(checked.reasons).filter(({ code }) => code === 'LIST_STALE').length, LIST_IDS.length);
  await ageLists(MISSING_AFTER_MS + 60_000);
  const late = await screen(NAME);
  assert.equal([late.status, late.body.code, late.gain], [503, 'list-unavailable', 0n]);
  await importSampleLists(node);
});

test('a listed address is a match in any case, and its record holds no address', async () => {
  for (const address of [LISTED, `0x${LISTED.slice(2).toUpperCase()}`]) {
    const { status, body, gain } = await buy(COUNTERPARTY + address);
    assert.equal([status, body.verdict, gain], [200, 'match', PRICE]);
    assert.is(body.address, LISTED.toLowerCase());
    const [reason] = items(body.reasons);
    assert.equal([reason?.code, reason?.severity, reason?.source], ['LISTED_ADDRESS', 'block', 'us-ofac-sdn']);
    const salt = decodeBase64url(String(body.salt));
    assert.is(body.queryHash, commit(nativeSuite, 'meridian/input/1', salt, LISTED.toLowerCase()));
    assert.is(
      member(body.attestation, 'payloadHash'),
      commitText(nativeSuite, 'meridian/payload/1', salt, payloadOf(body)),
    );
    const bundle = await node.get(`/v1/bundles/${String(member(body.attestation, 'attestationId'))}?partial=1`);
    assert.not(
      JSON.stringify(member(bundle.body, 'record') ?? '')
        .toLowerCase()
        .includes(LISTED.slice(2).toLowerCase()),
    );
  }
});

test('the profile is that of the chain: a fresh address, an active one, a contract', async () => {
  const profile = async (address: string): Promise<{ body: JsonObject; codes: (JsonValue | undefined)[] }> => {
    const { status, body } = await buy(COUNTERPARTY + address);
    assert.is(status, 200, JSON.stringify(body));
    return { body, codes: items(body.reasons).map(({ code }) => code) };
  };
  const wallet = await chain.wallet('12.5');
  const fresh = await profile(wallet.address);
  assert.equal(fresh.codes, ['NO_LISTED_ADDRESS', 'NO_ACTIVITY']);
  assert.equal(member(fresh.body.onChain, 'stablecoinBalance', 'amount'), '12500000');
  assert.equal(
    ['transactionCount', 'isContract', 'firstSeen', 'network'].map((name) => member(fresh.body.onChain, name)),
    [0, false, null, 'eip155:8453'],
  );
  const { onChain } = fresh.body;
  const block = await chain.client.getBlock({ blockNumber: BigInt(Number(member(onChain, 'blockNumber'))) });
  assert.is(member(onChain, 'blockHash'), block.hash);
  const active = await profile(privateKeyToAccount(chain.key()).address);
  assert.equal(active.codes, ['NO_LISTED_ADDRESS', 'NEW_ADDRESS']);
  assert.is(active.body.verdict, 'review');
  assert.ok(typeof member(active.body.onChain, 'firstSeen') === 'string');
  const token = await profile('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');
  assert.ok(token.codes.includes('CONTRACT_ACCOUNT'));
});

test('an address that is none is refused before any price', async () => {
  for (const address of ['0x123', 'TNiq9AXBp9EjUqhDhrwrfvAA8U3GUQZH81', `0X${LISTED.slice(2)}`, `${LISTED}0`]) {
    const { status, body } = await node.get(COUNTERPARTY + address);
    assert.equal([status, body.code, items(body.errors)[0]?.field], [400, 'invalid-field', 'address'], address);
  }
});

test('the same payment is answered alike after a restart, also once the lists are too old', async () => {
  const calls = [
    {
      path: SCREENING,
      payment: await headerFor('attested-screening', SCREENING),
      body: JSON.stringify({ name: NAME }),
    },
    { path: COUNTERPARTY + LISTED, payment: await headerFor('check-counterparty', COUNTERPARTY + LISTED), body: null },
  ];
  const answers = () =>
    Promise.all(
      calls.map(async ({ path, payment, body }) => {
        const headers = { 'content-type': 'application/json', 'payment-signature': payment };
        const answer = await fetch(node.baseUrl + path, { method: body === null ? 'GET' : 'POST', body, headers });
        return [answer.status, await answer.text()];
      }),
    );
  const first = await answers();
  assert.equal(
    first.map(([status]) => status),
    [200, 200],
  );
  await node.stop();
  await node.start();
  await ageLists(MISSING_AFTER_MS + 60_000);
  assert.equal(await answers(), first);
});

test('the store is whole', async () => {
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(report.findings, []);
  await node.start();
});

test.run();
